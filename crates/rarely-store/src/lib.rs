//! Makes what happened durable: an append-only, hash-chained event log with group commit, and snapshots.
//!
//! The store knows nothing of what the events mean. An [`Entry`] has a number (1, 2, 3 …), a time that never goes
//! back, an actor, a policy, a kind and a body, and the SHA-256 of all this and of the hash before it:
//!
//! ```text
//! hash(n) = SHA-256( hash(n−1) ‖ number ‖ time ‖ policy ‖ length, actor ‖ length, kind ‖ length, body ),  hash(0) = 0
//! ```
//!
//! so that whoever changes, drops or inserts an entry changes every hash after it.
//!
//! In reading order: [`Entry`], [`Draft`] and [`Mark`]; [`Log`], what any store can do, with [`SqliteLog`] and, for
//! tests, [`MemoryLog`]; [`Journal`], the one writer; [`Store`], which ties them together with [`StoreLock`] and
//! [`HeadWitness`]; [`SnapshotFile`]; [`verify_chain`]; [`backup()`] and [`restore`].
//!
//! # What is promised
//! - A [`Receipt`] says yes only when its entries are on disk (with [`Durability::Full`]), and they are in the log once.
//! - After a commit that failed the log is opened anew and read: an entry that is there counts, whatever the disk said.
//! - A log that ends before what was acknowledged is refused ([`StoreError::Lost`]), never taken for the whole.
//!
//! # The files
//! | file | what |
//! |---|---|
//! | `rarely.db` | the database |
//! | `rarely.db-wal`, `-shm` | SQLite's write-ahead log and its index; belong to the database while they are there |
//! | `rarely.db.lock` | locked by the process that writes, whose number it holds |
//! | `rarely.db.head` | the last number and hash acknowledged |
//! | `rarely.db.snapshot` | the state the log folds to, made anew if it is missing or does not fit |
#![deny(missing_docs)]

mod backup;
mod entry;
mod error;
mod hash;
mod journal;
mod lock;
mod log;
mod memory;
mod snapshot;
mod sqlite;
mod store;
mod verify;
mod witness;

pub use backup::{Restored, backup, restore};
pub use entry::{Draft, Entry, Head, Mark, Stamped, Subject};
pub use error::StoreError;
pub use hash::{Hash, HashError};
pub use journal::{Found, Journal, Lookup, Receipt, Turn};
pub use lock::StoreLock;
pub use log::Log;
pub use memory::{MemoryLog, Staging};
pub use snapshot::{Snapshot, SnapshotFault, SnapshotFile};
pub use sqlite::{Durability, FORMAT, SqliteLog};
pub use store::{Store, now_ms};
pub use verify::{ChainFault, verify_chain};
pub use witness::HeadWitness;
