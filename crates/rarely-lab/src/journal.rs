//! Finished runs, kept as they finish, so that an interrupted command can go on where it was.
//!
//! A file with one line a run. A line is written with a single call; one that was cut off by a crash is skipped when the file is
//! read, and its run is played again. Lines are found by a digest of everything that a result depends on, the version included.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::play::Run;

/// A run that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// What happened.
    pub run: Run,
    /// How long it took.
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    run: u64,
    finished: Finished,
}

/// Where finished runs are kept; or nowhere.
#[derive(Default)]
pub struct Journal {
    file: Option<(PathBuf, Mutex<File>)>,
    known: Mutex<HashMap<(String, u64), Finished>>,
}

impl Journal {
    /// Keeps nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Opens or creates a file, and reads what it has.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut known = HashMap::new();
        let mut torn = false;
        if path.exists() {
            for line in BufReader::new(File::open(path)?).split(b'\n') {
                let line = line?;
                torn = false;
                if let Ok(line) = serde_json::from_slice::<Line>(&line) {
                    known.insert((line.key, line.run), line.finished);
                } else {
                    torn = true;
                }
            }
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if torn {
            file.write_all(b"\n")?;
        }
        Ok(Self { file: Some((path.to_owned(), Mutex::new(file))), known: Mutex::new(known) })
    }

    /// Runs that were found in the file.
    pub fn found(&self) -> usize {
        lock(&self.known).len()
    }

    /// A finished run, if there is one; it is taken out.
    pub(crate) fn take(&self, key: &str, run: u64) -> Option<Finished> {
        lock(&self.known).remove(&(key.to_owned(), run))
    }

    /// Keeps a finished run.
    pub(crate) fn keep(&self, key: &str, run: u64, finished: &Finished) -> io::Result<()> {
        let Some((_, file)) = &self.file else {
            return Ok(());
        };
        let line = Line { key: key.to_owned(), run, finished: finished.clone() };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        lock(file).write_all(&bytes)
    }

    /// Everything is done and written elsewhere: the file is no longer needed.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn finish(self) -> io::Result<()> {
        match self.file {
            Some((path, _)) => fs::remove_file(path),
            None => Ok(()),
        }
    }
}

/// The digest of everything that a result depends on.
pub(crate) fn key(description: &Value) -> String {
    let hash = Sha256::digest(format!("{} {description}", env!("CARGO_PKG_VERSION")).as_bytes());
    hex(&hash[..16])
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
