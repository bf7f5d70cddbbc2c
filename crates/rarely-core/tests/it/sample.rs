//! Random problems: truths, contexts, outcomes and what was learned from them.

use proptest::prelude::*;
use rarely_core::{
    Algorithm, Arm, Confidence, ConfidenceSet, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty,
    Profile, Ridge, Rng, Sets, Settings, Shape, Statistics,
};

/// One outcome.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) context: Vec<f64>,
    pub(crate) arm: Arm,
    pub(crate) reward: f64,
}

/// An intercept (if there is room for one) and uniform numbers.
pub(crate) fn context(dimension: usize, rng: &mut Rng) -> Vec<f64> {
    (0..dimension).map(|at| if at == 0 && dimension > 1 { 1.0 } else { rng.uniform() }).collect()
}

/// Contexts row by row.
pub(crate) fn block(rows: usize, dimension: usize, rng: &mut Rng) -> Vec<f64> {
    (0..rows).flat_map(|_| context(dimension, rng)).collect()
}

/// Normal numbers for every arm and variable.
pub(crate) fn parameters(shape: Shape, rng: &mut Rng) -> Parameters {
    Parameters::new(shape, (0..shape.parameters()).map(|_| rng.normal()).collect()).expect("finite and small")
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Outcomes of arms chosen at random, with noise of standard deviation 0.1.
pub(crate) fn outcomes(truth: &Parameters, count: usize, rng: &mut Rng) -> Vec<Outcome> {
    let shape = truth.shape();
    let mut outcome = || {
        let context = context(shape.dimension(), rng);
        let arm = Arm::new(rng.below(shape.arms()));
        let reward = dot(&context, truth.arm(arm.index())) + 0.1 * rng.normal();
        Outcome { context, arm, reward }
    };
    (0..count).map(|_| outcome()).collect()
}

pub(crate) fn learn<'a>(statistics: &mut Statistics, log: impl IntoIterator<Item = &'a Outcome>) {
    for Outcome { context, arm, reward } in log {
        statistics.observe(Context::new(context).expect("finite"), *arm, *reward).expect("an ordinary outcome");
    }
}

/// Statistics of a random log, with the truth behind it.
pub(crate) fn learned(shape: Shape, penalty: f64, count: usize, rng: &mut Rng) -> (Parameters, Statistics) {
    let truth = parameters(shape, rng);
    let mut statistics = Statistics::new(penalty, &Parameters::zeros(shape));
    learn(&mut statistics, &outcomes(&truth, count, rng));
    (truth, statistics)
}

/// Rigorous assumptions that fit [`outcomes`].
pub(crate) fn confidence(penalty: f64, sets: Sets) -> Confidence {
    Confidence {
        noise: Noise::new(0.1).expect("in range"),
        norm_bound: Some(NormBound::new(1.0).expect("in range")),
        error_probability: ErrorProbability::new(0.01).expect("in range"),
        penalty: Penalty::new(penalty).expect("in range"),
        sets,
        profile: Profile::Rigorous,
    }
}

/// Settings that fit [`outcomes`], with what every algorithm needs: clucb a baseline, everyone a policy in force.
pub(crate) fn settings(algorithm: Algorithm, arms: usize, dimension: usize) -> Settings {
    let settings = Settings::new(arms, dimension).expect("a shape").noise(0.1).expect("in range");
    furnished(settings.norm_bound(5.0).expect("in range"), algorithm)
}

/// Adds what every algorithm needs.
pub(crate) fn furnished(settings: Settings, algorithm: Algorithm) -> Settings {
    let shape = settings.shape();
    let deployed = parameters(shape, &mut Rng::new(3, 0)).values().to_vec();
    let settings = settings.algorithm(algorithm).deployed(deployed).expect("finite");
    settings.baseline(Arm::new(0), &vec![0.1; shape.dimension()]).expect("fits")
}

/// A random problem: `arms`, `dimension`, `penalty`, outcomes, seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem {
    pub(crate) shape: Shape,
    pub(crate) penalty: f64,
    pub(crate) count: usize,
    pub(crate) seed: u64,
}

pub(crate) fn problem() -> impl Strategy<Value = Problem> {
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
    pub(crate) fn rng(&self) -> Rng {
        Rng::new(self.seed, 0)
    }

    pub(crate) fn learned(&self, rng: &mut Rng) -> (Parameters, Statistics) {
        learned(self.shape, self.penalty, self.count, rng)
    }
}

/// Relative to the largest number of either, as rounding in a solution is.
#[track_caller]
pub(crate) fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    let size = found.iter().chain(expected).fold(1e-300_f64, |size, value| size.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * size, "{found} instead of {expected} (sizes up to {size})");
    }
}

#[track_caller]
pub(crate) fn same_statistics(found: &Statistics, expected: &Statistics, tolerance: f64) {
    assert_eq!(found.rounds(), expected.rounds());
    for (found, expected) in found.arms().iter().zip(expected.arms()) {
        assert_eq!(found.count(), expected.count());
        // Sums whose terms cancel may be near 0; the terms, and so the roundings, are of size 1.
        let beside_one = |values: &[f64]| values.iter().copied().chain([1.0]).collect::<Vec<_>>();
        close(&beside_one(found.estimate()), &beside_one(expected.estimate()), tolerance);
        let moment = |ridge: &Ridge| ridge.moment().collect::<Vec<_>>();
        close(&beside_one(&moment(found)), &beside_one(&moment(expected)), tolerance);
        close(&[found.log_det(), 1.0], &[expected.log_det(), 1.0], tolerance);
        close(found.inverse(), expected.inverse(), tolerance);
        let information = |ridge: &Ridge| ridge.information().collect::<Vec<_>>();
        close(&information(found), &information(expected), tolerance);
    }
}

/// A packed symmetric matrix times a vector.
pub(crate) fn multiply(packed: &[f64], x: &[f64]) -> Vec<f64> {
    let entry = |i: usize, j: usize| packed[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j) * x[j]).sum()).collect()
}

/// A random point of the joint set: `θ̂ + share·r·direction/‖direction‖_V`.
pub(crate) fn point_of(set: &ConfidenceSet<'_>, share: f64, rng: &mut Rng) -> Parameters {
    let estimates = set.statistics().estimates();
    let step = parameters(estimates.shape(), rng);
    let add = |scale: f64| {
        let values = estimates.values().iter().zip(step.values()).map(|(a, b)| a + scale * b).collect();
        Parameters::new(estimates.shape(), values).expect("small")
    };
    let length = set.distance_squared(&add(1.0)).sqrt();
    add(share * set.radius() / length)
}

/// A log with its arms drawn at random: contexts of `d` variables and the outcomes of three arms.
pub(crate) struct ThreeArmLog {
    pub(crate) contexts: Vec<f64>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) rewards: Vec<f64>,
    pub(crate) d: usize,
}

impl ThreeArmLog {
    pub(crate) fn draw(rows: usize, d: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed, 0);
        let truth: Vec<f64> = (0..3 * d).map(|_| rng.normal()).collect();
        let mut log = Self { contexts: Vec::new(), arms: Vec::new(), rewards: Vec::new(), d };
        for _ in 0..rows {
            let context: Vec<f64> = (0..d).map(|at| if at == 0 { 1.0 } else { rng.uniform() }).collect();
            let arm = rng.below(3);
            let mean: f64 = context.iter().zip(&truth[arm * d..]).map(|(x, y)| x * y).sum();
            log.contexts.extend_from_slice(&context);
            log.arms.push(Arm::new(arm));
            log.rewards.push(mean + 0.1 * rng.normal());
        }
        log
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[f64], Arm, f64)> {
        let rows = self.contexts.chunks_exact(self.d).zip(&self.arms).zip(&self.rewards);
        rows.map(|((context, &arm), &reward)| (context, arm, reward))
    }

    pub(crate) fn statistics(&self, penalty: f64) -> Statistics {
        let mut statistics = Statistics::new(penalty, &Parameters::zeros(Shape::new(3, self.d).unwrap()));
        for (context, arm, reward) in self.rows() {
            statistics.observe(Context::new(context).unwrap(), arm, reward).unwrap();
        }
        statistics
    }
}

/// Settings that fit a [`ThreeArmLog`].
pub(crate) fn three_arm_settings(d: usize) -> Settings {
    Settings::new(3, d).unwrap().noise(0.1).unwrap().norm_bound(6.0).unwrap()
}
