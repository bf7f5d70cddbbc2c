//! A store as a server uses it: the lock, the log, the witness and the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::entry::{Entry, Head};
use crate::error::StoreError;
use crate::journal::Journal;
use crate::lock::StoreLock;
use crate::snapshot::SnapshotFile;
use crate::sqlite::{Durability, SqliteLog};
use crate::witness::HeadWitness;

/// A store that is open for writing. The lock is held and the end of the log is what was acknowledged; replay the log,
/// then [`start`](Self::start) the journal.
///
/// ```
/// use rarely_store::{Draft, Durability, Journal, Log, Store, Subject, now_ms};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(&folder.path().join("rarely.db"), Durability::Full)?;
/// let journal: Journal<&str> = store.start(now_ms, |committed| {
///     for (entry, payload) in committed {
///         println!("{} {} {payload:?}", entry.number, entry.kind);
///     }
/// })?;
/// let (number, receipt) = journal.append(|turn| {
///     let draft = Draft { actor: "ann".into(), subject: Subject::Itself, kind: "registered", body: "{}".into(), mark: None };
///     turn.push(draft, "my typed event")
/// });
/// receipt.wait_blocking()?;
/// assert_eq!(journal.log().entry(number)?.unwrap().policy, 1);
/// journal.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    path: PathBuf,
    log: Arc<SqliteLog>,
    witness: HeadWitness,
}

impl Store {
    /// Opens the store at `path`, or makes one there.
    ///
    /// # Errors
    /// If another server has it, if it cannot be opened, or if it does not hold what was acknowledged.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let lock = StoreLock::take(path)?;
        let witness = HeadWitness::open(path)?;
        if let Some(seen) = witness.seen().filter(|seen| seen.number > 0 && !path.exists()) {
            // Before an empty one is made in its place.
            return Err(StoreError::Lost { path: path.to_owned(), log_ends: 0, witnessed: seen.number });
        }
        let log = Arc::new(SqliteLog::open_held(path, durability, Some(lock))?);
        witness.check(&*log)?;
        Ok(Self { path: path.to_owned(), log, witness })
    }

    /// The log, for reading.
    pub fn log(&self) -> &Arc<SqliteLog> {
        &self.log
    }

    /// The file of snapshots beside the store.
    pub fn snapshot(&self) -> SnapshotFile {
        SnapshotFile::beside(&self.path)
    }

    /// Starts the journal, as [`Journal::start`]. The lock is held until the journal and everyone
    /// else who has the log are done with it.
    ///
    /// # Errors
    /// As [`Journal::start`].
    pub fn start<P: Send + 'static>(
        self,
        clock: impl Fn() -> u64 + Send + Sync + 'static,
        on_commit: impl FnMut(Vec<(Entry, Option<P>)>) + Send + 'static,
    ) -> Result<Journal<P>, StoreError> {
        Journal::start(self.log, Some(self.witness), clock, on_commit)
    }

    /// Gives up the events that were acknowledged but are no longer in the store at `path`, so that it opens again.
    /// Gives where the log now ends, and where it ended according to the witness.
    ///
    /// # Errors
    /// If another server has the store, or it cannot be opened.
    pub fn accept_loss(path: &Path) -> Result<(Head, Option<Head>), StoreError> {
        if !path.exists() && !HeadWitness::path(path).exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let log = SqliteLog::open(path, Durability::Full)?;
        let mut witness = HeadWitness::open(path)?;
        let seen = witness.seen();
        Ok((witness.accept_loss(&log)?, seen))
    }
}

/// The system's clock: milliseconds since 1970 UTC, 0 before that.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
