//! Tests of live policies over a store.

mod amendment;
mod archiving;
mod audit;
mod certainty;
mod checkpointing;
mod clock;
mod embed_engine;
mod engine;
mod engine_state;
mod erasing;
mod late_outcomes;
mod passkey;
mod person;
mod plan;
mod record;
mod support;
