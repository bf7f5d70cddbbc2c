//! The tests of rarely-lab, in one binary: fixed seeds, and every tolerance derived in a comment.

mod confidence_sets;
mod environment;
mod experiment;
mod frontier;
#[path = "../../../../testdata/ihdp_files.rs"]
mod ihdp_files;
mod metrics;
mod reference;
mod report_planar;
mod report_style;
mod results;
mod sweep;
mod theorem_one;
mod theorem_three;
