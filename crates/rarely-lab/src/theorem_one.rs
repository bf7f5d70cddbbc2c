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
    /// Rounds.
    pub rounds: u64,
    /// Seed.
    pub seed: u64,
}

const TRUTH: [f64; 2] = [0.5, 0.9];
const NOISE: f64 = 0.1;
const PENALTY: f64 = 1.0;
const ERROR_PROBABILITY: f64 = 0.05;

impl CounterExample {
    /// Plays it, with valid confidence sets, λ = 1, δ = 0.05.
    ///
    /// # Errors
    /// [`ExperimentError`] if a number is out of range.
    pub fn run(&self) -> Result<Run, ExperimentError> {
        let environment =
            Given { shape: Shape::new(2, 1)?, truth: TRUTH.to_vec(), initial: vec![1.0, 0.0], noise: NOISE };
        let mut contestant = Contestant::new(self.algorithm, Profile::Rigorous);
        contestant.explore = Some(Exploration { equipoise: Share::new(self.equipoise)?, ..Exploration::NONE });
        contestant.declared.penalty = Some(PENALTY);
        contestant.declared.error_probability = Some(ERROR_PROBABILITY);
        let experiment = Experiment {
            rounds: Some(self.rounds),
            judged_on: 1,
            ..Experiment::new(WorldSource::of(environment), 1, self.seed)
        };
        let results = experiment.run(&[contestant], &RunContext::quiet())?;
        Ok(results.into_iter().flat_map(|result| result.runs).next().unwrap_or_default())
    }
}

/// Theorem 1's bound as printed, `√(32·d·T·β·ln((tr V₀ + T·D²)/(d·det^{1/d}V₀)))`, for this example: d = 1, V₀ = λ, ‖s‖ = D = 1 and
/// Theorem B1's β with the most information the rounds can hold.
pub fn printed_bound(rounds: u64) -> f64 {
    let t = rounds as f64;
    let growth = ((PENALTY + t) / PENALTY).ln();
    let beta = PENALTY.sqrt() * TRUTH[0].hypot(TRUTH[1]) + (2.0 * (1.0 / ERROR_PROBABILITY).ln() + growth).sqrt();
    (32.0 * t * beta * growth).sqrt()
}
