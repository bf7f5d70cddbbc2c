//! One writing process per store.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::private_file;
use crate::sqlite_log::with_suffix;

/// The right to write to a store. One process at a time holds it, through a lock on the file `<store>.lock` and, on Linux, on the
/// database itself, so that another path to the same file (a hard link, a mounted file) does not help. The operating system
/// releases it when the process ends, for whatever reason; the file stays.
#[derive(Debug)]
pub struct StoreLock {
    _file: File,
    database: Option<DatabaseLock>,
}

impl StoreLock {
    /// Takes the lock of the store at `store`, which need not exist yet.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has it, or an I/O error if the file cannot be created or locked.
    pub fn take(store: &Path) -> Result<Self, StoreError> {
        let path = Self::path(store);
        let wrap = |error| StoreError::io("locking the store", &path, error);
        let mut file =
            private_file::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(wrap)?;
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
        let database = DatabaseLock::take(store)?;
        let note = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        note(&mut file).map_err(wrap)?;
        Ok(Self { _file: file, database })
    }

    /// Locks the database too, if it did not exist when the lock was taken.
    pub(crate) fn cover(&mut self, store: &Path) -> Result<(), StoreError> {
        if self.database.is_none() {
            self.database = DatabaseLock::take(store)?;
        }
        Ok(())
    }

    /// The path of the lock file of the store at `store`.
    pub fn path(store: &Path) -> PathBuf {
        with_suffix(store, ".lock")
    }
}

#[cfg(target_os = "linux")]
use linux::DatabaseLock;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs::{self, File, TryLockError};
    use std::io::ErrorKind;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    use crate::error::StoreError;

    /// Device and inode of the databases that this process has locked. A second open file of a database must never be closed while
    /// SQLite uses it: closing one drops all POSIX locks that the process has on the file.
    static HELD: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

    /// A lock on the database file itself. It is one of `flock`, which on Linux does not touch the POSIX locks of SQLite.
    #[derive(Debug)]
    pub(super) struct DatabaseLock {
        file: Option<File>,
        id: (u64, u64),
    }

    impl DatabaseLock {
        /// `None` if there is no database yet.
        pub(super) fn take(store: &Path) -> Result<Option<Self>, StoreError> {
            let wrap = |error| StoreError::io("locking the store", store, error);
            let id = match fs::metadata(store) {
                Ok(found) => (found.dev(), found.ino()),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(wrap(error)),
            };
            let locked = |process| StoreError::Locked { path: store.to_owned(), process };
            let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            if held.contains(&id) {
                return Err(locked(Some(std::process::id())));
            }
            let file = File::open(store).map_err(wrap)?;
            file.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => locked(None),
                TryLockError::Error(error) => wrap(error),
            })?;
            held.insert(id);
            Ok(Some(Self { file: Some(file), id }))
        }
    }

    impl Drop for DatabaseLock {
        fn drop(&mut self) {
            let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.file.take());
            held.remove(&self.id);
        }
    }
}

/// Elsewhere a lock on the file would stand in SQLite's way.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct DatabaseLock;

#[cfg(not(target_os = "linux"))]
impl DatabaseLock {
    #[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
    fn take(_: &Path) -> Result<Option<Self>, StoreError> {
        Ok(None)
    }
}
