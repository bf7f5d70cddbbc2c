//! Algorithms × runs, in parallel.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rarely_core::{Certificates, ConfirmError, Delay, Policy, SettingsError};
use rarely_error::{Action, Explain, Remedy};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::assumptions::Assumptions;
use crate::contestant::Contestant;
use crate::contestant_result::ContestantResult;
use crate::custom::{CustomError, CustomRun, PlayedAlgorithm};
use crate::description::{ContestantDescription, ExperimentDescription};
use crate::environment::{Environment, EnvironmentError, SimulatedWorld, WorldProperties, policy_stream};
use crate::judge::Judge;
use crate::play::{PlayError, play, play_custom};
use crate::run_journal::{self, FinishedRun, RunJournal};
use crate::world_source::WorldSource;

/// The least number of contexts on which changes are judged.
pub const JUDGED_ON: usize = 20_000;

/// Rounds of a synthetic experiment that names none.
pub const ROUNDS: u64 = 10_000;

/// One experiment: every contestant in the same worlds.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Where contexts and rewards come from.
    pub source: WorldSource,
    /// Rounds of a run; `None` is as many as there are people, or [`ROUNDS`].
    pub rounds: Option<u64>,
    /// Runs, each with its own draw of the arms.
    pub runs: u64,
    /// Seed.
    pub seed: u64,
    /// Contexts of the sample on which changes are judged.
    pub judged_on: usize,
    /// Whether changes carry certificates.
    pub certificates: Certificates,
    /// What happens in its worlds, however their rewards come about.
    pub properties: WorldProperties,
}

/// What an experiment uses while it runs: the finished runs, a progress callback, and a stop flag.
pub struct RunContext<'a> {
    /// Finished runs.
    pub journal: &'a RunJournal,
    /// Called after each run.
    pub progress: &'a (dyn Fn() + Sync),
    /// Checked before each run and at its checkpoints: once it is true, the experiment ends with [`ExperimentError::Stopped`].
    pub stop: &'a AtomicBool,
}

impl RunContext<'static> {
    /// Saves and reports nothing, and never stops.
    pub fn quiet() -> Self {
        static NONE: std::sync::OnceLock<RunJournal> = std::sync::OnceLock::new();
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { journal: NONE.get_or_init(RunJournal::none), progress: &|| {}, stop: &NEVER }
    }
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The environment does not exist.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// Its shape is out of range.
    #[error(transparent)]
    Shape(#[from] SettingsError),
    /// There are fewer people than rounds.
    #[error("{rounds} rounds were asked for, but the table has {people} people")]
    Rounds {
        /// Asked for.
        rounds: u64,
        /// There are.
        people: u64,
    },
    /// Something is declared about late outcomes where every outcome is in at once.
    #[error("a delay is declared, but every outcome is in at once")]
    NothingLate,
    /// A setting that none of the algorithms uses.
    #[error("{setting} is set, but none of the algorithms uses it")]
    Unused {
        /// The setting.
        setting: &'static str,
    },
    /// A contestant could not be built.
    #[error("the algorithm `{name}` cannot be built")]
    Contestant {
        /// The contestant.
        name: String,
        /// Why.
        source: SettingsError,
    },
    /// A contestant from outside could not be built.
    #[error("the algorithm `{name}` cannot be built")]
    Custom {
        /// The contestant.
        name: String,
        /// Why.
        source: CustomError,
    },
    /// A run failed.
    #[error("{name} failed in run {run}")]
    Play {
        /// The contestant.
        name: String,
        /// The run.
        run: u64,
        /// Why.
        source: PlayError,
    },
    /// An interval of a study could not be computed.
    #[error(transparent)]
    Confirm(#[from] ConfirmError),
    /// A finished run could not be saved.
    #[error("a finished run could not be saved")]
    Journal(#[from] io::Error),
    /// The caller stopped it.
    #[error("stopped before all runs were finished")]
    Stopped,
}

impl Explain for ExperimentError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Environment(error) => error.remedy(),
            Self::Shape(error) | Self::Contestant { source: error, .. } => error.remedy(),
            Self::Rounds { people, .. } => Some(Remedy::new(format!("ask for at most {people} rounds"))),
            Self::NothingLate => Some(Remedy::new("leave it out, or let outcomes come late")),
            Self::Unused { .. } => Some(Remedy::new("leave it out, or add an algorithm that does")),
            Self::Custom { .. } => None,
            Self::Play { source, .. } => source.remedy(),
            Self::Confirm(error) => error.remedy(),
            Self::Journal(_) => Some(Remedy::with("free some space, or {action}", Action::ChooseOutputDirectory)),
            Self::Stopped => {
                Some(Remedy::new("run it again with the same output directory to continue from the finished runs"))
            }
        }
    }
}

impl Experiment {
    /// As many rounds as the source has by itself, judged on [`JUDGED_ON`] contexts, without certificates.
    pub fn new(source: WorldSource, runs: u64, seed: u64) -> Self {
        Self {
            source,
            rounds: None,
            runs,
            seed,
            judged_on: JUDGED_ON,
            certificates: Certificates::Brief,
            properties: WorldProperties::default(),
        }
    }

    /// Checks that every contestant can be built, before anything is run. Returns the rounds of a run.
    ///
    /// # Errors
    /// [`ExperimentError`] of the environment, or of the first contestant that cannot be built.
    pub fn check(&self, contestants: &[Contestant]) -> Result<u64, ExperimentError> {
        const FEW: usize = 200;
        let prepared = self.prepare()?;
        let world = prepared.environment.world(self.seed, 0);
        let judge = Judge::new(&*world, prepared.environment.shape(), FEW);
        let declares = |contestant: &Contestant| contestant.declared.delay != Delay::default();
        if contestants.iter().any(declares) && world.delay().is_none() {
            return Err(ExperimentError::NothingLate);
        }
        for contestant in contestants {
            match &contestant.algorithm {
                PlayedAlgorithm::Core(_) => drop(prepared.build(contestant, &*world, &judge)?),
                PlayedAlgorithm::Custom(custom) => {
                    let built = custom.build(&prepared.custom_run(0));
                    drop(built.map_err(|source| ExperimentError::Custom { name: contestant.name.clone(), source })?);
                }
            }
        }
        Ok(prepared.rounds)
    }

    /// How many of its runs a journal has.
    ///
    /// # Errors
    /// [`ExperimentError`] of the environment.
    pub fn finished(&self, contestants: &[Contestant], journal: &RunJournal) -> Result<usize, ExperimentError> {
        let prepared = self.prepare()?;
        let count = |contestant| journal.count(&prepared.key(contestant), self.runs);
        Ok(contestants.iter().map(count).sum())
    }

    /// Runs every contestant in every world. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`ExperimentError`] of the environment, of a run that could not be built, played or saved, or that was stopped.
    pub fn run(
        &self,
        contestants: &[Contestant],
        context: &RunContext<'_>,
    ) -> Result<Vec<ContestantResult>, ExperimentError> {
        self.prepare()?.run(contestants, context)
    }

    /// What was run, as it is written beside results: every default with the value that it had. `command` is what the user wrote.
    ///
    /// # Errors
    /// [`ExperimentError`] of the environment.
    pub fn describe<'a>(
        &self,
        command: impl Into<String>,
        assumptions: &Assumptions,
        results: impl IntoIterator<Item = &'a ContestantResult>,
    ) -> Result<ExperimentDescription, ExperimentError> {
        let prepared = self.prepare()?;
        let contestants = ContestantDescription::all(results);
        Ok(ExperimentDescription {
            algorithms: contestants.iter().map(|contestant| contestant.name.clone()).collect(),
            assumptions: assumptions.resolved(&contestants),
            command: command.into(),
            contestants,
            declared_noise_source: None,
            environment: prepared.environment.describe(),
            rounds: prepared.rounds,
            runs: self.runs,
            seed: self.seed,
            vary: Vec::new(),
            version: env!("CARGO_PKG_VERSION"),
        })
    }

    pub(crate) fn prepare(&self) -> Result<Prepared<'_>, ExperimentError> {
        let environment = self.properties.of(self.source.environment()?)?;
        let rounds = match (self.rounds, environment.rounds()) {
            (Some(rounds), Some(people)) if rounds > people => return Err(ExperimentError::Rounds { rounds, people }),
            (Some(rounds), _) => rounds,
            (None, people) => people.unwrap_or(ROUNDS),
        };
        Ok(Prepared { experiment: self, environment, rounds })
    }
}

/// An experiment with its environment and its number of rounds.
pub(crate) struct Prepared<'a> {
    experiment: &'a Experiment,
    environment: Arc<dyn Environment>,
    rounds: u64,
}

impl Prepared<'_> {
    /// The number of runs of each contestant.
    pub(crate) fn runs(&self) -> u64 {
        self.experiment.runs
    }

    fn run(
        &self,
        contestants: &[Contestant],
        context: &RunContext<'_>,
    ) -> Result<Vec<ContestantResult>, ExperimentError> {
        let keys: Vec<String> = contestants.iter().map(|contestant| self.key(contestant)).collect();
        let entrants: Vec<(&Contestant, &str)> = contestants.iter().zip(keys.iter().map(String::as_str)).collect();
        let by_run: Result<Vec<Vec<FinishedRun>>, ExperimentError> =
            (0..self.experiment.runs).into_par_iter().map(|run| self.play_world(run, &entrants, context)).collect();
        let checkpoints = checkpoints(self.rounds);
        let mut results: Vec<ContestantResult> = contestants
            .iter()
            .map(|contestant| ContestantResult::new(contestant.clone(), checkpoints.clone()))
            .collect();
        for finished in by_run? {
            results.iter_mut().zip(finished).for_each(|(result, finished)| result.push(finished));
        }
        Ok(results)
    }

    /// Plays some contestants, each with its key, in the world of one run.
    pub(crate) fn play_world(
        &self,
        run: u64,
        entrants: &[(&Contestant, &str)],
        context: &RunContext<'_>,
    ) -> Result<Vec<FinishedRun>, ExperimentError> {
        let &Experiment { seed, judged_on, .. } = self.experiment;
        let world = self.environment.world(seed, run);
        // Finished runs need no judge, so that one is made only when it is asked for.
        let judge = std::sync::OnceLock::new();
        let judge = || judge.get_or_init(|| Judge::new(&*world, self.environment.shape(), judged_on));
        let played = entrants.par_iter().map(|&(contestant, key)| {
            let play = || {
                if context.stop.load(Ordering::Relaxed) {
                    return Err(ExperimentError::Stopped);
                }
                self.play_one(contestant, run, judge(), context.stop)
            };
            let known = match &contestant.algorithm {
                PlayedAlgorithm::Core(_) => true,
                PlayedAlgorithm::Custom(custom) => custom.fingerprint().is_some(),
            };
            let finished = if known { context.journal.get_or_play(key, run, play) } else { play() }?;
            (context.progress)();
            Ok(finished)
        });
        played.collect()
    }

    /// The digest of everything that a contestant's results depend on.
    pub(crate) fn key(&self, contestant: &Contestant) -> String {
        let description: Value = json!({
            "environment": self.environment.describe(),
            "contestant": contestant,
            "rounds": self.rounds,
            "seed": self.experiment.seed,
            "judged_on": self.experiment.judged_on,
            "certificates": self.experiment.certificates,
        });
        run_journal::key(&description)
    }

    fn custom_run(&self, run: u64) -> CustomRun {
        let Experiment { seed, .. } = *self.experiment;
        CustomRun { shape: self.environment.shape(), rounds: self.rounds, seed, run }
    }

    fn build(
        &self,
        contestant: &Contestant,
        world: &dyn SimulatedWorld,
        judge: &Judge,
    ) -> Result<Box<dyn Policy>, ExperimentError> {
        let built = contestant.build(world, judge, self.rounds, self.experiment.certificates);
        built.map_err(|source| ExperimentError::Contestant { name: contestant.name.clone(), source })
    }

    fn play_one(
        &self,
        contestant: &Contestant,
        run: u64,
        judge: &Judge,
        stop: &AtomicBool,
    ) -> Result<FinishedRun, ExperimentError> {
        let mut world = self.environment.world(self.experiment.seed, run);
        let mut rng = policy_stream(self.experiment.seed, run);
        let (judged, checkpoints) = ((judge, contestant.declared.delay), checkpoints(self.rounds));
        let started = Instant::now();
        let played = match &contestant.algorithm {
            PlayedAlgorithm::Core(_) => {
                let mut policy = self.build(contestant, &*world, judge)?;
                play(policy.as_mut(), &mut *world, judged, &checkpoints, &mut rng, stop)
            }
            PlayedAlgorithm::Custom(custom) => {
                let built = custom.build(&self.custom_run(run));
                let built = built.map_err(|source| ExperimentError::Custom { name: contestant.name.clone(), source });
                let mut policy = built?;
                play_custom((policy.as_mut(), custom.block()), &mut *world, judged, &checkpoints, &mut rng, stop)
            }
        };
        let run_played = played.map_err(|source| match source {
            PlayError::Stopped => ExperimentError::Stopped,
            source => ExperimentError::Play { name: contestant.name.clone(), run, source },
        })?;
        Ok(FinishedRun { run: run_played, seconds: started.elapsed().as_secs_f64() })
    }
}

/// The rounds at which regret is recorded: about 200, evenly on a linear and on a logarithmic scale, the last the end.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn checkpoints(rounds: u64) -> Vec<u64> {
    const POINTS: u64 = 100;
    let even = (1..=POINTS).map(|at| (u128::from(rounds) * u128::from(at) / u128::from(POINTS)) as u64);
    let logarithmic = (0..POINTS).map(|at| libm::pow(rounds as f64, at as f64 / POINTS as f64).round() as u64);
    let mut all: Vec<u64> = even.chain(logarithmic).chain([tenth(rounds)]).filter(|&round| round > 0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The round at a tenth of all.
pub(crate) fn tenth(rounds: u64) -> u64 {
    (rounds / 10).max(1)
}

/// `1 run`, `2 runs`.
pub fn runs_text(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}
