//! Decisions among the arms that a mask allows.

use rarely_core::conformance::learnable;
use rarely_core::{Algorithm, Context, DecideError, Policy, Rng};

use crate::sample;

const ARMS: usize = 5;

/// A policy that has learned something, with exploration that goes on.
fn learned(algorithm: Algorithm) -> Box<dyn Policy> {
    let mut policy = sample::settings(algorithm, ARMS, 3).build().expect("compatible");
    let mut rng = Rng::new(41, 0);
    let truth = sample::parameters(policy.shape(), &mut rng);
    for _ in 0..30 {
        let values = sample::context(3, &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let _ = policy.observe(context, &decision, learnable(algorithm, reward)).expect("an ordinary outcome");
    }
    policy
}

fn can_be_masked(policy: &dyn Policy) -> bool {
    let context = [1.0, 0.5, 0.5];
    let decided = policy.decide_among(Context::new(&context).expect("finite"), &[true; ARMS], &mut Rng::new(1, 0));
    !matches!(decided, Err(DecideError::Masked { .. }))
}

#[test]
fn a_mask_that_allows_all_changes_nothing() {
    let mut masked = 0;
    for algorithm in Algorithm::all() {
        let policy = learned(algorithm);
        if !can_be_masked(&*policy) {
            continue;
        }
        masked += 1;
        let mut rng = Rng::new(42, 0);
        for round in 0..200 {
            let values = sample::context(3, &mut rng);
            let context = Context::new(&values).expect("finite");
            let (mut one, mut other) = (Rng::new(43, round), Rng::new(43, round));
            let expected = policy.decide(context, &mut one).expect("fits");
            let found = policy.decide_among(context, &[true; ARMS], &mut other).expect("fits");
            assert_eq!(found, expected, "{algorithm}");
        }
    }
    assert!(masked >= 20, "{masked} algorithms take a mask");
}

/// The frequencies of 4,000 draws are within five standard errors of what is reported, and only allowed arms are drawn.
#[test]
fn only_allowed_arms_are_drawn_with_the_propensities_that_are_reported() {
    const DRAWS: u32 = 4000;
    for algorithm in Algorithm::all() {
        let policy = learned(algorithm);
        if algorithm == Algorithm::Fixed || !can_be_masked(&*policy) {
            continue;
        }
        for (seed, mask) in
            [[false, true, true, false, true], [true, false, false, false, true], [false, false, true, false, false]]
                .iter()
                .enumerate()
        {
            let mut rng = Rng::new(44, seed as u64);
            let values = sample::context(3, &mut rng);
            let context = Context::new(&values).expect("finite");
            let mut drawn = [(0_u32, 0.0_f64); ARMS];
            for _ in 0..DRAWS {
                let decision = policy.decide_among(context, mask, &mut rng).expect("fits");
                let (count, propensity) = &mut drawn[decision.arm.index()];
                assert!(mask[decision.arm.index()], "{algorithm} drew {}", decision.arm);
                (*count, *propensity) = (*count + 1, decision.propensity);
            }
            let mut total = 0.0;
            for (arm, (count, p)) in drawn.into_iter().enumerate() {
                let found = f64::from(count) / f64::from(DRAWS);
                let tolerance = 5.0 * (p * (1.0 - p) / f64::from(DRAWS)).sqrt() + 3.0 / f64::from(DRAWS);
                assert!((found - p).abs() <= tolerance, "{algorithm} reports {p} for arm {arm}, drawn at {found}");
                total += p;
            }
            assert!((0.99..=1.0 + 1e-8).contains(&total), "{algorithm}: {total}");
        }
    }
}

#[test]
fn masks_that_do_not_fit_are_refused() {
    let policy = learned(Algorithm::Rarely);
    let values = [1.0, 0.5, 0.5];
    let context = Context::new(&values).expect("finite");
    for mask in [&[true; 4][..], &[false; ARMS][..], &[][..]] {
        let error = policy.decide_among(context, mask, &mut Rng::new(1, 0)).expect_err("does not fit");
        assert!(matches!(error, DecideError::Mask { arms: ARMS, .. }), "{error}");
    }
    let clucb = learned(Algorithm::Clucb).decide_among(context, &[true; ARMS], &mut Rng::new(1, 0));
    assert_eq!(clucb, Err(DecideError::Masked { algorithm: "clucb" }));
}
