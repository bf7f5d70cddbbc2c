//! The behaviour of the data sets, in one binary.

mod archives;
mod counterfactuals;
mod laws;
mod published;
mod realisations;
mod support;
mod synthetic;
mod tables;
