//! The cosine of two policies, its gradient, and the projected gradient of the paper.

use proptest::prelude::*;
use rarely_core::{Parameters, Rng, Sets, Shape, cosine, cosine_gradient};

use crate::sample::{self, close, dot, problem};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_cosine_is_symmetric_and_free_of_scale_and_shift(problem in problem(), scale in 1e-6_f64..1e6) {
        let mut rng = problem.rng();
        let (one, two) = (sample::parameters(problem.shape, &mut rng), sample::parameters(problem.shape, &mut rng));
        let shift = sample::context(problem.shape.dimension(), &mut rng);
        let moved: Vec<f64> = two.iter().flat_map(|theta| theta.iter().zip(&shift).map(|(a, b)| scale * (a + b))).collect();
        let moved = Parameters::new(problem.shape, moved).expect("small");
        let expected = cosine(&one, &two);
        prop_assert!(expected.abs() <= 1.0 + 1e-15);
        close(&[cosine(&two, &one), cosine(&one, &moved), cosine(&moved, &one)], &[expected; 3], 1e-9);
        close(&[cosine(&one, &one)], &[1.0], 1e-14);
    }

    #[test]
    fn the_gradient_of_the_cosine_is_its_finite_difference(problem in problem()) {
        let mut rng = problem.rng();
        let (policy, at) = (sample::parameters(problem.shape, &mut rng), sample::parameters(problem.shape, &mut rng));
        let centred = at.centred();
        let length = dot(centred.values(), centred.values()).sqrt();
        prop_assume!(length > 0.1 && dot(policy.centred().values(), policy.centred().values()) > 0.01);
        let gradient = cosine_gradient(&policy, &at);
        let step = 1e-5;
        for (place, expected) in gradient.values().iter().enumerate() {
            let beside = |step: f64| {
                let mut values = at.values().to_vec();
                values[place] += step;
                cosine(&policy, &Parameters::new(problem.shape, values).expect("small"))
            };
            // The error of a central difference is step²/6 times a third derivative of order 1/length³, plus rounding/step.
            let found = (beside(step) - beside(-step)) / (2.0 * step);
            prop_assert!((found - expected).abs() < 1e-9 * (1.0 + length.powi(-3)), "{found} {expected}");
        }
    }
}

/// Parameters of any size, also where their squares and cubes underflow.
#[test]
fn the_projected_gradient_is_finite_for_policies_of_any_size() {
    let shape = Shape::new(2, 1).expect("a shape");
    for count in [0, 20] {
        let (_, statistics) = sample::learned(shape, 0.2, count, &mut Rng::new(16, 0));
        let set = sample::confidence(0.2, Sets::Joint).set(&statistics);
        for exponent in -308..=11 {
            let size = 10_f64.powi(exponent);
            let policy = Parameters::new(shape, vec![size, -0.5 * size]).expect("within the limit");
            let found = set.projected_gradient(&policy, 100, 0.1);
            let finite = found.parameters.values().iter().all(|value| value.is_finite());
            assert!(finite, "{count} outcomes, parameters of size {size:e}: {found:?}");
        }
    }
}

mod oracle {
    use rarely_core::{Parameters, Rng, Shape, cosine, cosine_gradient};

    use crate::conic::Case;

    #[test]
    fn the_gradient_is_that_of_the_cosine() {
        let mut rng = Rng::new(7, 4);
        for trial in 0..200 {
            let shape = Shape::new(2 + trial % 4, 1 + trial % 5).unwrap();
            let mut draw = || -> Vec<f64> { (0..shape.parameters()).map(|_| rng.normal()).collect() };
            let policy = Parameters::new(shape, draw()).unwrap();
            let at = draw();
            let gradient = cosine_gradient(&policy, &Parameters::new(shape, at.clone()).unwrap());
            for (entry, expected) in gradient.values().iter().enumerate() {
                let step = 1e-5;
                let moved = |by: f64| {
                    let mut values = at.clone();
                    values[entry] += by;
                    cosine(&policy, &Parameters::new(shape, values).unwrap())
                };
                let found = (moved(step) - moved(-step)) / (2.0 * step);
                assert!(
                    (found - expected).abs() < 1e-7 * (1.0 + expected.abs()) + 1e-8,
                    "{found} instead of {expected}"
                );
            }
        }
    }

    /// The O(1) steps in the span of three vectors are the paper's steps: here they are taken in full.
    #[test]
    fn the_projected_gradient_is_the_papers() {
        let mut rng = Rng::new(7, 5);
        for trial in 0..100 {
            // With one difference the gradient is zero or noise: there is nothing to compare.
            let case = Case::random(&mut rng, 2 + trial % 4, 2 + trial % 6);
            let policy = case.policy(&mut rng, trial % 3);
            let set = case.set();
            let estimates = case.statistics.estimates();
            let mut at = policy.clone();
            for i in 1..=100 {
                let gradient = cosine_gradient(&policy, &at);
                let step = 0.1 / f64::from(i).sqrt();
                let moved = at.values().iter().zip(gradient.values()).map(|(x, g)| x + step * g).collect();
                at = Parameters::new(case.shape, moved).unwrap();
                let distance = case.distance_squared(&at).sqrt();
                if distance > set.radius() {
                    let keep = set.radius() / distance;
                    let moved = at.values().iter().zip(estimates.values()).map(|(x, e)| e + keep * (x - e)).collect();
                    at = Parameters::new(case.shape, moved).unwrap();
                }
            }
            let found = set.projected_gradient(&policy, 100, 0.1);
            for (found, expected) in found.parameters.values().iter().zip(at.values()) {
                assert!(
                    (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                    "trial {trial}: {found} instead of {expected}"
                );
            }
        }
    }
}
