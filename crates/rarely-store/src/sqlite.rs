//! The log on SQLite: one file, with a write-ahead log beside it while it is in use.

mod checkpoint;
mod read;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use crate::entry::{Entry, Mark, Stamped};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::lock::StoreLock;
use crate::log::Log;
use checkpoint::Checkpointer;
use read::Readers;

/// The newest format of the database that this program reads and writes.
pub const FORMAT: u64 = 1;

/// What an acknowledged entry survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process and of the power: every commit is forced to the disk.
    Full,
    /// The end of the process, not of the power: the operating system writes when it likes. The log stays whole, but
    /// may end early.
    Relaxed,
}

/// The log as an SQLite database in WAL mode with `synchronous=FULL` (`NORMAL` if durability is relaxed).
///
/// One connection appends; reads have connections of their own, so that neither waits for the other; a third kind,
/// on a thread of its own, moves the write-ahead log into the database, so that commits do not wait for that either.
pub struct SqliteLog {
    path: PathBuf,
    id: String,
    readers: Readers,
    writer: Option<Writer>,
    /// Given back last, when nothing of the store is open any more.
    _lock: Option<StoreLock>,
}

impl SqliteLog {
    /// Takes the [`StoreLock`] of the store at `path` and opens the store, or makes one there.
    ///
    /// # Errors
    /// If another server has it, or the file cannot be opened or made, is no store, is damaged, or has a newer format.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let lock = StoreLock::take(path)?;
        Self::open_held(path, durability, Some(lock))
    }

    /// As [`open`](Self::open), where the caller holds the lock or hands it over.
    pub(crate) fn open_held(path: &Path, durability: Durability, lock: Option<StoreLock>) -> Result<Self, StoreError> {
        refuse_stray(path)?;
        let (connection, id, _) = connect(path, durability)?;
        checkpoint::make_room(path);
        let gate = Arc::new(Mutex::new(Some(connection)));
        let checkpointer = Checkpointer::start(path, Arc::clone(&gate))?;
        let writer = Writer { durability, gate, checkpointer };
        Ok(Self { path: path.to_owned(), id, readers: Readers::new(path, false), writer: Some(writer), _lock: lock })
    }

    /// Opens the store at `path` for reading, beside a running server or without one. What the server has committed
    /// is seen, also what still stands in its write-ahead log.
    ///
    /// # Errors
    /// If there is no store, or it cannot be read, is damaged, or has a newer format.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        // A store on a medium that cannot be written to has no room for SQLite's shared memory; with nobody writing
        // and no write-ahead log left, the file alone is the store.
        let mut last = None;
        for still in [false, true] {
            if still && with_suffix(path, "-wal").exists() {
                break;
            }
            let readers = Readers::new(path, still);
            let checked = readers.with("opening the store", |connection| Ok(schema::check(connection, path)));
            match checked.and_then(|id| id) {
                Ok(id) => return Ok(Self { path: path.to_owned(), id, readers, writer: None, _lock: None }),
                Err(error @ StoreError::Database { .. }) => last = last.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| StoreError::Missing { path: path.to_owned() }))
    }

    /// The random name that the store was given when it was made: 32 hexadecimal digits. Copies share it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What an acknowledged entry survives; `None` if the log was opened for reading only.
    pub fn durability(&self) -> Option<Durability> {
        self.writer.as_ref().map(|writer| writer.durability)
    }

    /// The bytes that the store takes on disk: database and write-ahead log.
    pub fn size_bytes(&self) -> u64 {
        let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        size(&self.path) + size(&with_suffix(&self.path, "-wal"))
    }

    fn writer(&self) -> Result<&Writer, StoreError> {
        self.writer.as_ref().ok_or_else(|| StoreError::Io {
            what: "writing to a store opened for reading",
            path: self.path.clone(),
            source: std::io::ErrorKind::PermissionDenied.into(),
        })
    }
}

impl Log for SqliteLog {
    fn append(&self, entries: &[Stamped]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let writer = self.writer()?;
        let mut gate = writer.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = gate.as_mut() else {
            return Err(StoreError::Database {
                what: "appending events",
                path: self.path.clone(),
                source: "the database could not be opened again after a failure".into(),
            });
        };
        let written =
            insert(connection, entries).map_err(|error| StoreError::database("appending events", &self.path, error))?;
        drop(gate);
        writer.checkpointer.wrote(written);
        Ok(())
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let writer = self.writer()?;
        let mut gate = writer.gate.lock().unwrap_or_else(PoisonError::into_inner);
        // The old connection must be gone first: it may still hold the failed transaction.
        *gate = None;
        self.readers.renew();
        let (connection, _, moved) = connect(&self.path, writer.durability)?;
        // Nothing is appended on top of a failed write before all of that is written anew.
        if moved {
            *gate = Some(connection);
            return Ok(());
        }
        Err(StoreError::Database {
            what: "opening the store again after a failure",
            path: self.path.clone(),
            source: "a long read holds up the write-ahead log".into(),
        })
    }

    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        self.readers.with("reading the end of the log", read::head)
    }

    fn entry(&self, number: u64) -> Result<Option<Entry>, StoreError> {
        self.readers.with("reading an event", |connection| read::entry(connection, number))
    }

    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.readers.with("reading events", |connection| read::entries(connection, after, policy, limit))
    }

    fn find(&self, mark: &Mark) -> Result<Option<u64>, StoreError> {
        self.readers.with("looking up a mark", |connection| read::find(connection, mark))
    }

    fn marks(&self, visit: &mut dyn FnMut(&Mark, u64)) -> Result<(), StoreError> {
        match self.readers.with("reading the marks", |connection| read::marks(connection, visit))? {
            None => Ok(()),
            Some(mark) => Err(StoreError::Damaged {
                what: "reading the marks",
                path: self.path.clone(),
                found: format!("{mark:?} does not fit its seal"),
            }),
        }
    }

    fn index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.readers.with("reading the index of policies", |connection| read::index(connection, visit))
    }

    fn check_structure(&self) -> Result<(), StoreError> {
        match self.readers.with("checking the database's pages", read::structure)? {
            None => Ok(()),
            Some(found) => {
                Err(StoreError::Damaged { what: "checking the database's pages", path: self.path.clone(), found })
            }
        }
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        writer.checkpointer.stop();
        self.readers.renew();
        let connection = writer.gate.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection {
            // Whether it works or not the log is whole: what stays in the write-ahead log is read on the next open.
            let _ = checkpoint::truncate(&connection);
        }
    }
}

/// Refuses a place where a write-ahead log stands without its database.
pub(crate) fn refuse_stray(path: &Path) -> Result<(), StoreError> {
    let left = with_suffix(path, "-wal");
    if !path.exists() && left.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return Err(StoreError::Stray { path: left });
    }
    Ok(())
}

/// `path` with `suffix` at its end: the files that stand beside a store.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// How long a connection waits for another program that has the database locked.
const PATIENCE: Duration = Duration::from_secs(10);

struct Writer {
    durability: Durability,
    /// The appending connection. Who holds this is the only one to add to the write-ahead log; `None` after a failed
    /// reopening.
    gate: Arc<Mutex<Option<Connection>>>,
    checkpointer: Checkpointer,
}

/// Opens the appending connection and moves what it finds in the write-ahead log into the database. Gives the store's
/// id, and whether all could be moved: a reader may be in the way.
fn connect(path: &Path, durability: Durability) -> Result<(Connection, String, bool), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> Result<Connection, rusqlite::Error> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "cache_size", -65_536)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let synchronous = if durability == Durability::Full { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(connection)
    };
    let connection = open().map_err(|error| StoreError::database("opening the store", path, error))?;
    let id = schema::prepare(&connection, path)?;
    // A write-ahead log found here may rest on a write whose fsync once failed, and which the system will not repeat.
    // Moving it into the database writes it anew.
    let moved = checkpoint::truncate(&connection);
    let moved = moved.map_err(|error| StoreError::database("opening the store", path, error))?;
    Ok((connection, id, moved))
}

/// Inserts everything in one transaction and returns about how many bytes that added to the write-ahead log.
fn insert(connection: &mut Connection, entries: &[Stamped]) -> Result<u64, rusqlite::Error> {
    const PAGE: u64 = 4096;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut bytes = 4 * PAGE;
    {
        let mut marks = Vec::new();
        let mut event = transaction.prepare_cached(schema::INSERT_EVENT)?;
        for Stamped { entry, mark } in entries {
            event.execute(params![
                signed(entry.number)?,
                signed(entry.time_ms)?,
                entry.actor,
                signed(entry.policy)?,
                entry.kind,
                entry.body,
                &entry.hash.0[..]
            ])?;
            bytes += 80 + (entry.actor.len() + entry.kind.len() + entry.body.len()) as u64;
            marks.extend(mark.as_ref().map(|mark| (mark, entry.number)));
        }
        // In their tree's order, so that each of its pages is visited once; of equal ones the later stays later.
        marks.sort();
        let mut named = transaction.prepare_cached(schema::UPSERT_MARK)?;
        for (mark, number) in marks {
            named.execute(params![mark.as_bytes(), signed(number)?, read::seal(mark, number)])?;
            bytes += PAGE;
        }
    }
    transaction.commit()?;
    Ok(bytes)
}

/// SQLite's integers are signed. A number above 2⁶³ is refused, not wrapped.
fn signed(number: u64) -> Result<i64, rusqlite::Error> {
    i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
