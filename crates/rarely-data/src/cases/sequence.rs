//! Reads several logs, one after the other.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rarely_policy::DataFormat;

use super::error::CasesError;
use super::rejections::Rejections;
use crate::log::{WantedColumn, is_pipe};
use crate::{DataError, LogReader, MemoryTable};

/// Logs that are read one after the other.
pub(super) struct LogSequence {
    all: Vec<LogInput>,
    /// Bytes of each; of a table, rows.
    lengths: Vec<u64>,
    wanted: Vec<WantedColumn>,
    format: DataFormat,
    /// How each is read, if this is to be told: its name, and the way.
    pub(super) read_as: Vec<(PathBuf, String)>,
    /// Pipes that are open already: they cannot be opened again.
    held: HashMap<usize, LogReader>,
    /// The index of the current log.
    pub(super) current: usize,
    pub(super) log: Option<LogReader>,
    pub(super) rejections: Rejections,
}

enum LogInput {
    File(PathBuf),
    Table(Arc<dyn MemoryTable>),
}

impl LogInput {
    fn open(&self, wanted: &[WantedColumn], format: &DataFormat) -> Result<LogReader, DataError> {
        match self {
            Self::File(path) => LogReader::open_as(path, wanted, format),
            Self::Table(table) => LogReader::of_table(Arc::clone(table), wanted, format),
        }
    }

    /// Its name in messages.
    fn label(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Table(table) => PathBuf::from(table.label()),
        }
    }
}

impl LogSequence {
    /// Opens files, each of which may be given once.
    pub(super) fn of_files(
        paths: &[PathBuf],
        (wanted, format): (Vec<WantedColumn>, &DataFormat),
        reject_limit: u64,
    ) -> Result<Self, DataError> {
        if paths.is_empty() {
            return Err(CasesError::NoFile.into());
        }
        Self::new(paths.iter().cloned().map(LogInput::File).collect(), (wanted, format), reject_limit)
    }

    /// A single table.
    pub(super) fn of_table(
        table: Arc<dyn MemoryTable>,
        (wanted, format): (Vec<WantedColumn>, &DataFormat),
        reject_limit: u64,
    ) -> Result<Self, DataError> {
        Self::new(vec![LogInput::Table(table)], (wanted, format), reject_limit)
    }

    fn new(
        all: Vec<LogInput>,
        (wanted, format): (Vec<WantedColumn>, &DataFormat),
        reject_limit: u64,
    ) -> Result<Self, DataError> {
        let (mut lengths, mut held, mut read_as) = (Vec::with_capacity(all.len()), HashMap::new(), Vec::new());
        let mut seen = HashSet::new();
        for (at, source) in all.iter().enumerate() {
            let pipe = matches!(source, LogInput::File(path) if is_pipe(path));
            if let LogInput::File(path) = source {
                let cannot = |source| DataError::Io { file: path.clone(), source };
                // A pipe may have no path of its own.
                let whole = if pipe { path.clone() } else { fs::canonicalize(path).map_err(cannot)? };
                if !seen.insert(whole) {
                    return Err(CasesError::GivenTwice { file: path.clone() }.into());
                }
            }
            let log = source.open(&wanted, format)?;
            read_as.extend(log.read_as().map(|way| (source.label(), way)));
            lengths.push(log.progress().1);
            // A file is closed again: there may be more than the system can keep open.
            if pipe {
                held.insert(at, log);
            }
        }
        let (format, rejections) = (format.clone(), Rejections::new(reject_limit));
        Ok(Self { all, lengths, wanted, format, read_as, held, current: 0, log: None, rejections })
    }

    /// Makes sure that a log is open; false if all have been read.
    pub(super) fn advance(&mut self) -> Result<bool, DataError> {
        if self.log.is_none() {
            let Some(source) = self.all.get(self.current) else { return Ok(false) };
            self.log = Some(match self.held.remove(&self.current) {
                Some(log) => log,
                None => source.open(&self.wanted, &self.format)?,
            });
        }
        Ok(true)
    }

    /// Closes the current log and moves to the next.
    pub(super) fn close(&mut self) {
        self.log = None;
        self.current += 1;
    }

    /// Bytes read and bytes in total.
    pub(super) fn progress(&self) -> (u64, u64) {
        let before: u64 = self.lengths[..self.current].iter().sum();
        let within = self.log.as_ref().map_or(0, |log| log.progress().0);
        (before + within, self.lengths.iter().sum())
    }

    /// The error that there is no row.
    pub(super) fn no_row(&mut self) -> DataError {
        let labels: Vec<PathBuf> = self.all.iter().map(LogInput::label).collect();
        self.rejections.no_row(&labels).into()
    }
}
