//! The tests of rarely-data, in one binary: each file is named after the module that it tests.

// Files are written as text here; nothing depends on how fast.
#![allow(clippy::format_collect)]

mod cases;
mod cases_people;
mod cases_shared;
mod counterfactuals;
mod ihdp_archive;
mod ihdp_csv;
#[path = "../../../../testdata/ihdp_files.rs"]
mod ihdp_files;
mod ihdp_published;
mod ihdp_realisation;
mod log;
mod log_formats;
mod log_numbers;
mod log_parquet;
mod log_table;
mod sketch;
mod support;
mod table;
