//! Laws of the mathematics, on random problems.

use proptest::prelude::*;
use rarely_core::{
    Algorithm, Context, Contexts, Decision, Noise, Parameters, Policy, Rng, Rule, Sets, Settings, Shape, Statistics,
    cosine, cosine_gradient,
};

use crate::sample::{self, dot, learn};

/// A random problem: `arms`, `dimension`, `penalty`, outcomes, seed.
#[derive(Debug, Clone, Copy)]
struct Problem {
    shape: Shape,
    penalty: f64,
    count: usize,
    seed: u64,
}

fn problem() -> impl Strategy<Value = Problem> {
    (2_usize..6, 1_usize..6, 0.2_f64..5.0, 0_usize..80, any::<u64>()).prop_map(
        |(arms, dimension, penalty, count, seed)| Problem {
            shape: Shape::new(arms, dimension).expect("a shape"),
            penalty,
            count,
            seed,
        },
    )
}

impl Problem {
    fn rng(&self) -> Rng {
        Rng::new(self.seed, 0)
    }

    fn learned(&self, rng: &mut Rng) -> (Parameters, Statistics) {
        sample::learned(self.shape, self.penalty, self.count, rng)
    }
}

/// Relative to the largest number of either, as rounding in a solution is.
#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    let size = found.iter().chain(expected).fold(1e-300_f64, |size, value| size.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * size, "{found} instead of {expected} (sizes up to {size})");
    }
}

#[track_caller]
fn same_statistics(found: &Statistics, expected: &Statistics, tolerance: f64) {
    assert_eq!(found.rounds(), expected.rounds());
    for (found, expected) in found.arms().iter().zip(expected.arms()) {
        assert_eq!(found.count(), expected.count());
        // Sums whose terms cancel may be near 0; the terms, and so the roundings, are of size 1.
        let beside_one = |values: &[f64]| values.iter().copied().chain([1.0]).collect::<Vec<_>>();
        close(&beside_one(found.estimate()), &beside_one(expected.estimate()), tolerance);
        let moment = |ridge: &rarely_core::Ridge| ridge.moment().collect::<Vec<_>>();
        close(&beside_one(&moment(found)), &beside_one(&moment(expected)), tolerance);
        close(&[found.log_det(), 1.0], &[expected.log_det(), 1.0], tolerance);
        close(found.inverse(), expected.inverse(), tolerance);
        let information = |ridge: &rarely_core::Ridge| ridge.information().collect::<Vec<_>>();
        close(&information(found), &information(expected), tolerance);
    }
}

/// A packed symmetric matrix times a vector.
fn multiply(packed: &[f64], x: &[f64]) -> Vec<f64> {
    let entry = |i: usize, j: usize| packed[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j) * x[j]).sum()).collect()
}

/// A random point of the joint set: `θ̂ + share·r·direction/‖direction‖_V`.
fn point_of(set: &rarely_core::ConfidenceSet<'_>, share: f64, rng: &mut Rng) -> Parameters {
    let estimates = set.statistics().estimates();
    let step = sample::parameters(estimates.shape(), rng);
    let add = |scale: f64| {
        let values = estimates.values().iter().zip(step.values()).map(|(a, b)| a + scale * b).collect();
        Parameters::new(estimates.shape(), values).expect("small")
    };
    let length = set.distance_squared(&add(1.0)).sqrt();
    add(share * set.radius() / length)
}

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
    fn while_a_policy_is_held_the_order_of_outcomes_does_not_matter(problem in problem()) {
        let mut rng = problem.rng();
        let truth = sample::parameters(problem.shape, &mut rng);
        let log = sample::outcomes(&truth, problem.count, &mut rng);
        let held = |log: &mut dyn Iterator<Item = &sample::Outcome>| {
            let (arms, dimension) = (problem.shape.arms(), problem.shape.dimension());
            // So much declared noise that nothing is ever implausible.
            let settings = sample::settings(Algorithm::BoundaryGreedy, arms, dimension).noise(1e6).expect("in range");
            let mut policy = settings.penalty(problem.penalty).expect("in range").build().expect("compatible");
            for sample::Outcome { context, arm, reward } in log {
                let context = Context::new(context).expect("finite");
                let change = policy.observe(context, &Decision::recorded(*arm), *reward).expect("ordinary");
                assert!(change.evidence().is_none(), "held");
            }
            policy
        };
        let (forwards, backwards) = (held(&mut log.iter()), held(&mut log.iter().rev()));
        let statistics = |policy: &dyn Policy| policy.learner().expect("learns").statistics().clone();
        same_statistics(&statistics(&*backwards), &statistics(&*forwards), 1e-12);
        prop_assert_eq!(forwards.deployed(), backwards.deployed());
    }

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

    #[test]
    fn jointly_plausible_is_pairwise_plausible_and_the_update_is_both(problem in problem(), near in 0.0_f64..3.0) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        let set = sample::confidence(problem.penalty, Sets::Joint).set(&statistics);
        let policy = point_of(&set, near, &mut rng);
        let pairwise = |policy: &Parameters| set.boundaries(policy).iter().all(|boundary| boundary.plausible);
        let joint = set.is_jointly_plausible(&policy);
        prop_assert!(!joint || pairwise(&policy));
        prop_assert!(joint || !set.contains(&policy), "a point of the set is plausible");
        let update = set.conservative(&policy);
        prop_assert!(update.cosine == 1.0 || set.contains(&update.parameters));
        prop_assert!(set.is_jointly_plausible(&update.parameters) && pairwise(&update.parameters));
        prop_assert!(!joint || update.cosine == 1.0);
        for _ in 0..20 {
            let share = rng.uniform();
            let other = point_of(&set, share, &mut rng);
            prop_assert!(cosine(&policy, &other) <= update.cosine.max(0.0) + 1e-9, "nothing in the set is nearer");
        }
    }

    #[test]
    fn updates_of_degenerate_policies_are_finite(
        problem in problem(),
        scale in -300_i32..13,
        same in any::<bool>(),
        noise in -12_i32..13,
    ) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        let mut confidence = sample::confidence(problem.penalty, Sets::Joint);
        confidence.noise = Noise::new(10_f64.powi(noise)).expect("in range");
        let set = confidence.set(&statistics);
        // Very small, very large, or the same for the first two arms, which then have no boundary.
        let d = problem.shape.dimension();
        let mut values = sample::parameters(problem.shape, &mut rng).values().to_vec();
        if same {
            values.copy_within(..d, d);
        }
        let values = values.into_iter().map(|value| 0.1 * value * 10_f64.powi(scale)).collect();
        let policy = Parameters::new(problem.shape, values).expect("within the limit");
        for policy in [policy, Parameters::zeros(problem.shape)] {
            let update = set.conservative(&policy);
            prop_assert!(update.parameters.values().iter().all(|value| value.is_finite()), "{update:?}");
            prop_assert!(update.cosine == 1.0 || set.contains(&update.parameters), "{update:?}");
            prop_assert!(update.cosine.abs() <= 1.0 + 1e-12, "{update:?}");
            for boundary in set.boundaries(&policy) {
                prop_assert!(boundary.distance >= 0.0 && boundary.angle_degrees >= 0.0, "{boundary:?}");
                prop_assert!(boundary.plausible == (boundary.angle_degrees == 0.0), "{boundary:?}");
            }
        }
    }

    #[test]
    fn some_arm_is_plausible_and_the_best_estimate_always(problem in problem()) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        for sets in [Sets::Joint, Sets::PerArm] {
            let set = sample::confidence(problem.penalty, sets).set(&statistics);
            let values = sample::context(problem.shape.dimension(), &mut rng);
            let context = Context::new(&values).expect("finite");
            let plausible = set.plausible_arms(context).expect("fits");
            let best = Rule::new(statistics.estimates()).choose(context).expect("fits");
            prop_assert!(plausible.contains(&best), "{best} is not in {plausible:?}");
            for (i, j) in problem.shape.pairs() {
                let interval = set.difference_interval(&values, i.index(), j.index());
                prop_assert!(interval.lower <= 0.0 || !plausible.contains(&j));
                prop_assert!(interval.upper >= 0.0 || !plausible.contains(&i));
            }
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
    fn a_gain_is_antisymmetric_and_nothing_for_no_change(problem in problem(), rows in 1_usize..40) {
        let mut rng = problem.rng();
        let (truth, statistics) = problem.learned(&mut rng);
        let values = sample::block(rows, problem.shape.dimension(), &mut rng);
        let people = Contexts::new(&values, problem.shape.dimension()).expect("whole rows");
        let arms = |parameters: &Parameters| Rule::new(parameters.clone()).choose_many(people).expect("fits");
        let (one, two) = (arms(&truth), arms(&sample::parameters(problem.shape, &mut rng)));
        for sets in [Sets::Joint, Sets::PerArm] {
            let set = sample::confidence(problem.penalty, sets).set(&statistics);
            let none = set.gain(people, &one, &one).expect("fits");
            prop_assert_eq!((none.interval.lower, none.interval.upper, none.changed_share), (0.0, 0.0, 0.0));
            let (there, back) = (set.gain(people, &one, &two).expect("fits"), set.gain(people, &two, &one).expect("fits"));
            let negated = [-back.interval.estimate, -back.interval.upper, -back.interval.lower, back.changed_share];
            let there = [there.interval.estimate, there.interval.lower, there.interval.upper, there.changed_share];
            close(&there, &negated, 1e-12);
        }
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
    let arm = rarely_core::Arm::new(1);
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

/// The gain trigger and the certificate use one formula: a policy that publishes a change says the same as the set does.
#[test]
fn evidence_says_what_the_confidence_set_says() {
    let values = sample::block(100, 3, &mut Rng::new(14, 0));
    let people = Contexts::new(&values, 3).expect("whole rows");
    let settings: Settings = sample::settings(Algorithm::BoundaryGreedy, 3, 3).population(people).expect("fits");
    let mut policy = settings.explore(6, 0.1).expect("in range").build().expect("compatible");
    let mut rng = Rng::new(15, 0);
    let truth = sample::parameters(policy.shape(), &mut rng);
    let mut changes = 0;
    for _ in 0..500 {
        let values = sample::context(3, &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let change = policy.observe(context, &decision, reward).expect("ordinary");
        let Some(evidence) = change.evidence() else { continue };
        changes += 1;
        let set = policy.learner().expect("learns").set();
        let certificate = set.certify(&Rule::new(evidence.from.clone()), &Rule::new(evidence.to.clone()), people);
        assert_eq!(evidence.certificate, Some(certificate.expect("fits")));
    }
    assert!(changes > 0, "the test needs a change");
}
