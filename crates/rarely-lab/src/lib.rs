//! Environments, parallel runs, metrics, result tables, the reproduction of the paper, and their reports.
//!
//! The same seed gives the same arms, contexts and noise to every policy, so that algorithms are compared on the same draws. Results
//! do not depend on the number of threads.
//!
//! In reading order: an [`Environment`] makes a [`SimulatedWorld`] for each run; [`play`] lets a policy, built from a [`Contestant`],
//! decide and learn in it while a [`Judge`] watches; an [`Experiment`] does that for all contestants and runs in parallel, saves
//! finished runs in a [`RunJournal`], and returns a [`ContestantResult`] for each; [`results`] makes tables of them,
//! [`report`] figures, pages and text. A [`CommandRuns`] is divided into [`Shard`]s for several machines, and a
//! [`ShardSet`] merges them.

mod assumptions;
mod comparison;
mod contestant;
mod contestant_result;
mod custom;
pub mod default_grid;
mod description;
pub mod environment;
mod experiment;
pub mod frontier;
mod judge;
mod metrics;
mod play;
pub mod report;
pub mod reproduction;
pub mod results;
mod run_journal;
mod shard;
mod study;
pub mod sweep;
mod theorem_one;
mod world_source;

pub use assumptions::Assumptions;
pub use comparison::{Comparison, sign_test, signed_rank_test};
pub use contestant::{Contestant, Declared, NormBound, Tuned};
pub use contestant_result::{ContestantResult, Summary, TracePoint};
pub use custom::{CustomAlgorithm, CustomError, CustomPolicy, CustomRun, PlayedAlgorithm};
pub use description::{ContestantDescription, EnvironmentDescription, ExperimentDescription, ValueRange};
pub use environment::{
    CounterfactualTable, Environment, EnvironmentError, EstimatedNoise, Given, JudgedSample, Linear, NoiseSource,
    OutcomeDelay, SimulatedWorld, TableError, WorldProperties,
};
pub use experiment::{Experiment, ExperimentError, JUDGED_ON, ROUNDS, RunContext, runs_text};
pub use judge::Judge;
pub use metrics::{Estimate, Interval95, Quantiles};
pub use play::{Assumed, CertificateRecord, ChangeRecord, PlayError, Run, play, play_custom};
pub use run_journal::{FinishedRun, RunJournal};
pub use shard::{
    CommandRuns, CommandWords, Divisible, Shard, ShardError, ShardFile, ShardHeader, ShardParseError, ShardSet,
    ShardSetError, shell_word,
};
pub use theorem_one::{Beta, CounterExample, PrintedBound};
pub use world_source::WorldSource;
