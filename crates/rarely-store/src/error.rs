//! Why a store cannot be opened, read or written.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

use rarely_error::{Action, Explain, Remedy, Topic};
use thiserror::Error;

use crate::verify::ChainFault;
use crate::verify_tree::TreeFault;

/// Why a store could not be opened, read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file does not exist.
    #[error("{}: no store found", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{}: not a rarely store ({found})", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// A newer rarely wrote the store.
    #[error("{}: the store has format {found}, but this version of rarely supports formats up to {known}", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest supported format.
        known: u64,
    },
    /// A newer rarely has owned the log.
    #[error(
        "{}: a newer version of rarely has owned this log and may have written events of edition {found}; this version reads \
         editions up to {known}",
        path.display()
    )]
    NewerEvents {
        /// The address, without its password.
        path: PathBuf,
        /// The edition of the events.
        found: u64,
        /// The latest that this program reads.
        known: u64,
    },
    /// Another process has the store open for writing.
    #[error(
        "{}: another rarely process ({}) uses this store",
        path.display(),
        process.map_or_else(|| "process id unknown".to_owned(), |process| format!("process id {process}"))
    )]
    Locked {
        /// The store.
        path: PathBuf,
        /// The process that holds it, if the lock file names one.
        process: Option<u32>,
    },
    /// A write-ahead log without its database. SQLite would delete it, or apply it to another database.
    #[error("{}: the database of this write-ahead log is missing", path.display())]
    StrayWal {
        /// The write-ahead log.
        path: PathBuf,
    },
    /// Events are in a write-ahead log that cannot be read on a read-only medium.
    #[error("{}: this write-ahead log has events of the store, and it cannot be read where nothing can be written", path.display())]
    UnreadableWal {
        /// The write-ahead log.
        path: PathBuf,
    },
    /// Acknowledged entries are missing.
    #[error(
        "{}: the log ends at event {log_ends}, but event {witnessed} was already acknowledged; the write-ahead log was \
         truncated or removed, an old copy was put back, or the power failed with relaxed durability",
        path.display()
    )]
    Lost {
        /// The store.
        path: PathBuf,
        /// The last number in the log.
        log_ends: u64,
        /// The last number that was acknowledged.
        witnessed: u64,
    },
    /// The log contains a different entry than the acknowledged one.
    #[error(
        "{}: event {number} is not the event that was acknowledged (its hash differs); the file belongs to another store, \
         or the log was rewritten",
        path.display()
    )]
    Replaced {
        /// The store.
        path: PathBuf,
        /// The number.
        number: u64,
    },
    /// The operating system reported an error.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// The operation that failed.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The disk is full.
    #[error("{}: {what}: the disk is full", path.display())]
    DiskFull {
        /// The operation that failed.
        what: &'static str,
        /// The store.
        path: PathBuf,
    },
    /// The database reported an error.
    #[error("{}: {what}: {source}", path.display())]
    Database {
        /// The operation that failed.
        what: &'static str,
        /// The store.
        path: PathBuf,
        /// The database's error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The file's content is invalid.
    #[error("{}: {what}: the file is damaged ({found})", path.display())]
    Damaged {
        /// The operation that failed.
        what: &'static str,
        /// The store.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// Entries that do not follow the head of the log.
    #[error(
        "event {found} cannot be appended, because the next event is {expected}: another program writes to this log"
    )]
    OutOfOrder {
        /// The next number.
        expected: u64,
        /// The number of the rejected entry.
        found: u64,
    },
    /// The log writer is closed.
    #[error("the store is closing and accepts no more events")]
    Closed,
    /// A thread could not be started.
    #[error("a thread of the store could not be started: {0}")]
    Thread(#[source] io::Error),
    /// The chain is broken.
    #[error(transparent)]
    Chain(#[from] ChainFault),
    /// The target of a backup exists.
    #[error("{}: the file already exists, and a backup never overwrites a file", path.display())]
    AlreadyExists {
        /// The file.
        path: PathBuf,
    },
    /// Restoring would drop entries.
    #[error("{}: events {first} to {last} are in this store but not in the backup; restoring would lose them", path.display())]
    WouldLose {
        /// The store.
        path: PathBuf,
        /// The first event that the backup lacks or that differs.
        first: u64,
        /// The last event of the store.
        last: u64,
    },
    /// The store that would be replaced cannot be compared with the backup.
    #[error("{}: the store cannot be compared with the backup: {source}", path.display())]
    Incomparable {
        /// The store.
        path: PathBuf,
        /// Why.
        source: Box<StoreError>,
    },
    /// Others may read the private key.
    #[error("{}: other users may read this private key", path.display())]
    KeyIsPublic {
        /// The key file.
        path: PathBuf,
    },
    /// The file is not a private key.
    #[error("{}: not a signing key", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// The private key is gone, although it has signed.
    #[error("{}: there is no signing key, but checkpoints of this store were signed with one", path.display())]
    KeyMissing {
        /// The key file.
        path: PathBuf,
    },
    /// The key belongs to another log, or another key has signed this one.
    #[error("the signing key {found} is not this log's: {expected}")]
    OtherKey {
        /// The key.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The log is not the one that was signed.
    #[error(transparent)]
    Tree(#[from] TreeFault),
    /// A proof was requested that does not exist.
    #[error("there is no such proof: {problem}")]
    Proof {
        /// Why.
        problem: String,
    },
    /// The database on another machine reported an error, or could not be reached.
    #[error("{}: {what}: {said}", path.display())]
    Postgres {
        /// The operation that failed.
        what: &'static str,
        /// The address, without its password.
        path: PathBuf,
        /// What the server or the network says.
        said: String,
    },
    /// The text is not the address of a database.
    #[error("{address}: {problem}")]
    Address {
        /// The address, without its password.
        address: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Another owner has taken the log over.
    #[error("{}: this process does not own the log any more; another one has taken it over", path.display())]
    Fenced {
        /// The address, without its password.
        path: PathBuf,
    },
    /// The database committed, but did not wait until its standbys had it.
    #[error("{}: the database warns that a commit may not be replicated, so it is not acknowledged", path.display())]
    Unreplicated {
        /// The address, without its password.
        path: PathBuf,
    },
    /// A setting of the database allows acknowledged events to be lost.
    #[error(
        "{}: the database has {setting} = {found}, so that acknowledged events could be lost; {required} is required",
        path.display()
    )]
    WeakSetting {
        /// The address, without its password.
        path: PathBuf,
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        found: String,
        /// The value that it must have.
        required: &'static str,
    },
    /// A copy into this database was not finished.
    #[error("{}: a copy into this store was interrupted, so it is not complete", path.display())]
    CopyInterrupted {
        /// The address, without its password.
        path: PathBuf,
    },
    /// A store of several chains does not fit into a file.
    #[error("{}: this store has {chains} chains, each with a log of its own, and a file has one log", path.display())]
    Divided {
        /// The address, without its password.
        path: PathBuf,
        /// How many.
        chains: u64,
    },
    /// A store has chains of which there is no file.
    #[error("{}: this store has {chains} chains, and there are files of {files}", path.display())]
    MoreChains {
        /// The address, without its password.
        path: PathBuf,
        /// How many it has.
        chains: u64,
        /// How many files there are.
        files: u64,
    },
    /// A file has the log of another chain or another store.
    #[error("{}: this is the log {found}, and chain {expected} of one store was expected", path.display())]
    OtherChain {
        /// The file.
        path: PathBuf,
        /// The id of its log.
        found: String,
        /// The number of the chain.
        expected: u64,
    },
    /// The target of a copy has events.
    #[error("{}: this store has {events} events, and a copy needs an empty one", path.display())]
    NotEmpty {
        /// The address, without its password.
        path: PathBuf,
        /// How many.
        events: u64,
    },
    /// Somebody else owns the store in the database.
    #[error("{}: {} uses this database", path.display(), owner_in_words(address))]
    Owned {
        /// The address, without its password.
        path: PathBuf,
        /// Where the owner takes requests; empty if it is a command.
        address: String,
    },
    /// A fault injected by a test into a [`MemoryLog`](crate::MemoryLog).
    #[error("injected fault")]
    Injected,
}

impl Explain for StoreError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Missing { .. } => Remedy::with("check the path, or {action}", Action::CreateStore),
            Self::NotAStore { .. } | Self::AlreadyExists { .. } => Remedy::new("choose another file"),
            Self::NewerFormat { .. } => Remedy::new("use the version of rarely that wrote it").see(Topic::Upgrades),
            Self::NewerEvents { .. } => {
                Remedy::new("replace this program with the newer version, and start it again").see(Topic::Upgrades)
            }
            Self::Locked { .. } => Remedy::new("stop the other process, or choose another store").see(Topic::Recovery),
            Self::StrayWal { .. } => {
                Remedy::new("put the database back beside it, or move this file to where the database is now")
            }
            Self::UnreadableWal { .. } => {
                Remedy::new("copy the store and this file together to a place where you can write, and use the copy")
            }
            Self::Lost { .. } | Self::Replaced { .. } => {
                Remedy::with("put the right files back, or {action}", Action::AcceptLoss).see(Topic::Recovery)
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Remedy::new("create the folder in which it is, or correct its path")
            }
            Self::Io { .. } | Self::Database { .. } => {
                Remedy::new("check that the disk works and has space, and that you have permission to write there")
            }
            Self::DiskFull { .. } => Remedy::new("free some space, then try again").see(Topic::Pressure),
            Self::Damaged { .. } => Remedy::with("{action}", Action::RestoreBackup).see(Topic::Recovery),
            Self::OutOfOrder { .. } => Remedy::new("stop the other program"),
            Self::Closed => Remedy::new("try again when the store is open again"),
            Self::Thread(_) => Remedy::new("check the system's limits on processes and memory"),
            Self::Chain(fault) => return fault.remedy(),
            Self::WouldLose { .. } => {
                Remedy::new("restore a later backup, or say that these events may be lost").see(Topic::Restore)
            }
            Self::Incomparable { .. } => Remedy::new("move this store away, then restore again").see(Topic::Restore),
            Self::KeyIsPublic { .. } => {
                Remedy::new("let only its owner read it (mode 600); if others may have copied it, replace the key")
            }
            Self::NotAKey { .. } => Remedy::new("put the right file back; it has one line, PRIVATE+KEY+…"),
            Self::KeyMissing { .. } | Self::OtherKey { .. } => {
                Remedy::with("put the right key file back, or {action}", Action::ReplaceSigningKey)
                    .see(Topic::Checkpoints)
            }
            Self::Tree(fault) => return fault.remedy(),
            Self::Proof { .. } => {
                Remedy::new("name an event, and sizes that the log has reached, the smaller one first")
            }
            Self::Postgres { .. } => Remedy::new(
                "check that the database runs and can be reached, and that its user may use the schema; then try again",
            )
            .see(Topic::Database),
            Self::Address { .. } => Remedy::new(
                "write postgres://USER@HOST/DATABASE, with ?sslmode=disable, prefer, require or verify-full if you like",
            ),
            Self::Fenced { .. } => {
                Remedy::new("send the request again; a request with a key is done once").see(Topic::Ownership)
            }
            Self::Unreplicated { .. } => {
                Remedy::new("check the standbys of the database; a repeated request with the same key finds the event")
                    .see(Topic::Replication)
            }
            Self::WeakSetting { setting, required, .. } => Remedy::with(
                format!("set it, for example with ALTER SYSTEM SET {setting} = {required}, or {{action}}"),
                Action::AcceptRelaxedDurability,
            )
            .see(Topic::Replication),
            Self::CopyInterrupted { .. } => Remedy::new(
                "restore the same file into it again; or drop the schema rarely of this database if nothing else is in it, and copy again",
            ),
            Self::Divided { .. } => Remedy::new("name a folder that has a file for each of them, like backup/"),
            Self::MoreChains { .. } => {
                Remedy::new("name a folder with a copy of all of them, or choose another database")
            }
            Self::OtherChain { .. } => {
                Remedy::new("put all files of one copy into the folder, each under the name that it had")
            }
            Self::NotEmpty { .. } => Remedy::new("choose another database"),
            Self::Owned { address, .. } if address.is_empty() => {
                Remedy::new("wait until it has ended, then try again").see(Topic::Ownership)
            }
            Self::Owned { .. } => Remedy::new(
                "stop every replica of the service first; one that was killed counts until its lease time is over",
            )
            .see(Topic::Ownership),
            Self::Injected => return None,
        })
    }
}

fn owner_in_words(address: &str) -> String {
    if address.is_empty() { "another command".to_owned() } else { format!("a service at {address}") }
}

impl StoreError {
    /// Whether the database says that it cannot be opened, or not without writing.
    pub(crate) fn is_unopenable(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
        let Self::Database { source, .. } = self else { return false };
        let code = source.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
        matches!(code, Some(CannotOpen | ReadOnly))
    }

    /// An error of the operating system while doing `what` on `path`.
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::DiskFull { what, path };
        }
        Self::Io { what, path, source }
    }

    /// An error of the database while doing `what` on `path`.
    pub(crate) fn database(what: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { what, path },
            Some(ErrorCode::NotADatabase) => Self::NotAStore { path, found: "not an SQLite database".to_owned() },
            // An error without a code is not the database's but its content's, such as text that is not UTF-8.
            Some(ErrorCode::DatabaseCorrupt) | None => Self::Damaged { what, path, found: source.to_string() },
            Some(_) => Self::Database { what, path, source: Box::new(source) },
        }
    }
}
