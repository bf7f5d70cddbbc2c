//! The tests of `rarely-review`, in one binary.

mod curvature;
mod findings;
mod impact;
mod judgement;
mod jump;
mod logs;
mod moments;
mod planted;
#[path = "../python/run.rs"]
mod python;
mod review;
mod tally;
