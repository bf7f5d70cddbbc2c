//! Statistical tests: fixed seeds, tolerances derived where they stand.

mod counter_example;
mod coverage;
mod environments;
mod experiment;
#[path = "../../../../testdata/ihdp_files.rs"]
mod ihdp_files;
mod planar;
mod reference;
mod tables;
mod theorem_three;
