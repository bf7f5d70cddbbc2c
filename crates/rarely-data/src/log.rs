//! Logs of past cases, row by row: CSV, Parquet and NDJSON files, with memory that does not grow with the file, and tables in memory.
//!
//! | name ends in | what it is |
//! |---|---|
//! | `.csv`, `.tsv` | a line of names, then a line for each row; fields between commas or tabs |
//! | `.parquet`, `.pq` | columns of numbers, words, booleans, dates or timestamps |
//! | `.ndjson`, `.jsonl` | a JSON object on each line |
//!
//! A pipe without an ending, such as standard input, is CSV. Only the wanted columns are read. After a [`LogError::Row`] the next row can be read; after a [`LogError::File`] nothing can.
//! Blanks around a value are ignored, and a value of blanks only is missing.

mod csv;
mod error;
mod input;
mod ndjson;
mod parquet;
mod pieces;
mod table;

use std::path::Path;
use std::sync::Arc;

use rarely_policy::FieldValue;

use crate::{DataError, Location};

pub(crate) use csv::CsvRows;
pub use error::{FileError, LogError, Rejection, RowProblem};
pub(crate) use pieces::{LogPieces, Piece};
pub use table::MemoryTable;

/// Reads a log: a file or a table of past cases.
pub struct LogReader {
    reader: FormatReader,
    rows: u64,
}

/// The wanted columns of a row of a log.
#[derive(Clone, Copy)]
pub struct LogRow<'a> {
    fields: RowFields<'a>,
    row: u64,
}

/// The values of a row.
pub(crate) trait Values {
    /// A wanted value, without the blanks around it.
    fn value(&self, wanted: usize) -> FieldValue<'_>;

    /// The finite number that a wanted value is or spells.
    fn number(&self, wanted: usize) -> Option<f64>;

    /// The location of a wanted value.
    fn location(&self, wanted: usize) -> Location;
}

enum FormatReader {
    Csv(csv::CsvReader),
    Parquet(Box<parquet::ParquetReader>),
    Ndjson(ndjson::NdjsonReader),
    Table(table::TableReader),
}

/// The fields of a row, by format.
#[derive(Clone, Copy)]
pub(crate) enum RowFields<'a> {
    Csv(csv::CsvFields<'a>),
    Parquet(parquet::ParquetFields<'a>),
    Ndjson(ndjson::NdjsonFields<'a>),
    Table(table::TableFields<'a>),
}

impl LogReader {
    /// Opens a file and finds the columns that are wanted.
    ///
    /// # Errors
    /// A [`DataError`] if the file name has no known extension, if the file cannot be opened, or if a column is missing, appears
    /// twice, or holds neither numbers nor text.
    pub fn open(path: &Path, wanted: &[String]) -> Result<Self, DataError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        if is_pipe(path) && matches!(extension.as_str(), "parquet" | "pq" | "ndjson" | "jsonl") {
            return Err(FileError::ReadOnce { file: path.to_owned() }.into());
        }
        let reader = match extension.as_str() {
            "" if is_pipe(path) || path.starts_with("/dev") => {
                FormatReader::Csv(csv::CsvReader::open(path, b',', wanted)?)
            }
            "csv" => FormatReader::Csv(csv::CsvReader::open(path, b',', wanted)?),
            "tsv" => FormatReader::Csv(csv::CsvReader::open(path, b'\t', wanted)?),
            "parquet" | "pq" => FormatReader::Parquet(Box::new(parquet::ParquetReader::open(path, wanted)?)),
            "ndjson" | "jsonl" => FormatReader::Ndjson(ndjson::NdjsonReader::open(path, wanted)?),
            _ => return Err(FileError::UnknownFormat { file: path.to_owned() }.into()),
        };
        Ok(Self { reader, rows: 0 })
    }

    /// Finds the columns that are wanted in a table.
    ///
    /// # Errors
    /// A [`DataError`] if a column is missing, appears twice, or holds neither numbers nor text.
    pub fn of_table(table: Arc<dyn MemoryTable>, wanted: &[String]) -> Result<Self, DataError> {
        Ok(Self { reader: FormatReader::Table(table::TableReader::open(table, wanted)?), rows: 0 })
    }

    /// The names of all columns, wanted or not; of an NDJSON file the keys of its first thousand lines.
    pub fn names(&self) -> &[String] {
        match &self.reader {
            FormatReader::Csv(reader) => reader.names(),
            FormatReader::Parquet(reader) => reader.names(),
            FormatReader::Ndjson(reader) => reader.names(),
            FormatReader::Table(reader) => reader.names(),
        }
    }

    /// The names of the columns that can be read: all but those of a Parquet file or a table that hold neither numbers nor text.
    pub(crate) fn readable_names(&self) -> Vec<String> {
        match &self.reader {
            FormatReader::Parquet(reader) => reader.readable_names(),
            FormatReader::Table(reader) => reader.readable_names(),
            _ => self.names().to_vec(),
        }
    }

    /// The next row, if there is one.
    ///
    /// # Errors
    /// [`LogError::Row`] if this row cannot be read; the next call gives the one after it. [`LogError::File`] if the rest of the
    /// file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a record borrows from the log, so that no row is copied")]
    pub fn next(&mut self) -> Result<Option<LogRow<'_>>, LogError> {
        let row = self.rows;
        let fields = match &mut self.reader {
            FormatReader::Csv(reader) => counted(&mut self.rows, reader.next())?.map(RowFields::Csv),
            FormatReader::Parquet(reader) => counted(&mut self.rows, reader.next())?.map(RowFields::Parquet),
            FormatReader::Ndjson(reader) => counted(&mut self.rows, reader.next())?.map(RowFields::Ndjson),
            FormatReader::Table(reader) => counted(&mut self.rows, Ok(reader.next()))?.map(RowFields::Table),
        };
        Ok(fields.map(|fields| LogRow { fields, row }))
    }

    /// The number of rows so far, whether they could be read or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The lines before the next row; of a format without lines, the rows.
    pub(crate) fn lines(&self) -> u64 {
        match &self.reader {
            FormatReader::Csv(reader) => reader.lines(),
            FormatReader::Ndjson(reader) => reader.lines(),
            FormatReader::Parquet(_) | FormatReader::Table(_) => self.rows,
        }
    }

    /// Bytes read and bytes in total; for a table, rows.
    pub fn progress(&self) -> (u64, u64) {
        match &self.reader {
            FormatReader::Csv(reader) => reader.progress(),
            FormatReader::Parquet(reader) => reader.progress(),
            FormatReader::Ndjson(reader) => reader.progress(),
            FormatReader::Table(reader) => reader.progress(),
        }
    }
}

impl<'a> LogRow<'a> {
    /// The row's number in its file, from 0, without blank lines.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// A value, by its index among the wanted columns. In a text file, numbers are text.
    ///
    /// # Panics
    /// If fewer columns were asked for.
    #[inline]
    pub fn value(&self, wanted: usize) -> FieldValue<'_> {
        match &self.fields {
            RowFields::Csv(fields) => fields.value(wanted),
            RowFields::Parquet(fields) => fields.value(wanted),
            RowFields::Ndjson(fields) => fields.value(wanted),
            RowFields::Table(fields) => fields.value(wanted),
        }
    }

    /// A value as a finite number: the same bits as parsing the text of [`value`](Self::value), but faster.
    ///
    /// # Panics
    /// If fewer columns were asked for.
    #[inline]
    pub fn number(&self, wanted: usize) -> Option<f64> {
        match &self.fields {
            RowFields::Csv(fields) => fields.number(wanted),
            RowFields::Parquet(fields) => fields.number(wanted),
            RowFields::Ndjson(fields) => fields.number(wanted),
            RowFields::Table(fields) => fields.number(wanted),
        }
    }

    /// The fields, by format.
    #[inline]
    pub(crate) fn fields(&self) -> RowFields<'a> {
        self.fields
    }

    /// The line the row starts on, from 1, or in a file without lines the row, from 0.
    pub(crate) fn line(&self) -> u64 {
        match &self.fields {
            RowFields::Csv(fields) => fields.line(),
            RowFields::Parquet(_) | RowFields::Table(_) => self.row,
            RowFields::Ndjson(fields) => fields.line(),
        }
    }

    /// The location of a value.
    ///
    /// # Panics
    /// If fewer columns were asked for.
    pub fn location(&self, wanted: usize) -> Location {
        match &self.fields {
            RowFields::Csv(fields) => fields.location(wanted),
            RowFields::Parquet(fields) => fields.location(wanted),
            RowFields::Ndjson(fields) => fields.location(wanted),
            RowFields::Table(fields) => fields.location(wanted),
        }
    }
}

/// Whether a path is something that can be read only once, such as a pipe.
pub(crate) fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Counts the row, if there was one.
fn counted<T>(rows: &mut u64, met: Result<Option<T>, LogError>) -> Result<Option<T>, LogError> {
    *rows += u64::from(matches!(&met, Ok(Some(_)) | Err(LogError::Row(_))));
    met
}

/// A text without the blanks around it.
#[inline]
fn trimmed(text: &str) -> FieldValue<'_> {
    let text = if text.bytes().next().is_some_and(|byte| byte.is_ascii_graphic())
        && text.bytes().next_back().is_some_and(|byte| byte.is_ascii_graphic())
    {
        text
    } else {
        text.trim()
    };
    if text.is_empty() { FieldValue::Missing } else { FieldValue::Text(text) }
}

/// The column of each wanted name, from 0.
fn find_columns(file: &Path, wanted: &[String], names: &[String]) -> Result<Vec<usize>, DataError> {
    let mut columns = Vec::with_capacity(wanted.len());
    for name in wanted {
        let mut found = (0..names.len()).filter(|&column| names[column] == *name);
        let first = found.next().ok_or_else(|| no_such_column(file, name, names))?;
        if let Some(second) = found.next() {
            let (file, name) = (file.to_owned(), name.clone());
            return Err(FileError::TwoColumns { file, name, first: first + 1, second: second + 1 }.into());
        }
        columns.push(first);
    }
    Ok(columns)
}

fn no_such_column(file: &Path, name: &str, names: &[String]) -> DataError {
    /// Names less similar than this are not suggested.
    const ALIKE: f64 = 0.6;
    let likeness = |other: &String| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let nearest = names.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let suggestion = nearest.filter(|other| likeness(other) >= ALIKE).cloned();
    FileError::NoSuchColumn { file: file.to_owned(), name: name.to_owned(), suggestion, present: names.to_vec() }.into()
}
