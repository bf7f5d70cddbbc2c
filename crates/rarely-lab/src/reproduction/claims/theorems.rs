//! What the paper proves, and what it says of LinUCB and of convergence.

use rarely_core::{Algorithm, TheoremThree};

use super::{Claim, Condition, MeasuredValue, Reading, Unjudged, claim};
use crate::reproduction::{
    Feasibility, LINEAR_REGRET, LINEAR_REGRET_GAP, ReproductionEvidence, TheoremThreeGap, TrialResults,
};
use crate::theorem_one::{Beta, PrintedBound};

pub(super) fn theorems(evidence: &ReproductionEvidence<'_>) -> Vec<Claim> {
    let mut all = vec![theorem_one(evidence), corollary_one(evidence)];
    all.extend(feasible(evidence));
    all.extend(theorem_three(evidence));
    all.push(linear_regret(evidence.trials));
    all
}

fn exact(what: impl Into<String>, value: f64, condition: Condition) -> Unjudged {
    Unjudged::new(Reading::Exact, what, MeasuredValue::Exact(value), condition)
}

fn theorem_one(evidence: &ReproductionEvidence<'_>) -> Claim {
    let over = |rounds: u64, what: &str, bound: fn(&crate::reproduction::CounterRow) -> f64| {
        let row = evidence.counter.iter().find(|row| row.rounds == rounds)?;
        let what = format!("regret over the printed bound in the counter-example, T = {rounds}, β {what}");
        Some(exact(what, row.regret / bound(row), Condition::AtMost(1.0)))
    };
    let found = [
        over(10_000, "a radius, as in Theorem B1", |row| row.bound),
        over(100_000, "a squared radius, as in the confidence set", |row| row.bound_squared),
    ];
    let passed = |beta, dimension| PrintedBound { beta, dimension }.passed_at();
    let note = format!(
        "The counter-example loses 0.4 in every round and passes the printed bound at T = {} if β is a radius, at T = {} if it is a \
         squared radius. With kd for d, which the proof would need, that is T = {} and T = {}.",
        passed(Beta::Radius, 1.0),
        passed(Beta::SquaredRadius, 1.0),
        passed(Beta::Radius, 2.0),
        passed(Beta::SquaredRadius, 2.0),
    );
    claim(
        ("theorem-1", "Theorem 1"),
        "Every feasible algorithm has a regret of order d√T, with an explicit bound.",
        "regret at most the printed bound",
        found.into_iter().flatten().collect(),
    )
    .noted(note)
}

fn corollary_one(evidence: &ReproductionEvidence<'_>) -> Claim {
    let (mut found, mut note) = (Vec::new(), None);
    if let [first, .., last] = evidence.counter {
        let what = format!(
            "K that the counter-example needs at T = {} over the K that it needs at T = {}",
            last.rounds, first.rounds
        );
        found.push(exact(what, last.constant / first.constant, Condition::AtMost(1.0)));
        let needs: Vec<String> =
            evidence.counter.iter().map(|row| format!("{:.1} at T = {}", row.constant, row.rounds)).collect();
        note = Some(format!(
            "With δ = 1/T the counter-example still loses 0.4 in every round: it needs K = {}.",
            needs.join(", ")
        ));
    }
    let claim = claim(
        ("corollary-1", "Corollary 1"),
        "With δ = 1/T the expected regret of every feasible algorithm is at most K·d·√T·ln(TL), for some constant K.",
        "at most K·d·√T·log(TL)",
        found,
    );
    Claim { note, ..claim }
}

fn feasible(evidence: &ReproductionEvidence<'_>) -> Vec<Claim> {
    let counted = |found: &Feasibility, cases: u64, what: &str| {
        let count = MeasuredValue::Count { cases, among: found.rounds, runs: found.runs };
        let what = format!("% of {} rounds in which {} {what}", found.rounds, found.algorithm);
        Unjudged::new(Reading::Exact, what, count, Condition::Never)
    };
    let of = |algorithms: &[Algorithm], cases: fn(&Feasibility) -> u64, what: &str| -> Vec<Unjudged> {
        let chosen = evidence.feasible.iter().filter(|found| algorithms.contains(&found.algorithm));
        chosen.map(|found| counted(found, cases(found), what)).collect()
    };
    let percent = |algorithms: &[Algorithm]| -> String {
        let chosen = evidence.feasible.iter().filter(|found| algorithms.contains(&found.algorithm));
        let line = |found: &Feasibility| {
            let percent = 100.0 * found.excluded_exactly as f64 / found.rounds.max(1) as f64;
            format!("{} in {percent:.2} % of rounds", found.algorithm)
        };
        chosen.map(line).collect::<Vec<_>>().join(", ")
    };
    let exactly = |algorithms: &[Algorithm]| {
        format!(
            "The interval of the difference of two arms rules out a little more than the arms' own intervals, by which the paper \
             defines exclusion. By it an excluded arm is played by {}.",
            percent(algorithms)
        )
    };
    let excluded = "plays an arm whose interval is wholly below another arm's";
    let everyday = [Algorithm::Greedy, Algorithm::LinUcb];
    let switching = [Algorithm::RsGreedy, Algorithm::RsConservative];
    let with_rule =
        [Algorithm::BoundaryGreedy, Algorithm::BoundaryConservative, Algorithm::RsGreedy, Algorithm::RsConservative];
    vec![
        claim(
            ("greedy-linucb-feasible", "after Corollary 1"),
            "Greedy and LinUCB are feasible algorithms: they never play an excluded arm.",
            "both are feasible",
            of(&everyday, |found| found.excluded, excluded),
        )
        .noted(exactly(&everyday)),
        claim(
            ("theorem-2", "Theorem 2"),
            "A policy whose boundaries are all plausible never plays an excluded arm.",
            "never",
            of(
                &with_rule,
                |found| found.despite_plausible,
                "plays an excluded arm although all its boundaries are plausible",
            ),
        ),
        claim(
            ("rs-feasible", "Discussion"),
            "The rarely-switching algorithms, as run, are feasible: they never play an arm that their data rule out.",
            "both are feasible",
            of(&switching, |found| found.excluded, excluded),
        )
        .noted(exactly(&switching)),
    ]
}

fn theorem_three(evidence: &ReproductionEvidence<'_>) -> Vec<Claim> {
    let raised = |condition: fn(&TheoremThree) -> bool, words: &str| -> Vec<Unjudged> {
        let runs = [("theorem-3/greedy", "without exploration"), ("theorem-3/equipoise", "with equipoise 0.05")];
        let count = |(id, how): (&str, &str)| {
            let result = evidence.trials.results(id).first()?;
            let meets = |change: &&crate::play::ChangeRecord| change.theorem_three().is_some_and(|met| condition(&met));
            let changes: Vec<_> = result.certain_changes().filter(meets).collect();
            let cases = changes.iter().filter(|change| change.harms()).count() as u64;
            let what = format!("% of {} changes {words} that raise regret ({how})", changes.len());
            let found = MeasuredValue::Count { cases, among: changes.len() as u64, runs: result.runs.len() as u64 };
            Some(Unjudged::new(Reading::Exact, what, found, Condition::Never))
        };
        runs.into_iter().filter_map(count).collect()
    };
    let gap = evidence.gap;
    let mut four = raised(TheoremThree::holds_as_published, "that meet the paper's four conditions");
    let what = "gain of a change that meets all four, with the truth in the set, in a case built by hand";
    four.push(exact(what, gap.gain(), Condition::AtLeast(0.0)));
    vec![
        claim(
            ("theorem-3", "Theorem 3"),
            "In the plane, a change that meets four conditions does not raise expected regret, with high probability.",
            "never, while the sets hold",
            four,
        )
        .noted(gap.words()),
        claim(
            ("theorem-3-repaired", "Theorem 3, with a fifth condition"),
            "With a fifth condition (the reversed old boundary is implausible) it does not raise expected regret.",
            "–",
            raised(TheoremThree::certifies, "that meet all five conditions"),
        )
        .of_ours(),
    ]
}

impl TheoremThreeGap {
    /// The case in words.
    pub fn words(&self) -> String {
        format!(
            "By hand: two arms with V = 400·I each, λ = 1, σ = 0.1, L = 1, δ = 0.05. Boundaries whose normal is up to {:.0}° from the \
             estimate's are plausible. The rule is at {:.0}°: implausible, but plausible with its arms exchanged ({:.0}°). The \
             smallest update turns it by {:.0}° to {:.0}° and meets all four conditions. The truth is at {:.0}°, at {:.3} of the radius \
             from the estimate. At the context at {:.0}° the mean reward falls from {:.6} to {:.6}.",
            self.plausible_degrees,
            self.old_degrees,
            self.old_degrees - 180.0,
            self.moved_degrees,
            self.new_degrees,
            self.truth_degrees,
            self.truth_distance,
            self.context_degrees,
            self.before,
            self.after,
        )
        .replace('-', "−")
    }
}

/// LinUCB in a world in which bad luck can hide the better arm.
fn linear_regret(trials: &TrialResults) -> Claim {
    let stuck = |name: &str| {
        let result = trials.result(LINEAR_REGRET.0, name)?;
        let worse = |regret: &&f64| **regret > LINEAR_REGRET_GAP - 1e-9;
        let cases = result.second_half_regrets().iter().filter(worse).count() as u64;
        Some((cases, result.runs.len() as u64, result.rounds()))
    };
    let [joint, per_arm] = LINEAR_REGRET.1;
    let found = stuck(per_arm).map(|(cases, runs, rounds)| {
        let what = format!(
            "% of {runs} runs in which {per_arm} plays only the worse arm in the second half of {rounds} rounds"
        );
        Unjudged::new(Reading::Exact, what, MeasuredValue::Count { cases, among: runs, runs }, Condition::Sometimes)
    });
    let note = stuck(joint).map(|(cases, runs, _)| {
        format!(
            "k=2, d=1, s=1, θ=(0.5, 0.6), σ=1, δ=0.5, λ=0.01. A radius that grows only with its own arm's data stays put while the arm is \
             not played. Theorem B1's joint radius grows with every round, so that each arm is tried again sooner or later: with it, {cases} \
             of {runs} runs."
        )
    });
    let claim = claim(
        ("linucb-linear-regret", "Discussion"),
        "LinUCB, too, can have linear regret in a run, with a probability above 0.",
        "non-zero probability",
        found.into_iter().collect(),
    );
    Claim { note, ..claim }
}
