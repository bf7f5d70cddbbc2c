//! Random problems: truths, contexts, outcomes and what was learned from them.

use rarely_core::{
    Algorithm, Arm, Confidence, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty, Profile, Rng, Sets,
    Settings, Shape, Statistics,
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
        norm_bound: NormBound::new(1.0).expect("in range"),
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
