//! Every environment of the registry, and what breaks in the misspecified ones.

use std::sync::Arc;

use rarely_core::{Algorithm, Delay, Profile, Round, Shape};
use rarely_error::Explain as _;
use rarely_lab::environment::{DEFAULT_NOISE, Environment, REGISTRY, WorldProperties, linear_fit, named};
use rarely_lab::{Assumptions, Contestant, ContestantResult, Declared, Experiment, Judge, RunContext, WorldSource};

fn shape() -> Shape {
    Shape::new(3, 4).expect("a shape")
}

fn run(name: &str, strength: f64, algorithms: &[Algorithm], rounds: u64, runs: u64) -> Vec<ContestantResult> {
    let environment = named(name, shape(), 0.1, strength).expect("an environment");
    let contestants: Vec<Contestant> =
        algorithms.iter().map(|&algorithm| Contestant::new(algorithm, Profile::Rigorous)).collect();
    let experiment = Experiment {
        rounds: Some(rounds),
        judged_on: 2_000,
        ..Experiment::new(WorldSource::Environment(environment.into()), runs, 4)
    };
    experiment.run(&contestants, &RunContext::quiet()).expect("it runs")
}

/// Worlds are the same for every caller, rounds add up, and the sample is fixed while the world goes on.
#[test]
fn worlds_are_reproducible() {
    for entry in REGISTRY {
        let environment = (entry.build)(shape(), 0.1, 1.0);
        let (mut one, mut other) = (environment.world(7, 3), environment.world(7, 3));
        let before = one.sample(50);
        let (mut round, mut again) = (Round::new(shape()), Round::new(shape()));
        for _ in 0..200 {
            one.next(&mut round);
            other.next(&mut again);
            assert_eq!((&round.context, &round.means, &round.rewards), (&again.context, &again.means, &again.rewards));
            assert!(round.context[0] == 1.0 && round.rewards.iter().all(|reward| reward.is_finite()), "{}", entry.name);
        }
        assert_eq!(before.contexts, one.sample(50).contexts, "{}", entry.name);
        assert_eq!(before.means == one.sample(50).means, !one.drifts(), "{}", entry.name);
        assert_ne!(environment.world(7, 4).sample(50).means, before.means, "{}: runs differ", entry.name);
    }
}

/// The noise of every world has the declared standard deviation, times what the environment says: 20,000 draws give it to
/// within 2 % (4 standard errors; wider for the heavy tails, whose fourth moment does not exist).
#[test]
fn noise_is_as_large_as_it_should_be() {
    for (name, factor, tolerance) in
        [("linear", 1.0, 0.02), ("understated-noise", 2.0, 0.02), ("heavy-tailed", 1.0, 0.15), ("quadratic", 1.0, 0.02)]
    {
        let mut world = named(name, shape(), 0.1, 1.0).expect("an environment").world(1, 0);
        let mut round = Round::new(shape());
        let mut squares = 0.0;
        for _ in 0..20_000 {
            world.next(&mut round);
            squares += (round.rewards[0] - round.means[0]).powi(2);
        }
        let found = (squares / 20_000.0_f64).sqrt() / (0.1 * factor);
        assert!((found - 1.0).abs() < tolerance, "{name}: {found}");
    }
}

/// At strength 0 the quadratic world is the linear one, and the linear fit of a linear world is its truth.
#[test]
fn the_linear_world_is_in_the_family() {
    let linear = named("linear", shape(), 0.1, 1.0).expect("an environment").world(2, 5);
    let flat = named("quadratic", shape(), 0.1, 0.0).expect("an environment").world(2, 5);
    let sample = linear.sample(500);
    let other = flat.sample(500);
    assert_eq!(sample.contexts, other.contexts);
    assert!(sample.means.iter().zip(&other.means).all(|(one, other)| (one - other).abs() < 1e-12));
    let fit = linear_fit(shape(), &sample);
    let truth = linear.truth().expect("it is linear");
    assert!(fit.iter().zip(truth).all(|(fit, truth)| (fit - truth).abs() < 1e-5), "{fit:?} {truth:?}");
    assert!(flat.truth().is_none(), "what may be curved makes no claim of coverage");
}

/// What breaks and when: sets hold in the linear world, not where the noise is understated or the truth drifts; a curved truth
/// costs regret that no linear rule can avoid, and the regret of the best linear rule is what remains.
#[test]
fn users_see_what_breaks() {
    let algorithms = [Algorithm::Rarely, Algorithm::LinUcb];
    let coverage = |results: &[ContestantResult]| results[1].coverage();
    assert_eq!(coverage(&run("linear", 1.0, &algorithms, 2_000, 10)), Some(1.0));
    let drifting = run("drifting", 5.0, &algorithms, 2_000, 10);
    assert_eq!(coverage(&drifting), Some(0.0), "the truth leaves the set when it moves");
    let understated = run("understated-noise", 4.0, &algorithms, 2_000, 10);
    assert!(coverage(&understated) < Some(1.0), "{:?}", coverage(&understated));
    let quadratic = run("quadratic", 2.0, &algorithms, 4_000, 10);
    assert_eq!(coverage(&quadratic), None);
    let linear = run("linear", 1.0, &algorithms, 4_000, 10);
    let regret = |results: &[ContestantResult]| results[0].summary().regret_per_step.mean;
    assert!(regret(&quadratic) > 2.0 * regret(&linear), "{} {}", regret(&quadratic), regret(&linear));

    let world = named("quadratic", shape(), 0.1, 2.0).expect("an environment").world(4, 0);
    let judge = Judge::new(&*world, shape(), 5_000);
    let best = rarely_core::Parameters::new(shape(), judge.linear_truth().to_vec()).expect("parameters");
    assert!(judge.regret(&judge.decisions_of(&best).expect("it fits")) > 0.0);
}

#[test]
fn unknown_names_and_bad_numbers_are_refused() {
    let message = |name: &str, noise: f64| {
        let error = named(name, shape(), noise, 1.0).expect_err("refused");
        error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}\nhelp: {remedy}"))
    };
    let unknown = message("cubic", 0.1);
    assert!(
        unknown.starts_with("there is no environment `cubic`\nhelp: the environments are linear, quadratic"),
        "{unknown}"
    );
    assert!(message("linear", f64::NAN).contains("noise is NaN"));
    assert!(message("linear", -1.0).contains("from 0 to"));
}

/// With failures reported late, sets that learn in the order of decisions hold as promised, and those that learn at arrival do not;
/// what is not learned by the end is counted.
#[test]
fn late_failures_mislead_only_those_who_learn_at_arrival() {
    let environment: Arc<dyn Environment> =
        named("late-failures", Shape::new(2, 2).expect("a shape"), 1.0, 2.0).expect("an environment").into();
    let contestants = [Delay::Any, Delay::Independent].map(|delay| Contestant {
        declared: Declared { noise: Some(1.0), error_probability: Some(0.1), delay, ..Declared::default() },
        ..Contestant::new(Algorithm::Rarely, Profile::Rigorous)
    });
    let experiment = Experiment {
        rounds: Some(600),
        judged_on: 200,
        ..Experiment::new(WorldSource::Environment(environment), 200, 4)
    };
    let results = experiment.run(&contestants, &RunContext::quiet()).expect("it runs");
    let held = results.iter().map(|result| result.summary().coverage.expect("linear")).collect::<Vec<_>>();
    println!("sets held in {held:?} of 200 runs");
    assert!(held[0] >= 0.9 - 3.0 * (0.09_f64 / 200.0).sqrt() && held[1] < 0.2, "{held:?}");
    let waiting = |result: &ContestantResult| result.runs.iter().map(|run| run.outcomes_waiting).max();
    // Half of the last 200 outcomes are failures; in the order of decisions nearly all of the 200 wait for them.
    assert!(waiting(&results[0]) > Some(190) && waiting(&results[1]) < Some(140));
}

/// Outcomes of the binary world are 0 or 1 with the means that it says: 20,000 draws give the mean within four standard errors, 0.015. They
/// stay so where arms change places.
#[test]
fn outcomes_of_the_binary_world_are_0_or_1() {
    for drift in [0, 500] {
        let inner: Arc<dyn Environment> = named("binary", shape(), 0.1, 1.5).expect("an environment").into();
        let properties = WorldProperties { drift, ..WorldProperties::default() };
        let mut world = properties.of(inner).expect("properties").world(1, 0);
        let (mut round, mut excess) = (Round::new(shape()), vec![0.0; shape().arms()]);
        for _ in 0..20_000 {
            world.next(&mut round);
            for ((excess, reward), mean) in excess.iter_mut().zip(&round.rewards).zip(&round.means) {
                assert!(*reward == 0.0 || *reward == 1.0, "{reward}");
                *excess += (reward - mean) / 20_000.0;
            }
        }
        assert!(excess.iter().all(|excess| excess.abs() < 0.015), "{excess:?}");
    }
    let noisy = named("binary", shape(), 0.3, 1.0).expect_err("it has no noise");
    assert_eq!(noisy.to_string(), "the environment `binary` has no noise to set: its outcomes are 0 or 1");
}

/// In their own world the logistic algorithms learn; every algorithm runs there.
#[test]
fn every_algorithm_runs_in_the_binary_world() {
    let source = WorldSource::Synthetic {
        name: "binary".to_owned(),
        arms: 3,
        dimension: 2,
        noise: DEFAULT_NOISE,
        strength: 2.0,
    };
    assert_eq!(source.noise().expect("known").0, Some(0.5));
    let algorithms = source.algorithms();
    assert_eq!(algorithms.len(), Algorithm::all().count());
    let contestants = Assumptions::default().contestants(&algorithms, 0.5);
    let experiment = Experiment { rounds: Some(1_500), judged_on: 200, ..Experiment::new(source, 6, 4) };
    let results = experiment.run(&contestants, &RunContext::quiet()).expect("it runs");
    let regret = |algorithm: Algorithm| {
        let result = results.iter().find(|result| result.contestant.algorithm == algorithm).expect("it ran");
        result.summary().regret_per_step.mean
    };
    let random = regret(Algorithm::Random);
    // The warm-up of rs-glincb takes most of these rounds.
    for (algorithm, share) in [(Algorithm::LogisticThompson, 0.5), (Algorithm::RsGlinCb, 0.95)] {
        assert!(regret(algorithm) < share * random, "{algorithm}: {} of {random}", regret(algorithm));
    }
}
