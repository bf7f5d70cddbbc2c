//! Moves the write-ahead log into the database, beside the commits.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use super::{PATIENCE, with_suffix};
use crate::error::StoreError;

/// About how long the write-ahead log may get before it is moved into the database.
const THRESHOLD_BYTES: u64 = 16 << 20;

/// The room made for it in advance.
const ROOM_BYTES: u64 = THRESHOLD_BYTES;

/// The thread that does it.
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
                // A failure costs disk space, not safety: the frames stay in the write-ahead log and the next call
                // tries again.
                let _ = checkpoint(&path, &gate);
            }
        };
        let thread = thread::Builder::new().name("store-checkpoint".to_owned()).spawn(work);
        let thread = thread.map_err(StoreError::Thread)?;
        Ok(Self { written: AtomicU64::new(0), wake: Some(wake), thread: Some(thread) })
    }

    /// Notes that about so many bytes were added to the write-ahead log.
    pub(super) fn wrote(&self, bytes: u64) {
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes >= THRESHOLD_BYTES {
            self.written.store(0, Ordering::Relaxed);
            if let Some(wake) = &self.wake {
                // Full means that it is already asked to.
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

/// Moves everything into the database and leaves the write-ahead log empty; gives whether no reader was in the way.
pub(super) fn truncate(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0))
}

/// Fills an empty write-ahead log with zeros, which SQLite takes for an empty one. A commit then overwrites, which is
/// quicker than making the file longer; after the first round through the file it would do so anyway.
pub(super) fn make_room(database: &Path) {
    let grow = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(with_suffix(database, "-wal"))?;
        if file.metadata()?.len() > 0 {
            return Ok(());
        }
        let zeros = vec![0; 1 << 20];
        for _ in 0..ROOM_BYTES >> 20 {
            file.write_all(&zeros)?;
        }
        file.sync_all()
    };
    // Without the room commits are slower and nothing else; that the disk is full shows at the first commit.
    let _ = grow();
}

/// A passive checkpoint takes what is there when it starts; under load more has come by its end, and the write-ahead
/// log, which starts over only when nothing is left in it, would grow without end. So the bulk is moved beside the
/// commits, and then the little that came meanwhile with commits held back for a moment.
fn checkpoint(path: &Path, gate: &Mutex<Option<Connection>>) -> Result<(), rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    passive(&connection)?;
    passive(&connection)?;
    let _held = gate.lock().unwrap_or_else(PoisonError::into_inner);
    passive(&connection)
}

fn passive(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
