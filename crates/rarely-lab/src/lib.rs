//! Environments, the one interaction loop, parallel replicates, metrics.
//!
//! Same seed, same arms, contexts and noise, whatever the policy does: algorithms are compared on equal luck, and results do
//! not depend on the number of threads.

mod environment;
mod experiment;
mod play;
mod theorem_one;

pub use environment::{Environment, Linear, World};
pub use experiment::{Build, Contestant, Estimate, Experiment, ExperimentError, Outcome};
pub use play::{ChangeRecord, Judge, PlayError, Run, play};
pub use theorem_one::{CounterExample, CounterExampleError, printed_bound};
