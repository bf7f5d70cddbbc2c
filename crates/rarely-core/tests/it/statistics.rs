//! The sums of all arms: laws, sums from elsewhere, and no drift.

use proptest::prelude::*;
use rarely_core::{Arm, Context, Parameters, Rng, Shape, Statistics};

use crate::sample::{self, ThreeArmLog, close, dot, learn, multiply, problem, same_statistics};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_inverse_is_one_before_and_after_any_update(problem in problem()) {
        let mut rng = problem.rng();
        let (_, learned) = problem.learned(&mut rng);
        let untouched = Statistics::new(problem.penalty, &Parameters::zeros(problem.shape));
        let x = sample::parameters(problem.shape, &mut rng);
        for statistics in [untouched, learned] {
            for (ridge, x) in statistics.arms().iter().zip(x.iter()) {
                let solution = multiply(ridge.inverse(), x);
                let mut back = multiply(&ridge.information().collect::<Vec<_>>(), &solution);
                back.iter_mut().zip(&solution).for_each(|(back, solution)| *back += problem.penalty * solution);
                close(&back, x, 1e-11);
                close(&[ridge.width_squared(x)], &[dot(x, &solution)], 1e-11);
                if ridge.count() == 0 {
                    close(&[ridge.width_squared(x)], &[dot(x, x) / problem.penalty], 1e-14);
                    close(&[ridge.log_det()], &[x.len() as f64 * problem.penalty.ln()], 1e-14);
                }
            }
        }
    }

    #[test]
    fn sequential_is_merged_is_in_any_order(problem in problem(), cut in 0.0_f64..1.0) {
        let mut rng = problem.rng();
        let truth = sample::parameters(problem.shape, &mut rng);
        let prior = sample::parameters(problem.shape, &mut rng);
        let log = sample::outcomes(&truth, problem.count, &mut rng);
        let fresh = || Statistics::new(problem.penalty, &prior);
        let (mut sequential, mut backwards, mut first, mut second) = (fresh(), fresh(), fresh(), fresh());
        learn(&mut sequential, &log);
        learn(&mut backwards, log.iter().rev());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let (head, tail) = log.split_at((cut * log.len() as f64) as usize);
        learn(&mut first, head);
        learn(&mut second, tail);
        first.merge(&second).expect("built alike");
        // Condition numbers are below 80·5/0.2 = 2000: 1e-12 is some twenty roundings.
        same_statistics(&backwards, &sequential, 1e-12);
        same_statistics(&first, &sequential, 1e-12);
        let mut refreshed = sequential.clone();
        refreshed.refresh();
        same_statistics(&sequential, &refreshed, 1e-12);
    }

    #[test]
    fn the_digest_tells_data_apart(problem in problem(), place in any::<prop::sample::Index>()) {
        prop_assume!(problem.count > 0);
        let mut rng = problem.rng();
        let truth = sample::parameters(problem.shape, &mut rng);
        let log = sample::outcomes(&truth, problem.count, &mut rng);
        let digest = |log: &[sample::Outcome]| {
            let mut statistics = Statistics::new(problem.penalty, &Parameters::zeros(problem.shape));
            learn(&mut statistics, log);
            statistics.digest()
        };
        let expected = digest(&log);
        prop_assert_eq!(expected, digest(&log));
        let mut altered = log.clone();
        // Far above the rounding of the sum that it enters.
        altered[place.index(log.len())].reward += 1e-6;
        prop_assert_ne!(expected, digest(&altered));
        prop_assert_ne!(expected, digest(&log[1..]));
        let mut refreshed = Statistics::new(problem.penalty, &Parameters::zeros(problem.shape));
        learn(&mut refreshed, &log);
        refreshed.refresh();
        prop_assert_eq!(expected, refreshed.digest());
    }
}

#[test]
fn sums_taken_elsewhere_are_as_good_as_observations() {
    let log = ThreeArmLog::draw(3000, 4, 1);
    let observed = log.statistics(0.01);
    let mut summed = Statistics::new(0.01, &Parameters::zeros(observed.shape()));
    for (arm, ridge) in observed.arms().iter().enumerate() {
        let (information, moment): (Vec<f64>, Vec<f64>) = (ridge.information().collect(), ridge.moment().collect());
        summed.add_sums(Arm::new(arm), ridge.count(), &information, &moment).unwrap();
    }
    assert_eq!(summed.rounds(), observed.rounds());
    for (mine, theirs) in summed.arms().iter().zip(observed.arms()) {
        assert!((mine.log_det() - theirs.log_det()).abs() < 1e-9);
        assert!(mine.estimate().iter().zip(theirs.estimate()).all(|(a, b)| (a - b).abs() < 1e-9));
    }
    let before = summed.clone();
    assert!(summed.add_sums(Arm::new(0), 1, &[1.0; 9], &[0.0; 4]).is_err());
    assert!(summed.add_sums(Arm::new(3), 1, &[1.0; 10], &[0.0; 4]).is_err());
    assert!(summed.add_sums(Arm::new(0), 1, &[f64::NAN; 10], &[0.0; 4]).is_err());
    assert!(summed.add_sums(Arm::new(0), 1, &[1e20; 10], &[0.0; 4]).is_err());
    assert_eq!(summed, before);
}

/// Ten million updates: what is carried along agrees with what is computed afresh.
#[test]
fn nothing_drifts() {
    const DIMENSION: usize = 20;
    const BANK: usize = 1009;
    // Not a multiple of the 640 updates after which an arm of this dimension is refreshed by itself: nearly as far from the
    // last refresh as can be.
    const UPDATES: usize = 10_000_000 + 639;
    let shape = Shape::new(2, DIMENSION).expect("a shape");
    let mut rng = Rng::new(13, 0);
    let contexts = sample::block(BANK, DIMENSION, &mut rng);
    let truth = sample::parameters(shape, &mut rng);
    let mut statistics = Statistics::new(0.01, &Parameters::zeros(shape));
    let arm = Arm::new(1);
    let rewards: Vec<f64> =
        contexts.chunks_exact(DIMENSION).map(|row| dot(row, truth.arm(1)) + 0.1 * rng.normal()).collect();
    let rows = contexts.chunks_exact(DIMENSION).zip(&rewards).cycle();
    for (row, &reward) in rows.take(UPDATES) {
        statistics.observe(Context::new(row).expect("finite"), arm, reward).expect("ordinary");
    }
    let mut fresh = statistics.clone();
    fresh.refresh();
    let (found, expected) = (statistics.arm(1), fresh.arm(1));
    assert_eq!(found.count(), UPDATES as u64);
    close(found.estimate(), expected.estimate(), 1e-8);
    close(&[found.log_det()], &[expected.log_det()], 1e-8);
    close(found.inverse(), expected.inverse(), 1e-8);
}

/// Where only one direction is ever observed, what is known across it is the penalty alone, however long the log.
#[test]
fn a_million_equal_contexts_leave_the_penalty_visible() {
    let shape = Shape::new(2, 2).unwrap();
    let mut statistics = Statistics::new(0.01, &Parameters::zeros(shape));
    for _ in 0..1_000_000 {
        statistics.observe(Context::new(&[1.0, 0.3]).unwrap(), Arm::new(0), 0.7).unwrap();
    }
    let across = [-0.3 / 1.09_f64.sqrt(), 1.0 / 1.09_f64.sqrt()];
    let found = statistics.arm(0).width_squared(&across);
    assert!((found * 0.01 - 1.0).abs() < 1e-5, "{found} instead of 100");
}
