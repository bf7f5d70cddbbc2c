//! A round that does not change the policy does not allocate.

use allocation_counter::measure;
use rarely_core::conformance::learnable;
use rarely_core::{Algorithm, Change, Context, Contexts, Policy, RECENT_CONTEXTS, Rng, Sets, Settings, Solver};

use crate::sample;

const ROUNDS: usize = 1000;

/// Rounds without a change in which the policy allocated, after the sample of recent contexts has filled.
fn allocating_rounds(policy: &mut dyn Policy) -> usize {
    let (shape, mut rng) = (policy.shape(), Rng::new(11, 0));
    let truth = sample::parameters(shape, &mut rng);
    let warm_up = RECENT_CONTEXTS + 100;
    let mut allocating = 0;
    for round in 0..warm_up + ROUNDS {
        let values = sample::context(shape.dimension(), &mut rng);
        let means: Vec<f64> = truth.iter().map(|theta| sample::dot(&values, theta)).collect();
        let noise = 0.1 * rng.normal();
        let mut change = Change::Kept;
        let allocations = measure(|| {
            let context = Context::new(&values).expect("finite");
            let decision = policy.decide(context, &mut rng).expect("fits");
            let reward = learnable(policy.algorithm(), means[decision.arm.index()] + noise);
            change = policy.observe(context, &decision, reward).expect("an ordinary outcome");
        });
        let kept = change.evidence().is_none();
        allocating += usize::from(kept && round >= warm_up && allocations.count_total > 0);
    }
    allocating
}

fn check(settings: impl Fn(Algorithm, usize, usize) -> Settings) {
    let mut offenders = Vec::new();
    for (arms, dimension) in [(4, 5), (2, 25)] {
        // rs-glincb keeps every outcome, and a longer list has to be put somewhere; local-threshold fits its regressions anew at each look.
        let allocates = [Algorithm::RsGlinCb, Algorithm::LocalThreshold];
        let is_checked = |own: &Algorithm| !own.name().starts_with("rarely") && !allocates.contains(own);
        for algorithm in Algorithm::all().filter(is_checked) {
            let mut policy = settings(algorithm, arms, dimension).build().expect("compatible");
            let rounds = allocating_rounds(&mut *policy);
            if rounds > 0 {
                offenders.push(format!("{algorithm} ({arms}, {dimension}): {rounds} of {ROUNDS}"));
            }
        }
    }
    assert!(offenders.is_empty(), "rounds without a change that allocate: {offenders:#?}");
}

#[test]
fn a_round_without_a_change_does_not_allocate() {
    check(|algorithm, arms, dimension| sample::settings(algorithm, arms, dimension).sets(Sets::Joint));
}

#[test]
fn a_round_does_not_allocate_where_triggers_solve_often() {
    // Sets that are narrower than the noise: parameters in force leave them again and again, and triggers have to solve.
    check(|algorithm, arms, dimension| {
        sample::settings(algorithm, arms, dimension).sets(Sets::Joint).noise(0.01).expect("in range")
    });
}

#[test]
fn a_round_does_not_allocate_with_the_projected_gradient() {
    check(|algorithm, arms, dimension| {
        sample::settings(algorithm, arms, dimension).tune(|tuning| tuning.solver = Solver::PAPER)
    });
}

#[test]
fn a_round_does_not_allocate_if_a_change_alters_no_decision() {
    check(|algorithm, arms, dimension| {
        // One person: triggers fire although no update alters what this person gets.
        let person = sample::context(dimension, &mut Rng::new(12, 0));
        let people = Contexts::new(&person, dimension).expect("one row");
        sample::settings(algorithm, arms, dimension).sets(Sets::Joint).population(people).expect("fits")
    });
}

/// Policies that look on a schedule allocate at looks and marks only: at most once each time the rounds have grown by 2 %.
#[test]
fn between_looks_nothing_allocates() {
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.default_sets() == Sets::Sharp) {
        let mut policy = sample::settings(algorithm, 4, 5).build().expect("compatible");
        let rounds = allocating_rounds(&mut *policy);
        let (mut looks, mut round) = (0, RECENT_CONTEXTS + 100);
        while round < RECENT_CONTEXTS + 100 + ROUNDS {
            round += round / 50;
            looks += 1;
        }
        assert!(rounds <= looks + 2, "{algorithm}: {rounds} rounds allocate, but there are {looks} looks");
    }
}
