//! Makes events durable: an append-only, hash-chained event log with group commit, and snapshots.
//!
//! The store does not interpret events. A [`LogEntry`] has a number (1, 2, 3 …), a time that never decreases, an actor, a
//! policy, a kind and a body, and the SHA-256 of all of these and of the previous entry's hash:
//!
//! ```text
//! hash(n) = SHA-256( hash(n−1) ‖ number ‖ time ‖ policy ‖ length, actor ‖ length, kind ‖ length, body ),  hash(0) = 0
//! ```
//!
//! Changing, dropping or inserting an entry therefore changes every hash after it. `docs/store-format.md` describes every
//! file byte by byte.
//!
//! # Modules, in reading order
//! [`LogEntry`], [`EntryDraft`] and [`LookupKey`]; [`EventLog`], the interface of every log, with [`SqliteLog`], [`PostgresLog`]
//! and, for tests, [`MemoryLog`]; [`LogWriter`], the only writer; [`Store`], which combines them with [`StoreLock`] and
//! [`HeadWitness`]; [`SubjectKeys`], with which people can be erased; [`PostgresStore`], [`Lease`] and [`SessionTable`], where several machines share a log, and [`ServerStatus`], what their server is set to; [`SnapshotFile`]; [`verify_chain`];
//! [`backup()`] and [`restore`].
//!
//! # Guarantees
//! - A [`Receipt`] succeeds only when its entries are on disk (with [`Durability::Full`]). Each entry is in the log once.
//! - After a failed commit the log is reopened and read. An entry that is found there counts, whatever the disk reported.
//! - A log that ends before the last acknowledged entry is refused ([`StoreError::Lost`]).
//!
//! # Files
//! | file | content |
//! |---|---|
//! | `rarely.db` | the database |
//! | `rarely.db-wal`, `-shm` | SQLite's write-ahead log and its index; part of the database while they exist |
//! | `rarely.db.lock` | locked by the process that writes, as is the database on Linux; contains its process id |
//! | `rarely.db.head` | number and hash of the last acknowledged entry |
//! | `rarely.db.snapshot` | the state after some entry; rebuilt from the log if it is missing or does not match |
#![deny(missing_docs)]

mod backup;
mod commit_statistics;
mod copy;
mod copy_chains;
mod entry;
mod error;
mod event_log;
mod hash;
mod hex;
mod lock;
mod log_writer;
mod memory_log;
mod merkle;
mod merkle_range;
mod notary;
mod note;
mod postgres_address;
mod postgres_log;
#[cfg(all(test, unix))]
#[path = "../../../testdata/postgres_server.rs"]
mod postgres_server;
mod private_file;
mod restored_log;
mod signed_checkpoint;
mod signing_key;
mod snapshot;
mod sqlite_log;
mod store;
mod stub;
mod subject;
mod verify;
mod verify_tree;
mod witness;

pub use backup::{EventLoss, Restored, backup, restore};
pub use commit_statistics::{CommitStatistics, Distribution};
pub use copy::{copy_chains_from_postgres, copy_from_postgres, copy_to_postgres, restore_to_postgres};
pub use copy_chains::{ChainFile, PresentEvents, chain_file, chain_files, chains_to_postgres};
pub use entry::{EntryDraft, Head, KeyedEntry, LogEntry, LookupKey, PolicyRef, Stamp};
pub use error::StoreError;
pub use event_log::EventLog;
pub use hash::{Hash, HashError};
pub use hex::Hex;
pub use lock::StoreLock;
pub use log_writer::{Found, LogWriter, LookedUp, Lookup, Receipt, Turn};
pub use memory_log::{InjectedFault, MemoryLog};
pub use merkle::{MerkleTree, check_consistency, check_inclusion};
pub use merkle_range::{check_range, range_proof};
pub use notary::{CheckpointCounts, Notary};
pub use note::{NoteKey, NoteKeyError, NoteSigner, NoteVerdict};
pub use postgres_address::PostgresAddress;
pub use postgres_log::{
    ChainStatus, DurabilitySettings, Lease, LeaseStatus, POSTGRES_FORMAT, PostgresLog, PostgresStore, ServerStatus,
    SessionTable,
};
pub use restored_log::RestoredLog;
pub use signed_checkpoint::{CheckpointError, SignedCheckpoint};
pub use signing_key::SigningKeyFile;
pub use snapshot::{SnapshotFault, SnapshotFile, StoredSnapshot};
pub use sqlite_log::{Durability, FORMAT, SqliteLog};
pub use store::{Store, chain_number, is_service_log, now_ms, origin, service_id};
pub use stub::{ARCHIVED, StubChain, stub_body};
pub use subject::{Subject, SubjectKey, SubjectKeys, SubjectTag};
pub use verify::{CLOCK_CORRECTED, ChainFault, verify_chain};
pub use verify_tree::{TreeFault, TreeSummary, tree_root, verify_tree};
pub use witness::HeadWitness;
