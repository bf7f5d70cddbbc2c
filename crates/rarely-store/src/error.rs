//! What can go wrong with a store: what, where, the value found, what to do.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::verify::ChainFault;

/// Why a store could not be opened, read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store there.
    #[error("{}: there is no store here; check the path, or start `rarely serve --store` with it to make one", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{}: this is not a rarely store ({found}); name another file", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// The store was written by a newer rarely.
    #[error(
        "{}: the store has format {found}, and this rarely knows formats up to {known}; use the newer rarely that wrote it",
        path.display()
    )]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u64,
    },
    /// Another process has the store.
    #[error(
        "{}: another rarely server ({}) uses this store; stop it first, or name another store",
        path.display(),
        process.map_or_else(|| "process unknown".to_owned(), |process| format!("process {process}"))
    )]
    Locked {
        /// The store.
        path: PathBuf,
        /// The process that holds it, if it left its number.
        process: Option<u32>,
    },
    /// A write-ahead log is left whose database is gone; SQLite would delete it, or take it for another one's.
    #[error(
        "{}: the database of this write-ahead log is not beside it; put the database back, or move this file to where \
         the database is now",
        path.display()
    )]
    Stray {
        /// The write-ahead log.
        path: PathBuf,
    },
    /// Entries that were acknowledged are no longer there.
    #[error(
        "{}: the log ends at event {log_ends}, but event {witnessed} was already acknowledged; the write-ahead log was \
         cut off or removed, an old copy was put back, or the power failed while durability was relaxed. Put the right \
         files back; or accept the loss of everything from event {} on with `rarely store recover`",
        path.display(),
        log_ends + 1
    )]
    Lost {
        /// The store.
        path: PathBuf,
        /// The last number in the log.
        log_ends: u64,
        /// The last number that was acknowledged.
        witnessed: u64,
    },
    /// The log holds another entry than the one that was acknowledged.
    #[error(
        "{}: event {number} is not the one that was acknowledged (its hash differs); another store's file was put here, \
         or the log was rewritten. Put the right file back; or accept what is there with `rarely store recover`",
        path.display()
    )]
    Replaced {
        /// The store.
        path: PathBuf,
        /// The number.
        number: u64,
    },
    /// The operating system refused.
    #[error("{}: {what}: {source}; check that the disk works, is not full, and that you may write there", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The disk is full.
    #[error("{}: {what}: the disk is full; free some space, then send the request again", path.display())]
    Full {
        /// What was tried.
        what: &'static str,
        /// The store.
        path: PathBuf,
    },
    /// The database failed.
    #[error("{}: {what}: {source}; check that the disk works and that you may write there", path.display())]
    Database {
        /// What was tried.
        what: &'static str,
        /// The store.
        path: PathBuf,
        /// What the database says.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The file does not hold what a store holds.
    #[error("{}: {what}: the file is damaged ({found}); restore a backup with `rarely store restore`", path.display())]
    Damaged {
        /// What was tried.
        what: &'static str,
        /// The store.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// Entries that do not follow the head of the log.
    #[error(
        "event {found} cannot be appended, the next one is {expected}; another program writes to this log: stop it"
    )]
    OutOfOrder {
        /// The number that comes next.
        expected: u64,
        /// The number that was to be appended.
        found: u64,
    },
    /// The journal takes nothing more.
    #[error("the store is closing and takes no more events; send the request again when the server is back")]
    Stopped,
    /// A thread could not be started.
    #[error("a thread of the store could not be started: {0}; check the limits on processes and memory")]
    Thread(#[source] io::Error),
    /// The log is not a whole chain.
    #[error(transparent)]
    Chain(#[from] ChainFault),
    /// A backup never overwrites.
    #[error("{}: there is already a file here, and a backup overwrites nothing; name another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Restoring would drop entries.
    #[error(
        "{}: event {first} and those up to {last} are in this store but not in the backup; restoring would lose them. \
         To give them up, move this store away and restore again",
        path.display()
    )]
    WouldLose {
        /// The store.
        path: PathBuf,
        /// The first event the backup lacks or has otherwise.
        first: u64,
        /// The last event of the store.
        last: u64,
    },
    /// What is to be replaced cannot be compared with the backup.
    #[error(
        "{}: what this store holds cannot be compared with the backup ({source}); move it away, then restore again",
        path.display()
    )]
    Incomparable {
        /// The store.
        path: PathBuf,
        /// Why.
        source: Box<StoreError>,
    },
    /// A failure made on purpose, by [`MemoryLog`](crate::MemoryLog).
    #[error("the disk failed, as the test asked; this never happens outside tests")]
    Staged,
}

impl StoreError {
    /// What the operating system said when `what` was tried on `path`.
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::Full { what, path };
        }
        Self::Io { what, path, source }
    }

    /// What the database said when `what` was tried on `path`.
    pub(crate) fn database(what: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { what, path },
            Some(ErrorCode::NotADatabase) => Self::NotAStore { path, found: "not an SQLite database".to_owned() },
            // Without a code it is no error of the database but of what stands in it: text that is not UTF-8, say.
            Some(ErrorCode::DatabaseCorrupt) | None => Self::Damaged { what, path, found: source.to_string() },
            Some(_) => Self::Database { what, path, source: Box::new(source) },
        }
    }
}
