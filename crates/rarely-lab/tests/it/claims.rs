//! Every claim that was added can fail: results made by hand, one set in which it holds and one in which it does not.

use rarely_core::{Algorithm, Profile};
use rarely_lab::reproduction::{
    Claim, ClaimVerdict, CounterRow, Feasibility, LINEAR_REGRET, Reading, ReproductionEvidence, ReproductionSize,
    SWEPT, TrialResults, claims, swept_id, theorem_three_gap,
};
use rarely_lab::{ChangeRecord, Contestant, ContestantResult, Run};

const ROUNDS: u64 = 100;
const RUNS: usize = 40;

/// What a made-up contestant does, the same in every run but for a little noise.
#[derive(Clone, Copy)]
struct Does {
    name: &'static str,
    regret: f64,
    changes: usize,
    below: u64,
    below_nine_tenths: u64,
}

const fn does(name: &'static str, regret: f64) -> Does {
    Does { name, regret, changes: 3, below: 50, below_nine_tenths: 20 }
}

fn result(done: Does) -> ContestantResult {
    let change = || ChangeRecord { round: 1, gain: 0.1, changed_share: 0.5, ..ChangeRecord::default() };
    let run = |at: usize| {
        // ± 1 %, so that intervals are not points.
        let noise = 1.0 + 0.01 * (at % 3) as f64 - 0.01;
        let total = done.regret * noise * ROUNDS as f64;
        Run {
            regret: vec![total / 2.0, total],
            rounds_below_baseline: done.below,
            rounds_below_nine_tenths: done.below_nine_tenths,
            rounds_outside: None,
            changes: (0..done.changes).map(|_| change()).collect(),
            ..Run::default()
        }
    };
    let contestant = Contestant::new(Algorithm::RsGreedy, Profile::Rigorous).named(done.name);
    ContestantResult::of_runs(contestant, vec![ROUNDS / 2, ROUNDS], (0..RUNS).map(run).collect())
}

fn trial(id: &str, all: &[Does]) -> (String, Vec<ContestantResult>) {
    (id.to_owned(), all.iter().copied().map(result).collect())
}

fn judged(
    trials: Vec<(String, Vec<ContestantResult>)>,
    counter: &[CounterRow],
    feasible: &[Feasibility],
    id: &str,
) -> Claim {
    let size = ReproductionSize { full: false, at_most: 50, rounds: ROUNDS, seed: 1 };
    let trials = TrialResults::new(size, trials);
    let gap = theorem_three_gap().expect("a case");
    let evidence = ReproductionEvidence { trials: &trials, counter, feasible, gap, children: None };
    let found = claims(&evidence).into_iter().find(|claim| claim.id == id);
    found.unwrap_or_else(|| panic!("no claim {id}"))
}

fn verdict(trials: Vec<(String, Vec<ContestantResult>)>, id: &str) -> ClaimVerdict {
    judged(trials, &[], &[], id).verdict()
}

const MAIN: &str = "main/rigorous";

/// Figure 3: what the others do is the same, what the claim is about differs.
#[test]
fn claims_of_the_main_experiment() {
    use ClaimVerdict::{DoesNotHold, Holds};
    let others = [does("greedy", 0.1), does("linucb", 0.5), does("rs-linucb", 0.5)];
    let with = |more: &[Does]| vec![trial(MAIN, &[&others[..], more].concat())];
    let rs = |regret| [does("rs-greedy", regret), does("rs-conservative", regret)];
    for (regret, expected) in [(0.14, Holds), (0.16, DoesNotHold)] {
        assert_eq!(verdict(with(&rs(regret)), "rs-almost-greedy"), expected, "{regret}: greedy has 0.1, not LinUCB");
    }
    let feasible = |regret| [does("feasible-greedy", 0.2), does("feasible-conservative", regret)];
    for (regret, expected) in [(0.4, Holds), (0.6, DoesNotHold)] {
        assert_eq!(verdict(with(&feasible(regret)), "feasible-good-regret"), expected, "{regret}");
    }
    for (below, below_nine_tenths, expected) in [(40, 10, Holds), (60, 10, DoesNotHold), (40, 30, DoesNotHold)] {
        let quick = rs(0.1).map(|one| Does { below, below_nine_tenths, ..one });
        assert_eq!(verdict(with(&quick), "quicker-above-baseline"), expected, "{below} and {below_nine_tenths}");
    }
}

/// Figure 3c, in both columns: each claim looks at its own.
#[test]
fn claims_of_rounds_below_the_baseline() {
    use ClaimVerdict::{DoesNotHold, Holds};
    let table = [
        ("linucb-below-baseline", "linucb-below-nine-tenths", ["linucb", "rs-linucb"], 6, 50),
        ("clucb-never-below-baseline", "clucb-never-below", ["clucb", "greedy"], 0, 50),
        ("seldom-below-baseline", "seldom-below-nine-tenths", ["rs-greedy", "rs-conservative"], 2, 50),
    ];
    for (printed, counted, names, good, bad) in table {
        let one = |below, below_nine_tenths| {
            vec![trial(MAIN, &names.map(|name| Does { below, below_nine_tenths, ..does(name, 0.1) }))]
        };
        assert_eq!(
            (verdict(one(good, bad), printed), verdict(one(bad, good), printed)),
            (Holds, DoesNotHold),
            "{printed}"
        );
        assert_eq!(
            (verdict(one(bad, good), counted), verdict(one(good, bad), counted)),
            (Holds, DoesNotHold),
            "{counted}"
        );
    }
}

/// λ = 1e-2 has to be close to best in regret and in changes, under each reading by itself.
#[test]
fn the_best_penalty() {
    use ClaimVerdict::{DoesNotHold, Holds};
    let sweep = |profile, at_best: Does| {
        let one = move |&value: &f64| {
            let done = if value == 1e-2 { at_best } else { Does { changes: 10, ..does("", 0.2) } };
            let both = ["rs-greedy", "rs-conservative"].map(|name| Does { name, ..done });
            trial(&swept_id("penalty", profile, value), &both)
        };
        SWEPT.iter().map(one).collect::<Vec<_>>()
    };
    let best = Does { changes: 9, ..does("", 0.22) };
    let (costly, restless) = (Does { regret: 0.3, ..best }, Does { changes: 20, ..best });
    for (done, expected) in [(best, Holds), (costly, DoesNotHold), (restless, DoesNotHold)] {
        assert_eq!(verdict(sweep(Reading::Rigorous, done), "penalty-best"), expected);
    }
    let both = [sweep(Reading::Repaired, costly), sweep(Reading::Rigorous, best)].concat();
    let found = judged(both, &[], &[], "penalty-best");
    let repaired = found.reading(Reading::Repaired).expect("measured").judgement.verdict;
    assert_eq!((repaired, found.verdict()), (DoesNotHold, Holds));
}

/// Children: the authors' own run, the repaired one and valid sets are judged apart.
#[test]
fn ihdp_is_judged_as_published_and_repaired() {
    let run = |id, rs: f64| {
        let all = [does("greedy", 0.2), does("linucb", 0.8), does("rs-linucb", 0.8)];
        trial(id, &[&all[..], &[does("rs-greedy", rs), does("rs-conservative", rs)]].concat())
    };
    let trials = vec![run("ihdp/authors", 0.2), run("ihdp/published", 0.9), run("ihdp/rigorous", 0.3)];
    let found = judged(trials, &[], &[], "ihdp-faster");
    let verdicts: Vec<_> = found.readings.iter().map(|one| (one.profile, one.judgement.verdict, one.runs)).collect();
    let runs = Some(RUNS as u64);
    let expected = [
        (Reading::Published, ClaimVerdict::Holds, runs),
        (Reading::Repaired, ClaimVerdict::DoesNotHold, runs),
        (Reading::Rigorous, ClaimVerdict::Holds, runs),
    ];
    assert_eq!(verdicts, expected);
}

fn row(rounds: u64, regret: f64, bound: f64, bound_squared: f64, constant: f64) -> CounterRow {
    CounterRow { rounds, regret, bound, bound_squared, constant, repaired: 0.0, changes: 0 }
}

/// Theorem 1 needs the regret to be below its bound under both readings of β, and its corollary a constant that does not grow.
#[test]
fn theorem_one_and_its_corollary() {
    use ClaimVerdict::{DoesNotHold, Holds};
    let rows = |first: f64, second: f64, constant: f64| {
        [row(10_000, first, 100.0, 200.0, 1.0), row(100_000, second, 100.0, 200.0, constant)]
    };
    for (rows, theorem, corollary) in [
        (rows(99.0, 199.0, 1.0), Holds, Holds),
        (rows(101.0, 199.0, 1.0), DoesNotHold, Holds),
        (rows(99.0, 201.0, 1.0), DoesNotHold, Holds),
        (rows(99.0, 199.0, 1.1), Holds, DoesNotHold),
    ] {
        let found = judged(Vec::new(), &rows, &[], "theorem-1");
        assert_eq!((found.verdict(), found.measured.len()), (theorem, 2), "{rows:?}");
        assert!(found.note.is_some_and(|note| note.contains("squared radius")));
        assert_eq!(judged(Vec::new(), &rows, &[], "corollary-1").verdict(), corollary, "{rows:?}");
    }
}

/// One excluded arm refutes; the exact interval of a difference, which the paper does not use, does not.
#[test]
fn feasible_algorithms() {
    use ClaimVerdict::{DoesNotHold, Holds};
    let found = |algorithm, excluded, excluded_exactly| Feasibility {
        algorithm,
        runs: 2,
        rounds: 1_000,
        excluded,
        excluded_exactly,
        despite_plausible: 0,
    };
    let pairs = [
        ("greedy-linucb-feasible", [Algorithm::Greedy, Algorithm::LinUcb]),
        ("rs-feasible", [Algorithm::RsGreedy, Algorithm::RsConservative]),
    ];
    for (id, [one, other]) in pairs {
        for (excluded, exactly, expected) in [(0, 0, Holds), (0, 5, Holds), (1, 5, DoesNotHold)] {
            let all = [found(one, 0, 0), found(other, excluded, exactly)];
            let claim = judged(Vec::new(), &[], &all, id);
            assert_eq!(claim.verdict(), expected, "{id} {excluded} {exactly}");
            assert_eq!(claim.runs, Some(2));
        }
    }
}

/// A run counts if it loses the whole gap in every round of its second half.
#[test]
fn linear_regret_of_linucb() {
    let (id, [joint, per_arm]) = LINEAR_REGRET;
    let with = |regrets: &[f64]| {
        let run = |&regret: &f64| Run { regret: vec![5.0, 5.0 + regret * 50.0], ..Run::default() };
        let of = |name: &str, regrets: &[f64]| {
            let contestant = Contestant::new(Algorithm::LinUcb, Profile::Rigorous).named(name);
            ContestantResult::of_runs(contestant, vec![50, 100], regrets.iter().map(run).collect())
        };
        vec![(id.to_owned(), vec![of(joint, &[0.0, 0.0]), of(per_arm, regrets)])]
    };
    let seen = judged(with(&[0.0, 0.1, 0.05]), &[], &[], "linucb-linear-regret");
    assert_eq!((seen.verdict(), seen.runs), (ClaimVerdict::Holds, Some(3)));
    assert!((seen.measured[0].value - 100.0 / 3.0).abs() < 1e-9);
    assert!(seen.note.is_some_and(|note| note.contains("0 of 2 runs")));
    let unseen = judged(with(&[0.0, 0.09, 0.05]), &[], &[], "linucb-linear-regret");
    assert_eq!(unseen.verdict(), ClaimVerdict::NotSettled, "what was not seen is not refuted");
}

/// The numbers of the counter-example to Theorem 3 are said with the claim.
#[test]
fn theorem_three_says_its_numbers() {
    let found = judged(Vec::new(), &[], &[], "theorem-3");
    assert_eq!(found.verdict(), ClaimVerdict::DoesNotHold);
    assert_eq!(found.note, Some(theorem_three_gap().expect("a case").words()));
}
