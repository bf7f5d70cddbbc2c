//! Environments, the loop that plays and judges rounds, parallel replicates, metrics, result tables, and their report.
//!
//! Same seed, same arms, contexts and noise, whatever the policy does: algorithms are compared on equal luck, and results do
//! not depend on the number of threads.
//!
//! In reading order: an [`Environment`] makes a [`SimulatedWorld`] for each run; [`play`] lets a policy, built from a [`Contestant`],
//! decide and learn in it while a [`Judge`] watches; an [`Experiment`] does that for all contestants and runs in parallel, keeps
//! what is finished in a [`Journal`], and gives an [`Outcome`] for each; [`results`] makes tables of them,
//! [`report`] figures, pages and text.

mod assumptions;
mod contestant;
pub mod environment;
mod experiment;
pub mod frontier;
mod journal;
mod judge;
mod metrics;
mod outcome;
mod play;
pub mod report;
pub mod reproduction;
pub mod results;
pub mod sweep;
mod task;
mod theorem_one;

pub use assumptions::Assumptions;
pub use contestant::{Contestant, Declared, NormBound, Tuned};
pub use environment::{
    CounterfactualTable, Environment, EnvironmentError, Given, JudgedSample, Linear, SimulatedWorld, TableError,
};
pub use experiment::{Bench, Experiment, ExperimentError, JUDGED_ON};
pub use journal::{Finished, Journal};
pub use judge::Judge;
pub use metrics::{Between, Estimate};
pub use outcome::{Outcome, Summary, TracePoint};
pub use play::{CertificateRecord, ChangeRecord, PlayError, Run, play};
pub use task::{ROUNDS, Source, Task, TaskError, runs_text};
pub use theorem_one::{CounterExample, CounterExampleError, printed_bound};
