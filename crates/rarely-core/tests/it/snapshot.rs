//! Snapshots: earlier formats open, damage is refused, states merge.

mod damaged;
mod formats;
mod merging;
