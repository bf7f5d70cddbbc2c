//! What is measured, set up once: the criterion benches, the instruction counts and the ratio table all run these workloads.
//!
//! | module | what it is about |
//! |---|---|
//! | `problem` | a synthetic linear bandit as a table of rounds, the same for every workload |
//! | `kernel` | the arithmetic that no implementation can leave out |
//! | `rounds` | whole rounds, and the learning step alone |
//! | `peers` | `LinUCB` of other crates |
//! | `update` | the exact conservative update and the projected gradient |
//! | `many` | a million decisions, and the same memory merely read |
//!
//! A benchmark that cannot be set up panics.
#![allow(clippy::missing_panics_doc)]

mod kernel;
pub mod many;
mod peers;
mod problem;
mod rounds;
mod update;

pub use kernel::Kernels;
pub use peers::{Irithyll, Trashpanda};
pub use problem::BenchProblem;
pub use rounds::{ContextKind, Learning, Observing, Playing};
pub use update::Implausible;

/// `(k, d)` of every table.
pub const SHAPES: [(usize, usize); 4] = [(4, 5), (2, 25), (10, 100), (2, 2)];

/// Work that plays rounds of a problem, as many as asked.
pub trait Workload {
    /// Plays the next `rounds` rounds.
    fn run(&mut self, rounds: usize);
}
