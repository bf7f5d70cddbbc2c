//! Finished runs, saved as they finish, so that an interrupted command can continue.
//!
//! The file has one line per run. A line is written with a single call; one that was cut off by a crash is skipped when the file is
//! read, and its run is played again. Lines are found by a digest of everything that a result depends on, including the version.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rarely_core::Digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use rarely_output::{OutputDirectory, OutputError};

use crate::play::Run;

/// The file of an output directory in which finished runs are saved until all are finished.
pub(crate) const FILE: &str = "unfinished.ndjson";

/// A finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedRun {
    /// What happened.
    pub run: Run,
    /// How long it took.
    pub seconds: f64,
}

/// A finished run of anything, as it is saved: its key and number, and its result as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JournalLine {
    pub(crate) key: String,
    pub(crate) run: u64,
    pub(crate) finished: Box<RawValue>,
}

/// The finished runs of an experiment, saved in a file or not at all.
#[derive(Default)]
pub struct RunJournal {
    path: Option<PathBuf>,
    /// Opened when the first run is saved.
    file: Mutex<Option<File>>,
    known: Mutex<HashMap<(String, u64), Box<RawValue>>>,
}

impl RunJournal {
    /// Saves nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// The finished runs of a command that was interrupted, if the directory has any; further runs are saved there.
    ///
    /// # Errors
    /// [`OutputError::Access`] if they cannot be read.
    pub fn open(directory: &OutputDirectory) -> Result<Self, OutputError> {
        let path = directory.path().join(FILE);
        Self::read(&path).map_err(OutputError::access("read", &path))
    }

    /// Runs that were finished elsewhere; further runs are not saved.
    pub(crate) fn of(lines: impl IntoIterator<Item = JournalLine>) -> Self {
        let known = lines.into_iter().map(|line| ((line.key, line.run), line.finished)).collect();
        Self { known: Mutex::new(known), ..Self::default() }
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut known = HashMap::new();
        if path.exists() {
            for line in BufReader::new(File::open(path)?).split(b'\n') {
                if let Ok(line) = serde_json::from_slice::<JournalLine>(&line?) {
                    known.insert((line.key, line.run), line.finished);
                }
            }
        }
        Ok(Self { path: Some(path.to_owned()), known: Mutex::new(known), ..Self::default() })
    }

    /// The number of runs that it has and that were not taken out.
    pub fn found(&self) -> usize {
        lock(&self.known).len()
    }

    /// Of the first `runs` runs under a key, how many it has.
    pub(crate) fn count(&self, key: &str, runs: u64) -> usize {
        lock(&self.known).keys().filter(|(known, run)| known == key && *run < runs).count()
    }

    /// Whether it has a run.
    pub(crate) fn has(&self, key: &str, run: u64) -> bool {
        lock(&self.known).contains_key(&(key.to_owned(), run))
    }

    /// The result of a run: the finished one, if there is one, or that of `play`, which is then saved.
    pub(crate) fn get_or_play<T: Serialize + DeserializeOwned, E: From<io::Error>>(
        &self,
        key: &str,
        run: u64,
        play: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(finished) = self.take(key, run).and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            return Ok(finished);
        }
        let finished = play()?;
        self.keep(key, run, &finished)?;
        Ok(finished)
    }

    /// A finished run, if there is one. It is taken out of a file's runs: what is left there belongs to other commands.
    fn take(&self, key: &str, run: u64) -> Option<Box<RawValue>> {
        let (mut known, place) = (lock(&self.known), (key.to_owned(), run));
        if self.path.is_some() { known.remove(&place) } else { known.get(&place).cloned() }
    }

    /// Saves a finished run.
    fn keep(&self, key: &str, run: u64, finished: &impl Serialize) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let finished = serde_json::value::to_raw_value(finished)?;
        let bytes = JournalLine { key: key.to_owned(), run, finished }.bytes()?;
        let mut place = lock(&self.file);
        let file = match &mut *place {
            Some(file) => file,
            None => place.insert(append_to(path)?),
        };
        file.write_all(&bytes)
    }

    /// Removes the saved runs, once the results are written. Runs of other commands stay.
    ///
    /// # Errors
    /// If the file cannot be removed or written.
    pub fn finish(self) -> io::Result<()> {
        let Some(path) = self.path else {
            return Ok(());
        };
        let others = lock(&self.known);
        if others.is_empty() {
            return if path.exists() { fs::remove_file(path) } else { Ok(()) };
        }
        let mut lines = others
            .iter()
            .map(|((key, run), kept)| JournalLine { key: key.clone(), run: *run, finished: kept.clone() }.bytes())
            .collect::<Result<Vec<_>, _>>()?;
        lines.sort_unstable();
        let beside = path.with_extension("unfinished");
        fs::write(&beside, lines.concat())?;
        fs::rename(beside, path)
    }
}

impl JournalLine {
    /// As a line of a file.
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Opens a file to append to; a last line that was cut off is ended first.
fn append_to(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

/// The digest of everything that a result depends on.
pub(crate) fn key(description: &Value) -> String {
    let hash = Sha256::digest(format!("{} {description}", env!("CARGO_PKG_VERSION")).as_bytes());
    format!("{:.32}", Digest(hash.into()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
