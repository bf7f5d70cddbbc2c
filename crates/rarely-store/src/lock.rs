//! One writing process per store.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::sqlite_log::with_suffix;

/// The right to write to a store. One process at a time holds it, through a lock on the file `<store>.lock`. The operating
/// system releases it when the process ends, for whatever reason; the file stays.
#[derive(Debug)]
pub struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Takes the lock of the store at `store`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has it, or an I/O error if the file cannot be created or locked.
    pub fn take(store: &Path) -> Result<Self, StoreError> {
        let path = Self::path(store);
        let wrap = |error| StoreError::io("locking the store", &path, error);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(wrap)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Best effort: the process id only improves the message.
                let _ = (&mut file).take(32).read_to_string(&mut text);
                return Err(StoreError::Locked { path: store.to_owned(), process: text.trim().parse().ok() });
            }
            Err(TryLockError::Error(error)) => return Err(wrap(error)),
        }
        let note = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        note(&mut file).map_err(wrap)?;
        Ok(Self { _file: file })
    }

    /// The path of the lock file of the store at `store`.
    pub fn path(store: &Path) -> PathBuf {
        with_suffix(store, ".lock")
    }
}
