//! Where contexts and rewards come from.
//!
//! An environment is a family of worlds, one for each run. Adding one is a file in `environment/` and a line in [`REGISTRY`].

mod altered;
pub(crate) mod binary;
mod drifting;
mod heavy_tailed;
mod late;
mod linear;
mod logistic;
mod quadratic;
mod synthetic;
mod table;
mod understated;

use std::fmt;

use rarely_core::{Arm, Context, Parameters, Rng, Shape, Statistics, World};

use crate::description::EnvironmentDescription;

pub use altered::WorldProperties;
pub use linear::{Given, Linear};
pub use synthetic::EnvironmentError;
pub(crate) use synthetic::{Stream, stream, truncated_normal};
pub use table::{CounterfactualTable, EstimatedNoise, NoiseSource, TableError};

/// A family of worlds, one for each run.
pub trait Environment: fmt::Debug + Send + Sync {
    /// Arms and context variables.
    fn shape(&self) -> Shape;

    /// The world of one run. It is the same for every algorithm and any number of threads.
    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld>;

    /// Everything that its worlds depend on.
    fn describe(&self) -> EnvironmentDescription;

    /// Rounds after which a world ends, if it does.
    fn rounds(&self) -> Option<u64> {
        None
    }
}

/// Contexts of a world's own distribution with the arms' mean rewards, row by row.
#[derive(Debug, Clone)]
pub struct JudgedSample {
    /// Contexts.
    pub contexts: Vec<f64>,
    /// Mean rewards.
    pub means: Vec<f64>,
}

/// A world whose truth is known: one draw of the arms, with its own streams of contexts and noise.
pub trait SimulatedWorld: World + Send + Sync {
    /// The policy in force at the start, arm by arm.
    fn initial(&self) -> &[f64];

    /// The true parameters as of now, arm by arm, if the mean rewards are linear.
    fn truth(&self) -> Option<&[f64]>;

    /// The parameters of the log-odds, arm by arm, if outcomes are 0 or 1 and their means logistic.
    fn log_odds(&self) -> Option<&[f64]> {
        None
    }

    /// The fixed sample on which policies are judged, always the same contexts with their mean rewards as of now: at least
    /// `size` of them, or all people there are.
    fn sample(&self, size: usize) -> JudgedSample;

    /// Whether the mean rewards at a context change over time.
    fn drifts(&self) -> bool {
        false
    }

    /// When the outcome of a decision is reported; `None` if every outcome is in at once.
    fn delay(&self) -> Option<OutcomeDelay> {
        None
    }
}

/// Rounds until the outcome of a decision is reported, from the number of the round, the arm's mean and the outcome; `None` if it never
/// is.
pub type OutcomeDelay = Box<dyn FnMut(u64, f64, f64) -> Option<u64> + Send>;

/// The best linear approximation of the mean rewards on a sample, by least squares; arm by arm.
///
/// # Panics
/// If a world's numbers are not finite.
pub fn linear_fit(shape: Shape, sample: &JudgedSample) -> Vec<f64> {
    // The smallest penalty at which the regression keeps its digits.
    let squares: f64 = sample.contexts.iter().map(|value| value * value).sum();
    let mut statistics = Statistics::new((1e-10 * squares).max(1e-9), &Parameters::zeros(shape));
    let rows = sample.contexts.chunks_exact(shape.dimension()).zip(sample.means.chunks_exact(shape.arms()));
    for (context, means) in rows {
        let context = Context::new(context).expect("a world's contexts are finite");
        for (arm, &mean) in means.iter().enumerate() {
            let _ = statistics.observe(context, Arm::new(arm), mean).expect("a world's means are finite");
        }
    }
    statistics.refresh();
    statistics.estimates().values().to_vec()
}

/// An environment with a name.
pub struct RegisteredEnvironment {
    /// Its name.
    pub name: &'static str,
    /// What its worlds are like.
    pub summary: &'static str,
    /// The exact distribution of its worlds.
    pub distribution: &'static str,
    /// Whether it deviates from the linear environment by a strength.
    pub has_strength: bool,
    /// Whether its outcomes are 0 or 1, so that it has no noise to set.
    pub is_binary: bool,
    /// Builds it for a shape, a standard deviation of the noise, and a strength of its deviation from the linear environment.
    pub build: fn(Shape, f64, f64) -> Box<dyn Environment>,
}

/// Every environment that needs no file.
pub const REGISTRY: [RegisteredEnvironment; 8] = [
    linear::ENTRY,
    quadratic::ENTRY,
    logistic::ENTRY,
    binary::ENTRY,
    heavy_tailed::ENTRY,
    understated::ENTRY,
    drifting::ENTRY,
    late::ENTRY,
];

/// The standard deviation of the noise unless another is set.
pub const DEFAULT_NOISE: f64 = 0.1;

/// The environment with this name.
///
/// # Errors
/// [`EnvironmentError`] if there is none, a number is out of range, or it has no strength and one other than 1 is given.
pub fn named(name: &str, shape: Shape, noise: f64, strength: f64) -> Result<Box<dyn Environment>, EnvironmentError> {
    let entry = REGISTRY.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| EnvironmentError::Unknown { name: name.to_owned() })?;
    for (what, value) in [("noise", noise), ("strength", strength)] {
        if !(0.0..=1e6).contains(&value) {
            return Err(EnvironmentError::OutOfRange { what, value });
        }
    }
    if strength != 1.0 && !entry.has_strength {
        return Err(EnvironmentError::NoStrength { name: entry.name });
    }
    if noise != DEFAULT_NOISE && entry.is_binary {
        return Err(EnvironmentError::OwnNoise { name: entry.name });
    }
    Ok((entry.build)(shape, noise, strength))
}

/// The stream from which a policy draws its own random numbers.
pub(crate) fn policy_stream(seed: u64, run: u64) -> Rng {
    stream(seed, run, Stream::Policy)
}
