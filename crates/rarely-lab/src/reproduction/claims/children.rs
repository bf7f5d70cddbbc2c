//! Figure 4.

use super::trial_view::{TrialView, both, gather};
use super::{Claim, Condition, Measurement, claim, exactly};
use crate::metrics::Estimate;
use crate::reproduction::TrialResults;

const RATIO: &str = "regret per step of feasible-greedy over that of rs-greedy";

pub(super) fn figure_four(trials: &TrialResults) -> Vec<Claim> {
    let views = both(trials, "ihdp/authors", "ihdp/rigorous");
    let gather = |measure: &dyn Fn(TrialView<'_>) -> Vec<Option<Measurement>>| gather(&views, measure);
    let learners =
        ["greedy", "linucb", "rs-linucb", "feasible-greedy", "feasible-conservative", "rs-greedy", "rs-conservative"];
    let late = |view: TrialView<'_>, name: &str| -> Option<Measurement> {
        let share = Estimate::of(&view.find(name)?.late_regrets()).mean
            / Estimate::of(&view.find("random")?.late_regrets()).mean;
        let what = format!("regret of {name} in the last tenth over that of a randomised trial");
        view.is(what, Some(exactly(share)), Condition::AtMost(0.1))
    };
    vec![
        claim(
            ("ihdp-all-learn", "Figure 4a"),
            "Every algorithm learns a nearly optimal treatment rule within the 747 children.",
            "all learn within the trial",
            gather(&|view| learners.iter().map(|name| late(view, name)).collect()),
        ),
        claim(
            ("ihdp-faster", "Figure 4a"),
            "Greedy and the rarely-switching algorithms learn faster than LinUCB and RS-LinUCB.",
            "lower regret per step throughout",
            gather(&|view| {
                ["greedy", "rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|name| [view.regret_above("linucb", name), view.regret_above("rs-linucb", name)])
                    .collect()
            }),
        ),
        claim(
            ("ihdp-changes", "Figure 4b"),
            "The rarely-switching algorithms need about 35 changes of policy.",
            "about 35",
            gather(&|view| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .map(|name| {
                        view.is(format!("changes of {name}"), view.changes(name), Condition::Within(20.0, 50.0))
                    })
                    .collect()
            }),
        ),
        claim(
            ("ihdp-feasible", "Figure 4"),
            "The feasible algorithms have similar regret but change significantly more often.",
            "similar regret, more changes",
            gather(&|view| {
                vec![
                    view.changes_above("feasible-greedy", "rs-greedy"),
                    view.changes_above("feasible-conservative", "rs-conservative"),
                    view.is(RATIO, view.regret_ratio("feasible-greedy", "rs-greedy"), Condition::Within(0.67, 1.5)),
                ]
            }),
        ),
    ]
}
