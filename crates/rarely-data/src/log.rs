//! Logs of past cases, row by row: CSV, Parquet and NDJSON files, with memory that does not grow with the file, workbooks, and tables in memory.
//!
//! | name ends in | what it is |
//! |---|---|
//! | `.csv`, `.tsv`, `.tab`, `.txt` | a line of names, then a line for each row; separator, encoding and decimal mark are found |
//! | `.xlsx`, `.xlsm` | a sheet of a workbook, whose first row that is not empty has the names; it is read into memory |
//! | `.parquet`, `.pq` | columns of numbers, words, booleans, dates or timestamps |
//! | `.ndjson`, `.jsonl` | a JSON object on each line |
//!
//! A pipe without an ending, such as standard input, is CSV. Only the wanted columns are read. After a [`LogError::Row`] the next row can be read; after a [`LogError::File`] nothing can.
//! Blanks around a value are ignored, and a value of blanks only is missing.

mod csv;
mod decoding;
mod error;
mod input;
mod ndjson;
mod number_columns;
mod number_format;
mod parquet;
mod pieces;
mod table;
mod workbook;

use std::path::Path;
use std::sync::Arc;

use rarely_policy::{DataFormat, FieldSeparator, FieldValue};

use crate::{DataError, Location};

pub(crate) use csv::CsvRows;
pub use error::{FileError, LogError, Rejection, RowProblem};
pub use number_format::TwoReadings;
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

/// A column to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedColumn {
    pub(crate) name: String,
    pub(crate) kind: WantedKind,
}

/// What a wanted column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedKind {
    /// Numbers. Of a text file, their format is found.
    Number,
    /// Words, some of which may be written as numbers.
    Code,
    /// Words and numbers as programs write them.
    Word,
    /// Numbers, if nearly all of its first values are; words, if not.
    Any,
}

impl WantedColumn {
    pub(crate) fn new(name: &str, kind: WantedKind) -> Self {
        Self { name: name.to_owned(), kind }
    }
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
    /// Opens a file and finds the columns that are wanted. Numbers are read as programs write them.
    ///
    /// # Errors
    /// A [`DataError`] if the file name has no known extension, if the file cannot be opened, or if a column is missing, appears
    /// twice, or holds neither numbers nor text.
    pub fn open(path: &Path, wanted: &[String]) -> Result<Self, DataError> {
        let wanted: Vec<WantedColumn> = wanted.iter().map(|name| WantedColumn::new(name, WantedKind::Word)).collect();
        Self::open_as(path, &wanted, &DataFormat::default())
    }

    /// Opens a file as people have it: in what way it is written is found at its beginning, as far as the format does not say it. A column holds
    /// numbers if nearly all of its first values are.
    ///
    /// # Errors
    /// As [`LogReader::open`], and if the beginning has numbers with two readings, and nothing tells which is meant.
    pub fn open_written(path: &Path, wanted: &[String], format: &DataFormat) -> Result<Self, DataError> {
        let wanted: Vec<WantedColumn> = wanted.iter().map(|name| WantedColumn::new(name, WantedKind::Any)).collect();
        Self::open_as(path, &wanted, format)
    }

    /// Opens a file that is written in a certain way, as far as the format says it; the rest is found at its beginning.
    ///
    /// # Errors
    /// As [`LogReader::open`], and if the beginning has numbers with two readings, and nothing tells which is meant.
    pub(crate) fn open_as(path: &Path, wanted: &[WantedColumn], format: &DataFormat) -> Result<Self, DataError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        if is_pipe(path) && !matches!(extension.as_str(), "" | "csv" | "tsv" | "tab" | "txt") {
            return Err(FileError::ReadOnce { file: path.to_owned() }.into());
        }
        let csv =
            |separator| Ok::<_, DataError>(FormatReader::Csv(csv::CsvReader::open(path, separator, wanted, format)?));
        let names = || wanted.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        let reader = match extension.as_str() {
            "" if is_pipe(path) || path.starts_with("/dev") => csv(FieldSeparator::COMMA)?,
            "csv" | "txt" => csv(FieldSeparator::COMMA)?,
            "tsv" | "tab" => csv(FieldSeparator::TAB)?,
            "parquet" | "pq" => FormatReader::Parquet(Box::new(parquet::ParquetReader::open(path, &names())?)),
            "ndjson" | "jsonl" => FormatReader::Ndjson(ndjson::NdjsonReader::open(path, &names())?),
            "xlsx" | "xlsm" => {
                let sheet = workbook::SheetTable::open(path, format.sheet.as_deref())?;
                FormatReader::Table(table::TableReader::open(Arc::new(sheet), wanted, format)?)
            }
            _ => return Err(FileError::UnknownFormat { file: path.to_owned() }.into()),
        };
        Ok(Self { reader, rows: 0 })
    }

    /// How the file is written, if it is not as programs write it: `semicolon-separated, decimal comma`.
    pub(crate) fn read_as(&self) -> Option<String> {
        match &self.reader {
            FormatReader::Csv(reader) => reader.read_as().map(str::to_owned),
            FormatReader::Table(reader) => reader.read_as(),
            FormatReader::Parquet(_) | FormatReader::Ndjson(_) => None,
        }
    }

    /// Finds the columns that are wanted in a table.
    ///
    /// # Errors
    /// A [`DataError`] if a column is missing, appears twice, or holds neither numbers nor text.
    pub(crate) fn of_table(
        table: Arc<dyn MemoryTable>,
        wanted: &[WantedColumn],
        format: &DataFormat,
    ) -> Result<Self, DataError> {
        Ok(Self { reader: FormatReader::Table(table::TableReader::open(table, wanted, format)?), rows: 0 })
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

    /// The names of the columns that can be read: all but those of a Parquet file or a table that hold neither numbers nor text, those without
    /// a name, and those whose name another column has too.
    pub(crate) fn readable_names(&self) -> Vec<String> {
        let names = match &self.reader {
            FormatReader::Parquet(reader) => reader.readable_names(),
            FormatReader::Table(reader) => reader.readable_names(),
            _ => self.names().to_vec(),
        };
        let is_single = |name: &&String| self.names().iter().filter(|other| other == name).count() == 1;
        names.iter().filter(|name| !name.is_empty()).filter(is_single).cloned().collect()
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
            FormatReader::Table(reader) => counted(&mut self.rows, reader.next())?.map(RowFields::Table),
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
            FormatReader::Table(reader) => reader.lines(self.rows),
            FormatReader::Parquet(_) => self.rows,
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
            RowFields::Parquet(_) => self.row,
            RowFields::Table(fields) => fields.line().unwrap_or(self.row),
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
fn find_columns<'a>(
    file: &Path,
    wanted: impl IntoIterator<Item = &'a str>,
    names: &[String],
) -> Result<Vec<usize>, DataError> {
    let mut columns = Vec::new();
    for name in wanted {
        let mut found = (0..names.len()).filter(|&column| names[column] == *name);
        let first = found.next().ok_or_else(|| no_such_column(file, name, names))?;
        if let Some(second) = found.next() {
            let (file, name) = (file.to_owned(), name.to_owned());
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
