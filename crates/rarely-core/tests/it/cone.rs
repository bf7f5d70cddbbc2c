//! Plausible boundaries and the exact conservative update.

mod degenerate;
mod laws;
mod oracle;
