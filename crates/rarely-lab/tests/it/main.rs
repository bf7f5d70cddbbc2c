//! The tests of rarely-lab, in one binary: fixed seeds, and every tolerance derived in a comment.

mod altered;
mod claims;
mod comparison;
mod confidence_sets;
mod custom;
mod environment;
mod evidence_study;
mod experiment;
mod feasibility;
mod frontier;
mod judgement;
mod metrics;
mod open_questions;
mod reference;
mod report_planar;
mod report_style;
mod results;
mod shard;
mod sweep;
mod theorem_one;
mod theorem_three;
