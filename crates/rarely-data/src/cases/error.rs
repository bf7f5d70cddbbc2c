//! What is wrong with files of cases taken together.

use std::path::PathBuf;

use rarely_error::{Action, Explain, Remedy, Topic};
use thiserror::Error;

use crate::{Location, Rejection};

/// Why cases or people cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CasesError {
    /// No file.
    #[error("no file was given")]
    NoFile,
    /// The same file twice.
    #[error("{}: the file is given twice, and its rows would count twice", file.display())]
    GivenTwice {
        /// The file.
        file: PathBuf,
    },
    /// A row that cannot be used, where no bad row is allowed.
    #[error(transparent)]
    Rejected(Box<Rejection>),
    /// More bad rows than are allowed.
    #[error("more than {limit} rows cannot be used; the first are:{}", lines(first))]
    TooManyRejected {
        /// How many are allowed.
        limit: u64,
        /// The first of them.
        first: Vec<Rejection>,
    },
    /// No usable row.
    #[error("{}: {}", named(files), nothing(first))]
    NoRow {
        /// The files.
        files: Vec<PathBuf>,
        /// The first of the rows that cannot be used.
        first: Vec<Rejection>,
    },
    /// Rows that go back in time.
    #[error("{later}: found {later_time}, which is before {earlier_time} ({earlier})")]
    Backwards {
        /// The row before.
        earlier: Box<Location>,
        /// Its time.
        earlier_time: String,
        /// The row after it.
        later: Box<Location>,
        /// Its time.
        later_time: String,
    },
}

impl Explain for CasesError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::NoFile => Remedy::new("name at least one file"),
            Self::GivenTwice { .. } => Remedy::new("name the file once"),
            Self::Rejected(rejection) => return rejection.remedy(),
            Self::TooManyRejected { .. } => {
                Remedy::with("correct them, or {action}", Action::RaiseRejectLimit).see(Topic::BadRows)
            }
            Self::NoRow { first, .. } if first.is_empty() => Remedy::new("add one row for every case"),
            Self::NoRow { .. } => Remedy::new("correct the rows"),
            Self::Backwards { .. } => Remedy::new(
                "sort the rows by time, and give files in that order; a time without a zone is taken as Greenwich's",
            )
            .see(Topic::Times),
        })
    }
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
        "there is no row".to_owned()
    } else {
        format!("no row can be used; the first are:{}", lines(first))
    }
}
