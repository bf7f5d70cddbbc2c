//! Parquet: a batch of rows of every wanted column at a time, so that only the pages that hold them are in memory.

mod batches;
mod column;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rarely_policy::FieldValue;

use self::batches::{Batch, Batches};
use self::column::{ParquetColumn, ParquetType};
use super::{FileError, LogError, Rejection, RowProblem, Values, find_columns};
use crate::{DataError, Location};

/// Rows of a column that are unpacked at a time: those of twenty columns stay in the second-level cache.
const BATCH: usize = 1024;

/// A file being read.
pub(super) struct ParquetReader {
    file: PathBuf,
    /// What is unpacked next, by this reader or by another that shares the reading.
    batches: Arc<Batches>,
    /// Whether this reader unpacks batch after batch, and does not wait to be given one.
    goes_on: bool,
    names: Vec<String>,
    columns: Vec<ParquetColumn>,
    /// Rows unpacked, and how many of them were given.
    unpacked: usize,
    given: usize,
    /// Whether some of the unpacked words are not UTF-8.
    has_wrong_words: bool,
    /// Rows before those that are unpacked; none before those of a piece.
    before: u64,
    length: u64,
}

/// The values of a row.
#[derive(Clone, Copy)]
pub(crate) struct ParquetFields<'a> {
    reader: &'a ParquetReader,
}

impl ParquetReader {
    /// Opens a file and finds the columns.
    pub(super) fn open(path: &Path, wanted: &[String]) -> Result<Self, DataError> {
        let cannot = |source| DataError::Io { file: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let source = guarded(path, None, || SerializedFileReader::new(file))?;
        let metadata = source.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let names: Vec<String> =
            schema.root_schema().get_fields().iter().map(|field| field.name().trim().to_owned()).collect();
        let mut columns = Vec::with_capacity(wanted.len());
        for field in find_columns(path, wanted.iter().map(String::as_str), &names)? {
            let kind = ParquetType::of(&schema.root_schema().get_fields()[field]);
            let column = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == field);
            let (Ok(kind), Some(leaf)) = (&kind, column) else {
                let found = kind.err().unwrap_or_else(|| "a group without columns".to_owned());
                let (file, name) = (path.to_owned(), names[field].clone());
                return Err(FileError::ColumnType { file, column: field + 1, name, found }.into());
            };
            for group in metadata.row_groups() {
                check_compression(path, group.column(leaf).compression())?;
            }
            columns.push(ParquetColumn::new(leaf, field, *kind));
        }
        // One for each column: threads that read at the same time must not move each other's place in the file.
        let open = |_: &ParquetColumn| {
            let file = File::open(path).map_err(cannot)?;
            guarded(path, None, || SerializedFileReader::new(file))
        };
        let sources = columns.iter().map(open).collect::<Result<_, DataError>>()?;
        let batches = Arc::new(Batches::new(source, sources));
        Ok(Self {
            file: path.to_owned(),
            batches,
            goes_on: true,
            names,
            columns,
            unpacked: 0,
            given: 0,
            has_wrong_words: false,
            before: 0,
            length,
        })
    }

    /// A reader for batches of this file.
    pub(super) fn of_pieces(&self) -> Self {
        Self {
            file: self.file.clone(),
            batches: Arc::clone(&self.batches),
            goes_on: false,
            names: self.names.clone(),
            columns: self.columns.iter().map(ParquetColumn::emptied).collect(),
            unpacked: 0,
            given: 0,
            has_wrong_words: false,
            before: 0,
            length: self.length,
        }
    }

    /// Unpacks the next batch. Returns its number, and whether it has rows; an error has a number, too.
    pub(super) fn take_piece(&mut self) -> Result<(u64, bool), (u64, DataError)> {
        let Batch { number, rows } = self.unpack_batch()?;
        Ok((number, rows > 0))
    }

    /// All columns, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns that hold numbers or text.
    pub(super) fn readable_names(&self) -> Vec<String> {
        let fields = self.batches.source().metadata().file_metadata().schema().get_fields();
        let readable = self.names.iter().zip(fields).filter(|(_, field)| ParquetType::of(field).is_ok());
        readable.map(|(name, _)| name.clone()).collect()
    }

    /// The next row, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<ParquetFields<'_>>, LogError> {
        if self.given == self.unpacked {
            if !self.goes_on {
                return Ok(None);
            }
            self.before += self.unpacked as u64;
            if self.unpack_batch().map_err(|(_, error)| error)?.rows == 0 {
                return Ok(None);
            }
        }
        self.given += 1;
        if self.has_wrong_words {
            self.check_words()?;
        }
        Ok(Some(ParquetFields { reader: self }))
    }

    /// The share of the rows that were read, in bytes, and bytes in total.
    pub(super) fn progress(&self) -> (u64, u64) {
        let (unpacked, at_end) = self.batches.progress();
        if at_end && self.unpacked == 0 {
            return (self.length, self.length);
        }
        let rows = self.batches.source().metadata().file_metadata().num_rows();
        let rows = u64::try_from(rows).unwrap_or(0).max(1);
        let share = u128::from(self.length) * u128::from(unpacked.min(rows)) / u128::from(rows);
        (u64::try_from(share).unwrap_or(self.length), self.length)
    }

    /// Unpacks the next rows of every column; none at the end of the file.
    fn unpack_batch(&mut self) -> Result<Batch, (u64, DataError)> {
        (self.unpacked, self.given) = (0, 0);
        let batch = self.batches.unpack(&self.file, &self.names, &mut self.columns)?;
        self.has_wrong_words = self.columns.iter().any(ParquetColumn::has_wrong_words);
        self.unpacked = batch.rows;
        Ok(batch)
    }

    /// Checks that the words of the present row are UTF-8.
    fn check_words(&self) -> Result<(), LogError> {
        for (wanted, column) in self.columns.iter().enumerate() {
            if let Some(found) = column.not_text(self.at()) {
                let (location, found) = (self.location(wanted), found.to_owned());
                return Err(LogError::Row(Box::new(Rejection { location, problem: RowProblem::NotUtf8 { found } })));
            }
        }
        Ok(())
    }

    /// The present row among those that are unpacked.
    #[inline]
    fn at(&self) -> usize {
        self.given - 1
    }

    fn location(&self, wanted: usize) -> Location {
        let field = self.columns[wanted].field;
        let (file, name) = (self.file.clone(), self.names[field].clone());
        Location::Entry { file, row: self.before + self.at() as u64, column: field + 1, name }
    }
}

impl Values for ParquetFields<'_> {
    #[inline]
    fn value(&self, wanted: usize) -> FieldValue<'_> {
        self.reader.columns[wanted].value(self.reader.at())
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        self.reader.columns[wanted].number(self.reader.at())
    }

    fn location(&self, wanted: usize) -> Location {
        self.reader.location(wanted)
    }
}

fn damaged(path: &Path, column: Option<String>, problem: String) -> DataError {
    FileError::Parquet { file: path.to_owned(), column, problem }.into()
}

fn check_compression(path: &Path, compression: Compression) -> Result<(), DataError> {
    match compression {
        Compression::BROTLI(_) | Compression::LZO => {
            let problem = format!("the file is compressed with {compression}, which is not read here");
            Err(FileError::ParquetFeature { file: path.to_owned(), problem }.into())
        }
        _ => Ok(()),
    }
}

/// Calls the Parquet library. A damaged file makes it return an error or panic; both become an error of the file.
fn guarded<T>(
    path: &Path,
    column: Option<&String>,
    call: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, DataError> {
    let problem = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(ParquetError::General(problem) | ParquetError::EOF(problem))) => problem,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its parts contradict each other".to_owned(),
    };
    let file = path.to_owned();
    Err(if problem.contains("encrypt") {
        FileError::ParquetFeature { file, problem }.into()
    } else {
        damaged(path, column.cloned(), problem)
    })
}
