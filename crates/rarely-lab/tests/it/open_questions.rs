//! What the paper leaves open.

use rarely_lab::RunContext;
use rarely_lab::reproduction::{OpenQuestions, ReproductionSize, TrialResults, TwoArmedTrial};

/// With two rounds there is nothing to learn: one pair, or a guess, costs one gap on average.
#[test]
fn two_rounds_cost_one_gap() {
    let trial = TwoArmedTrial { gap: 0.3, noise: 1.0, rounds: 2 };
    assert!((trial.best_schedule().regret - 0.3).abs() < 1e-12);
}

/// Looking at the outcomes is worth something, and exploring costs half a gap per round.
#[test]
fn the_sequential_optimum_is_below_every_fixed_length() {
    for (gap, rounds) in [(0.1, 1_000), (0.5, 1_000), (1.0, 200)] {
        let trial = TwoArmedTrial { gap, noise: 1.0, rounds };
        let best = trial.best_schedule();
        assert!(best.regret < best.fixed_regret, "{best:?}");
        assert!(best.explored <= rounds as f64 && best.regret >= 0.5 * gap * best.explored, "{best:?}");
        for pairs in [0, 1, 10, 50] {
            assert!(best.fixed_regret <= trial.fixed_regret(pairs) + 1e-12);
        }
    }
}

/// Only the ratio of gap and noise matters, up to the unit of the outcomes.
#[test]
fn the_optimum_has_the_unit_of_the_outcomes() {
    let one = TwoArmedTrial { gap: 0.3, noise: 1.0, rounds: 400 }.best_schedule();
    let ten = TwoArmedTrial { gap: 3.0, noise: 10.0, rounds: 400 }.best_schedule();
    assert!((10.0 * one.regret - ten.regret).abs() < 1e-9 * ten.regret);
    assert!((one.explored - ten.explored).abs() < 1e-9 * one.explored);
}

/// With a declared list and a minimum gain no run has more changes than the bound, and each gains more than the minimum: δ = 1/1,000 for
/// each of 9 runs.
#[test]
fn changes_stay_below_their_bound() {
    let size = ReproductionSize { full: false, at_most: 3, rounds: 1_000, seed: 5 };
    let answers =
        OpenQuestions::of(&TrialResults::new(size, Vec::new()), &RunContext::quiet()).expect("they are played");
    let made: f64 = answers.bounds.iter().map(|row| row.changes.mean).sum();
    assert!(made > 0.0, "some change is made");
    for row in &answers.bounds {
        assert_eq!((row.broken, row.too_small), (0, 0), "{row:?}");
        assert!(row.changes.mean <= row.bound.mean);
    }
}
