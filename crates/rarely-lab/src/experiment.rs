//! Algorithms × runs, in parallel.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rarely_core::{Certificates, Policy, SettingsError};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::contestant::Contestant;
use crate::environment::{Environment, SimulatedWorld, policy_stream};
use crate::journal::{self, Finished, Journal};
use crate::judge::Judge;
use crate::outcome::Outcome;
use crate::play::{PlayError, play};

/// The least number of contexts on which changes are judged.
pub const JUDGED_ON: usize = 20_000;

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
    /// Whether changes carry certificates.
    pub certificates: Certificates,
}

/// Where finished runs are kept, who is told of them, and who may stop.
pub struct Bench<'a> {
    /// Finished runs.
    pub journal: &'a Journal,
    /// Told after each.
    pub progress: &'a (dyn Fn() + Sync),
    /// Looked at before each run and now and then within: once it is true, the experiment ends with
    /// [`ExperimentError::Stopped`].
    pub stop: &'a AtomicBool,
}

impl Bench<'static> {
    /// Keeps and tells nothing, and never stops.
    pub fn quiet() -> Self {
        static NONE: std::sync::OnceLock<Journal> = std::sync::OnceLock::new();
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { journal: NONE.get_or_init(Journal::none), progress: &|| {}, stop: &NEVER }
    }
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A contestant could not be built.
    #[error("{name} cannot be built")]
    Settings {
        /// The contestant.
        name: String,
        /// What was wrong.
        source: SettingsError,
    },
    /// A run could not go on.
    #[error("{name} could not go on in run {run}")]
    Play {
        /// The contestant.
        name: String,
        /// The run.
        run: u64,
        /// What was wrong.
        source: PlayError,
    },
    /// A finished run could not be kept.
    #[error("could not keep a finished run; free some space, or name another --out")]
    Journal(#[from] io::Error),
    /// Somebody asked for it.
    #[error("stopped before all runs were finished; finished runs are kept where there is a folder for them")]
    Stopped,
}

impl Experiment<'_> {
    /// Runs every contestant in every world. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`ExperimentError`] of a run that could not be built, played or kept, or that was stopped.
    pub fn run(&self, contestants: &[Contestant], bench: &Bench<'_>) -> Result<Vec<Outcome>, ExperimentError> {
        let keys: Vec<String> = contestants.iter().map(|contestant| journal::key(&self.describe(contestant))).collect();
        let by_run: Result<Vec<Vec<Finished>>, ExperimentError> = (0..self.runs)
            .into_par_iter()
            .map(|run| {
                let world = self.environment.world(self.seed, run);
                // Finished runs need no judge, so that one is made only when it is asked for.
                let judge = std::sync::OnceLock::new();
                let judge = || judge.get_or_init(|| Judge::new(&*world, self.environment.shape(), self.judged_on));
                let played = contestants.par_iter().zip(&keys).map(|(contestant, key)| {
                    let finished = if let Some(finished) = bench.journal.take(key, run) {
                        finished
                    } else if bench.stop.load(Ordering::Relaxed) {
                        return Err(ExperimentError::Stopped);
                    } else {
                        let finished = self.play_one(contestant, run, judge(), bench.stop)?;
                        bench.journal.keep(key, run, &finished)?;
                        finished
                    };
                    (bench.progress)();
                    Ok(finished)
                });
                played.collect()
            })
            .collect();
        let mut outcomes: Vec<Outcome> =
            contestants.iter().map(|contestant| Outcome::new(contestant.clone(), self.checkpoints())).collect();
        for finished in by_run? {
            outcomes.iter_mut().zip(finished).for_each(|(outcome, finished)| outcome.push(finished));
        }
        Ok(outcomes)
    }

    /// Tries whether every contestant can be built, in their order, before anything is run.
    ///
    /// # Errors
    /// [`ExperimentError::Settings`] of the first that cannot.
    pub fn check(&self, contestants: &[Contestant]) -> Result<(), ExperimentError> {
        const FEW: usize = 200;
        let world = self.environment.world(self.seed, 0);
        let judge = Judge::new(&*world, self.environment.shape(), FEW);
        for contestant in contestants {
            self.build(contestant, &*world, &judge)?;
        }
        Ok(())
    }

    /// How many of its runs a journal has.
    pub fn finished(&self, contestants: &[Contestant], journal: &Journal) -> usize {
        let count = |contestant| journal.count(&journal::key(&self.describe(contestant)), self.runs);
        contestants.iter().map(count).sum()
    }

    fn build(
        &self,
        contestant: &Contestant,
        world: &dyn SimulatedWorld,
        judge: &Judge,
    ) -> Result<Box<dyn Policy>, ExperimentError> {
        let built = contestant.build(world, judge, self.rounds, self.certificates);
        built.map_err(|source| ExperimentError::Settings { name: contestant.name.clone(), source })
    }

    /// The rounds at which regret is recorded: about 200, evenly on a linear and on a logarithmic scale, the last the end.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn checkpoints(&self) -> Vec<u64> {
        const POINTS: u64 = 100;
        let rounds = self.rounds;
        let even = (1..=POINTS).map(|at| (u128::from(rounds) * u128::from(at) / u128::from(POINTS)) as u64);
        let logarithmic = (0..POINTS).map(|at| libm::pow(rounds as f64, at as f64 / POINTS as f64).round() as u64);
        let mut all: Vec<u64> = even.chain(logarithmic).chain([tenth(rounds)]).filter(|&round| round > 0).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Everything that a contestant's results depend on.
    pub fn describe(&self, contestant: &Contestant) -> Value {
        json!({
            "environment": self.environment.describe(),
            "contestant": contestant,
            "rounds": self.rounds,
            "seed": self.seed,
            "judged_on": self.judged_on,
            "certificates": self.certificates,
        })
    }

    fn play_one(
        &self,
        contestant: &Contestant,
        run: u64,
        judge: &Judge,
        stop: &AtomicBool,
    ) -> Result<Finished, ExperimentError> {
        let mut world = self.environment.world(self.seed, run);
        let mut policy = self.build(contestant, &*world, judge)?;
        let mut rng = policy_stream(self.seed, run);
        let started = Instant::now();
        let played = play(policy.as_mut(), &mut *world, judge, &self.checkpoints(), &mut rng, stop);
        let run_played = played.map_err(|source| match source {
            PlayError::Stopped => ExperimentError::Stopped,
            source => ExperimentError::Play { name: contestant.name.clone(), run, source },
        })?;
        Ok(Finished { run: run_played, seconds: started.elapsed().as_secs_f64() })
    }
}

/// The round at a tenth of all.
pub(crate) fn tenth(rounds: u64) -> u64 {
    (rounds / 10).max(1)
}
