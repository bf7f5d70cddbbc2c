//! What can be wrong with a file of past cases, and with one of its rows.

use std::path::PathBuf;

use rarely_policy::ValueError;
use thiserror::Error;

use crate::{DataError, Place};

/// Why a file of past cases cannot be read, or not be read on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// A name that does not say what the file is.
    #[error("{}: the name ends in none of .csv, .tsv, .parquet, .pq, .ndjson and .jsonl; rename the file after what it is, or convert it to one of these", file.display())]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// A column that is needed and not there.
    #[error("{}: there is no column {name:?}{}; the columns are {}; {}", file.display(), suggested(suggestion.as_deref()), listed(present), remedy(present))]
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
    /// Two columns of a name that is needed.
    #[error("{}: columns {first} and {second} are both named {name:?}; rename or remove one", file.display())]
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
    /// A file with nothing in it.
    #[error("{}: the file is empty; its first line should name the columns", file.display())]
    NoHeader {
        /// The file.
        file: PathBuf,
    },
    /// A header that is not UTF-8.
    #[error("{}, line {line}, column {column}: found the name {found}, which is not UTF-8; save the file as UTF-8", file.display())]
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
    /// A quotation mark that opens a field and nothing closes it.
    #[error("{}, line {line}, column {column}: a quotation mark opens this field, and none closes it before the file ends; close it, or write it twice and quote the field if it belongs to the text", file.display())]
    UnclosedQuote {
        /// The file.
        file: PathBuf,
        /// The line the row starts on, from 1.
        line: u64,
        /// The column, from 1.
        column: usize,
    },
    /// A row that does not end.
    #[error("{}, line {line}: the row that starts here is longer than {limit} MiB; look for a quotation mark that is not closed, or for a file that is no table", file.display())]
    LongRow {
        /// The file.
        file: PathBuf,
        /// The line the row starts on, from 1.
        line: u64,
        /// The longest row that is read.
        limit: usize,
    },
    /// An NDJSON file without an object near its beginning.
    #[error("{}: no line near the beginning holds an object; write one on each line, {{\"column\": value, …}}", file.display())]
    NoObject {
        /// The file.
        file: PathBuf,
    },
    /// A Parquet file that cannot be unpacked.
    #[error("{}{}: not a readable Parquet file ({problem}); it is damaged or incomplete: write or fetch it again", file.display(), in_column(column.as_deref()))]
    Parquet {
        /// The file.
        file: PathBuf,
        /// The column, if it is known.
        column: Option<String>,
        /// What the unpacker says.
        problem: String,
    },
    /// A Parquet file in a form that is not read here.
    #[error("{}: {problem}; write it again without encryption, compressed with snappy, zstd, gzip or lz4 or not at all", file.display())]
    ParquetFeature {
        /// The file.
        file: PathBuf,
        /// What the unpacker says.
        problem: String,
    },
    /// A column of a type that is neither numbers nor words.
    #[error("{}, column {column} ({name}): its type is {found}, which is neither numbers nor words; write the column as DOUBLE, INT64, BOOLEAN or STRING", file.display())]
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
    /// A column that is needed and not in a table in memory.
    #[error("{table}: there is no column {name:?}{}; the columns are {}; correct the name in the policy document or in the call, or rename the column", suggested(suggestion.as_deref()), listed(present))]
    NoTableColumn {
        /// What the table is called.
        table: String,
        /// The name looked for.
        name: String,
        /// The column of the most similar name.
        suggestion: Option<String>,
        /// The columns there are.
        present: Vec<String>,
    },
    /// A column of a table in memory that is neither numbers nor words.
    #[error(
        "{table}, column `{name}`: it holds {found}, which is neither numbers nor words; make it a column of numbers, booleans or strings"
    )]
    TableColumn {
        /// What the table is called.
        table: String,
        /// The column's name.
        name: String,
        /// What it holds.
        found: String,
    },
}

/// Why [`Log::next`](crate::Log::next) gives no record.
#[derive(Debug, Error)]
pub enum LogError {
    /// This row cannot be read; the next one may be asked for.
    #[error(transparent)]
    Row(Box<Rejection>),
    /// The file cannot be read on.
    #[error(transparent)]
    File(#[from] DataError),
}

/// A row that cannot be used: where, and why.
#[derive(Debug, Error)]
#[error("{place}: {problem}")]
pub struct Rejection {
    /// The first place in the row with which something is wrong.
    pub place: Place,
    /// What is wrong, and what to do.
    pub problem: Problem,
}

/// What is wrong with a row.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// A row that ends too early.
    #[error(
        "this column is missing: the row has {found} of {expected} columns; give every row one field for each name in the header"
    )]
    TooShort {
        /// Columns of the row.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// A row that goes on too long.
    #[error(
        "this column is one too many: the row has {found} columns and the header {expected}; give every row one field for each name in the header, and quote a field that holds the separator"
    )]
    TooLong {
        /// Columns of the row.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// Bytes that are no text.
    #[error("found {found}, which is not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// The value, with what cannot be read replaced.
        found: String,
    },
    /// A line that is not JSON.
    #[error("found {found}, which is not JSON ({problem}); write one object on each line")]
    NotJson {
        /// The line from its beginning.
        found: String,
        /// What the parser says.
        problem: String,
    },
    /// A line that is JSON, perhaps, but no object.
    #[error("found {found}, which is not an object; write one on each line, {{\"column\": value, …}}")]
    NotObject {
        /// The line from its beginning.
        found: String,
    },
    /// A key that stands in an object twice.
    #[error("the key stands twice on this line; keep one")]
    RepeatedKey,
    /// A value that has parts.
    #[error("found {found}, but a value is a number, a text, true, false or null; take out the part that is needed")]
    Nested {
        /// What it is.
        found: &'static str,
    },
    /// A time that cannot be put in order.
    #[error(
        "found {found}, which is neither a number nor a time like 2026-11-16 or 2026-11-16T08:30:00Z; write times in one of these ways"
    )]
    NotTime {
        /// The value.
        found: String,
    },
    /// A number among dates, or a date among numbers.
    #[error(
        "found {found}, but the row before has {last}; write all times as numbers, or all like 2026-11-16T08:30:00Z"
    )]
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

fn suggested(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}

/// What to do about a column that is not there.
fn remedy(present: &[String]) -> &'static str {
    match present {
        [only] if only.contains(';') => {
            "the line seems to be separated by semicolons: save the file with commas between the columns, and points in the numbers"
        }
        _ => "correct the name in the policy or on the command line, or rename the column",
    }
}

fn in_column(column: Option<&str>) -> String {
    column.map_or_else(String::new, |name| format!(", column {name}"))
}

fn listed(names: &[String]) -> String {
    /// More names than this are not read by anybody.
    const MOST: usize = 40;
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
    let more = names.len().saturating_sub(MOST);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
