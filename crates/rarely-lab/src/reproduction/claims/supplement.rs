//! The supplement: the fixed schedule, the k × d grid, and the sweeps over Δ and λ.

use super::figure_three::RS;
use super::trial_view::{TrialView, Values, gather, main_views, ratio};
use super::{Claim, Condition, Reading, Unjudged, claim};
use crate::contestant_result::ContestantResult;
use crate::metrics::Estimate;
use crate::reproduction::{GRID_ARMS, GRID_DIMENSIONS, SWEPT, TrialResults, grid_id};

/// The λ that the paper calls best.
const BEST_PENALTY: f64 = 1e-2;
/// “Close to best” and “little impact”: at most a quarter more.
const CLOSE: f64 = 1.25;

/// The deterministic schedule.
pub(super) fn schedule(trials: &TrialResults) -> Vec<Claim> {
    let against = |view: TrialView<'_>| {
        RS.iter()
            .flat_map(|rs| [view.regret_above("scheduled", rs), view.changes_above("scheduled", rs)])
            .collect::<Vec<_>>()
    };
    vec![claim(
        ("schedule-worse", "Suppl. figure, deterministic schedule"),
        "Changing to the estimate on a fixed √t schedule has higher regret than the rarely-switching algorithms, with more changes.",
        "higher regret, more changes",
        gather(&main_views(trials), against),
    )]
}

/// The k × d grid.
pub(super) fn grid(trials: &TrialResults) -> Vec<Claim> {
    let mut planar = Vec::new();
    let mut higher = Vec::new();
    for (profile, family) in [(Reading::Published, "grid"), (Reading::Rigorous, "grid-rigorous")] {
        for (arms, dimension) in GRID_ARMS.into_iter().flat_map(|arms| GRID_DIMENSIONS.map(|d| (arms, d))) {
            let view = TrialView::of(trials, profile, &grid_id(family, arms, dimension));
            for rs in RS {
                let (one, other) = if dimension == 2 { (rs, "linucb") } else { ("linucb", rs) };
                let what = format!("k={arms}, d={dimension}: regret per step of {one} minus that of {other}");
                let difference = view.difference(one, other, ContestantResult::regrets);
                let found = view.is(what, difference, Condition::Above(0.0));
                if dimension == 2 { planar.extend(found) } else { higher.extend(found) }
            }
        }
    }
    vec![
        claim(
            ("grid-high", "Suppl. figure, k × d grid"),
            "For d ≥ 5 the results are as in the main setting: the rarely-switching algorithms beat LinUCB for every k.",
            "similar for d ≥ 5",
            higher,
        ),
        claim(
            ("grid-planar", "Suppl. figure, k × d grid"),
            "For d = 2 the rarely-switching algorithms do worse than LinUCB.",
            "not as well for d = 2",
            planar,
        ),
    ]
}

/// A setting that is swept on IHDP.
struct Swept<'a> {
    trials: &'a TrialResults,
    setting: &'static str,
}

/// What is compared over a sweep.
const REGRET: (&str, Values) = ("regret per step", ContestantResult::regrets);
const CHANGES: (&str, Values) = ("number of changes", ContestantResult::change_counts);

impl Swept<'_> {
    fn values(&self, profile: Reading, value: f64, name: &str, of: Values) -> Option<Vec<f64>> {
        let id = crate::reproduction::swept_id(self.setting, profile, value);
        self.trials.result(&id, name).map(of)
    }

    /// The largest over the smallest mean.
    fn spread(&self, (what, of): (&str, Values), condition: Condition) -> Vec<Unjudged> {
        let one = |profile: Reading, name: &str| {
            let mut series: Vec<Vec<f64>> =
                SWEPT.iter().filter_map(|&value| self.values(profile, value, name, of)).collect();
            series.sort_by(|one, other| Estimate::of(one).mean.total_cmp(&Estimate::of(other).mean));
            let [least, .., most] = series.as_slice() else { return None };
            let what = format!("{name}: largest over smallest {what}");
            Some(Unjudged::new(profile, what, ratio(most, least), condition))
        };
        READINGS.iter().flat_map(|&profile| RS.map(|name| one(profile, name))).flatten().collect()
    }

    /// The value that is called best over each of the others.
    fn best(&self, best: f64, (what, of): (&str, Values)) -> Vec<Unjudged> {
        let one = |profile: Reading, name: &str, other: f64| {
            let (ours, theirs) = (self.values(profile, best, name, of)?, self.values(profile, other, name, of)?);
            let what = format!("{name}: {what} at λ = {best} over that at {other}");
            Some(Unjudged::new(profile, what, ratio(&ours, &theirs), Condition::AtMost(CLOSE)))
        };
        let others = SWEPT.into_iter().filter(|&value| value != best);
        others
            .flat_map(|other| READINGS.into_iter().flat_map(move |profile| RS.map(|name| (profile, name, other))))
            .filter_map(|(profile, name, other)| one(profile, name, other))
            .collect()
    }
}

const READINGS: [Reading; 3] = [Reading::Published, Reading::Repaired, Reading::Rigorous];

/// Δ and λ on IHDP.
pub(super) fn sweeps(trials: &TrialResults) -> Vec<Claim> {
    let tolerance = Swept { trials, setting: "tolerance" };
    let penalty = Swept { trials, setting: "penalty" };
    let both = |swept: &Swept<'_>, regret: Condition, changes: Condition| {
        [swept.spread(REGRET, regret), swept.spread(CHANGES, changes)].concat()
    };
    vec![
        claim(
            ("tolerance", "Suppl. figure, Δ on IHDP"),
            "Δ from 1e-4 to 1e-1 hardly affects regret, but the number of changes.",
            "little impact on regret; changes differ",
            both(&tolerance, Condition::AtMost(CLOSE), Condition::Above(1.5)),
        ),
        claim(
            ("penalty", "Suppl. figure, λ on IHDP"),
            "λ from 1e-4 to 1e-1 affects both regret and the number of changes.",
            "both differ",
            both(&penalty, Condition::Above(1.1), Condition::Above(1.1)),
        ),
        claim(
            ("penalty-best", "Suppl. figure, λ on IHDP"),
            "λ = 1e-2 is best or close to best: its regret and its number of changes are at most 1.25 × those of any other λ.",
            "best or close to best in both",
            [penalty.best(BEST_PENALTY, REGRET), penalty.best(BEST_PENALTY, CHANGES)].concat(),
        ),
    ]
}
