//! The tests of `rarely-review`, in one binary.

mod curvature;
mod cut_rows;
mod findings;
mod fit_form;
mod impact;
mod judgement;
mod jump;
mod logs;
mod moments;
mod next_to_cut;
#[path = "../python/run.rs"]
mod python;
mod review;
mod simplest;
mod tally;
