//! Figure 3, the supplement's grid and sweeps, and our own claim.

use super::trial_view::{TrialView, both, gather, ratio};
use super::{Claim, Condition, Measurement, claim, exactly, measurement};
use crate::contestant_result::ContestantResult;
use crate::metrics::Estimate;
use crate::reproduction::{GRID_ARMS, GRID_DIMENSIONS, SWEPT, TrialResults, WIDE, grid_id};

/// Figure 3a, and the schedule of the supplement.
pub(super) fn figure_three_regret(trials: &TrialResults) -> Vec<Claim> {
    let views = both(trials, "main/published", "main/rigorous");
    let gather = |measure: &dyn Fn(TrialView<'_>) -> Vec<Option<Measurement>>| gather(&views, measure);
    let rest =
        ["linucb", "rs-linucb", "rs-greedy", "rs-conservative", "feasible-greedy", "feasible-conservative", "clucb"];
    vec![
        claim(
            ("greedy-lowest", "Figure 3a"),
            "Following the estimate every round (greedy) has the lowest regret per step of all.",
            "greedy lowest",
            gather(&|view| view.lowest("greedy", &rest).into_iter().map(Some).collect()),
        ),
        claim(
            ("rs-beat-linucb", "Figure 3a"),
            "The rarely-switching algorithms do almost as well as greedy, and better than LinUCB and RS-LinUCB.",
            "RS below LinUCB and RS-LinUCB",
            gather(&|view| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|rs| [view.regret_above("linucb", rs), view.regret_above("rs-linucb", rs)])
                    .collect()
            }),
        ),
        claim(
            ("clucb-worst", "Figure 3a"),
            "CLUCB is the slowest to learn and ends with the highest regret per step.",
            "CLUCB highest",
            gather(&|view| {
                ["linucb", "rs-linucb", "rs-greedy", "rs-conservative"]
                    .iter()
                    .map(|other| view.regret_above("clucb", other))
                    .collect()
            }),
        ),
        claim(
            ("handful-of-changes", "Figure 3b"),
            "RS-greedy reaches low regret with about five changes of policy.",
            "about 5 changes",
            gather(&|view| {
                vec![
                    view.is("changes of rs-greedy", view.changes("rs-greedy"), Condition::AtMost(10.0)),
                    view.regret_above("linucb", "rs-greedy"),
                ]
            }),
        ),
        claim(
            ("schedule-worse", "Suppl. figure, deterministic schedule"),
            "Changing to the estimate on a fixed √t schedule has higher regret than the rarely-switching algorithms, with more changes.",
            "higher regret, more changes",
            gather(&|view| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|rs| [view.regret_above("scheduled", rs), view.changes_above("scheduled", rs)])
                    .collect()
            }),
        ),
    ]
}

/// Figure 3c.
pub(super) fn figure_three_safety(trials: &TrialResults) -> Vec<Claim> {
    let views = both(trials, "main/published", "main/rigorous");
    let gather = |measure: &dyn Fn(TrialView<'_>) -> Vec<Option<Measurement>>| gather(&views, measure);
    let below = |view: TrialView<'_>, name: &str, is: Condition| {
        let share = view.find(name).map(|result| result.summary().below_baseline_percent);
        view.is(format!("% of rounds of {name} below the best fixed arm"), share, is)
    };
    let as_counted = |view: TrialView<'_>, name: &str, is: Condition| {
        let share = view.find(name).map(|result| result.summary().below_nine_tenths_percent);
        view.is(format!("% of rounds of {name} below 0.9 × the best fixed arm"), share, is)
    };
    vec![
        claim(
            ("seldom-below-baseline", "Figure 3c"),
            "The rarely-switching algorithms are seldom below the cumulative reward of the best fixed arm.",
            "a few per cent of rounds",
            gather(&|view| {
                ["rs-greedy", "rs-conservative"].iter().map(|rs| below(view, rs, Condition::AtMost(10.0))).collect()
            }),
        ),
        claim(
            ("seldom-below-nine-tenths", "Figure 3c, as its program counts"),
            "The same with 0.9 × the best fixed arm, which is what the authors' program counts: RS seldom below, LinUCB more often.",
            "RS about 1 %, LinUCB about 6 %",
            gather(&|view| {
                vec![
                    as_counted(view, "rs-greedy", Condition::AtMost(10.0)),
                    as_counted(view, "rs-conservative", Condition::AtMost(10.0)),
                    as_counted(view, "linucb", Condition::Above(1.0)),
                ]
            }),
        ),
        claim(
            ("clucb-never-below", "Figure 3c"),
            "CLUCB essentially never falls below (1−α) of the baseline.",
            "0 %",
            gather(&|view| vec![as_counted(view, "clucb", Condition::AtMost(1.0))]),
        ),
    ]
}

/// Figures 3b and 3d.
pub(super) fn figure_three_changes(trials: &TrialResults) -> Vec<Claim> {
    let views = both(trials, "main/published", "main/rigorous");
    let gather = |measure: &dyn Fn(TrialView<'_>) -> Vec<Option<Measurement>>| gather(&views, measure);
    vec![
        claim(
            ("fewer-than-rs-linucb", "Figure 3b"),
            "Both rarely-switching algorithms change far less often than RS-LinUCB.",
            "about 250 changes for RS-LinUCB",
            gather(&|view| {
                vec![
                    view.changes_above("rs-linucb", "rs-greedy"),
                    view.changes_above("rs-linucb", "rs-conservative"),
                    view.is("changes of rs-linucb", view.changes("rs-linucb"), Condition::Within(150.0, 400.0)),
                ]
            }),
        ),
        claim(
            ("conservative-improves-more", "Figure 3d"),
            "A larger share of RS-conservative's changes lowers expected regret than of RS-greedy's or RS-LinUCB's.",
            "RS-conservative highest",
            gather(&|view| {
                vec![
                    view.improving_above("rs-conservative", "rs-greedy"),
                    view.improving_above("rs-conservative", "rs-linucb"),
                ]
            }),
        ),
        claim(
            ("greedy-changes-are-chance", "Figure 3d"),
            "Of RS-greedy's and RS-LinUCB's changes about half are improvements.",
            "about 50 % each",
            gather(&|view| {
                ["rs-greedy", "rs-linucb"]
                    .iter()
                    .map(|name| {
                        view.is(format!("% improving of {name}"), view.improving(name), Condition::Within(40.0, 60.0))
                    })
                    .collect()
            }),
        ),
        claim(
            ("feasible-change-more", "Figure 3b"),
            "The feasible algorithms change more often than the rarely-switching ones.",
            "more changes for both",
            gather(&|view| {
                vec![
                    view.changes_above("feasible-greedy", "rs-greedy"),
                    view.changes_above("feasible-conservative", "rs-conservative"),
                ]
            }),
        ),
        claim(
            ("feasible-conservative-improves-less", "Figure 3d"),
            "Feasible-conservative's changes are less often improvements than RS-conservative's.",
            "clearly lower",
            gather(&|view| vec![view.improving_above("rs-conservative", "feasible-conservative")]),
        ),
    ]
}

/// The grid and the sweeps.
pub(super) fn supplement(trials: &TrialResults) -> Vec<Claim> {
    let mut planar = Vec::new();
    let mut higher = Vec::new();
    for (profile, family) in [("published", "grid"), ("rigorous", "grid-rigorous")] {
        for (arms, dimension) in GRID_ARMS.into_iter().flat_map(|arms| GRID_DIMENSIONS.map(|d| (arms, d))) {
            let view = TrialView { profile, results: trials.results(&grid_id(family, arms, dimension)) };
            for rs in ["rs-greedy", "rs-conservative"] {
                let (one, other) = if dimension == 2 { (rs, "linucb") } else { ("linucb", rs) };
                let what = format!("k={arms}, d={dimension}: regret per step of {one} minus that of {other}");
                let found =
                    view.is(what, view.difference(one, other, ContestantResult::regrets), Condition::Above(0.0));
                if dimension == 2 { planar.extend(found) } else { higher.extend(found) }
            }
        }
    }
    let swept =
        |setting: &str, profile: &'static str, values: fn(&ContestantResult) -> Vec<f64>, is: Condition, what: &str| {
            ["rs-greedy", "rs-conservative"].map(|name| {
                let mut series: Vec<Vec<f64>> = SWEPT
                    .iter()
                    .filter_map(|value| trials.result(&format!("{setting}/{profile}/{value}"), name))
                    .map(values)
                    .collect();
                series.sort_by(|one, other| Estimate::of(one).mean.total_cmp(&Estimate::of(other).mean));
                let between = match series.as_slice() {
                    [least, .., most] => ratio(most, least),
                    _ => exactly(f64::NAN),
                };
                measurement(profile, format!("{name}: largest over smallest {what}"), between, is)
            })
        };
    let both_profiles = |setting: &str, regret: Condition, changes: Condition| -> Vec<Measurement> {
        ["published", "rigorous"]
            .into_iter()
            .flat_map(|profile| {
                let regrets = swept(setting, profile, ContestantResult::regrets, regret, "regret per step");
                let counts = swept(setting, profile, ContestantResult::change_counts, changes, "number of changes");
                regrets.into_iter().chain(counts)
            })
            .collect()
    };
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
        claim(
            ("tolerance", "Suppl. figure, Δ on IHDP"),
            "Δ from 1e-4 to 1e-1 hardly affects regret, but the number of changes.",
            "little impact on regret; changes differ",
            both_profiles("tolerance", Condition::AtMost(1.25), Condition::Above(1.5)),
        ),
        claim(
            ("penalty", "Suppl. figure, λ on IHDP"),
            "λ from 1e-4 to 1e-1 affects both regret and the number of changes.",
            "both differ",
            both_profiles("penalty", Condition::Above(1.1), Condition::Above(1.1)),
        ),
    ]
}

/// Our own claim, by the same rules.
pub(super) fn house(trials: &TrialResults) -> Claim {
    let mut measured = Vec::new();
    for arms in GRID_ARMS {
        for dimension in GRID_DIMENSIONS.into_iter().chain([WIDE]) {
            let view = TrialView { profile: "rigorous", results: trials.results(&grid_id("house", arms, dimension)) };
            let at = format!("k={arms}, d={dimension}");
            measured.extend(view.is(
                format!("{at}: regret of rarely over LinUCB's"),
                view.regret_ratio("rarely", "linucb"),
                Condition::AtMost(1.1),
            ));
            measured.extend(view.is(
                format!("{at}: changes of rarely"),
                view.changes("rarely"),
                Condition::AtMost(10.0),
            ));
            measured.extend(view.is(
                format!("{at}: % of them that improve"),
                view.improving("rarely"),
                Condition::Above(90.0),
            ));
        }
    }
    let text = "The house default reaches LinUCB's regret with a handful of changes, nearly all of them improvements, over the whole grid.";
    Claim { ours: true, ..claim(("house-default", "ours, k × d grid"), text, "–", measured) }
}
