//! Figure 4.

use super::look::{TrialView, both, gather};
use super::{Claim, Condition, Measurement, claim, exactly};
use crate::metrics::Estimate;
use crate::reproduction::TrialResults;

const RATIO: &str = "regret per step of feasible-greedy over that of rs-greedy";

pub(super) fn figure_four(trials: &TrialResults) -> Vec<Claim> {
    let looks = both(trials, "ihdp/authors", "ihdp/rigorous");
    let gather = |measure: &dyn Fn(TrialView<'_>) -> Vec<Option<Measurement>>| gather(&looks, measure);
    let learners =
        ["greedy", "linucb", "rs-linucb", "feasible-greedy", "feasible-conservative", "rs-greedy", "rs-conservative"];
    let late = |look: TrialView<'_>, name: &str| -> Option<Measurement> {
        let share = Estimate::of(&look.find(name)?.late_regrets()).mean
            / Estimate::of(&look.find("random")?.late_regrets()).mean;
        let what = format!("regret of {name} in the last tenth over that of a randomised trial");
        look.is(what, Some(exactly(share)), Condition::AtMost(0.1))
    };
    vec![
        claim(
            ("ihdp-all-learn", "Figure 4a"),
            "Every algorithm learns a nearly optimal treatment rule within the 747 children.",
            "all learn within the trial",
            gather(&|look| learners.iter().map(|name| late(look, name)).collect()),
        ),
        claim(
            ("ihdp-faster", "Figure 4a"),
            "Greedy and the rarely-switching algorithms learn faster than LinUCB and RS-LinUCB.",
            "lower regret per step throughout",
            gather(&|look| {
                ["greedy", "rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|name| [look.regret_above("linucb", name), look.regret_above("rs-linucb", name)])
                    .collect()
            }),
        ),
        claim(
            ("ihdp-changes", "Figure 4b"),
            "The rarely-switching algorithms need about 35 changes of policy.",
            "about 35",
            gather(&|look| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .map(|name| {
                        look.is(format!("changes of {name}"), look.changes(name), Condition::Within(20.0, 50.0))
                    })
                    .collect()
            }),
        ),
        claim(
            ("ihdp-feasible", "Figure 4"),
            "The feasible algorithms have similar regret but change significantly more often.",
            "similar regret, more changes",
            gather(&|look| {
                vec![
                    look.changes_above("feasible-greedy", "rs-greedy"),
                    look.changes_above("feasible-conservative", "rs-conservative"),
                    look.is(RATIO, look.regret_ratio("feasible-greedy", "rs-greedy"), Condition::Within(0.67, 1.5)),
                ]
            }),
        ),
    ]
}
