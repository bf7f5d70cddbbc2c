//! Figure 4.

use super::figure_three::{RS, SIMILAR};
use super::trial_view::{TrialView, gather};
use super::{Claim, Condition, Reading, Unjudged, claim};
use crate::contestant_result::ContestantResult;
use crate::reproduction::TrialResults;

const RATIO: &str = "regret per step of feasible-greedy over that of rs-greedy";
const LEARNERS: [&str; 7] =
    ["greedy", "linucb", "rs-linucb", "feasible-greedy", "feasible-conservative", "rs-greedy", "rs-conservative"];

/// The authors' own run, the same with every realisation and the pairing repaired, and valid sets.
fn views(trials: &TrialResults) -> [TrialView<'_>; 3] {
    [("ihdp/authors", Reading::Published), ("ihdp/published", Reading::Repaired), ("ihdp/rigorous", Reading::Rigorous)]
        .map(|(id, profile)| TrialView::of(trials, profile, id))
}

pub(super) fn figure_four(trials: &TrialResults) -> Vec<Claim> {
    let views = views(trials);
    let late = |view: TrialView<'_>, name: &str| -> Option<Unjudged> {
        let what = format!("regret of {name} in the last tenth over that of a randomised trial");
        view.is(what, view.ratio(name, "random", ContestantResult::late_regrets), Condition::AtMost(0.1))
    };
    let about_35 = |view: TrialView<'_>, name: &str| {
        view.is(format!("changes of {name}"), view.changes(name), Condition::Within(20.0, 50.0))
    };
    let ratio = |view: TrialView<'_>| view.ratio("feasible-greedy", "rs-greedy", ContestantResult::regrets);
    vec![
        claim(
            ("ihdp-all-learn", "Figure 4a"),
            "Every algorithm learns a nearly optimal treatment rule within the 747 children.",
            "all learn within the trial",
            gather(&views, |view| LEARNERS.iter().map(|name| late(view, name)).collect()),
        ),
        claim(
            ("ihdp-faster", "Figure 4a"),
            "Greedy and the rarely-switching algorithms learn faster than LinUCB and RS-LinUCB.",
            "lower regret per step throughout",
            gather(&views, |view| {
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
            gather(&views, |view| RS.map(|name| about_35(view, name)).to_vec()),
        ),
        claim(
            ("ihdp-feasible", "Figure 4"),
            "The feasible algorithms have similar regret but change significantly more often.",
            "similar regret, more changes",
            gather(&views, |view| {
                let mut found = view.feasible_change_more();
                found.push(view.is(RATIO, ratio(view), Condition::Within(0.67, SIMILAR)));
                found
            }),
        ),
    ]
}
