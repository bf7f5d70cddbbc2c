//! Our own claim, judged like the paper's.

use super::trial_view::TrialView;
use super::{Claim, Condition, Reading, claim};
use crate::contestant_result::ContestantResult;
use crate::reproduction::{GRID_ARMS, GRID_DIMENSIONS, TrialResults, WIDE, grid_id};

/// Our default against LinUCB over the grid.
pub(super) fn default_algorithm(trials: &TrialResults) -> Claim {
    let mut found = Vec::new();
    for arms in GRID_ARMS {
        for dimension in GRID_DIMENSIONS.into_iter().chain([WIDE]) {
            let view = TrialView::of(trials, Reading::Rigorous, &grid_id("house", arms, dimension));
            let at = format!("k={arms}, d={dimension}");
            let ratio = view.ratio("rarely", "linucb", ContestantResult::regrets);
            found.extend(view.is(format!("{at}: regret of rarely over LinUCB's"), ratio, Condition::AtMost(1.1)));
            let changes = view.changes("rarely");
            found.extend(view.is(format!("{at}: changes of rarely"), changes, Condition::AtMost(10.0)));
            let improving = view.improving("rarely");
            found.extend(view.is(format!("{at}: % of them that improve"), improving, Condition::Above(90.0)));
        }
    }
    let text = "Our default reaches LinUCB's regret with a handful of changes, nearly all of them improvements, over the whole grid.";
    claim(("house-default", "ours, k × d grid"), text, "–", found).of_ours()
}
