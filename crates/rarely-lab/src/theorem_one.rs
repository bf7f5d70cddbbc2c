//! The smallest counter-example to the paper's Theorem 1.
//!
//! Two arms, one context variable that is always 1, true rewards 0.5 and 0.9, and a policy that starts with the worse arm. The
//! better arm is never played, so that it is never ruled out and never recommended: every round is feasible and loses 0.4.

use rarely_core::{Algorithm, Exploration, Profile, Shape, Share};

use crate::contestant::Contestant;
use crate::environment::Given;
use crate::experiment::{Experiment, ExperimentError, RunContext};
use crate::play::Run;
use crate::world_source::WorldSource;

/// The setting of the counter-example.
#[derive(Debug, Clone, Copy)]
pub struct CounterExample {
    /// Probability of drawing a plausible arm; 0 is the paper's algorithm.
    pub equipoise: f64,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// `δ`.
    pub error_probability: f64,
    /// Rounds.
    pub rounds: u64,
    /// Seed.
    pub seed: u64,
}

const TRUTH: [f64; 2] = [0.5, 0.9];
const NOISE: f64 = 0.1;
const PENALTY: f64 = 1.0;

impl CounterExample {
    /// `δ` of Theorem 1.
    pub const ERROR_PROBABILITY: f64 = 0.05;

    /// What every round with the worse arm loses.
    pub const GAP: f64 = TRUTH[1] - TRUTH[0];

    /// `L`, the norm of the true parameters.
    pub fn norm() -> f64 {
        TRUTH[0].hypot(TRUTH[1])
    }

    /// Plays it, with valid confidence sets and λ = 1.
    ///
    /// # Errors
    /// [`ExperimentError`] if a number is out of range.
    pub fn run(&self) -> Result<Run, ExperimentError> {
        let environment =
            Given { shape: Shape::new(2, 1)?, truth: TRUTH.to_vec(), initial: vec![1.0, 0.0], noise: NOISE };
        let mut contestant = Contestant::new(self.algorithm, Profile::Rigorous);
        contestant.explore = Some(Exploration { equipoise: Share::new(self.equipoise)?, ..Exploration::NONE });
        contestant.declared.penalty = Some(PENALTY);
        contestant.declared.error_probability = Some(self.error_probability);
        let experiment = Experiment {
            rounds: Some(self.rounds),
            judged_on: 1,
            ..Experiment::new(WorldSource::of(environment), 1, self.seed)
        };
        let results = experiment.run(&[contestant], &RunContext::quiet())?;
        Ok(results.into_iter().flat_map(|result| result.runs).next().unwrap_or_default())
    }
}

/// What `β` is in Theorem 1: the paper defines it as a radius in Theorem B1 and uses it as a squared radius in `C_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beta {
    /// Theorem B1's number.
    Radius,
    /// Its square.
    SquaredRadius,
}

/// Theorem 1's bound as printed, `√(32·d·T·β·ln((tr V₀ + T·D²)/(d·det^{1/d}V₀)))`, for the counter-example: V₀ = λI, ‖s‖ = D = 1 and
/// Theorem B1's β with the most information the rounds can hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedBound {
    /// What `β` is.
    pub beta: Beta,
    /// What `d` is: 1 as printed; `k·d` = 2 is what the proof would need.
    pub dimension: f64,
}

impl PrintedBound {
    /// As printed.
    pub const fn new(beta: Beta) -> Self {
        Self { beta, dimension: 1.0 }
    }

    /// The bound after this many rounds.
    pub fn at(&self, rounds: u64) -> f64 {
        let (t, d) = (rounds as f64, self.dimension);
        let radius = PENALTY.sqrt() * CounterExample::norm()
            + (2.0 * (1.0 / CounterExample::ERROR_PROBABILITY).ln() + ((PENALTY + t) / PENALTY).ln()).sqrt();
        let beta = match self.beta {
            Beta::Radius => radius,
            Beta::SquaredRadius => radius * radius,
        };
        (32.0 * d * t * beta * ((d * PENALTY + t) / (d * PENALTY)).ln()).sqrt()
    }

    /// The first number of rounds after which the counter-example's regret is above the bound.
    pub fn passed_at(&self) -> u64 {
        // Regret over bound grows like √T up to logarithms, and it is below 1 at first.
        let (mut below, mut above) = (1, 1 << 40);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if CounterExample::GAP * middle as f64 > self.at(middle) { above = middle } else { below = middle }
        }
        above
    }
}
