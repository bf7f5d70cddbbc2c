//! What can be wrong with files of cases, taken together.

use std::path::PathBuf;

use thiserror::Error;

use crate::{Place, Rejection};

/// Why cases or people cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CasesError {
    /// No file.
    #[error("no file was given; name at least one")]
    NoFile,
    /// The same file twice.
    #[error("{}: the file is given twice, and its rows would count twice; name it once", file.display())]
    GivenTwice {
        /// The file.
        file: PathBuf,
    },
    /// A row that cannot be used, where none may be.
    #[error(transparent)]
    Rejected(Box<Rejection>),
    /// More rows that cannot be used than may be.
    #[error(
        "more than {limit} rows cannot be used; correct them, or allow more to be left out. The first are:{}",
        lines(first)
    )]
    TooManyRejected {
        /// How many may be left out.
        limit: u64,
        /// The first of them.
        first: Vec<Rejection>,
    },
    /// No row, or none that can be used.
    #[error("{}: {}", named(files), nothing(first))]
    NoRow {
        /// The files.
        files: Vec<PathBuf>,
        /// The first of the rows that cannot be used.
        first: Vec<Rejection>,
    },
    /// Rows that are not in the order of time.
    #[error(
        "{later}: found {later_time}, which is before {earlier_time} ({earlier}); sort the rows by time, and give files in that order. Times are compared as they are written: write all in one format and one zone"
    )]
    Backwards {
        /// The row before.
        earlier: Box<Place>,
        /// Its time.
        earlier_time: String,
        /// The row after it.
        later: Box<Place>,
        /// Its time.
        later_time: String,
    },
}

fn lines(rejections: &[Rejection]) -> String {
    let lines: Vec<String> = rejections.iter().map(|rejection| format!("\n  {rejection}")).collect();
    lines.concat()
}

fn named(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(", ")
}

fn nothing(first: &[Rejection]) -> String {
    if first.is_empty() {
        "there is no row; add one for every case".to_owned()
    } else {
        format!("no row can be used; correct them. The first are:{}", lines(first))
    }
}
