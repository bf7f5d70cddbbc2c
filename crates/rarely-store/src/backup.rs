//! Backups of a store, also while it is in use.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::entry::Head;
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::lock::StoreLock;
use crate::private_file;
use crate::snapshot::{SnapshotFile, sync_directory};
use crate::sqlite_log::{Durability, SqliteLog, refuse_stray, resolved, with_suffix};
use crate::verify::verify_chain;
use crate::witness::HeadWitness;

/// Copies the store at `from`, in use or not, to the new file `to`: everything committed when the copy starts, checked by
/// [`verify_chain`]. Returns the head of the copy.
///
/// # Errors
/// If `to` exists, if `from` is not a store or its log is broken, or if a file cannot be read or written. The file `to`
/// appears only when it is complete.
pub fn backup(from: &Path, to: &Path) -> Result<Head, StoreError> {
    if to.exists() {
        return Err(StoreError::AlreadyExists { path: to.to_owned() });
    }
    drop(SqliteLog::open_read_only(from)?);
    let partial = with_suffix(to, ".partial");
    let head = copy(from, &partial)?;
    put_in_place(&partial, to)?;
    Ok(head)
}

/// The result of [`restore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Where the restored log ends.
    pub head: Head,
    /// Where the replaced log ended, according to its witness.
    pub before: Option<Head>,
}

/// What to do if the store has events that the backup lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLoss {
    /// Leave the store as it is.
    Refuse,
    /// Give these events up.
    Accept,
}

/// Replaces the store at `to`, which must not be in use, with the backup. The backup's log must be intact and, unless `loss` accepts
/// that, contain every event of the store.
///
/// # Errors
/// If another process uses the store, if the store has events that the backup lacks, if the backup's log is broken, or if
/// a file cannot be read or written. The store is then unchanged.
pub fn restore(backup: &Path, to: &Path, loss: EventLoss) -> Result<Restored, StoreError> {
    let to = &resolved(to);
    drop(SqliteLog::open_read_only(backup)?);
    let _lock = StoreLock::take(to)?;
    refuse_stray(to)?;
    let partial = with_suffix(to, ".partial");
    let head = copy(backup, &partial)?;
    if to.exists() {
        let made = compare(to, &partial, loss);
        if made.is_err() {
            remove(&partial);
        }
        made?;
    }
    let mut witness = HeadWitness::open(to)?;
    let before = witness.seen();
    put_in_place(&partial, to)?;
    if before.is_some_and(|before| before.number > head.number) {
        SnapshotFile::beside(to).remove()?;
    }
    witness.accept_loss(&SqliteLog::open_read_only(to)?)?;
    Ok(Restored { head, before })
}

/// Checks that every event of the store is also in the copy, unless their loss is accepted, and removes the store's write-ahead log:
/// SQLite would apply one that is left behind to the copy.
fn compare(store: &Path, copy: &Path, loss: EventLoss) -> Result<(), StoreError> {
    let incomparable =
        |source: StoreError| StoreError::Incomparable { path: store.to_owned(), source: Box::new(source) };
    let ours = SqliteLog::open_held(store, Durability::Full, None).map_err(incomparable)?;
    let theirs = SqliteLog::open_read_only(copy)?;
    if loss == EventLoss::Refuse {
        let last = ours.head().map_err(incomparable)?.map_or(0, |(number, _)| number);
        if let Some(first) = first_lost(&ours, &theirs).map_err(incomparable)? {
            return Err(StoreError::WouldLose { path: store.to_owned(), first, last });
        }
    }
    drop(ours);
    let left = with_suffix(store, "-wal");
    if left.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        let found = "its write-ahead log cannot be moved into the database, perhaps because another program reads it"
            .to_owned();
        let what = "restoring a backup";
        return Err(incomparable(StoreError::Damaged { what, path: store.to_owned(), found }));
    }
    remove(&left);
    remove(&with_suffix(store, "-shm"));
    Ok(())
}

/// The first event of a log that a backup lacks, or has otherwise.
pub(crate) fn first_lost(log: &dyn EventLog, backup: &dyn EventLog) -> Result<Option<u64>, StoreError> {
    let differs = |number: u64| -> Result<bool, StoreError> {
        let kept = log.entry(number)?.map(|entry| entry.hash);
        Ok(kept != backup.entry(number)?.map(|entry| entry.hash))
    };
    let last = log.head()?.map_or(0, |(number, _)| number);
    if last == 0 || !differs(last)? {
        return Ok(None);
    }
    // Once two chains differ they differ for good, so binary search finds the first difference.
    let (mut same, mut other) = (0, last);
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if differs(middle)? {
            other = middle;
        } else {
            same = middle;
        }
    }
    Ok(Some(other))
}

/// Copies a database with everything committed in it, and verifies the copy. Overwrites what an earlier attempt left.
fn copy(from: &Path, partial: &Path) -> Result<Head, StoreError> {
    const WHAT: &str = "copying the store";
    for left in [partial, &with_suffix(partial, "-wal"), &with_suffix(partial, "-shm")] {
        remove(left);
    }
    let made = copy_pages(from, partial).and_then(|()| {
        File::open(partial).and_then(|file| file.sync_all()).map_err(|error| StoreError::io(WHAT, partial, error))?;
        let head = verify_chain(&SqliteLog::open_read_only(partial)?, |_| ())?;
        Ok(head)
    });
    // Reading the copy created these; they are empty.
    remove(&with_suffix(partial, "-wal"));
    remove(&with_suffix(partial, "-shm"));
    if made.is_err() {
        remove(partial);
    }
    made
}

fn copy_pages(from: &Path, partial: &Path) -> Result<(), StoreError> {
    const WHAT: &str = "copying the store";
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(|error| StoreError::database(WHAT, from, error))?;
    let run = || -> Result<StepResult, rusqlite::Error> {
        private_file::prepare(partial);
        let mut target = Connection::open(partial)?;
        let backup = Backup::new(&source, &mut target)?;
        // All pages in one step, so that the copy is one consistent view while the source keeps writing.
        backup.step(-1)
    };
    match run().map_err(|error| StoreError::database(WHAT, partial, error))? {
        StepResult::Done => Ok(()),
        other => Err(StoreError::Database {
            what: WHAT,
            path: from.to_owned(),
            source: format!("the database was busy ({other:?})").into(),
        }),
    }
}

pub(crate) fn put_in_place(partial: &Path, to: &Path) -> Result<(), StoreError> {
    let put = fs::rename(partial, to).and_then(|()| sync_directory(to));
    put.map_err(|error| StoreError::io("moving the copy into place", to, error))
}

/// Removes a file if it exists. If it cannot be removed, a later step fails.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}
