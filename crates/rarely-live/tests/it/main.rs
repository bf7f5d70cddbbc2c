//! Tests of live policies over a store.

mod audit;
mod embed_engine;
mod engine;
mod plan;
mod support;
