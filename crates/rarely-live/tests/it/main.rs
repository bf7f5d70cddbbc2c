//! Tests of live policies over a store.

mod audit;
mod engine;
mod plan;
mod support;
