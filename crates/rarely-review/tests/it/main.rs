//! The tests of `rarely-review`, in one binary.

mod curvature;
mod forms;
mod jump;
mod live;
mod moments;
mod planted;
#[path = "../python/run.rs"]
mod python;
