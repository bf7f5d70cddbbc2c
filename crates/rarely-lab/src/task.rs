//! What to run, as plain data: an environment by name or from tables, its size, and the seed.

use std::sync::Arc;

use rarely_core::{Algorithm, Certificates, SettingsError, Shape};
use serde_json::{Value, json};

use crate::assumptions::Assumptions;
use crate::contestant::Contestant;
use crate::environment::{self, CounterfactualTable, Environment, EnvironmentError};
use crate::experiment::{Bench, Experiment, ExperimentError, JUDGED_ON};
use crate::journal::Journal;
use crate::outcome::Outcome;

/// Where contexts and rewards come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// An environment of the registry.
    Synthetic {
        /// Its name.
        name: String,
        /// `k`.
        arms: usize,
        /// `d`.
        dimension: usize,
        /// Standard deviation of the noise.
        noise: f64,
        /// Strength of what is unusual in it.
        strength: f64,
    },
    /// People whose outcomes are all known.
    Tables(Arc<CounterfactualTable>),
}

impl Source {
    /// The paper's synthetic task.
    pub fn linear(arms: usize, dimension: usize) -> Self {
        Self::Synthetic { name: "linear".to_owned(), arms, dimension, noise: 0.1, strength: 1.0 }
    }

    /// The environment.
    ///
    /// # Errors
    /// [`TaskError`] if there is none.
    pub fn environment(&self) -> Result<Box<dyn Environment>, TaskError> {
        match self {
            Self::Synthetic { name, arms, dimension, noise, strength } => {
                Ok(environment::named(name, Shape::new(*arms, *dimension)?, *noise, *strength)?)
            }
            Self::Tables(tables) => Ok(Box::new(CounterfactualTable::clone(tables))),
        }
    }
}

/// One experiment to run.
#[derive(Debug, Clone)]
pub struct Task {
    /// Where contexts and rewards come from.
    pub source: Source,
    /// Rounds of a run; `None` is as many as there are people.
    pub rounds: Option<u64>,
    /// Runs.
    pub runs: u64,
    /// Seed.
    pub seed: u64,
    /// Contexts on which changes are judged.
    pub judged_on: usize,
    /// Whether changes carry certificates.
    pub certificates: Certificates,
}

/// Rounds of a synthetic task that names none.
pub const ROUNDS: u64 = 10_000;

/// Why a task could not be run.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The environment does not exist.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// Its shape is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A run failed.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// There are fewer people than rounds.
    #[error("{rounds} rounds were asked for, but the table has {people} people; ask for at most {people}")]
    Rounds {
        /// Asked for.
        rounds: u64,
        /// There are.
        people: u64,
    },
}

impl Task {
    /// As many rounds as the source has by itself, judged on [`JUDGED_ON`] contexts, without certificates.
    pub fn new(source: Source, runs: u64, seed: u64) -> Self {
        Self { source, rounds: None, runs, seed, judged_on: JUDGED_ON, certificates: Certificates::Brief }
    }

    /// Tries whether it can be run, before anything is; the rounds of a run.
    ///
    /// # Errors
    /// [`TaskError`] if it cannot.
    pub fn check(&self, contestants: &[Contestant]) -> Result<u64, TaskError> {
        self.with_experiment(|experiment| {
            experiment.check(contestants)?;
            Ok(experiment.rounds)
        })
    }

    /// How many of its runs a journal has.
    ///
    /// # Errors
    /// [`TaskError`] if it cannot be run.
    pub fn finished(&self, contestants: &[Contestant], journal: &Journal) -> Result<usize, TaskError> {
        self.with_experiment(|experiment| Ok(experiment.finished(contestants, journal)))
    }

    /// Runs every contestant.
    ///
    /// # Errors
    /// [`TaskError`] if it could not be.
    pub fn run(&self, contestants: &[Contestant], bench: &Bench<'_>) -> Result<Vec<Outcome>, TaskError> {
        self.with_experiment(|experiment| Ok(experiment.run(contestants, bench)?))
    }

    /// What is run, as it is written beside results; the program adds its `command`.
    ///
    /// # Errors
    /// [`TaskError`] if it cannot be run.
    pub fn describe(&self, assumptions: &Assumptions, algorithms: &[Algorithm]) -> Result<Value, TaskError> {
        self.with_experiment(|experiment| {
            Ok(json!({
                "version": env!("CARGO_PKG_VERSION"),
                "environment": experiment.environment.describe(),
                "rounds": experiment.rounds,
                "runs": self.runs,
                "seed": self.seed,
                "algorithms": algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>(),
                "assumptions": assumptions.describe(),
            }))
        })
    }

    fn with_experiment<T>(&self, act: impl FnOnce(&Experiment<'_>) -> Result<T, TaskError>) -> Result<T, TaskError> {
        let environment = self.source.environment()?;
        let rounds = match (self.rounds, environment.rounds()) {
            (Some(rounds), Some(people)) if rounds > people => return Err(TaskError::Rounds { rounds, people }),
            (Some(rounds), _) => rounds,
            (None, people) => people.unwrap_or(ROUNDS),
        };
        act(&Experiment {
            environment: &*environment,
            rounds,
            runs: self.runs,
            seed: self.seed,
            judged_on: self.judged_on,
            certificates: self.certificates,
        })
    }
}

/// `1 run`, `2 runs`.
pub fn runs_text(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}
