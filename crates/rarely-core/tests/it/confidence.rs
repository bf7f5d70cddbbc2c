//! Radii, the nearest point of the set, and its intervals.

use proptest::prelude::*;
use rarely_core::{Parameters, Rng, Sets, Shape, Statistics};

use crate::sample::{self, close, learn, point_of, problem};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_nearest_point_lies_on_the_set(problem in problem(), far in 0.0_f64..30.0) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        for sets in [Sets::Joint, Sets::PerArm] {
            let set = sample::confidence(problem.penalty, sets).set(&statistics);
            let point = point_of(&set, far, &mut rng);
            let nearest = set.nearest(&point);
            prop_assert!(set.contains(&nearest));
            if set.contains(&point) {
                close(nearest.values(), point.values(), 1e-12);
            } else if sets == Sets::Joint {
                close(&[set.distance_squared(&nearest)], &[set.radius().powi(2)], 1e-9);
            }
            let again = set.nearest(&nearest);
            close(again.values(), nearest.values(), 1e-9);
        }
    }

    #[test]
    fn a_difference_is_known_better_than_two_arms(problem in problem()) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        let set = sample::confidence(problem.penalty, Sets::Joint).set(&statistics);
        let context = sample::context(problem.shape.dimension(), &mut rng);
        for (i, j) in problem.shape.pairs() {
            let (first, second) = (set.arm_interval(&context, i.index()), set.arm_interval(&context, j.index()));
            let difference = set.difference_interval(&context, i.index(), j.index());
            prop_assert!(difference.lower >= first.lower - second.upper && difference.upper <= first.upper - second.lower);
            prop_assert!(difference.contains(difference.estimate));
            close(&[difference.estimate], &[first.estimate - second.estimate], 1e-12);
        }
    }

    #[test]
    fn radii_never_decrease(problem in problem()) {
        let mut rng = problem.rng();
        let truth = sample::parameters(problem.shape, &mut rng);
        let mut statistics = Statistics::new(problem.penalty, &Parameters::zeros(problem.shape));
        let confidence = sample::confidence(problem.penalty, Sets::Joint);
        let radii = |statistics: &Statistics| {
            let set = confidence.set(statistics);
            let arms = (0..problem.shape.arms()).map(|arm| set.arm_radius(arm));
            std::iter::once(set.radius()).chain(arms).collect::<Vec<f64>>()
        };
        let mut before = radii(&statistics);
        for outcome in sample::outcomes(&truth, problem.count, &mut rng) {
            learn(&mut statistics, [&outcome]);
            let after = radii(&statistics);
            prop_assert!(before.iter().zip(&after).all(|(before, after)| before <= after), "{before:?} {after:?}");
            before = after;
        }
    }
}

/// A scheduled refresh may lower the radius by rounding, never by more.
#[test]
fn the_radius_does_not_jump_at_a_refresh() {
    let shape = Shape::new(2, 3).expect("a shape");
    let mut rng = Rng::new(12, 0);
    let truth = sample::parameters(shape, &mut rng);
    let mut statistics = Statistics::new(0.01, &Parameters::zeros(shape));
    let confidence = sample::confidence(0.01, Sets::Joint);
    let mut before = confidence.set(&statistics).radius();
    for outcome in sample::outcomes(&truth, 5000, &mut rng) {
        learn(&mut statistics, [&outcome]);
        let after = confidence.set(&statistics).radius();
        assert!(after >= before * (1.0 - 1e-12), "{after} after {before}");
        before = after;
    }
}
