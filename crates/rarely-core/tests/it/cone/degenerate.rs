//! Cases in which a formula that is right loses its digits: one for each that was found.
//!
//! The estimate is the prior mean (every reward is the one it predicts), λ = 1 and σ is next to nothing, so that the radius is L.

use rarely_core::{
    Algorithm, Arm, Confidence, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty, Profile, Sets,
    Settings, Shape, Statistics, cosine,
};

struct Case {
    statistics: Statistics,
    confidence: Confidence,
    shape: Shape,
}

/// `k` arms, the prior mean, the radius, and the contexts each arm has seen.
fn case(arms: usize, prior: &[f64], radius: f64, seen: &[(usize, &[f64])]) -> Case {
    let shape = Shape::new(arms, prior.len() / arms).unwrap();
    let prior = Parameters::new(shape, prior.to_vec()).unwrap();
    let mut statistics = Statistics::new(1.0, &prior);
    for (arm, context) in seen {
        let reward = context.iter().zip(prior.arm(*arm)).map(|(s, t)| s * t).sum();
        statistics.observe(Context::new(context).unwrap(), Arm::new(*arm), reward).unwrap();
    }
    let confidence = Confidence {
        noise: Noise::new(1e-12).unwrap(),
        norm_bound: Some(NormBound::new(radius).unwrap()),
        error_probability: ErrorProbability::new(0.05).unwrap(),
        penalty: Penalty::new(1.0).unwrap(),
        sets: Sets::Joint,
        profile: Profile::Rigorous,
    };
    Case { statistics, confidence, shape }
}

impl Case {
    /// The cosine of the conservative update, which must be in the set and have it.
    #[track_caller]
    fn update(&self, policy: &[f64]) -> f64 {
        let set = self.confidence.set(&self.statistics);
        let policy = Parameters::new(self.shape, policy.to_vec()).unwrap();
        let update = set.conservative(&policy);
        assert!(update.parameters.values().iter().all(|value| value.is_finite()), "{update:?}");
        if update.cosine < 1.0 {
            assert!(set.distance_squared(&update.parameters).sqrt() <= set.radius() * (1.0 + 1e-8), "{update:?}");
            assert!((update.cosine - cosine(&policy, &update.parameters)).abs() < 1e-9, "{update:?}");
        }
        update.cosine
    }
}

#[test]
fn a_policy_that_is_equal_for_all_arms_has_no_direction() {
    let case = case(3, &[-0.9, 0.5, -0.4], 0.25, &[(1, &[10.0])]);
    assert_eq!(case.update(&[0.7, 0.7, 0.7]), 0.0);
    let set = case.confidence.set(&case.statistics);
    let policy = Parameters::new(case.shape, vec![0.7; 3]).unwrap();
    assert_eq!(set.conservative(&policy).parameters, case.statistics.estimates());
    for algorithm in [Algorithm::BoundaryConservative, Algorithm::RsConservative, Algorithm::RsGreedy] {
        let settings = Settings::new(3, 1).unwrap().algorithm(algorithm).penalty(1.0).unwrap().noise(1e-12).unwrap();
        let settings = settings.norm_bound(0.25).unwrap().prior_mean(vec![-0.9, 0.5, -0.4]).unwrap();
        let mut policy = settings.deployed(vec![0.7; 3]).unwrap().build().unwrap();
        let decision = rarely_core::Decision::recorded(Arm::new(1));
        let change = policy.observe(Context::new(&[10.0]).unwrap(), &decision, 5.0).unwrap();
        assert!(change.evidence().is_some(), "{algorithm}: an implausible policy was kept");
        assert!(policy.deployed().unwrap().values().iter().all(|value| value.is_finite()), "{algorithm}");
    }
}

#[test]
fn a_policy_at_nearly_a_right_angle_to_all_plausible_ones() {
    let seen: [(usize, &[f64]); 4] = [(0, &[1.0, 0.0]), (0, &[0.0, 1000.0]), (1, &[100.0, 0.0]), (1, &[0.0, 10.0])];
    let case_one = case(2, &[-0.5, -0.2, -0.7, 0.9], 0.5, &seen);
    assert!(case_one.update(&[-0.700_307_313, 0.097_824_68, 0.700_307_313, -0.097_824_68]) > -1e-6);
    let seen: [(usize, &[f64]); 4] = [(0, &[100.0, 0.0]), (0, &[0.0, 10.0]), (1, &[1.0, 0.0]), (1, &[0.0, 10.0])];
    let case_two = case(2, &[0.3, 0.2, -0.9, -0.1], 1.0, &seen);
    assert!(case_two.update(&[0.080_548_565, -0.702_504_042, -0.080_548_565, 0.702_504_042]) > -1e-6);
}

#[test]
fn a_policy_that_is_the_estimate_reversed() {
    let seen: [(usize, &[f64]); 5] = [
        (0, &[10.0, 0.0, 0.0]),
        (0, &[0.0, 0.0, 10.0]),
        (1, &[10.0, 0.0, 0.0]),
        (1, &[0.0, 1.0, 0.0]),
        (1, &[0.0, 0.0, 10.0]),
    ];
    let prior = [0.7, -0.5, -0.4, -0.3, 0.5, 0.0];
    let case = case(2, &prior, 2.0, &seen);
    let found = case.update(&prior.map(|value| -value));
    assert!((found - 0.1189).abs() < 1e-3, "{found}");
}

#[test]
fn a_planar_policy_that_is_the_axis_reversed_turns_to_an_edge() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    for prior in [[1.0, 0.0, -1.0, 0.0], [0.6, 0.8, -0.6, -0.8]] {
        let case = case(2, &prior, 1.0, &[]);
        for off in [0.0, 1e-15, 1e-12, 1e-9] {
            let mut reversed = prior.map(|value| -value);
            reversed[1] += off;
            let found = case.update(&reversed);
            assert!((found + half).abs() < 1e-6, "{prior:?} off by {off}: {found}");
        }
    }
}

#[test]
fn a_policy_just_outside_a_narrow_cone() {
    let seen: [(usize, &[f64]); 3] = [(0, &[10.0, 0.0]), (0, &[0.0, 1000.0]), (1, &[0.0, 1000.0])];
    let case = case(2, &[0.5, -0.7, 0.9, 0.6], 0.1, &seen);
    let found = case.update(&[-0.158_751_1, -0.689_055_9, 0.158_751_1, 0.689_055_9]);
    assert!(found > 1.0 - 1e-7, "{found}");
}

#[test]
fn the_projected_gradient_of_a_single_difference_does_not_turn_round() {
    let case = case(2, &[-1.2, -0.9], 0.25, &[]);
    let policy = Parameters::new(case.shape, vec![0.2, -1.3]).unwrap();
    let found = case.confidence.set(&case.statistics).projected_gradient(&policy, 100, 0.1);
    assert!((found.cosine - 1.0).abs() < 1e-9, "{}", found.cosine);
}

#[test]
fn a_plausible_policy_stays_as_it_is() {
    let case = case(2, &[0.1, 0.0, -0.1, 0.0], 1.0, &[]);
    let policy = Parameters::new(case.shape, vec![-1.0, 0.0, 1.0, 0.0]).unwrap();
    let update = case.confidence.set(&case.statistics).conservative(&policy);
    assert_eq!((update.parameters, update.cosine), (policy, 1.0));
}
