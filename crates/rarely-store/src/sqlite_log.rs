//! The log on SQLite: one file, with a write-ahead log beside it while it is in use.

mod archiving;
mod checkpoint;
mod read;
mod schema;
mod subjects;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use crate::entry::{KeyedEntry, LogEntry, LookupKey};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::lock::StoreLock;
use crate::merkle::BLOCK;
use crate::private_file;
use crate::signed_checkpoint::{CheckpointError, SignedCheckpoint};
use checkpoint::Checkpointer;
use read::Readers;

pub(crate) use read::seal;

/// The newest database format that this version reads and writes.
pub const FORMAT: u64 = 3;
/// The format of a store from which nothing was archived.
const WHOLE: u64 = 2;

/// Which failures an acknowledged entry survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process and a power failure: every commit is synced to disk.
    Full,
    /// A crash of the process, but not a power failure: the operating system decides when to write. After a power failure
    /// the log is intact, but its last entries may be missing.
    Relaxed,
}

/// The log as an SQLite database in WAL mode with `synchronous=FULL` (`NORMAL` if durability is relaxed).
///
/// One connection appends. Reads use other connections, so that reads and appends do not wait for each other. A further
/// connection, on its own thread, moves the write-ahead log into the database, so that commits do not wait for that.
pub struct SqliteLog {
    path: PathBuf,
    id: String,
    readers: Readers,
    writer: Option<Appender>,
    /// Released last, when no file of the store is open any more.
    _lock: Option<StoreLock>,
}

impl SqliteLog {
    /// Takes the [`StoreLock`] of the store at `path` and opens the store, or creates one there.
    ///
    /// # Errors
    /// If another process uses it, or the file cannot be opened or created, is not a store, is damaged, or has a newer
    /// format.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let lock = StoreLock::take(path)?;
        Self::open_held(path, durability, Some(lock))
    }

    /// As [`open`](Self::open), for a caller that holds the lock or hands it over.
    pub(crate) fn open_held(
        path: &Path,
        durability: Durability,
        mut lock: Option<StoreLock>,
    ) -> Result<Self, StoreError> {
        refuse_stray(path)?;
        let (connection, id, _) = connect(path, durability)?;
        lock.as_mut().map_or(Ok(()), |lock| lock.cover(path))?;
        checkpoint::preallocate(path);
        let gate = Arc::new(Mutex::new(Some(connection)));
        let checkpointer = Checkpointer::start(path, Arc::clone(&gate))?;
        let writer = Appender { durability, gate, checkpointer };
        Ok(Self { path: path.to_owned(), id, readers: Readers::new(path, false), writer: Some(writer), _lock: lock })
    }

    /// Opens the store at `path` for reading, also while a server writes to it. Reads see everything that the server has
    /// committed, including what is still in the write-ahead log.
    ///
    /// # Errors
    /// If there is no store, or it cannot be read, is damaged, or has a newer format.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        // On a read-only medium SQLite cannot create its shared memory file. Without a write-ahead log nothing is being
        // written, so the database file alone is the store and can be opened as immutable.
        let mut last = None;
        for immutable in [false, true] {
            let wal = with_suffix(path, "-wal");
            if immutable && wal.metadata().is_ok_and(|metadata| metadata.len() > 0) {
                last = last.map(
                    |error: StoreError| {
                        if error.is_unopenable() { StoreError::UnreadableWal { path: wal } } else { error }
                    },
                );
                break;
            }
            let readers = Readers::new(path, immutable);
            let checked = readers.with("opening the store", |connection| Ok(schema::check(connection, path)));
            match checked.and_then(|id| id) {
                Ok(id) => return Ok(Self { path: path.to_owned(), id, readers, writer: None, _lock: None }),
                Err(error @ StoreError::Database { .. }) => last = last.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| StoreError::Missing { path: path.to_owned() }))
    }

    /// The store's random id, assigned at creation: 32 hexadecimal digits. Copies have the same id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The durability of appends; `None` if the log was opened for reading only.
    pub fn durability(&self) -> Option<Durability> {
        self.writer.as_ref().map(|writer| writer.durability)
    }

    /// The size on disk in bytes: database and write-ahead log.
    pub fn size_bytes(&self) -> u64 {
        let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        size(&self.path) + size(&with_suffix(&self.path, "-wal"))
    }

    /// Removes checkpoints of more than `size` entries, and roots of blocks that are no longer complete.
    pub(crate) fn forget_checkpoints(&self, size: u64) -> Result<(), StoreError> {
        let gate = self.writer()?.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = gate.as_ref().ok_or_else(|| self.unopened(FORGETTING))?;
        let forget = || {
            let removed = connection.execute("DELETE FROM checkpoints WHERE size > ?1", [signed(size)?])?;
            connection.execute("DELETE FROM tree WHERE block >= ?1", [signed(size / BLOCK)?]).map(|_| removed)
        };
        forget().map(drop).map_err(|error| StoreError::database(FORGETTING, &self.path, error))
    }

    /// Makes this the copy of another log, which has this id.
    pub(crate) fn set_id(&mut self, id: &str) -> Result<(), StoreError> {
        const WHAT: &str = "copying the store";
        {
            let gate = self.writer()?.gate.lock().unwrap_or_else(PoisonError::into_inner);
            let connection = gate.as_ref().ok_or_else(|| self.unopened(WHAT))?;
            let set = connection.execute("UPDATE meta SET value = ?1 WHERE name = 'id'", [id]);
            set.map_err(|error| StoreError::database(WHAT, &self.path, error))?;
        }
        id.clone_into(&mut self.id);
        Ok(())
    }

    fn read_checkpoints(&self, after: Option<u64>, last: bool) -> Result<Vec<SignedCheckpoint>, StoreError> {
        const WHAT: &str = "reading the checkpoints";
        let notes = self.readers.with(WHAT, |connection| read::checkpoints(connection, after, last))?;
        let parsed = notes.iter().map(|note| note.parse());
        parsed.collect::<Result<_, CheckpointError>>().map_err(|error| StoreError::Damaged {
            what: WHAT,
            path: self.path.clone(),
            found: error.to_string(),
        })
    }

    fn unopened(&self, what: &'static str) -> StoreError {
        let source = "the database could not be reopened after a failure".into();
        StoreError::Database { what, path: self.path.clone(), source }
    }

    fn writer(&self) -> Result<&Appender, StoreError> {
        self.writer.as_ref().ok_or_else(|| StoreError::Io {
            what: "writing to a store opened for reading",
            path: self.path.clone(),
            source: std::io::ErrorKind::PermissionDenied.into(),
        })
    }
}

impl EventLog for SqliteLog {
    fn append(&self, entries: &[KeyedEntry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let writer = self.writer()?;
        let mut gate = writer.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = gate.as_mut().ok_or_else(|| self.unopened("appending events"))?;
        let written =
            insert(connection, entries).map_err(|error| StoreError::database("appending events", &self.path, error))?;
        drop(gate);
        writer.checkpointer.wrote(written);
        Ok(())
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let writer = self.writer()?;
        let mut gate = writer.gate.lock().unwrap_or_else(PoisonError::into_inner);
        // Close the old connection first: it may still hold the failed transaction.
        *gate = None;
        self.readers.renew();
        let (connection, _, moved) = connect(&self.path, writer.durability)?;
        // Appends resume only after everything from the failed write has been written again.
        if moved {
            *gate = Some(connection);
            return Ok(());
        }
        Err(StoreError::Database {
            what: "reopening the store after a failure",
            path: self.path.clone(),
            source: "a long read blocks the write-ahead log".into(),
        })
    }

    fn compact(&self) -> Result<(), StoreError> {
        self.vacuum()
    }

    fn try_to_write(&self) -> Result<(), StoreError> {
        const BYTES: usize = 1 << 20;
        let path = with_suffix(&self.path, ".probe");
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(&vec![0; BYTES])?;
            file.sync_all()
        };
        let written = write().map_err(|error| StoreError::io("writing to the disk of the store", &path, error));
        // It has no meaning, whether it is complete or not.
        drop(std::fs::remove_file(&path));
        written
    }

    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        self.readers.with("reading the end of the log", read::head)
    }

    fn entry(&self, number: u64) -> Result<Option<LogEntry>, StoreError> {
        self.readers.with("reading an event", |connection| read::entry(connection, number))
    }

    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.readers.with("reading events", |connection| read::entries(connection, after, policy, limit))
    }

    fn entries_before(&self, before: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.readers.with("reading events", |connection| read::entries_before(connection, before, policy, limit))
    }

    fn find(&self, key: &LookupKey) -> Result<Option<u64>, StoreError> {
        self.readers.with("looking up a key", |connection| read::find(connection, key))
    }

    fn hashes(&self, after: u64, limit: usize) -> Result<Vec<Hash>, StoreError> {
        self.readers.with("reading the hashes of events", |connection| read::hashes(connection, after, limit))
    }

    fn keep_checkpoint(&self, checkpoint: &SignedCheckpoint, first: u64, blocks: &[Hash]) -> Result<(), StoreError> {
        let writer = self.writer()?;
        let mut gate = writer.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = gate.as_mut().ok_or_else(|| self.unopened("storing a checkpoint"))?;
        insert_checkpoint(connection, checkpoint, first, blocks)
            .map_err(|error| StoreError::database("storing a checkpoint", &self.path, error))
    }

    fn checkpoints(&self, after: Option<u64>) -> Result<Vec<SignedCheckpoint>, StoreError> {
        self.read_checkpoints(after, false)
    }

    fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        Ok(self.read_checkpoints(None, true)?.pop())
    }

    fn tree_blocks(&self) -> Result<Vec<Hash>, StoreError> {
        self.readers.with("reading the tree", read::tree_blocks)
    }

    fn lookup_keys(&self, visit: &mut dyn FnMut(&LookupKey, u64)) -> Result<(), StoreError> {
        match self.readers.with("reading the lookup keys", |connection| read::lookup_keys(connection, visit))? {
            None => Ok(()),
            Some(key) => Err(StoreError::Damaged {
                what: "reading the lookup keys",
                path: self.path.clone(),
                found: format!("the checksum of {key:?} does not match"),
            }),
        }
    }

    fn policy_index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.readers.with("reading the policy index", |connection| read::policy_index(connection, visit))
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
            // If this fails, the log is still intact: the next open reads what is left in the write-ahead log.
            let _ = checkpoint::truncate(&connection);
        }
    }
}

/// Refuses a path where a write-ahead log exists without its database.
pub(crate) fn refuse_stray(path: &Path) -> Result<(), StoreError> {
    let left = with_suffix(path, "-wal");
    if !path.exists() && left.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return Err(StoreError::StrayWal { path: left });
    }
    Ok(())
}

/// `path` with `suffix` appended: the files beside a store, where it really is.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = resolved(path).into_os_string();
    name.push(suffix);
    name.into()
}

/// What a symbolic link names. SQLite has its files there too.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let target = path.is_symlink().then(|| path.canonicalize().ok()).flatten();
    target.unwrap_or_else(|| path.to_owned())
}

const FORGETTING: &str = "removing checkpoints of lost events";

/// How long a connection waits for another program that has locked the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

struct Appender {
    durability: Durability,
    /// The appending connection. Only the holder of this lock may add to the write-ahead log. `None` after a failed reopen.
    gate: Arc<Mutex<Option<Connection>>>,
    checkpointer: Checkpointer,
}

/// Opens the appending connection and moves the write-ahead log into the database. Returns the store's id, and whether
/// everything was moved: a reader may prevent that.
fn connect(path: &Path, durability: Durability) -> Result<(Connection, String, bool), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> Result<Connection, rusqlite::Error> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "cache_size", -65_536)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        // A key that is destroyed is overwritten.
        connection.pragma_update(None, "secure_delete", true)?;
        let synchronous = if durability == Durability::Full { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(connection)
    };
    private_file::prepare(path);
    let connection = open().map_err(|error| StoreError::database("opening the store", path, error))?;
    let id = schema::prepare(&connection, path)?;
    // A write-ahead log that exists now may contain pages whose fsync failed earlier and which the system will not write
    // again. Moving it into the database writes them again.
    let moved = checkpoint::truncate(&connection);
    let moved = moved.map_err(|error| StoreError::database("opening the store", path, error))?;
    Ok((connection, id, moved))
}

/// Inserts all entries in one transaction. Returns an estimate of the bytes added to the write-ahead log.
fn insert(connection: &mut Connection, entries: &[KeyedEntry]) -> Result<u64, rusqlite::Error> {
    const PAGE: u64 = 4096;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut bytes = 4 * PAGE;
    {
        let mut keys = Vec::new();
        let mut archives_are_there = false;
        let mut event = transaction.prepare_cached(schema::INSERT_EVENT)?;
        for KeyedEntry { entry, key, destroys, archives } in entries {
            event.execute(params![
                signed(entry.number)?,
                signed(entry.time_ms)?,
                entry.actor,
                signed(entry.policy)?,
                entry.kind,
                entry.body,
                &entry.hash.0[..],
                entry.elapsed_ms.map(signed).transpose()?
            ])?;
            bytes += 80 + (entry.actor.len() + entry.kind.len() + entry.body.len()) as u64;
            keys.extend(key.as_ref().map(|key| (key, entry.number)));
            subjects::destroy(&transaction, destroys)?;
            bytes += archiving::archive(&transaction, archives)?;
            archives_are_there |= !archives.is_empty() || entry.archived_by().is_some();
        }
        if archives_are_there {
            archiving::refuse_earlier_programs(&transaction)?;
        }
        // Sorted as in the table's tree, so that each page is visited once. Of equal keys the later entry stays last.
        keys.sort();
        let mut upsert = transaction.prepare_cached(schema::UPSERT_KEY)?;
        for (key, number) in keys {
            upsert.execute(params![key.as_bytes(), signed(number)?, seal(key, number)])?;
            bytes += PAGE;
        }
    }
    transaction.commit()?;
    Ok(bytes)
}

/// Stores a checkpoint and the roots of blocks in one transaction.
fn insert_checkpoint(
    connection: &mut Connection,
    checkpoint: &SignedCheckpoint,
    first: u64,
    blocks: &[Hash],
) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    {
        let mut block = transaction.prepare_cached(schema::UPSERT_BLOCK)?;
        for (number, root) in (first..).zip(blocks) {
            block.execute(params![signed(number)?, &root.0[..]])?;
        }
        let mut note = transaction.prepare_cached(schema::UPSERT_CHECKPOINT)?;
        note.execute(params![signed(checkpoint.size())?, checkpoint.to_string()])?;
    }
    transaction.commit()
}

/// SQLite's integers are signed. A number of 2⁶³ or more is refused, not wrapped.
fn signed(number: u64) -> Result<i64, rusqlite::Error> {
    i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
