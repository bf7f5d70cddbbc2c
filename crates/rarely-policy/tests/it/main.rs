//! The behaviour of policy documents, in one binary. A module is named after the module of the crate that it tests.

mod apply;
mod control;
mod document;
mod draft;
mod encoder;
mod features;
mod number;
mod rule;
mod schema;

mod support;
