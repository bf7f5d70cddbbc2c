//! The tests of `rarely-review`, in one binary.

mod band_outcomes;
mod boundaries;
mod candidates;
mod contradictions;
mod curvature;
mod cut_rows;
mod design_effect;
mod findings;
mod groups;
mod guardrails;
mod impact;
mod judgement;
mod jump;
mod logs;
mod moments;
mod next_to_cut;
mod off_policy;
mod planted;
mod propensities;
#[path = "../python/run.rs"]
mod python;
mod review;
mod sums;
mod tally;
