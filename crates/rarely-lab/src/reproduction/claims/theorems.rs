//! What the paper proves.

use super::{Claim, Condition, Measurement, claim, exactly, measurement};
use crate::metrics::Interval95;
use crate::reproduction::{ReproductionEvidence, TheoremTwo};

pub(super) fn theorems(evidence: &ReproductionEvidence<'_>) -> Vec<Claim> {
    let ReproductionEvidence { trials, counter, feasible, gap, .. } = *evidence;
    let ratio = counter.iter().find(|row| row.rounds == 10_000).map_or(f64::NAN, |row| row.regret / row.bound);
    let share = |count: u64, found: &TheoremTwo| {
        let (count, rounds) =
            (usize::try_from(count).unwrap_or(usize::MAX), usize::try_from(found.rounds).unwrap_or(1));
        Interval95::share(&[(count, rounds)])
            .map_or(exactly(0.0), |share| if count == 0 { exactly(0.0) } else { share })
    };
    let two = feasible.iter().map(|found| {
        let what = format!(
            "% of rounds in which {} plays an excluded arm although all its boundaries are plausible",
            found.algorithm
        );
        measurement("exact", what, share(found.despite_plausible, found), Condition::AtMost(0.0))
    });
    let as_run = feasible.iter().filter(|found| found.algorithm.name().starts_with("rs-")).map(|found| {
        let what = format!("% of rounds in which {} plays an arm that its data rule out", found.algorithm);
        measurement("exact", what, share(found.excluded, found), Condition::AtMost(0.0))
    });
    let raised = |condition: &dyn Fn(rarely_core::TheoremThree) -> bool, words: &str| -> Vec<Measurement> {
        ["theorem-3/greedy", "theorem-3/equipoise"]
            .into_iter()
            .filter_map(|id| {
                let result = trials.results(id).first()?;
                let changes: Vec<_> =
                    result.certain_changes().filter(|change| change.theorem_three().is_some_and(condition)).collect();
                let worse = changes.iter().filter(|change| change.harms()).count();
                let what = format!(
                    "changes that raise regret among {} {words} ({})",
                    changes.len(),
                    if id.ends_with("greedy") { "without exploration" } else { "with equipoise 0.05" }
                );
                Some(measurement("exact", what, exactly(worse as f64), Condition::AtMost(0.0)))
            })
            .collect()
    };
    vec![
        claim(
            ("theorem-1", "Theorem 1"),
            "Every feasible algorithm has a regret of order d√T, with an explicit bound.",
            "regret at most the printed bound",
            vec![measurement(
                "exact",
                "regret over the printed bound in the counter-example, T = 10,000",
                exactly(ratio),
                Condition::AtMost(1.0),
            )],
        ),
        claim(
            ("theorem-2", "Theorem 2"),
            "A policy whose boundaries are all plausible never plays an excluded arm.",
            "never",
            two.collect(),
        ),
        claim(
            ("rs-feasible", "Discussion"),
            "The rarely-switching algorithms, as run, are feasible: they never play an arm that their data rule out.",
            "both are feasible",
            as_run.collect(),
        ),
        claim(
            ("theorem-3", "Theorem 3"),
            "In the plane, a change that meets four conditions does not raise expected regret, with high probability.",
            "never, while the sets hold",
            raised(&|theorem| theorem.holds_as_published(), "that meet the paper's four conditions")
                .into_iter()
                .chain([measurement(
                    "exact",
                    "gain of a change that meets all four, with the truth in the set, in a case built by hand",
                    exactly(gap.gain),
                    Condition::AtLeast(0.0),
                )])
                .collect(),
        ),
        Claim {
            ours: true,
            ..claim(
                ("theorem-3-repaired", "Theorem 3, with a fifth condition"),
                "With a fifth condition (the reversed old boundary is implausible) it does not raise expected regret.",
                "–",
                raised(&|theorem| theorem.certifies(), "that meet all five conditions"),
            )
        },
    ]
}
