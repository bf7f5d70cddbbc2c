//! What is measured, set up once: the criterion benches, the instruction counts and the ratio table all run these subjects.
//!
//! | module | what it is about |
//! |---|---|
//! | `problem` | a synthetic linear bandit as a table of rounds, the same for every subject |
//! | `kernel` | the arithmetic that no implementation can leave out |
//! | `rounds` | whole rounds, and the learning step alone |
//! | `peers` | `LinUCB` of other crates |
//! | `update` | the exact conservative update and the projected gradient |
//! | `many` | a million decisions, and the same memory merely read |
//!
//! A benchmark that cannot be set up stops: everything here panics on an error.
#![allow(clippy::missing_panics_doc)]

mod kernel;
pub mod many;
mod peers;
mod problem;
mod rounds;
mod update;

pub use kernel::Kernels;
pub use peers::{Irithyll, Trashpanda};
pub use problem::Problem;
pub use rounds::{Learning, Observing, Playing};
pub use update::Implausible;

/// `(k, d)` of every table.
pub const SHAPES: [(usize, usize); 4] = [(4, 5), (2, 25), (10, 100), (2, 2)];

/// Something that works through rounds of a problem, on and on.
pub trait Subject {
    /// Works through the next `rounds` rounds.
    fn run(&mut self, rounds: usize);
}
