//! Statistical tests: fixed seeds, tolerances derived where they stand.

mod counter_example;
mod coverage;
mod experiment;
mod theorem_three;
