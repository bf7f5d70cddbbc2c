//! The behaviour of the core, in one binary. A module is named after the module of the crate that it tests.

mod cone;
mod confidence;
mod conformance;
mod embed_core;
mod error;
mod gain;
mod gradient;
mod planar;
mod plausible;
mod policy;
mod population_bounds;
mod settings;
mod snapshot;
mod statistics;
mod test_vectors;
mod trigger;

mod conic;
mod sample;
