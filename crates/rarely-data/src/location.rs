//! Where in a file or a table a value is.

use std::fmt;
use std::path::PathBuf;

/// Where in a file or a table a value is, counted as is usual for the format: lines and columns of a text from 1, indices of an array from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A field of a CSV file.
    Cell {
        /// The file.
        file: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// Its column, from 1.
        column: usize,
        /// The column's name.
        name: String,
    },
    /// A value of an object in an NDJSON file.
    Key {
        /// The file.
        file: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// The value's key.
        name: String,
    },
    /// A character of an NDJSON file.
    Character {
        /// The file.
        file: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// The byte in the line, from 1.
        character: usize,
    },
    /// A value of a Parquet file.
    Entry {
        /// The file.
        file: PathBuf,
        /// Its row, from 0, as data frames count.
        row: u64,
        /// Its column, from 1.
        column: usize,
        /// The column's name.
        name: String,
    },
    /// A value of a table in memory.
    Row {
        /// The table's label.
        table: String,
        /// Its row, from 0, as data frames count.
        row: u64,
        /// The column's name.
        name: String,
    },
    /// A value of a table in memory whose rows count from 1.
    NumberedRow {
        /// The table's label.
        table: String,
        /// Its row, from 1.
        row: u64,
        /// The column's name.
        name: String,
    },
    /// A cell of a sheet in a workbook.
    SheetCell {
        /// The file.
        file: PathBuf,
        /// The sheet.
        sheet: Box<str>,
        /// The row, from 1.
        row: u64,
        /// The column, from 1.
        column: usize,
        /// The column's name.
        name: Box<str>,
    },
    /// An element of an array in an npz archive.
    Element {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: String,
        /// The element's indices, from 0.
        index: Vec<usize>,
    },
}

impl Location {
    /// Moves to another line, or to another row of a file that has no lines.
    pub(crate) fn set_line(&mut self, to: u64) {
        match self {
            Self::Cell { line, .. } | Self::Key { line, .. } | Self::Character { line, .. } => *line = to,
            Self::Entry { row, .. }
            | Self::Row { row, .. }
            | Self::NumberedRow { row, .. }
            | Self::SheetCell { row, .. } => *row = to,
            Self::Element { .. } => {}
        }
    }

    /// Counts the rows and the lines before the piece of a file that it was found in. A row of a table or a sheet is known already.
    pub(crate) fn add_rows_before(&mut self, rows: u64, lines: u64) {
        match self {
            Self::Cell { line, .. } | Self::Key { line, .. } | Self::Character { line, .. } => *line += lines,
            Self::Entry { row, .. } => *row += rows,
            Self::Row { .. } | Self::NumberedRow { .. } | Self::SheetCell { .. } | Self::Element { .. } => {}
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell { file, line, column, name } => {
                write!(formatter, "{}, line {line}, column {column} ({name})", file.display())
            }
            Self::Key { file, line, name } => write!(formatter, "{}, line {line}, key {name}", file.display()),
            Self::Character { file, line, character } => {
                write!(formatter, "{}, line {line}, character {character}", file.display())
            }
            Self::Entry { file, row, column, name } => {
                write!(formatter, "{}, row {row} (from 0), column {column} ({name})", file.display())
            }
            Self::SheetCell { file, sheet, row, column, name } => {
                write!(formatter, "{}, sheet {sheet:?}, cell {}{row} ({name})", file.display(), letters(*column))
            }
            Self::Row { table, row, name } => write!(formatter, "{table}, row {row} (from 0), column `{name}`"),
            Self::NumberedRow { table, row, name } => write!(formatter, "{table}, row {row}, column `{name}`"),
            Self::Element { file, array, index } => {
                let index: Vec<String> = index.iter().map(ToString::to_string).collect();
                write!(formatter, "{}, array {array}[{}]", file.display(), index.join(", "))
            }
        }
    }
}

/// A column of a sheet as a spreadsheet names it: A, B, … Z, AA.
fn letters(column: usize) -> String {
    let (mut rest, mut letters) = (column, String::new());
    while rest > 0 {
        let letter = b'A' + u8::try_from((rest - 1) % 26).unwrap_or_default();
        letters.insert(0, char::from(letter));
        rest = (rest - 1) / 26;
    }
    letters
}
