//! Thresholds of two context variables against what they stand for, point by point.

use rarely_core::{
    Above, Arm, Confidence, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty, Profile, Rng, Sets,
    Shape, Statistics, Thresholds,
};

use crate::sample::{ThreeArmLog, three_arm_settings};

const NOISE: f64 = 0.3;

/// Two arms whose difference is `intercept + slope·x`, seen `rounds` times.
fn statistics(intercept: f64, slope: f64, rounds: usize, rng: &mut Rng) -> Statistics {
    let shape = Shape::new(2, 2).unwrap();
    let mut statistics = Statistics::new(0.1, &Parameters::zeros(shape));
    for round in 0..rounds {
        let x = rng.uniform();
        let mean = if round % 2 == 0 { intercept + slope * x } else { 0.0 };
        let context = [1.0, x];
        let reward = mean + NOISE * rng.normal();
        statistics.observe(Context::new(&context).unwrap(), Arm::new(round % 2), reward).unwrap();
    }
    statistics
}

fn confidence(norm_bound: f64) -> Confidence {
    Confidence {
        noise: Noise::new(NOISE).unwrap(),
        norm_bound: Some(NormBound::new(norm_bound).unwrap()),
        error_probability: ErrorProbability::new(0.01).unwrap(),
        penalty: Penalty::new(0.1).unwrap(),
        sets: Sets::Joint,
        profile: Profile::Rigorous,
    }
}

/// The policy that plays arm 0 above a threshold, or below it.
fn policy(threshold: f64, above: Above) -> Parameters {
    let sign = if above == Above::First { 1.0 } else { -1.0 };
    Parameters::new(Shape::new(2, 2).unwrap(), vec![-threshold * sign, sign, 0.0, 0.0]).unwrap()
}

fn grid() -> impl Iterator<Item = f64> {
    (-400..=400).map(|step| f64::from(step).powi(3) * 1e-6)
}

/// Checks the set of thresholds at every point of a grid; its shape.
fn check(statistics: &Statistics, confidence: Confidence) -> Thresholds {
    let set = confidence.set(statistics);
    let thresholds = set.thresholds(0, 1).expect("two context variables");
    for x in grid() {
        let interval = set.difference_interval(&[1.0, x], 0, 1);
        let margin = interval.upper.abs().min(interval.lower.abs()) / (1.0 + x.abs());
        assert!(
            margin < 1e-9 || thresholds.contains(x) == interval.contains(0.0),
            "{thresholds:?} at {x}: {interval:?}"
        );
        for above in [Above::First, Above::Second] {
            let oriented = set.oriented_thresholds(0, 1, above).expect("two context variables");
            let plausible = set.boundary(&policy(x, above), 0, 1).plausible;
            assert!(
                margin < 1e-9 || oriented.contains(x) == plausible,
                "{oriented:?} {above:?} at {x}, of {thresholds:?}"
            );
        }
    }
    thresholds
}

#[test]
fn thresholds_are_where_the_difference_may_be_zero() {
    let mut rng = Rng::new(3, 0);
    let (mut between, mut outside, mut everything) = (0, 0, 0);
    for trial in 0..120 {
        let rounds = [6, 40, 400, 4_000][trial % 4];
        let statistics = statistics(rng.normal(), 2.0 * rng.normal(), rounds, &mut rng);
        match check(&statistics, confidence(1.0)) {
            Thresholds::Between { .. } => between += 1,
            Thresholds::Outside { .. } => outside += 1,
            Thresholds::Everything => everything += 1,
            other => panic!("{other:?} has probability zero"),
        }
    }
    assert!(between > 10 && outside > 10 && everything > 10, "{between} {outside} {everything}");
}

/// The half-line lies between "between" and "outside": the radius at which the slope is just not significant.
#[test]
fn a_slope_that_is_just_not_significant_leaves_a_half_line() {
    let mut rng = Rng::new(3, 1);
    let (mut at_most, mut at_least) = (0, 0);
    for trial in 0..40 {
        let statistics = statistics(if trial % 2 == 0 { 3.0 } else { -3.0 }, rng.normal(), 400, &mut rng);
        let slope = statistics.arm(0).estimate()[1] - statistics.arm(1).estimate()[1];
        let spread = statistics.arm(0).inverse()[2] + statistics.arm(1).inverse()[2];
        let wanted = slope.abs() / spread.sqrt();
        let missing = wanted - confidence(0.0).set(&statistics).radius();
        if missing < 0.0 {
            continue;
        }
        match check(&statistics, confidence(missing / 0.1_f64.sqrt())) {
            Thresholds::AtMost { .. } => at_most += 1,
            Thresholds::AtLeast { .. } => at_least += 1,
            // Rounding in the radius may leave a trace of curvature; both neighbours are then half-lines as far as the grid goes.
            Thresholds::Between { low, high } | Thresholds::Outside { low, high } => {
                assert!(low.abs().max(high.abs()) > 1e9);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(at_most > 0 && at_least > 0, "{at_most} {at_least}");
}

#[test]
fn there_is_no_threshold_without_two_context_variables() {
    let statistics = Statistics::new(0.1, &Parameters::zeros(Shape::new(2, 3).unwrap()));
    assert_eq!(confidence(1.0).set(&statistics).thresholds(0, 1), None);
}

/// The cuts of a score, point by point against the boundary test, over shapes that the data leave open and closed.
#[test]
fn cuts_are_the_numbers_whose_boundary_is_plausible() {
    let mut shapes = [0; 5];
    for seed in 0..60 {
        let log = ThreeArmLog::draw([4, 12, 40, 400][seed % 4], 4, seed as u64);
        let statistics = log.statistics(0.01);
        let set = three_arm_settings(4).confidence().set(&statistics);
        let mut rng = Rng::new(seed as u64, 2);
        let estimates = statistics.estimates();
        // Half of the directions are near the estimate's own, so that some cut of them is plausible.
        let own = |at: usize| estimates.arm(0)[at] - estimates.arm(1)[at];
        let direction: Vec<f64> = (0..4)
            .map(|at| {
                if at == 0 {
                    0.0
                } else if seed % 2 == 0 {
                    own(at) + 0.01 * rng.normal()
                } else {
                    rng.normal()
                }
            })
            .collect();
        let cuts = set.cuts(0, 1, &direction);
        shapes[match cuts {
            Thresholds::Between { .. } => 0,
            Thresholds::AtMost { .. } | Thresholds::AtLeast { .. } => 1,
            Thresholds::Outside { .. } => 2,
            Thresholds::Everything => 3,
            Thresholds::Nothing => 4,
        }] += 1;
        let boundary = |cut: f64, sign: f64| {
            let mut values = vec![0.0; 12];
            values[..4].copy_from_slice(&direction);
            values[0] = -cut;
            for value in &mut values {
                *value *= sign;
            }
            set.boundary(&Parameters::new(Shape::new(3, 4).unwrap(), values).unwrap(), 0, 1)
        };
        for step in -60..=60 {
            let cut = f64::from(step).powi(3) * 1e-4;
            let (first, second) = (boundary(cut, 1.0), boundary(cut, -1.0));
            let clear = |distance: f64| (distance - set.radius()).abs() > 1e-6 * set.radius();
            if clear(first.distance) && clear(second.distance) {
                assert_eq!(cuts.contains(cut), first.plausible || second.plausible, "{seed}: {cuts:?} at {cut}");
                let above = |above| set.oriented_cuts(0, 1, &direction, above).contains(cut);
                assert_eq!(above(Above::First), first.plausible, "{seed}: {cuts:?} at {cut}");
                assert_eq!(above(Above::Second), second.plausible, "{seed}: {cuts:?} at {cut}");
            }
        }
    }
    assert!(shapes[0] > 5 && shapes[3] > 5 && shapes[4] > 5, "{shapes:?}");
}
