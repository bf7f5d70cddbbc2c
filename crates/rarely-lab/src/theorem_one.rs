//! The smallest counter-example to the paper's Theorem 1.
//!
//! Two arms, one context variable that is always 1, true rewards 0.5 and 0.9, and a policy that starts with the worse arm. The
//! better arm is never played, so that it is never ruled out and never recommended: every round is feasible and loses 0.4.

use rarely_core::{Algorithm, Certificates, Exploration, Profile, SettingsError, Shape, Share};

use crate::contestant::Contestant;
use crate::environment::Given;
use crate::experiment::{Bench, Experiment, ExperimentError};
use crate::play::Run;

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

/// What could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CounterExampleError {
    /// A number is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// It could not be played.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
}

impl CounterExample {
    /// Plays it, with valid confidence sets, λ = 1, δ = 0.05.
    ///
    /// # Errors
    /// [`CounterExampleError`] if a number is out of range.
    pub fn run(&self) -> Result<Run, CounterExampleError> {
        let environment =
            Given { shape: Shape::new(2, 1)?, truth: TRUTH.to_vec(), initial: vec![1.0, 0.0], noise: NOISE };
        let mut contestant = Contestant::new(self.algorithm, Profile::Rigorous);
        contestant.explore = Some(Exploration { pilot: 0, equipoise: Share::new(self.equipoise)? });
        contestant.declared.penalty = Some(PENALTY);
        contestant.declared.error_probability = Some(ERROR_PROBABILITY);
        let experiment = Experiment {
            environment: &environment,
            rounds: self.rounds,
            runs: 1,
            seed: self.seed,
            judged_on: 1,
            certificates: Certificates::Brief,
        };
        let outcomes = experiment.run(&[contestant], &Bench::quiet())?;
        Ok(outcomes.into_iter().flat_map(|outcome| outcome.runs).next().unwrap_or_default())
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
