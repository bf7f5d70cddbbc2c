//! Algorithms × runs, in parallel, summed up.

use std::time::{Duration, Instant};

use rarely_core::{Policy, SettingsError};
use rayon::prelude::*;

use crate::environment::{Environment, World, policy_stream};
use crate::play::{Judge, PlayError, Run, play};

/// Builds a policy for a world, given what is known of it.
pub type Build = dyn Fn(&World, &Judge) -> Result<Box<dyn Policy>, SettingsError> + Sync + Send;

/// An algorithm with its settings, built anew for each world.
pub struct Contestant {
    /// What the tables call it.
    pub name: String,
    /// How it is built.
    pub build: Box<Build>,
}

/// One experiment: every contestant in the same worlds.
pub struct Experiment<'a> {
    /// Where contexts and rewards come from.
    pub environment: &'a dyn Environment,
    /// Rounds of a run.
    pub rounds: u64,
    /// Runs, each with its own draw of the arms.
    pub runs: u64,
    /// Seed.
    pub seed: u64,
    /// Contexts of the sample on which changes are judged.
    pub judged_on: usize,
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A contestant could not be built.
    #[error("{name}: {source}")]
    Settings {
        /// The contestant.
        name: String,
        /// What was wrong.
        source: SettingsError,
    },
    /// A run could not go on.
    #[error("{name}: {source}")]
    Play {
        /// The contestant.
        name: String,
        /// What was wrong.
        source: PlayError,
    },
}

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error; 0 for a single value.
    pub standard_error: f64,
}

impl Estimate {
    /// Of independent values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = if values.len() < 2 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() };
        Self { mean, standard_error }
    }
}

/// What a contestant did over all runs.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The contestant.
    pub name: String,
    /// Its runs, in order.
    pub runs: Vec<Run>,
    /// Processor time of its runs together.
    pub time: Duration,
    rounds: u64,
}

impl Outcome {
    /// Expected regret a round at a tenth of the rounds.
    pub fn regret_per_step_tenth(&self) -> Estimate {
        let tenth = (self.rounds / 10).max(1) as f64;
        Estimate::of(&self.runs.iter().map(|run| run.regret[0] / tenth).collect::<Vec<_>>())
    }

    /// Expected regret a round at the end.
    pub fn regret_per_step(&self) -> Estimate {
        let last = |run: &Run| run.regret.last().copied().unwrap_or(0.0) / self.rounds as f64;
        Estimate::of(&self.runs.iter().map(last).collect::<Vec<_>>())
    }

    /// Changes of policy that altered a decision.
    pub fn changes(&self) -> Estimate {
        let count = |run: &Run| run.changes.iter().filter(|change| change.changed_share > 0.0).count() as f64;
        Estimate::of(&self.runs.iter().map(count).collect::<Vec<_>>())
    }

    /// Of all changes that altered a decision, how many there were and how many raised the expected reward.
    pub fn improving(&self) -> (usize, usize) {
        let altering = || self.runs.iter().flat_map(|run| &run.changes).filter(|change| change.changed_share > 0.0);
        (altering().count(), altering().filter(|change| change.gain > 0.0).count())
    }

    /// The share of runs in which the true parameters never left the confidence set.
    pub fn coverage(&self) -> f64 {
        self.runs.iter().filter(|run| run.rounds_outside == 0).count() as f64 / self.runs.len() as f64
    }
}

impl Experiment<'_> {
    /// Runs one contestant in every world. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`ExperimentError`] of the first run that could not be built or played.
    pub fn run(&self, contestant: &Contestant) -> Result<Outcome, ExperimentError> {
        let results: Result<Vec<_>, _> =
            (0..self.runs).into_par_iter().map(|run| self.run_one(contestant, run)).collect();
        let (runs, times): (Vec<Run>, Vec<Duration>) = results?.into_iter().unzip();
        Ok(Outcome { name: contestant.name.clone(), runs, time: times.iter().sum(), rounds: self.rounds })
    }

    fn run_one(&self, contestant: &Contestant, run: u64) -> Result<(Run, Duration), ExperimentError> {
        let shape = self.environment.shape();
        let mut world = self.environment.world(self.seed, run);
        let sample = world.sample(self.seed, run, self.judged_on);
        let judge = Judge::new(&world, sample, shape.arms(), shape.dimension());
        let mut policy = (contestant.build)(&world, &judge)
            .map_err(|source| ExperimentError::Settings { name: contestant.name.clone(), source })?;
        let checkpoints = [(self.rounds / 10).max(1), self.rounds];
        let started = Instant::now();
        let played = play(policy.as_mut(), &mut world, &judge, &checkpoints, &mut policy_stream(self.seed, run))
            .map_err(|source| ExperimentError::Play { name: contestant.name.clone(), source })?;
        Ok((played, started.elapsed()))
    }
}
