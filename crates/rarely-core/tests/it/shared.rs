//! Arms with features, which share their parameters.

use rarely_core::conformance;
use rarely_core::{
    Algorithm, Arm, ArmChange, ArmsError, Context, Decision, Forgetting, Policy, Rng, Sets, Settings, SettingsError,
};

use crate::sample;

fn sharing() -> impl Iterator<Item = Algorithm> {
    Algorithm::all().filter(|algorithm| algorithm.can_share())
}

/// An identity matrix: every arm has a feature of its own.
fn one_hot(arms: usize) -> Vec<f64> {
    (0..arms * arms).map(|at| f64::from(u8::from(at / arms == at % arms))).collect()
}

fn shared(algorithm: Algorithm, arms: usize, dimension: usize, features: Vec<f64>) -> Box<dyn Policy> {
    let settings = sample::settings(algorithm, arms, dimension).arm_features(features).expect("fits");
    settings.build().expect("compatible")
}

#[test]
fn every_law_holds_with_features() {
    for algorithm in sharing() {
        for (arms, dimension, count) in [(2, 1, 1), (3, 2, 2), (4, 3, 5)] {
            let features: Vec<f64> = {
                let mut rng = Rng::new(81, 0);
                (0..arms * count).map(|_| rng.normal()).collect()
            };
            conformance::check(&|| shared(algorithm, arms, dimension, features.clone()));
        }
    }
}

/// With a feature for each arm the model is that of separate parameters: the same decisions, propensities and estimates.
#[test]
fn a_feature_for_each_arm_is_the_model_without_features() {
    const ARMS: usize = 4;
    for algorithm in sharing() {
        let mut with = shared(algorithm, ARMS, 3, one_hot(ARMS));
        let mut without = sample::settings(algorithm, ARMS, 3).build().expect("compatible");
        let truth = sample::parameters(without.shape(), &mut Rng::new(82, 0));
        for round in 0..400 {
            let mut rng = Rng::new(83, round);
            let values = sample::context(3, &mut rng);
            let context = Context::new(&values).expect("finite");
            let (one, other) = (rng.clone(), rng.clone());
            let [one, other] = [(&with, one), (&without, other)]
                .map(|(policy, mut rng)| policy.decide(context, &mut rng).expect("fits"));
            assert_eq!((one.arm, one.reason), (other.arm, other.reason), "{algorithm}, round {round}");
            assert!((one.propensity - other.propensity).abs() < 1e-9, "{algorithm}, round {round}");
            let reward = sample::dot(&values, truth.arm(one.arm.index())) + 0.1 * rng.normal();
            for policy in [&mut with, &mut without] {
                let _ = policy.observe(context, &one, reward).expect("an ordinary outcome");
            }
        }
        let [one, other] = [&with, &without].map(|policy| policy.estimates().expect("it learns"));
        sample::close(one.values(), other.values(), 1e-9);
    }
}

/// Least squares on all products, by Gaussian elimination: the estimates are those of the normal equations.
#[test]
fn estimates_are_the_normal_equations_on_all_products() {
    let (arms, dimension, count, penalty) = (3, 2, 2, 0.5);
    let features = vec![1.0, 0.2, 1.0, -0.7, 1.0, 1.5];
    let settings =
        Settings::new(arms, dimension).unwrap().algorithm(Algorithm::EpsilonGreedy).penalty(penalty).unwrap();
    let mut policy = settings.arm_features(features.clone()).unwrap().build().unwrap();
    let width = dimension * count;
    let (mut matrix, mut right) = (vec![vec![0.0; width]; width], vec![0.0; width]);
    for (at, row) in matrix.iter_mut().enumerate() {
        row[at] = penalty;
    }
    let mut rng = Rng::new(84, 0);
    for _ in 0..60 {
        let (values, arm, reward) = (sample::context(dimension, &mut rng), rng.below(arms), rng.normal());
        let product: Vec<f64> =
            features[arm * count..(arm + 1) * count].iter().flat_map(|f| values.iter().map(move |s| f * s)).collect();
        for i in 0..width {
            right[i] += reward * product[i];
            for j in 0..width {
                matrix[i][j] += product[i] * product[j];
            }
        }
        let context = Context::new(&values).unwrap();
        let _ = policy.observe(context, &Decision::recorded(Arm::new(arm)), reward).unwrap();
    }
    let theta = solved(matrix, right);
    let expected: Vec<f64> = (0..arms)
        .flat_map(|arm| {
            let own = &features[arm * count..(arm + 1) * count];
            let theta = &theta;
            (0..dimension).map(move |j| own.iter().enumerate().map(|(i, f)| f * theta[i * dimension + j]).sum())
        })
        .collect();
    sample::close(policy.estimates().unwrap().values(), &expected, 1e-10);
}

fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for at in 0..n {
        for row in at + 1..n {
            let (above, below) = matrix.split_at_mut(row);
            let factor = below[0][at] / above[at][at];
            for (value, pivot) in below[0][at..].iter_mut().zip(&above[at][at..]) {
                *value -= factor * pivot;
            }
            right[row] -= factor * right[at];
        }
    }
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|column| matrix[at][column] * right[column]).sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}

/// A new arm is known from the others' outcomes before it was ever played.
#[test]
fn a_new_arm_is_known_by_its_features() {
    for algorithm in sharing() {
        let mut policy = shared(algorithm, 2, 1, vec![1.0, 0.0, 1.0, 1.0]);
        let context = [1.0];
        let context = Context::new(&context).expect("finite");
        for round in 0..400 {
            // Outcomes are twice the second feature.
            let arm = round % 2;
            let reward = 2.0 * f64::from(u8::from(arm == 1));
            let _ = policy.observe(context, &Decision::recorded(Arm::new(arm)), reward).expect("ordinary");
        }
        let refused = policy.change_arms(&ArmChange::added()).expect_err("it needs features");
        assert_eq!(refused, ArmsError::Features { expected: 2, found: 0 });
        policy.change_arms(&ArmChange::Add { prior_mean: None, features: Some(vec![1.0, 3.0]) }).expect("it can");
        let estimates = policy.estimates().expect("it learns");
        assert!((estimates.arm(2)[0] - 6.0).abs() < 0.01, "{algorithm}: {estimates:?}");
        let mut rng = Rng::new(85, 0);
        let chosen = (0..200).filter(|_| policy.decide(context, &mut rng).expect("fits").arm == Arm::new(2)).count();
        assert!(chosen > 150, "{algorithm}: {chosen}");
        let copy = policy.snapshot().restore().expect("sound");
        assert!(copy.snapshot() == policy.snapshot());
    }
}

#[test]
fn features_that_do_not_fit_are_refused() {
    let settings = |algorithm| sample::settings(algorithm, 3, 2);
    let wrong = settings(Algorithm::LinUcb).arm_features(vec![1.0; 4]).expect_err("no row for each arm");
    assert_eq!(wrong, SettingsError::ArmFeatures { found: 4, arms: 3 });
    assert!(settings(Algorithm::LinUcb).arm_features(vec![f64::NAN; 3]).is_err());
    assert!(settings(Algorithm::LinUcb).arm_features(vec![1.0; 3 * 2049]).is_err(), "4,098 products");
    let features = |settings: Settings| settings.arm_features(vec![1.0; 3]).expect("fits").build();
    let incompatible = |result: Result<Box<dyn Policy>, SettingsError>| {
        assert!(matches!(result, Err(SettingsError::Incompatible { .. })), "{result:?}");
    };
    for algorithm in Algorithm::all().filter(|algorithm| !algorithm.can_share()) {
        incompatible(features(settings(algorithm)));
    }
    incompatible(features(settings(Algorithm::LinUcb).sets(Sets::PerArm)));
    incompatible(features(settings(Algorithm::Thompson).constant_prior_mean(1.0).expect("in range")));
    let forgetting = Forgetting::window(10).expect("in range");
    incompatible(features(settings(Algorithm::Thompson).tune(|tuning| tuning.forgetting = Some(forgetting))));
}
