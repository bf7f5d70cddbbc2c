//! The loop and its metrics.

use rarely_core::{Algorithm, Certificates, Settings, Shape};
use rarely_lab::{Contestant, Estimate, Experiment, Linear, Outcome, World};

fn run(algorithm: Algorithm, threads: usize) -> Outcome {
    let shape = Shape::new(4, 5).expect("a shape");
    let environment = Linear { shape, noise: 0.1 };
    let build = move |world: &World, _: &_| {
        Settings::new(4, 5)?
            .algorithm(algorithm)
            .noise(0.1)?
            .norm_bound(5.0)?
            .deployed(world.initial.clone())?
            .certificates(Certificates::Brief)
            .build()
    };
    let contestant = Contestant { name: algorithm.name().to_owned(), build: Box::new(build) };
    let experiment = Experiment { environment: &environment, rounds: 2_000, runs: 6, seed: 9, judged_on: 5_000 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| experiment.run(&contestant).expect("it runs"))
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for algorithm in [Algorithm::Rarely, Algorithm::RsConservative, Algorithm::Thompson] {
        let (one, many) = (run(algorithm, 1), run(algorithm, 3));
        let bits = |outcome: &Outcome| -> Vec<u64> {
            outcome.runs.iter().flat_map(|run| run.regret.iter().map(|value| value.to_bits())).collect()
        };
        assert_eq!(bits(&one), bits(&many), "{algorithm}");
        let rounds = |outcome: &Outcome| -> Vec<u64> {
            outcome.runs.iter().flat_map(|run| run.changes.iter().map(|change| change.round)).collect()
        };
        assert_eq!(rounds(&one), rounds(&many), "{algorithm}");
    }
}

/// The house default against LinUCB, as MATH.md §8 saw it at full size; here a smoke test of the whole loop.
#[test]
fn the_house_default_learns_with_few_changes() {
    let outcome = run(Algorithm::Rarely, 2);
    assert!(outcome.regret_per_step().mean < outcome.regret_per_step_tenth().mean);
    let (changes, improving) = outcome.improving();
    assert!((6..=60).contains(&changes), "{changes}");
    assert!(improving * 10 >= changes * 8, "{improving} of {changes}");
}

#[test]
fn a_mean_and_its_standard_error() {
    let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(estimate.mean, 2.5);
    assert!((estimate.standard_error - (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    assert_eq!(Estimate::of(&[7.0]).standard_error, 0.0);
}
