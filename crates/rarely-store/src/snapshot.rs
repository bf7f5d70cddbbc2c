//! Snapshots: the state after some entry, kept so that a start does not replay the whole log.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::entry::Head;
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::notary::Notary;
use crate::note::{NoteKey, NoteVerdict};
use crate::postgres_log::PostgresLog;
use crate::private_file;
use crate::sqlite_log::with_suffix;

/// The state after one entry. The format of its body belongs to the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSnapshot {
    /// The last entry included; 0 for an empty log.
    pub number: u64,
    /// That entry's hash. A snapshot of another log, or of a modified one, does not match.
    pub hash: Hash,
    /// The state.
    pub body: Vec<u8>,
}

/// Why a snapshot cannot be used. Nothing is lost: replay the log from its start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotFault {
    /// The file cannot be read.
    #[error("the snapshot {} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Part of it is missing or was modified.
    #[error("the snapshot {} is damaged ({found})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// Another version of rarely wrote it.
    #[error("the snapshot {} has format {found:?} of rarely {program}, but format {known:?} is required", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The version of the program that wrote it.
        program: String,
        /// The required format.
        known: String,
    },
    /// It includes events that the log does not have.
    #[error("the snapshot {} was made after event {number}, but the log ends at event {log_ends}", path.display())]
    BeyondTheLog {
        /// The file.
        path: PathBuf,
        /// The snapshot's last event.
        number: u64,
        /// The log's last event.
        log_ends: u64,
    },
    /// It belongs to another log.
    #[error("the snapshot {} belongs to another log (the hash of event {number} differs)", path.display())]
    OtherLog {
        /// The file.
        path: PathBuf,
        /// The snapshot's last event.
        number: u64,
    },
    /// It is not signed, or only by another key. It may be an older version's.
    #[error("the snapshot {} is not signed with the key of this log", path.display())]
    Unsigned {
        /// The file.
        path: PathBuf,
    },
    /// It claims to be signed, and is not what was signed.
    #[error("tampering: the snapshot {} is not the one that was signed after event {number}", path.display())]
    Forged {
        /// The file.
        path: PathBuf,
        /// The snapshot's last event.
        number: u64,
    },
    /// The log itself cannot be read.
    #[error(transparent)]
    Log(#[from] StoreError),
}

impl Explain for SnapshotFault {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Log(error) => error.remedy(),
            Self::Forged { .. } => Some(Remedy::new(
                "find out who could write the files of the store; then move the file away, and the state is rebuilt from the log",
            )),
            _ => Some(Remedy::new("delete the file; the state is rebuilt from the log, and a new snapshot is written")),
        }
    }
}

/// The file `<store>.snapshot`: one line of JSON that describes the body, then the body. In PostgreSQL it is a row.
#[derive(Clone)]
pub struct SnapshotFile {
    path: PathBuf,
    /// The database that has it in place of a file.
    database: Option<Arc<PostgresLog>>,
}

impl SnapshotFile {
    /// The snapshot of the store at `store`.
    pub fn beside(store: &Path) -> Self {
        Self { path: with_suffix(store, ".snapshot"), database: None }
    }

    /// The snapshot in the same database as the log.
    pub fn in_database(log: Arc<PostgresLog>) -> Self {
        Self { path: log.path().to_owned(), database: Some(log) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Atomically replaces the snapshot. `format` names the format of the body, and `program` is the version that wrote it.
    /// Only a reader that requires the same format gets it back.
    ///
    /// # Errors
    /// If it cannot be written; the previous snapshot is then unchanged.
    pub fn write(&self, format: &str, program: &str, snapshot: &StoredSnapshot) -> Result<(), StoreError> {
        self.replace(&Header::new(format, program, snapshot), &snapshot.body)
    }

    /// As [`write`](Self::write), signed together with the root of the tree over the entries that it includes.
    ///
    /// # Errors
    /// If it cannot be written, or the log has no such root; the previous snapshot is then unchanged.
    pub fn write_signed(
        &self,
        format: &str,
        program: &str,
        snapshot: &StoredSnapshot,
        notary: &Notary,
    ) -> Result<(), StoreError> {
        let mut header = Header::new(format, program, snapshot);
        let text = header.seal_text(notary.key(), &notary.root(snapshot.number)?);
        header.seal = Some(notary.signer().sign_note(&text));
        self.replace(&header, &snapshot.body)
    }

    fn replace(&self, header: &Header, body: &[u8]) -> Result<(), StoreError> {
        if let Some(database) = &self.database {
            let unwritable =
                |error: serde_json::Error| StoreError::io("writing the snapshot", &self.path, error.into());
            let header = serde_json::to_string(header).map_err(unwritable)?;
            return database.keep_snapshot(Some((header, body.to_vec())));
        }
        let temporary = with_suffix(&self.path, ".partial");
        let write = || {
            let mut file = private_file::options().write(true).create(true).truncate(true).open(&temporary)?;
            serde_json::to_writer(&mut file, header)?;
            file.write_all(b"\n")?;
            file.write_all(body)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            sync_directory(&self.path)
        };
        write().map_err(|error| StoreError::io("writing the snapshot", &self.path, error))
    }

    /// Reads the snapshot and checks that it is complete and belongs to this log; `None` if there is none.
    ///
    /// # Errors
    /// Why it cannot be used: replay the log from its start.
    pub fn read(&self, format: &str, log: &dyn EventLog) -> Result<Option<StoredSnapshot>, SnapshotFault> {
        Ok(self.load(format, log)?.map(|(_, snapshot)| snapshot))
    }

    /// As [`read`](Self::read), and checks that one of the keys has signed the snapshot. `root` gives the root of the tree
    /// over as many entries.
    ///
    /// # Errors
    /// Why it cannot be used; [`SnapshotFault::Forged`] if it was tampered with.
    pub fn read_signed(
        &self,
        format: &str,
        log: &dyn EventLog,
        keys: &[NoteKey],
        root: impl FnOnce(u64) -> Result<Hash, StoreError>,
    ) -> Result<Option<StoredSnapshot>, SnapshotFault> {
        let Some((header, snapshot)) = self.load(format, log)? else { return Ok(None) };
        let unsigned = || SnapshotFault::Unsigned { path: self.path.clone() };
        let forged = || SnapshotFault::Forged { path: self.path.clone(), number: snapshot.number };
        let seal = header.seal.as_ref().ok_or_else(unsigned)?;
        let root = root(snapshot.number)?;
        for key in keys {
            match key.verdict(seal) {
                NoteVerdict::NotSigned => {}
                NoteVerdict::Signed if seal.starts_with(&format!("{}\n", header.seal_text(key, &root))) => {
                    return Ok(Some(snapshot));
                }
                _ => return Err(forged()),
            }
        }
        Err(unsigned())
    }

    fn load(&self, format: &str, log: &dyn EventLog) -> Result<Option<(Header, StoredSnapshot)>, SnapshotFault> {
        let bytes = match &self.database {
            Some(database) => database.snapshot()?,
            None => match fs::read(&self.path) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(source) => return Err(SnapshotFault::Io { path: self.path.clone(), source }),
            },
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let (header, snapshot) = self.decode(format, bytes)?;
        self.belongs(&snapshot, log)?;
        Ok(Some((header, snapshot)))
    }

    /// Removes the snapshot, if there is one.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self) -> Result<(), StoreError> {
        if let Some(database) = &self.database {
            return database.keep_snapshot(None);
        }
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("removing the snapshot", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    fn decode(&self, format: &str, mut bytes: Vec<u8>) -> Result<(Header, StoredSnapshot), SnapshotFault> {
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
        let snapshot = StoredSnapshot { number: header.number, hash: header.hash, body: bytes };
        Ok((header, snapshot))
    }

    fn belongs(&self, snapshot: &StoredSnapshot, log: &dyn EventLog) -> Result<(), SnapshotFault> {
        let StoredSnapshot { number, hash, .. } = *snapshot;
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

/// Syncs the directory of `path` to disk. Without this a renamed file may not survive a power failure.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
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
    /// A signed note that names this snapshot and the root of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

impl Header {
    fn new(format: &str, program: &str, snapshot: &StoredSnapshot) -> Self {
        Self {
            format: format.to_owned(),
            program: program.to_owned(),
            number: snapshot.number,
            hash: snapshot.hash,
            length: snapshot.body.len() as u64,
            sha256: Hash::of(&snapshot.body),
            seal: None,
        }
    }

    /// What is signed. The first line differs from a checkpoint's, so that neither can stand for the other.
    fn seal_text(&self, key: &NoteKey, root: &Hash) -> String {
        format!("{}/snapshot\n{}\n{root}\n{}\n{}\n", key.name(), self.number, self.sha256, self.format)
    }
}
