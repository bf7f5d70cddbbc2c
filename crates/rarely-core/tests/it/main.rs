//! The behaviour of the core, in one binary. A module is named after the module of the crate that it tests.

mod anytime;
mod arm_set;
mod cone;
mod confidence;
mod confirm;
mod conformance;
mod embed_core;
mod error;
mod evaluation;
mod gain;
mod gradient;
mod least_squares;
mod local_threshold;
mod mask;
mod outcome_queue;
mod planar;
mod planned;
mod plausible;
mod policy;
mod population_bounds;
mod robust;
mod scores;
mod sequence;
mod settings;
mod shared;
mod sharp;
mod snapshot;
mod statistics;
mod test_vectors;
mod trigger;

mod conic;
mod coverage;
mod sample;
