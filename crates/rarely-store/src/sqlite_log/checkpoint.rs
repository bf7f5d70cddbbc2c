//! Moves the write-ahead log into the database, concurrently with commits.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use super::{BUSY_TIMEOUT, with_suffix};
use crate::error::StoreError;

/// The approximate size of the write-ahead log at which it is moved into the database.
const THRESHOLD_BYTES: u64 = 16 << 20;

/// The space allocated for it in advance.
const PREALLOCATED_BYTES: u64 = THRESHOLD_BYTES;

/// The thread that runs checkpoints.
pub(super) struct Checkpointer {
    written: AtomicU64,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path, gate: Arc<Mutex<Option<Connection>>>) -> Result<Self, StoreError> {
        let path = path.to_owned();
        let (wake, woken) = mpsc::sync_channel(1);
        let work = move || {
            while woken.recv().is_ok() {
                // A failure costs disk space, not safety: the frames stay in the write-ahead log, and the next call tries
                // again.
                let _ = checkpoint(&path, &gate);
            }
        };
        let thread = thread::Builder::new().name("store-checkpoint".to_owned()).spawn(work);
        let thread = thread.map_err(StoreError::Thread)?;
        Ok(Self { written: AtomicU64::new(0), wake: Some(wake), thread: Some(thread) })
    }

    /// Counts bytes added to the write-ahead log, and wakes the thread at the threshold.
    pub(super) fn wrote(&self, bytes: u64) {
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes >= THRESHOLD_BYTES {
            self.written.store(0, Ordering::Relaxed);
            if let Some(wake) = &self.wake {
                // A full channel means that a checkpoint is already requested.
                let _ = wake.try_send(());
            }
        }
    }

    pub(super) fn stop(mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Moves everything into the database and empties the write-ahead log. Returns false if a reader prevented it.
pub(super) fn truncate(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0))
}

/// Fills an empty write-ahead log with zeros, which SQLite treats as empty. Commits then overwrite the file, which is
/// faster than extending it; after the first pass through the file SQLite does so anyway.
pub(super) fn preallocate(database: &Path) {
    let grow = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(with_suffix(database, "-wal"))?;
        if file.metadata()?.len() > 0 {
            return Ok(());
        }
        let zeros = vec![0; 1 << 20];
        for _ in 0..PREALLOCATED_BYTES >> 20 {
            file.write_all(&zeros)?;
        }
        file.sync_all()
    };
    // If this fails, commits are slower. A full disk shows at the first commit.
    let _ = grow();
}

/// A passive checkpoint moves what exists when it starts. Under load more arrives before it ends, and the write-ahead
/// log, which restarts only when it is empty, would grow without bound. So the bulk is moved concurrently with commits,
/// and the small rest while commits are held for a moment.
fn checkpoint(path: &Path, gate: &Mutex<Option<Connection>>) -> Result<(), rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    passive(&connection)?;
    passive(&connection)?;
    let _held = gate.lock().unwrap_or_else(PoisonError::into_inner);
    passive(&connection)
}

fn passive(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
