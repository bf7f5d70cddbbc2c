//! Environments, the one interaction loop, parallel replicates, metrics, result tables.
//!
//! Same seed, same arms, contexts and noise, whatever the policy does: algorithms are compared on equal luck, and results do
//! not depend on the number of threads.
//!
//! In reading order: an [`Environment`] makes a [`World`] for each run; [`play`] lets a policy, built from a [`Contestant`],
//! decide and learn in it while a [`Judge`] watches; an [`Experiment`] does that for all contestants and runs in parallel, keeps
//! what is finished in a [`Journal`], and gives an [`Outcome`] for each; [`results`] makes tables of them.

mod assumptions;
mod contestant;
pub mod environment;
mod experiment;
mod folder;
mod frame;
pub mod frontier;
mod journal;
mod judge;
mod metrics;
mod outcome;
mod play;
pub mod reproduction;
pub mod results;
pub mod sweep;
mod task;
mod theorem_one;

pub use assumptions::Assumptions;
pub use contestant::{Contestant, Declared, NormBound, Tuned};
pub use environment::{
    CounterfactualTable, Environment, EnvironmentError, Given, Linear, Round, Sample, TableError, World,
};
pub use experiment::{Bench, Experiment, ExperimentError, JUDGED_ON};
pub use folder::{Folder, FolderError, json_text};
pub use frame::{Column, Frame};
pub use journal::{Finished, Journal};
pub use judge::Judge;
pub use metrics::{Between, Estimate};
pub use outcome::{Outcome, Summary, TracePoint};
pub use play::{CertificateRecord, ChangeRecord, PlayError, Run, play, step};
pub use task::{ROUNDS, Source, Task, TaskError, runs_text};
pub use theorem_one::{CounterExample, CounterExampleError, printed_bound};
