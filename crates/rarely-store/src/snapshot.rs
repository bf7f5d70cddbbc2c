//! Snapshots: what the log folds to, kept in a file so that a start need not replay everything.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::entry::Head;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::log::Log;
use crate::sqlite::with_suffix;

/// What the log folds to up to one entry. Its body is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The last entry folded in; 0 of an empty log.
    pub number: u64,
    /// That entry's hash: a snapshot of another log, or of one that was changed, does not fit.
    pub hash: Hash,
    /// The state.
    pub body: Vec<u8>,
}

/// Why a snapshot is of no use. Nothing is lost: replay the log from its start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotFault {
    /// The operating system would not read it.
    #[error("the snapshot {} cannot be read ({source}); the log is replayed from its start", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Part of it is missing or changed.
    #[error("the snapshot {} is damaged ({found}); the log is replayed from its start", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// Another version of rarely wrote it.
    #[error(
        "the snapshot {} has format {found} of rarely {program}, and format {known} is needed; the log is replayed from \
         its start",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The version of the program that wrote it.
        program: String,
        /// The format that was asked for.
        known: String,
    },
    /// It is of a log that went further than this one.
    #[error(
        "the snapshot {} is of event {number}, but the log ends at event {log_ends}; the log is replayed from its start",
        path.display()
    )]
    BeyondTheLog {
        /// The file.
        path: PathBuf,
        /// The snapshot's last event.
        number: u64,
        /// The log's last event.
        log_ends: u64,
    },
    /// It is of another log.
    #[error(
        "the snapshot {} is of another log (its event {number} has another hash); the log is replayed from its start",
        path.display()
    )]
    OtherLog {
        /// The file.
        path: PathBuf,
        /// The snapshot's last event.
        number: u64,
    },
    /// The log itself cannot be read.
    #[error(transparent)]
    Log(#[from] StoreError),
}

/// The file `<store>.snapshot`: one line of JSON about the body, then the body.
#[derive(Debug, Clone)]
pub struct SnapshotFile {
    path: PathBuf,
}

impl SnapshotFile {
    /// The snapshot of the store at `store`.
    pub fn beside(store: &Path) -> Self {
        Self { path: with_suffix(store, ".snapshot") }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a snapshot in place of the one before, all or nothing. `format` names the form of the body and `program`
    /// the version that wrote it; only a reader that asks for the same format gets it back.
    ///
    /// # Errors
    /// If it cannot be written; the one before is then still there.
    pub fn write(&self, format: &str, program: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        let header = Header {
            format: format.to_owned(),
            program: program.to_owned(),
            number: snapshot.number,
            hash: snapshot.hash,
            length: snapshot.body.len() as u64,
            sha256: Hash::of(&snapshot.body),
        };
        let temporary = with_suffix(&self.path, ".partial");
        let write = || {
            let mut file = File::create(&temporary)?;
            serde_json::to_writer(&mut file, &header)?;
            file.write_all(b"\n")?;
            file.write_all(&snapshot.body)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            sync_folder(&self.path)
        };
        write().map_err(|error| StoreError::io("writing the snapshot", &self.path, error))
    }

    /// Reads the snapshot and checks that it is whole and of this log; `None` if there is none.
    ///
    /// # Errors
    /// Why it is of no use: replay the log from its start.
    pub fn read(&self, format: &str, log: &dyn Log) -> Result<Option<Snapshot>, SnapshotFault> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SnapshotFault::Io { path: self.path.clone(), source }),
        };
        let snapshot = self.decode(format, bytes)?;
        self.belongs(&snapshot, log)?;
        Ok(Some(snapshot))
    }

    /// Removes the snapshot, if there is one.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn remove(&self) -> Result<(), StoreError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("removing the snapshot", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    fn decode(&self, format: &str, mut bytes: Vec<u8>) -> Result<Snapshot, SnapshotFault> {
        let damaged = |found: String| SnapshotFault::Damaged { path: self.path.clone(), found };
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("no header line".to_owned()))?;
        let header: Header = serde_json::from_slice(&bytes[..end]).map_err(|error| damaged(error.to_string()))?;
        if header.format != format {
            return Err(SnapshotFault::OtherFormat {
                path: self.path.clone(),
                found: header.format,
                program: header.program,
                known: format.to_owned(),
            });
        }
        bytes.drain(..=end);
        if bytes.len() as u64 != header.length {
            return Err(damaged(format!("{} bytes where {} were written", bytes.len(), header.length)));
        }
        if Hash::of(&bytes) != header.sha256 {
            return Err(damaged("its SHA-256 differs".to_owned()));
        }
        Ok(Snapshot { number: header.number, hash: header.hash, body: bytes })
    }

    fn belongs(&self, snapshot: &Snapshot, log: &dyn Log) -> Result<(), SnapshotFault> {
        let Snapshot { number, hash, .. } = *snapshot;
        let other = || SnapshotFault::OtherLog { path: self.path.clone(), number };
        if number == 0 {
            return if hash == Head::EMPTY.hash { Ok(()) } else { Err(other()) };
        }
        match log.entry(number)? {
            Some(entry) if entry.hash == hash => Ok(()),
            Some(_) => Err(other()),
            None => {
                let log_ends = log.head()?.map_or(0, |(number, _)| number);
                Err(SnapshotFault::BeyondTheLog { path: self.path.clone(), number, log_ends })
            }
        }
    }
}

/// Forces the folder of `path` to disk: only then does a renamed file survive a power failure.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    program: String,
    number: u64,
    hash: Hash,
    length: u64,
    sha256: Hash,
}
