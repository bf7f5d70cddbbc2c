//! Parquet: a batch of rows of every wanted column at a time, so that only the pages that hold them are in memory.

mod column;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rarely_policy::FieldValue;

use self::column::{ParquetColumn, ParquetType};
use super::{FileError, LogError, Rejection, RowProblem, Values, find_columns};
use crate::{DataError, Location};

/// Rows of a column that are unpacked at a time: those of twenty columns stay in the second-level cache.
const BATCH: usize = 2048;

/// A file being read.
pub(super) struct ParquetReader {
    file: PathBuf,
    source: SerializedFileReader<File>,
    names: Vec<String>,
    columns: Vec<ParquetColumn>,
    /// The row group that is read next.
    next_group: usize,
    /// Rows of the present group that are not unpacked yet.
    left_in_group: u64,
    /// Rows unpacked, and which of them is the present one.
    unpacked: usize,
    at: usize,
    /// Whether some of the unpacked words are not UTF-8.
    has_wrong_words: bool,
    /// The present row in the file, from 0.
    row: u64,
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
        for field in find_columns(path, wanted, &names)? {
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
        Ok(Self {
            file: path.to_owned(),
            source,
            names,
            columns,
            next_group: 0,
            left_in_group: 0,
            unpacked: 0,
            at: 0,
            has_wrong_words: false,
            row: 0,
            length,
        })
    }

    /// All columns, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns that hold numbers or text.
    pub(super) fn readable_names(&self) -> Vec<String> {
        let fields = self.source.metadata().file_metadata().schema().get_fields();
        let readable = self.names.iter().zip(fields).filter(|(_, field)| ParquetType::of(field).is_ok());
        readable.map(|(name, _)| name.clone()).collect()
    }

    /// The next row, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<ParquetFields<'_>>, LogError> {
        if self.unpacked > 0 {
            self.row += 1;
        }
        self.at += 1;
        if self.at >= self.unpacked && !self.unpack()? {
            return Ok(None);
        }
        if self.has_wrong_words {
            self.check_words()?;
        }
        Ok(Some(ParquetFields { reader: self }))
    }

    /// The share of the rows that were read, in bytes, and bytes in total.
    pub(super) fn progress(&self) -> (u64, u64) {
        let metadata = self.source.metadata();
        if self.left_in_group == 0 && self.unpacked == 0 && self.next_group == metadata.num_row_groups() {
            return (self.length, self.length);
        }
        let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0).max(1);
        let share = u128::from(self.length) * u128::from(self.row.min(rows)) / u128::from(rows);
        (u64::try_from(share).unwrap_or(self.length), self.length)
    }

    /// Unpacks the next rows of every column; false at the end of the file.
    fn unpack(&mut self) -> Result<bool, DataError> {
        (self.at, self.unpacked) = (0, 0);
        while self.left_in_group == 0 {
            let metadata = self.source.metadata();
            if self.next_group == metadata.num_row_groups() {
                return Ok(false);
            }
            let rows = metadata.row_group(self.next_group).num_rows();
            self.left_in_group = u64::try_from(rows)
                .map_err(|_| self.damaged(None, format!("row group {} has {rows} rows", self.next_group)))?;
            for column in &mut self.columns {
                let name = &self.names[column.field];
                let (source, group, leaf) = (&self.source, self.next_group, column.leaf);
                let open = || source.get_row_group(group)?.get_column_reader(leaf);
                column.open(guarded(&self.file, Some(name), open)?);
            }
            self.next_group += 1;
        }
        let rows = usize::try_from(self.left_in_group).map_or(BATCH, |left| left.min(BATCH));
        for column in &mut self.columns {
            let name = &self.names[column.field];
            let found = guarded(&self.file, Some(name), || column.unpack(rows))?;
            if found != rows {
                let problem = format!("it ends {} rows early", self.left_in_group - found as u64);
                let name = name.clone();
                return Err(self.damaged(Some(name), problem));
            }
        }
        self.has_wrong_words = self.columns.iter().any(ParquetColumn::has_wrong_words);
        self.left_in_group -= rows as u64;
        self.unpacked = rows;
        Ok(true)
    }

    /// Checks that the words of the present row are UTF-8.
    fn check_words(&self) -> Result<(), LogError> {
        for (wanted, column) in self.columns.iter().enumerate() {
            if let Some(found) = column.not_text(self.at) {
                let (location, found) = (self.location(wanted), found.to_owned());
                return Err(LogError::Row(Box::new(Rejection { location, problem: RowProblem::NotUtf8 { found } })));
            }
        }
        Ok(())
    }

    fn damaged(&self, column: Option<String>, problem: String) -> DataError {
        FileError::Parquet { file: self.file.clone(), column, problem }.into()
    }

    fn location(&self, wanted: usize) -> Location {
        let field = self.columns[wanted].field;
        let (file, name) = (self.file.clone(), self.names[field].clone());
        Location::Entry { file, row: self.row, column: field + 1, name }
    }
}

impl Values for ParquetFields<'_> {
    #[inline]
    fn value(&self, wanted: usize) -> FieldValue<'_> {
        self.reader.columns[wanted].value(self.reader.at)
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        self.reader.columns[wanted].number(self.reader.at)
    }

    fn location(&self, wanted: usize) -> Location {
        self.reader.location(wanted)
    }
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
        FileError::Parquet { file, column: column.cloned(), problem }.into()
    })
}
