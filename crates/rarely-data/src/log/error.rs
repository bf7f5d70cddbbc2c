//! What is wrong with a log, or with one of its rows.

use std::borrow::Cow;
use std::path::PathBuf;

use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_policy::ValueError;
use thiserror::Error;

use super::TwoReadings;
use crate::{DataError, Location};

/// Why a log of past cases cannot be read, or not read further.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file name without a known extension.
    #[error("{}: the name ends in none of .csv, .tsv, .txt, .xlsx, .parquet, .pq, .ndjson and .jsonl", file.display())]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// A pipe of a format that is not read in one go.
    #[error("{}: a pipe can be read only once, and only CSV and TSV are read in one go", file.display())]
    ReadOnce {
        /// The pipe.
        file: PathBuf,
    },
    /// A missing column.
    #[error("{}: no column {name:?}; the columns are {}", file.display(), listed(present))]
    NoSuchColumn {
        /// The file.
        file: PathBuf,
        /// The name looked for.
        name: String,
        /// The column of the most similar name.
        suggestion: Option<String>,
        /// The columns there are.
        present: Vec<String>,
    },
    /// Two columns with a wanted name.
    #[error("{}: columns {first} and {second} are both named {name:?}", file.display())]
    TwoColumns {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
        /// The first column of that name, from 1.
        first: usize,
        /// The second, from 1.
        second: usize,
    },
    /// A number with two readings, in a file whose beginning does not tell which is meant.
    #[error("{location}: {readings}; nothing near the beginning of the file tells which is meant")]
    TwoReadings {
        /// Where.
        location: Box<Location>,
        /// The number.
        readings: TwoReadings,
    },
    /// Bytes that are no text in the encoding of the file.
    #[error("{}, line {line}: near this line are bytes that are no text in the encoding of the file", file.display())]
    NotEncoded {
        /// The file.
        file: PathBuf,
        /// The line of the row that was being read, from 1.
        line: u64,
    },
    /// A workbook that cannot be read.
    #[error("{}: not a readable workbook ({problem})", file.display())]
    Workbook {
        /// The file.
        file: PathBuf,
        /// What the reader says.
        problem: String,
    },
    /// A workbook without a sheet of this name.
    #[error("{}: no sheet {name:?}; the sheets are {}", file.display(), listed(present))]
    NoSheet {
        /// The file.
        file: PathBuf,
        /// The name looked for.
        name: String,
        /// The sheets there are.
        present: Vec<String>,
    },
    /// An empty file.
    #[error("{}: the file is empty", file.display())]
    NoHeader {
        /// The file.
        file: PathBuf,
    },
    /// A header that is not UTF-8.
    #[error("{}, line {line}, column {column}: found the name {found}, which is not UTF-8", file.display())]
    HeaderNotUtf8 {
        /// The file.
        file: PathBuf,
        /// The header's line, from 1.
        line: u64,
        /// The column, from 1.
        column: usize,
        /// The name, with what cannot be read replaced.
        found: String,
    },
    /// A quotation mark that is not closed.
    #[error("{}, line {line}, column {column}: a quotation mark opens this field, and none closes it before the file ends", file.display())]
    UnclosedQuote {
        /// The file.
        file: PathBuf,
        /// The line the row starts on, from 1.
        line: u64,
        /// The column, from 1.
        column: usize,
    },
    /// A row that is too long.
    #[error("{}, line {line}: the row that starts here is longer than {limit} MiB", file.display())]
    LongRow {
        /// The file.
        file: PathBuf,
        /// The line the row starts on, from 1.
        line: u64,
        /// The longest row that is read.
        limit: usize,
    },
    /// An NDJSON file without an object near its beginning.
    #[error("{}: no line near the beginning holds an object", file.display())]
    NoObject {
        /// The file.
        file: PathBuf,
    },
    /// A Parquet file that cannot be unpacked.
    #[error("{}{}: not a readable Parquet file ({problem})", file.display(), in_column(column.as_deref()))]
    Parquet {
        /// The file.
        file: PathBuf,
        /// The column, if it is known.
        column: Option<String>,
        /// What the unpacker says.
        problem: String,
    },
    /// A Parquet file with an unsupported feature.
    #[error("{}: {problem}", file.display())]
    ParquetFeature {
        /// The file.
        file: PathBuf,
        /// What the unpacker says.
        problem: String,
    },
    /// A column of a type that is neither numbers nor text.
    #[error("{}, column {column} ({name}): its type is {found}, which is neither numbers nor text", file.display())]
    ColumnType {
        /// The file.
        file: PathBuf,
        /// The column, from 1.
        column: usize,
        /// The column's name.
        name: String,
        /// Its type.
        found: String,
    },
    /// A column that a table in memory lacks.
    #[error("{table}: no column {name:?}; the columns are {}", listed(present))]
    NoTableColumn {
        /// The table's label.
        table: String,
        /// The name looked for.
        name: String,
        /// The column of the most similar name.
        suggestion: Option<String>,
        /// The columns there are.
        present: Vec<String>,
    },
    /// A column of a table in memory that is neither numbers nor text.
    #[error("{table}, column `{name}`: it holds {found}, which is neither numbers nor text")]
    TableColumn {
        /// The table's label.
        table: String,
        /// The column's name.
        name: String,
        /// What it holds.
        found: String,
    },
}

/// Why [`LogReader::next`](crate::LogReader::next) gives no record.
#[derive(Debug, Error)]
pub enum LogError {
    /// This row cannot be read; the next one can.
    #[error(transparent)]
    Row(Box<Rejection>),
    /// The rest of the file cannot be read.
    #[error(transparent)]
    File(#[from] DataError),
}

/// A row that cannot be used.
#[derive(Debug, Error)]
#[error("{location}: {problem}")]
pub struct Rejection {
    /// The location of the first wrong value.
    pub location: Location,
    /// What is wrong.
    pub problem: RowProblem,
}

impl Rejection {
    /// The column that has no value, if that is all that is wrong.
    pub(crate) fn missing_column(&self) -> Option<&str> {
        match &self.problem {
            RowProblem::Value(ValueError::Missing { column, .. }) => Some(column),
            _ => None,
        }
    }
}

/// What is wrong with a row.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// A row with too few columns.
    #[error("this column is missing: the row has {found} of {expected} columns")]
    TooShort {
        /// Columns of the row.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// A row with too many columns.
    #[error("this column is one too many: the row has {found} columns and the header {expected}")]
    TooLong {
        /// Columns of the row.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("found {found}, which is not UTF-8")]
    NotUtf8 {
        /// The value, with what cannot be read replaced.
        found: String,
    },
    /// Bytes of a text file that is read as UTF-8, and are not.
    #[error("found {found}, which is not UTF-8")]
    DamagedText {
        /// The value, with what cannot be read replaced.
        found: String,
    },
    /// A number with two readings, where nothing tells which is meant.
    #[error("{0}; nothing near the beginning of the file tells which is meant")]
    TwoReadings(TwoReadings),
    /// A number in another format than that of its column.
    #[error("found {found}, but the numbers of this column are read as at the beginning of the file: {format}")]
    OtherNumberFormat {
        /// The value.
        found: String,
        /// The column's format.
        format: String,
    },
    /// A line that is not JSON.
    #[error("found {found}, which is not JSON ({problem})")]
    NotJson {
        /// The line from its beginning.
        found: String,
        /// What the parser says.
        problem: String,
    },
    /// A line that is not an object.
    #[error("found {found}, which is not an object")]
    NotObject {
        /// The line from its beginning.
        found: String,
    },
    /// A key that appears twice in an object.
    #[error("the key appears twice on this line")]
    RepeatedKey,
    /// An array or an object instead of a value.
    #[error("found {found}, but a value is a number, a text, true, false or null")]
    Nested {
        /// What it is.
        found: &'static str,
    },
    /// A value that is not a time.
    #[error(
        "found {found}, which is neither a number nor a time of ISO 8601 like 2026-11-16, 2026-W47-1 or 2026-11-16T08:30:00Z"
    )]
    NotTime {
        /// The value.
        found: String,
    },
    /// A number among dates, or a date among numbers.
    #[error("found {found}, but the row before has {last}")]
    OtherTime {
        /// The value.
        found: String,
        /// The one before it.
        last: String,
    },
    /// A value that the policy document does not accept.
    #[error(transparent)]
    Value(#[from] ValueError),
}

impl FileError {
    /// Counts the lines before the piece of a file that it was found in.
    pub(crate) fn add_lines_before(&mut self, lines: u64) {
        if let Self::UnclosedQuote { line, .. } | Self::LongRow { line, .. } | Self::NotEncoded { line, .. } = self {
            *line += lines;
        }
    }
}

impl Explain for FileError {
    fn remedy(&self) -> Option<Remedy> {
        let text = match self {
            Self::UnknownFormat { .. } => "rename the file after its format, or convert it to one of these",
            Self::ReadOnce { .. } => "write it to a file first",
            Self::NoSuchColumn { suggestion, .. } | Self::NoTableColumn { suggestion, .. } => {
                return Some(missing_column(suggestion.as_deref()));
            }
            Self::TwoColumns { .. } => {
                return Some(Remedy::new("rename or remove one of the columns").see(Topic::Columns));
            }
            Self::TwoReadings { .. } => {
                return Some(Remedy::with("{action}", Action::ChooseDecimalMark).see(Topic::Numbers));
            }
            Self::NotEncoded { .. } | Self::HeaderNotUtf8 { .. } => {
                return Some(
                    Remedy::with("save the file as UTF-8, or {action}", Action::NameEncoding).see(Topic::Files),
                );
            }
            Self::Workbook { .. } => {
                let text = "save it as .xlsx again without a password, or export the sheet as CSV";
                return Some(Remedy::new(text).see(Topic::Workbooks));
            }
            Self::NoSheet { .. } => {
                return Some(Remedy::with("correct the name: {action}", Action::NameSheet).see(Topic::Workbooks));
            }
            Self::NoHeader { .. } => "write the names of the columns into the first line",
            Self::UnclosedQuote { .. } => {
                "close the field, or, if the quotation mark belongs to the text, write it twice and quote the field"
            }
            Self::LongRow { .. } => "look for a quotation mark that is not closed, and check that the file is a table",
            Self::NoObject { .. } => "write one object on each line, {\"column\": value, …}",
            Self::Parquet { .. } => "the file is damaged or incomplete: write it again, or get it again",
            Self::ParquetFeature { .. } => {
                "write it again without encryption, and uncompressed or compressed with snappy, zstd, gzip or lz4"
            }
            Self::ColumnType { .. } => "write the column as DOUBLE, INT64, BOOLEAN or STRING",
            Self::TableColumn { .. } => "make it a column of numbers, booleans or strings",
        };
        Some(Remedy::new(text))
    }
}

impl Explain for LogError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Row(rejection) => rejection.remedy(),
            Self::File(error) => error.remedy(),
        }
    }
}

impl Explain for Rejection {
    fn remedy(&self) -> Option<Remedy> {
        self.problem.remedy()
    }
}

impl Explain for RowProblem {
    fn remedy(&self) -> Option<Remedy> {
        let text = match self {
            Self::TooShort { .. } => "give every row one field for each name in the header",
            Self::TooLong { .. } => {
                "give every row one field for each name in the header, and quote a field that holds the separator"
            }
            Self::NotUtf8 { .. } => "save the file as UTF-8",
            Self::DamagedText { .. } => {
                return Some(
                    Remedy::with("save the file as UTF-8, or {action}", Action::NameEncoding).see(Topic::Files),
                );
            }
            Self::TwoReadings(_) => {
                return Some(Remedy::with("{action}", Action::ChooseDecimalMark).see(Topic::Numbers));
            }
            Self::OtherNumberFormat { .. } => {
                let text = "write the numbers of a column in one way, or, if the beginning was misread, {action}";
                return Some(Remedy::with(text, Action::ChooseDecimalMark).see(Topic::Numbers));
            }
            Self::NotJson { .. } => "write one object on each line",
            Self::NotObject { .. } => "write one object on each line, {\"column\": value, …}",
            Self::RepeatedKey => "keep one of the two",
            Self::Nested { .. } => "take out the part that is needed",
            Self::NotTime { .. } => return Some(Remedy::new("write times in one of these ways").see(Topic::Times)),
            Self::OtherTime { .. } => {
                let text = "write all times as numbers, or all like 2026-11-16T08:30:00Z";
                return Some(Remedy::new(text).see(Topic::Times));
            }
            Self::Value(error) => return error.remedy(),
        };
        Some(Remedy::new(text))
    }
}

/// What to do about a missing column.
fn missing_column(suggestion: Option<&str>) -> Remedy {
    Remedy::new(match suggestion {
        Some(name) => Cow::Owned(format!("did you mean {name:?}? Correct the name, or rename the column")),
        None => "correct the name, or rename the column".into(),
    })
}

fn in_column(column: Option<&str>) -> String {
    column.map_or_else(String::new, |name| format!(", column {name}"))
}

fn listed(names: &[String]) -> String {
    /// Names that a message lists at most.
    const MOST: usize = 40;
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
    let more = names.len().saturating_sub(MOST);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
