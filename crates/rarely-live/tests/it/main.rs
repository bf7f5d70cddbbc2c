//! Live policies over a store.

mod audits;
mod lives;
mod support;
