//! The file of a finished shard: its header, a line per run, and a checksum of both.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rarely_core::Digest;
use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_output::{OutputDirectory, OutputError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::command_runs::{CommandRuns, CommandWords};
use super::{Shard, ShardParseError};
use crate::experiment::{ExperimentError, RunContext};
use crate::run_journal::JournalLine;

/// The name of the file.
pub(super) const FILE: &str = "shard.ndjson";
/// What this program writes and reads.
const FORMAT: u32 = 1;

/// What a shard is a part of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardHeader {
    /// The format of the file.
    format: u32,
    /// The version of this program that wrote it.
    pub version: String,
    /// The command.
    #[serde(flatten)]
    pub words: CommandWords,
    /// The digest of everything that the command's results depend on.
    pub digest: String,
    /// The shard's number, from 1.
    shard: u32,
    /// How many shards there are.
    shards: u32,
    /// Its runs.
    pub runs: u64,
}

#[derive(Serialize, Deserialize)]
struct Checksum {
    sha256: String,
}

impl ShardHeader {
    fn new(workload: &CommandRuns<'_>, shard: Shard) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            words: workload.words().clone(),
            digest: workload.digest(),
            shard: shard.number(),
            shards: shard.count(),
            runs: workload.runs(shard),
        }
    }

    /// Which shard it is.
    ///
    /// # Errors
    /// [`ShardParseError`] if there is no such shard.
    pub fn shard(&self) -> Result<Shard, ShardParseError> {
        Shard::new(self.shard, self.shards)
    }
}

/// A finished shard, read and checked.
#[derive(Debug, Clone)]
pub struct ShardFile {
    /// Where it is.
    pub path: PathBuf,
    /// Which shard it is.
    pub shard: Shard,
    /// What it is a part of.
    pub header: ShardHeader,
    pub(super) lines: Vec<JournalLine>,
}

/// Why the file of a shard cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// It cannot be read.
    #[error("{}: cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its contents are not what was written.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another version of this program wrote it.
    #[error("{}: was written by rarely {found}, and this is rarely {}", path.display(), env!("CARGO_PKG_VERSION"))]
    Version {
        /// The file.
        path: PathBuf,
        /// The version that wrote it.
        found: String,
    },
    /// It is a shard of another experiment than the one that is to be run.
    #[error("{}: is shard {shard} of `{words}`, which is another experiment", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
        /// The shard.
        shard: Shard,
        /// Its command.
        words: Box<CommandWords>,
    },
}

impl Explain for ShardError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Read { .. } => Remedy::new("check the file and your permissions, or run this shard again"),
            Self::Damaged { .. } => Remedy::new("copy the file again, or remove it and run this shard again"),
            Self::Version { .. } => {
                Remedy::new("use one version for all shards and for merging them").see(Topic::Shards)
            }
            Self::Occupied { .. } => {
                Remedy::with("{action}, or remove the file if nobody needs it", Action::ChooseOutputDirectory)
            }
        })
    }
}

impl ShardFile {
    /// The shard that was finished in a directory, if it is of this workload; `None` if there is none, or only a damaged one.
    ///
    /// # Errors
    /// [`ShardError::Occupied`] if it is of another workload, [`ShardError::Version`] if another version wrote it.
    pub fn finished(directory: &Path, workload: &CommandRuns<'_>) -> Result<Option<Self>, ShardError> {
        let path = directory.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        match Self::read(&path) {
            Ok(file) if file.header.digest == workload.digest() => Ok(Some(file)),
            Ok(file) => {
                Err(ShardError::Occupied { path: file.path, shard: file.shard, words: Box::new(file.header.words) })
            }
            Err(ShardError::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Plays a shard.
    ///
    /// # Errors
    /// [`ExperimentError`] of a run that could not be played or saved, or that was stopped.
    pub fn play(
        directory: &OutputDirectory,
        workload: &CommandRuns<'_>,
        shard: Shard,
        context: &RunContext<'_>,
    ) -> Result<Self, ExperimentError> {
        let lines = workload.play(shard, context)?;
        let header = ShardHeader::new(workload, shard);
        Ok(Self { path: directory.path().join(FILE), shard, header, lines })
    }

    /// Writes it to the directory, whole or not at all.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be written.
    pub fn write(&self, directory: &OutputDirectory) -> Result<(), OutputError> {
        let contents = || -> io::Result<Vec<u8>> {
            let mut bytes = serde_json::to_vec(&self.header)?;
            bytes.push(b'\n');
            for line in &self.lines {
                bytes.extend(line.bytes()?);
            }
            let checksum = serde_json::to_vec(&Checksum { sha256: sha256(&bytes) })?;
            bytes.extend(checksum);
            bytes.push(b'\n');
            Ok(bytes)
        };
        directory.write_all(FILE, contents().map(|bytes| [(FILE.to_owned(), bytes)]))
    }

    /// Reads it, and checks that it is whole.
    ///
    /// # Errors
    /// [`ShardError`] if it cannot be read, is damaged, or is of another version.
    pub fn read(path: &Path) -> Result<Self, ShardError> {
        let bytes = fs::read(path).map_err(|source| ShardError::Read { path: path.to_owned(), source })?;
        let damaged = |reason: String| ShardError::Damaged { path: path.to_owned(), reason };
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        let last = lines.pop().unwrap_or_default();
        let checksum: Checksum =
            serde_json::from_slice(last).map_err(|_| damaged("is damaged: its end is missing".to_owned()))?;
        if checksum.sha256 != sha256(&bytes[..bytes.len() - last.len()]) {
            return Err(damaged("is damaged: its checksum does not match its contents".to_owned()));
        }
        let not_a_shard = |error: serde_json::Error| damaged(format!("is not the file of a shard: {error}"));
        let header: ShardHeader =
            serde_json::from_slice(lines.first().copied().unwrap_or_default()).map_err(not_a_shard)?;
        if header.version != env!("CARGO_PKG_VERSION") || header.format != FORMAT {
            return Err(ShardError::Version { path: path.to_owned(), found: header.version });
        }
        let shard = header.shard().map_err(|error| damaged(format!("is not the file of a shard: {error}")))?;
        let runs = lines[1..].iter().map(|line| serde_json::from_slice(line));
        let lines = runs.collect::<Result<Vec<JournalLine>, _>>().map_err(not_a_shard)?;
        Ok(Self { path: path.to_owned(), shard, header, lines })
    }
}

fn sha256(bytes: &[u8]) -> String {
    Digest(Sha256::digest(bytes).into()).to_string()
}
