//! Policies that learned apart, added.

use rarely_core::conformance::learnable;
use rarely_core::{
    Algorithm, Arm, Certificates, Context, Contexts, Decision, MergeError, Policy, RECENT_CONTEXTS, Rng, Settings,
};

use crate::sample;

/// A policy that played some rounds of its own.
fn played(settings: Settings, rounds: usize, stream: u64) -> Box<dyn Policy> {
    let mut policy = settings.build().expect("buildable");
    let mut rng = Rng::new(5, stream);
    for _ in 0..rounds {
        let context: Vec<f64> =
            std::iter::once(1.0).chain((1..policy.shape().dimension()).map(|_| rng.uniform())).collect();
        let context = Context::new(&context).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = decision.arm.index() as f64 * context.values()[1] + 0.1 * rng.normal();
        let reward = learnable(policy.algorithm(), reward);
        let _ = policy.observe(context, &decision, reward).expect("fits");
    }
    policy
}

#[test]
fn every_algorithm_knows_what_both_knew() {
    for algorithm in Algorithm::all() {
        let settings = || sample::settings(algorithm, 3, 4);
        let (one, other) = (played(settings(), 900, 1), played(settings(), 700, 2));
        let mut merged = one.snapshot();
        merged.merge(&other.snapshot()).expect("built alike");
        let mut both = merged.clone().restore().expect("sound");
        assert_eq!((both.rounds(), both.changes()), (1600, one.changes()), "{algorithm}");
        if let Some(learner) = both.learner() {
            let count =
                |policy: &dyn Policy, arm| policy.learner().map_or(0, |learner| learner.statistics().arm(arm).count());
            for arm in 0..3 {
                assert_eq!(
                    learner.statistics().arm(arm).count(),
                    count(&*one, arm) + count(&*other, arm),
                    "{algorithm}"
                );
            }
            let mut sums = one.learner().expect("learns").statistics().clone();
            sums.merge(other.learner().expect("learns").statistics()).expect("built alike");
            assert_eq!(learner.statistics().digest(), sums.digest(), "{algorithm}");
        }
        if let Some(people) = both.population() {
            assert_eq!(people.len(), RECENT_CONTEXTS, "{algorithm}");
            let last = other.population().expect("holds a rule").values();
            assert_eq!(
                people.values()[people.values().len() - 8..],
                last[last.len() - 8..],
                "{algorithm}: the latest is last"
            );
        }
        // It goes on as any policy, and its rule can be held against what is now known.
        let _ = both.reconsider();
        let mut rng = Rng::new(6, 0);
        for _ in 0..200 {
            let values = [1.0, rng.uniform(), rng.uniform(), rng.uniform()];
            let context = Context::new(&values).expect("finite");
            let decision = both.decide(context, &mut rng).expect("fits");
            let _ = both.observe(context, &decision, 0.5).expect("fits");
        }
        both.snapshot().restore().expect("sound");
    }
}

#[test]
fn a_rule_is_held_against_both_logs() {
    // Neither log alone makes the rule implausible; both together do.
    let settings = || sample::settings(Algorithm::BoundaryGreedy, 2, 2).certificates(Certificates::Brief);
    let log = |stream| {
        let mut policy = settings().build().expect("buildable");
        let mut rng = Rng::new(8, stream);
        for round in 0.. {
            let values = [1.0, rng.uniform()];
            let context = Context::new(&values).expect("finite");
            let arm = Arm::new(round % 2);
            let reward = 0.3 * arm.index() as f64 + 0.1 * rng.normal();
            let before = policy.snapshot();
            if policy.observe(context, &Decision::recorded(arm), reward).expect("fits").evidence().is_some() {
                return before;
            }
        }
        unreachable!("it changes sooner or later")
    };
    let (mut one, other) = (log(1), log(2));
    one.merge(&other).expect("built alike");
    let mut both = one.restore().expect("sound");
    assert_eq!(both.changes(), 0, "merging changes no rule");
    assert!(both.reconsider().evidence().is_some(), "both logs together ask for a change");
}

#[test]
fn what_was_built_otherwise_is_refused() {
    let base = || sample::settings(Algorithm::Rarely, 2, 2);
    let refused = |other: Settings| {
        let mut one = base().build().expect("buildable").snapshot();
        let before = one.clone();
        let error = one.merge(&other.build().expect("buildable").snapshot()).expect_err("built otherwise");
        assert_eq!(one, before, "nothing is changed");
        error
    };
    assert!(matches!(refused(sample::settings(Algorithm::LinUcb, 2, 2)), MergeError::Algorithm { .. }));
    assert!(matches!(refused(sample::settings(Algorithm::Rarely, 3, 2)), MergeError::Shape { .. }));
    assert!(matches!(refused(base().constant_prior_mean(1.0).expect("finite")), MergeError::Prior));
    assert!(matches!(refused(base().noise(7.0).expect("in range")), MergeError::Settings { .. }));
    assert!(matches!(refused(base().explore(1, 0.5).expect("in range")), MergeError::Settings { .. }));
    let people = Contexts::new(&[1.0, 0.5], 2).expect("finite");
    assert!(matches!(refused(base().population(people).expect("fits")), MergeError::Settings { .. }));
}
