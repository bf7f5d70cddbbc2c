//! What a policy proves instead of computing agrees with what it would have computed, in every round.

use rarely_core::{
    Algorithm, Cause, Certificates, Change, Context, Contexts, MinimumGain, Parameters, Policy, Rng, Rule, Sets,
    Settings, Share,
};

use crate::sample;

/// Lets a policy live, and calls `check` after every round with its policy in force before the round and what came of it.
fn live(settings: Settings, rounds: usize, seed: u64, check: impl Fn(&dyn Policy, &Rule, &Change)) {
    let mut policy = settings.certificates(Certificates::Brief).build().expect("compatible");
    let (shape, mut rng) = (policy.shape(), Rng::new(seed, 0));
    let truth = sample::parameters(shape, &mut rng);
    for _ in 0..rounds {
        let values = sample::context(shape.dimension(), &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let before = Rule::new(policy.deployed().expect("it holds a policy").clone());
        let change = policy.observe(context, &decision, reward).expect("an ordinary outcome");
        check(&*policy, &before, &change);
    }
}

fn people(policy: &dyn Policy) -> Contexts<'_> {
    let population = policy.population().expect("it judges on people");
    Contexts::new(population.values(), population.dimension()).expect("whole rows")
}

/// The share of people who get an excluded arm, counted in every round, says when the policy changes.
fn check_exclusions(settings: Settings, limit: f64, rounds: usize, seed: u64) -> u64 {
    let switches = std::cell::Cell::new(0);
    live(settings, rounds, seed, |policy, before, change| {
        let share = policy.learner().expect("it learns").set().excluded_share(before, people(policy)).expect("fits");
        match change.evidence().map(|evidence| evidence.cause) {
            Some(Cause::Population { share: found, .. }) => {
                assert_eq!(found, share, "round {}", policy.rounds());
                switches.set(switches.get() + 1);
            }
            Some(cause) => panic!("changed because {cause}"),
            None => assert!(share <= limit, "round {}: {share} get an excluded arm", policy.rounds()),
        }
    });
    switches.get()
}

fn with_limit(settings: Settings, limit: f64) -> Settings {
    settings
        .explore(3, 0.05)
        .expect("in range")
        .tune(|tuning| tuning.excluded_share = Share::new(limit).expect("a share"))
}

#[test]
fn exclusions_agree_with_a_full_pass_in_every_round() {
    let mut switches = 0;
    for (arms, dimension) in [(2, 1), (2, 2), (4, 5), (3, 9), (20, 3)] {
        for limit in [0.0, 0.01, 0.2] {
            for algorithm in [Algorithm::PopulationGreedy, Algorithm::PopulationConservative] {
                let settings = with_limit(sample::settings(algorithm, arms, dimension).sets(Sets::Joint), limit);
                switches += check_exclusions(settings, limit, 1300, 21);
            }
        }
    }
    assert!(switches >= 30, "{switches} changes are too few to see anything");
}

#[test]
fn exclusions_agree_on_a_supplied_population() {
    for (arms, dimension) in [(2, 2), (4, 5)] {
        for count in [1, 8, 301] {
            let values = sample::block(count, dimension, &mut Rng::new(22, 0));
            let supplied = Contexts::new(&values, dimension).expect("whole rows");
            for limit in [0.0, 0.05] {
                let settings = sample::settings(Algorithm::PopulationGreedy, arms, dimension).sets(Sets::Joint);
                let settings = with_limit(settings, limit).population(supplied).expect("fits");
                check_exclusions(settings, limit, 1500, 23);
            }
        }
    }
}

#[test]
fn exclusions_agree_with_per_arm_sets() {
    for (arms, dimension) in [(2, 2), (4, 5)] {
        for limit in [0.0, 0.05] {
            let settings = sample::settings(Algorithm::PopulationGreedy, arms, dimension).sets(Sets::PerArm);
            check_exclusions(with_limit(settings, limit), limit, 1500, 24);
        }
    }
}

/// The certain gain of changing to some parameters.
fn certain_gain(policy: &dyn Policy, before: &Rule, to: &Parameters) -> f64 {
    let arms = |rule: &Rule| rule.choose_many(people(policy)).expect("fits");
    let set = policy.learner().expect("it learns").set();
    set.gain(people(policy), &arms(before), &arms(&Rule::new(to.clone()))).expect("fits").interval.lower
}

/// Both candidates, solved in every round, say when the policy changes.
fn check_gains(settings: Settings, minimum: f64, rounds: usize, seed: u64) -> u64 {
    let switches = std::cell::Cell::new(0);
    live(settings, rounds, seed, |policy, before, change| {
        let learner = policy.learner().expect("it learns");
        let cautious = certain_gain(policy, before, &learner.set().conservative(before.parameters()).parameters);
        let greedy = certain_gain(policy, before, &learner.statistics().estimates());
        let largest = cautious.max(greedy);
        match change.evidence().map(|evidence| evidence.cause) {
            Some(Cause::Gain { lower, .. }) => {
                assert!((lower - largest).abs() <= 1e-12, "round {}: {lower} and {largest}", policy.rounds());
                switches.set(switches.get() + 1);
            }
            Some(cause) => panic!("changed because {cause}"),
            // So few people do not change a rule, unless the owner named them.
            None if is_small(policy) => {}
            None => assert!(largest <= minimum + 1e-12, "round {}: {largest} is certain", policy.rounds()),
        }
    });
    switches.get()
}

fn is_small(policy: &dyn Policy) -> bool {
    let (people, shape) = (policy.population().expect("it holds a policy"), policy.shape());
    !people.is_supplied() && people.len() < shape.arms() + shape.dimension()
}

fn with_minimum(settings: Settings, minimum: f64) -> Settings {
    let settings = settings.explore(3, 0.05).expect("in range");
    settings.tune(|tuning| tuning.minimum_gain = MinimumGain::new(minimum).expect("in range"))
}

#[test]
fn certain_gains_are_found_at_once() {
    let mut switches = 0;
    for (arms, dimension) in [(2, 1), (2, 2), (4, 5), (3, 9)] {
        for minimum in [0.0, 0.02] {
            for seed in [25, 26, 27] {
                // Sets that are narrow for their noise: more is certain.
                let settings = sample::settings(Algorithm::Certified, arms, dimension).sets(Sets::Joint);
                let settings = settings.noise(0.05).expect("in range");
                let settings = with_minimum(settings.norm_bound(1.0).expect("in range"), minimum);
                switches += check_gains(settings, minimum, 700, seed);
            }
        }
    }
    assert!(switches >= 15, "{switches} changes are too few to see anything");
}

#[test]
fn certain_gains_are_found_on_a_supplied_population() {
    let values = sample::block(203, 5, &mut Rng::new(27, 0));
    let supplied = Contexts::new(&values, 5).expect("whole rows");
    for minimum in [0.0, 0.02] {
        let settings = with_minimum(sample::settings(Algorithm::Certified, 4, 5).sets(Sets::Joint), minimum);
        check_gains(settings.population(supplied).expect("fits"), minimum, 2000, 28);
    }
}
