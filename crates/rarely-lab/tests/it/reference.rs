//! What the paper's own program gives: the numbers of docs/reference.md, from a run of theirs that we did not write.

use std::sync::Arc;

use rarely_core::{Algorithm, Profile};
use rarely_data::{Counterfactuals, ihdp};
use rarely_lab::{
    Contestant, ContestantResult, CounterfactualTable, Estimate, Experiment, RunContext, Summary, WorldSource,
};

fn published(algorithms: &[Algorithm]) -> Vec<Contestant> {
    algorithms.iter().map(|&algorithm| Contestant::new(algorithm, Profile::Published)).collect()
}

/// Within 4 combined standard errors, as docs/reference.md asks.
fn near(what: &str, ours: Estimate, (mean, standard_error): (f64, f64)) {
    let combined = ours.standard_error.hypot(standard_error);
    let apart = (ours.mean - mean).abs() / combined;
    println!(
        "{what}: {:.4} ± {:.4}, theirs {mean} ± {standard_error}: {apart:.1} apart",
        ours.mean, ours.standard_error
    );
    assert!(apart <= 4.0, "{what}: {ours:?} is {apart:.1} standard errors from {mean} ± {standard_error}");
}

/// Their table at k = 4, d = 5, T = 10,000: regret per step at 1,000 and 10,000, changes, % of rounds below the best arm, % below
/// 0.9 × it; ten draws of theirs, fifty of ours.
#[test]
fn the_published_profile_behaves_as_published() {
    type Row = (Algorithm, [(f64, f64); 2], Option<(f64, f64)>, (f64, f64), (f64, f64));
    let rows: [Row; 8] = [
        (Algorithm::Greedy, [(0.016, 0.003), (0.0052, 0.0024)], None, (63.0, 14.0), (0.32, 0.06)),
        (Algorithm::LinUcb, [(0.240, 0.014), (0.073, 0.005)], None, (92.0, 8.0), (13.4, 4.4)),
        (Algorithm::RsLinUcb, [(0.242, 0.014), (0.073, 0.005)], Some((275.0, 10.0)), (92.0, 8.0), (13.7, 4.3)),
        (Algorithm::FeasibleGreedy, [(0.024, 0.004), (0.0071, 0.0023)], Some((7.5, 0.7)), (73.0, 14.0), (0.52, 0.14)),
        (
            Algorithm::FeasibleConservative,
            [(0.040, 0.016), (0.022, 0.015)],
            Some((1296.0, 79.0)),
            (82.0, 12.0),
            (0.61, 0.19),
        ),
        (Algorithm::RsConservative, [(0.058, 0.020), (0.013, 0.004)], Some((11.1, 0.7)), (76.0, 13.0), (1.6, 0.6)),
        (Algorithm::RsGreedy, [(0.045, 0.013), (0.0087, 0.0017)], Some((5.7, 0.4)), (73.0, 14.0), (1.0, 0.4)),
        (Algorithm::Clucb, [(0.085, 0.010), (0.065, 0.003)], None, (91.0, 9.0), (0.001, 0.001)),
    ];
    let algorithms = rows.map(|row| row.0);
    let experiment = Experiment { judged_on: 2_000, ..Experiment::new(WorldSource::linear(4, 5), 50, 1) };
    let results = experiment.run(&published(&algorithms), &RunContext::quiet()).expect("it runs");
    for ((algorithm, regret, changes, below, nine_tenths), outcome) in rows.into_iter().zip(&results) {
        let row = outcome.summary();
        // clucb's regret at 1,000 depends on the draw of the arms more than on anything else: it is compared below.
        if algorithm != Algorithm::Clucb {
            near(&format!("{algorithm}, regret at 1,000"), row.regret_per_step_tenth, regret[0]);
        }
        near(&format!("{algorithm}, regret at 10,000"), row.regret_per_step, regret[1]);
        if let Some(changes) = changes {
            near(&format!("{algorithm}, changes"), row.changes, changes);
        }
        let runs = outcome.runs.iter();
        let shares: Vec<f64> = runs.clone().map(|run| run.rounds_below_baseline as f64 / 100.0).collect();
        near(&format!("{algorithm}, % below the best arm"), Estimate::of(&shares), below);
        let shares: Vec<f64> = runs.map(|run| run.rounds_below_nine_tenths as f64 / 100.0).collect();
        near(&format!("{algorithm}, % below 0.9 × the best arm"), Estimate::of(&shares), nine_tenths);
        assert_eq!(row.coverage, Some(0.0), "{algorithm}: the truth is outside the published set in every run");
    }
    clucb_agrees_on_draws_like_theirs(&results[1], &results[7]);
}

/// clucb plays the best fixed arm in four of its first five rounds, so its regret at 1,000 is mostly that arm's own regret. This
/// differs greatly between draws of the arms (mean 0.09, standard deviation 0.11), and the authors' ten draws are not typical: LinUCB
/// is below the best arm in 92 ± 8 % of their rounds, that is, in about nine of ten draws the best fixed arm is nearly optimal. It
/// is so in 56 of 100 draws. Weighted nine to one, as theirs are, our draws give their number; all draws alike give 0.13 to 0.15.
fn clucb_agrees_on_draws_like_theirs(linucb: &ContestantResult, clucb: &ContestantResult) {
    let at = clucb.trace().iter().position(|point| point.round == 1_000).expect("a checkpoint at 1,000");
    let (mut nearly_optimal, mut others) = (Vec::new(), Vec::new());
    for (optimistic, run) in linucb.runs.iter().zip(&clucb.runs) {
        let draws = if optimistic.rounds_below_baseline > 9_000 { &mut nearly_optimal } else { &mut others };
        draws.push(run.regret[at] / 1_000.0);
    }
    println!("the best fixed arm is nearly optimal in {} of {} draws", nearly_optimal.len(), linucb.runs.len());
    let [like_theirs, unlike] = [nearly_optimal, others].map(|draws| Estimate::of(&draws));
    println!("clucb, regret at 1,000: {like_theirs:?} there, {unlike:?} elsewhere");
    let weighted = Estimate {
        mean: 0.9 * like_theirs.mean + 0.1 * unlike.mean,
        standard_error: (0.9 * like_theirs.standard_error).hypot(0.1 * unlike.standard_error),
    };
    near("clucb, regret at 1,000 on draws like theirs", weighted, (0.085, 0.010));
    assert!(unlike.mean > 1.5 * like_theirs.mean, "the draw explains the difference: {like_theirs:?} {unlike:?}");
}

/// The ten realisations that docs/reference.md is about.
fn children() -> Vec<Counterfactuals> {
    ihdp::realisations(10).expect("realisations")
}

fn play(tables: Vec<Counterfactuals>, contestants: &[Contestant], runs: u64) -> Vec<ContestantResult> {
    let tables = Arc::new(CounterfactualTable::new(tables).expect("tables of one shape"));
    Experiment::new(WorldSource::Tables(tables), runs, 1).run(contestants, &RunContext::quiet()).expect("it runs")
}

const FIGURE_FOUR: [Algorithm; 8] = [
    Algorithm::Greedy,
    Algorithm::LinUcb,
    Algorithm::RsLinUcb,
    Algorithm::FeasibleGreedy,
    Algorithm::FeasibleConservative,
    Algorithm::RsGreedy,
    Algorithm::RsConservative,
    Algorithm::Random,
];

/// Their program as it is on the first realisation, 20 shuffles, and with the pairing repaired: regret at the end and changes. They
/// give no errors; ours, for as many shuffles, are doubled for the difference of two such means.
#[test]
fn figure_four_as_published() {
    let as_run = [
        (0.201, None),
        (0.785, None),
        (0.785, Some(349.0)),
        (0.221, Some(54.0)),
        (0.224, Some(125.0)),
        (0.229, Some(34.0)),
        (0.233, Some(38.0)),
        (2.04, None),
    ];
    let repaired = [
        (0.186, None),
        (0.711, None),
        (0.708, Some(354.0)),
        (0.195, Some(51.0)),
        (0.201, Some(124.0)),
        (0.206, Some(32.0)),
        (0.208, Some(36.0)),
        (2.04, None),
    ];
    for (shifted, rows) in [(true, as_run), (false, repaired)] {
        let first = children().remove(0);
        let table = if shifted { first.paired_with_next() } else { first };
        let results = play(vec![table], &published(&FIGURE_FOUR), 20);
        for (outcome, (regret, changes)) in results.iter().zip(rows) {
            let row = outcome.summary();
            let what = format!("{}, shifted {shifted}", outcome.name());
            near(&format!("{what}: regret"), row.regret_per_step, (regret, row.regret_per_step.standard_error));
            if let Some(changes) = changes {
                near(&format!("{what}: changes"), row.changes, (changes, row.changes.standard_error));
            }
        }
    }
}

/// The off-by-one pairing is ruinous where treating everyone is not nearly optimal: greedy 0.55 → 5.4 on realisations 9–10.
#[test]
fn the_pairing_matters_on_other_realisations() {
    let last: Vec<Counterfactuals> = children().into_iter().skip(8).collect();
    let shifted: Vec<Counterfactuals> = last.iter().cloned().map(Counterfactuals::paired_with_next).collect();
    let regret = |tables| {
        let results = play(tables, &published(&[Algorithm::Greedy]), 20);
        results[0].summary().regret_per_step.mean
    };
    let (right, wrong) = (regret(last), regret(shifted));
    println!("greedy on realisations 9–10: {right:.2} repaired, {wrong:.2} shifted");
    assert!(right < 1.0 && wrong > 4.0, "{right} {wrong}");
}

/// Valid sets on the ten realisations: LinUCB and RS-LinUCB 0.89 with 369 changes (docs/reference.md).
#[test]
fn figure_four_with_valid_sets() {
    let contestants: Vec<Contestant> = [Algorithm::LinUcb, Algorithm::RsLinUcb, Algorithm::Random]
        .into_iter()
        .map(|algorithm| {
            let mut contestant = Contestant::new(algorithm, Profile::Rigorous);
            contestant.declared.noise = Some(1.0);
            contestant
        })
        .collect();
    let rows: Vec<Summary> = play(children(), &contestants, 50).iter().map(ContestantResult::summary).collect();
    near("linucb", rows[0].regret_per_step, (0.89, rows[0].regret_per_step.standard_error));
    near("rs-linucb", rows[1].regret_per_step, (0.89, rows[1].regret_per_step.standard_error));
    near("rs-linucb, changes", rows[1].changes, (369.0, rows[1].changes.standard_error));
    near("random", rows[2].regret_per_step, (3.3, rows[2].regret_per_step.standard_error));
}
