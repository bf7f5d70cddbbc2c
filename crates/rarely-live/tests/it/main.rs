//! Live policies over a store.

mod audits;
mod laws;
mod lives;
mod support;
