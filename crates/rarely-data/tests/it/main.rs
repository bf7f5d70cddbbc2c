//! The behaviour of the data sets, in one binary.

// Files are written as text here; nothing depends on how fast.
#![allow(clippy::format_collect)]

mod agreement;
mod archives;
mod cases;
mod counterfactuals;
mod damage;
#[path = "../../../../testdata/ihdp_files.rs"]
mod ihdp_files;
mod laws;
mod logs;
mod memory;
mod people;
mod published;
mod realisations;
mod sketches;
mod support;
mod synthetic;
mod tables;
