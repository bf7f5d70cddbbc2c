//! Where in a file a value stands.

use std::fmt;
use std::path::PathBuf;

/// Where in a file a value stands, counted as its reader counts: lines and columns of a text from 1, indices of an array from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
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

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell { file, line, column, name } => {
                write!(formatter, "{}, line {line}, column {column} ({name})", file.display())
            }
            Self::Element { file, array, index } => {
                let index: Vec<String> = index.iter().map(ToString::to_string).collect();
                write!(formatter, "{}, array {array}[{}]", file.display(), index.join(", "))
            }
        }
    }
}
