//! Arms that are added, removed and restored.

use rarely_core::conformance::learnable;
use rarely_core::{
    Algorithm, Arm, ArmChange, ArmsError, Context, DecideError, Decision, Parameters, Policy, Rng, Settings, Shape,
    Snapshot,
};

use crate::sample;

const DIMENSION: usize = 3;

/// The algorithms whose arms may change.
fn varying() -> Vec<Algorithm> {
    let can_change = |algorithm: &Algorithm| {
        let mut policy = sample::settings(*algorithm, 3, DIMENSION).build().expect("compatible");
        !matches!(policy.change_arms(&ArmChange::added()), Err(ArmsError::Fixed { .. }))
    };
    Algorithm::all().filter(can_change).collect()
}

/// Plays some rounds; `mask` says which arms are allowed, if it is asked.
fn live(policy: &mut dyn Policy, truth: &Parameters, mask: Option<&[bool]>, rounds: std::ops::Range<u64>) -> Vec<Arm> {
    let mut arms = Vec::new();
    for round in rounds {
        let mut rng = Rng::new(71, round);
        let values = sample::context(DIMENSION, &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = match mask {
            None => policy.decide(context, &mut rng),
            Some(mask) => policy.decide_among(context, mask, &mut rng),
        };
        let decision = decision.expect("fits");
        let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let _ = policy.observe(context, &decision, learnable(policy.algorithm(), reward)).expect("an ordinary outcome");
        arms.push(decision.arm);
    }
    arms
}

fn truth() -> Parameters {
    sample::parameters(Shape::new(4, DIMENSION).expect("a shape"), &mut Rng::new(70, 0))
}

fn through_json(policy: &dyn Policy) -> Box<dyn Policy> {
    let json = serde_json::to_string(&policy.snapshot()).expect("plain data");
    serde_json::from_str::<Snapshot>(&json).expect("what was just written").restore().expect("sound")
}

#[test]
fn index_algorithms_have_arms_that_change() {
    let names: Vec<&str> = varying().into_iter().map(Algorithm::name).collect();
    for name in ["linucb", "linucb-alpha", "thompson", "epsilon-greedy", "squarecb", "logistic-thompson"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.contains(&"rarely") && !names.contains(&"fixed"));
}

/// An added arm is one that was there from the start and never allowed: the same decisions, the same state.
#[test]
fn an_added_arm_is_one_that_was_never_allowed() {
    for algorithm in varying() {
        let build = |arms| sample::settings(algorithm, arms, DIMENSION).build().expect("compatible");
        let (mut grown, mut masked) = (build(3), build(4));
        let without = [true, true, true, false];
        assert_eq!(
            live(&mut *grown, &truth(), None, 0..200),
            live(&mut *masked, &truth(), Some(&without), 0..200),
            "{algorithm}"
        );
        grown.change_arms(&ArmChange::added()).expect("it can");
        assert_eq!(grown.shape().arms(), 4);
        assert!(grown.snapshot() == masked.snapshot(), "{algorithm}");
        assert_eq!(
            live(&mut *grown, &truth(), None, 200..500),
            live(&mut *masked, &truth(), None, 200..500),
            "{algorithm}"
        );
    }
}

/// A removed arm is one that is not allowed, through a snapshot too; restored, it is as it was.
#[test]
fn a_removed_arm_is_not_played_and_keeps_its_statistics() {
    for algorithm in varying() {
        let build = || sample::settings(algorithm, 4, DIMENSION).build().expect("compatible");
        let (mut policy, mut masked) = (build(), build());
        live(&mut *policy, &truth(), None, 0..100);
        live(&mut *masked, &truth(), None, 0..100);
        let before = policy.estimates().expect("it learns");
        policy.change_arms(&ArmChange::Remove(Arm::new(2))).expect("it can");
        assert_eq!(policy.available(), Some(&[true, true, false, true][..]));
        let mut policy = through_json(&*policy);
        let played = live(&mut *policy, &truth(), None, 100..300);
        let expected = live(&mut *masked, &truth(), Some(&[true, true, false, true]), 100..300);
        assert_eq!(played, expected, "{algorithm}");
        assert!(played.iter().all(|arm| arm.index() != 2));
        assert_eq!(policy.estimates().expect("it learns").arm(2), before.arm(2), "{algorithm}");
        policy.change_arms(&ArmChange::Restore(Arm::new(2))).expect("it was removed");
        assert_eq!(policy.available(), None);
        assert!(policy.snapshot() == masked.snapshot(), "{algorithm}");
        assert_eq!(
            live(&mut *policy, &truth(), None, 300..400),
            live(&mut *masked, &truth(), None, 300..400),
            "{algorithm}"
        );
    }
}

/// An outcome that was still to come is learned; a mask cannot allow what was removed.
#[test]
fn late_outcomes_of_a_removed_arm_are_learned() {
    for algorithm in varying() {
        let mut policy = sample::settings(algorithm, 3, DIMENSION).build().expect("compatible");
        policy.change_arms(&ArmChange::Remove(Arm::new(0))).expect("it can");
        let values = [1.0, 0.5, 0.5];
        let context = Context::new(&values).expect("finite");
        let _ = policy.observe(context, &Decision::recorded(Arm::new(0)), 0.7).expect("it exists");
        assert_eq!(policy.rounds(), 1);
        let error = policy.decide_among(context, &[true, false, false], &mut Rng::new(1, 0)).expect_err("removed");
        assert!(matches!(error, DecideError::Mask { allowed: 0, .. }), "{algorithm}: {error}");
        let both = policy.decide_among(context, &[true, true, false], &mut Rng::new(1, 0)).expect("arm 1 is left");
        assert_eq!(both.arm, Arm::new(1), "{algorithm}");
        let mut decisions = [Decision::recorded(Arm::new(0)); 2];
        let rows = [values, values].concat();
        let rows = rarely_core::Contexts::new(&rows, DIMENSION).expect("two rows");
        policy.decide_many(rows, &mut Rng::new(2, 0), &mut decisions).expect("fits");
        assert!(decisions.iter().all(|decision| decision.arm.index() != 0), "{algorithm}");
    }
}

#[test]
fn changes_that_cannot_be_made_change_nothing() {
    let mut policy = sample::settings(Algorithm::Thompson, 2, DIMENSION).build().expect("compatible");
    let before = policy.snapshot();
    let refused = [
        (ArmChange::Remove(Arm::new(2)), "arm 2 does not exist; the policy has arms 0 to 1"),
        (ArmChange::Restore(Arm::new(0)), "arm 0 is not removed"),
        (
            ArmChange::Add { prior_mean: Some(vec![1.0]), features: None },
            "1 numbers were given for the prior mean, but 3 are needed",
        ),
        (
            ArmChange::Add { prior_mean: None, features: Some(vec![1.0]) },
            "1 features were given for the new arm, but the arms of this policy have 0",
        ),
    ];
    for (change, message) in refused {
        assert_eq!(policy.change_arms(&change).expect_err("it cannot").to_string(), message);
    }
    assert!(policy.snapshot() == before);
    policy.change_arms(&ArmChange::Remove(Arm::new(0))).expect("it can");
    let again = policy.change_arms(&ArmChange::Remove(Arm::new(0))).expect_err("done before");
    assert_eq!(again.to_string(), "arm 0 is removed already");
    let last = policy.change_arms(&ArmChange::Remove(Arm::new(1))).expect_err("nothing would be left");
    assert_eq!(last.to_string(), "arm 1 is the only one left");
    let mut held = Settings::new(2, 1).expect("a shape").build().expect("compatible");
    let fixed = held.change_arms(&ArmChange::added()).expect_err("it holds a rule");
    assert_eq!(fixed.to_string(), "the arms of rarely cannot change");
}

#[test]
fn a_new_arm_starts_from_its_prior_mean() {
    let mut policy = sample::settings(Algorithm::EpsilonGreedy, 2, 2).build().expect("compatible");
    policy.change_arms(&ArmChange::Add { prior_mean: Some(vec![0.5, 2.0]), features: None }).expect("it can");
    assert_eq!(policy.estimates().expect("it learns").arm(2), [0.5, 2.0]);
}
