//! The behaviour of the core, in one binary.

mod allocation;
mod bad_input;
mod conformance;
mod damaged;
mod degenerate;
mod formats;
mod golden;
mod laws;
mod lazy;
mod merging;
mod oracle;
mod planar;
mod review;
mod sample;

mod support;
mod triggers;
