//! Why statistics cannot be used.

use rarely_core::{LookError, MergeError};
use rarely_error::{Action, Explain, Remedy, Topic};

use crate::column_levels::MOST_LEVELS;
use crate::group_tallies::MOST_GROUPS;
use crate::tally::TALLY_FORMAT;

/// Why statistics cannot be used with a document, or with each other.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TallyError {
    /// The file has another format.
    #[error("the saved statistics have format {found}, but this version reads format {TALLY_FORMAT}")]
    Format {
        /// The format of the file.
        found: u32,
    },
    /// The statistics are of another document.
    #[error(
        "the saved statistics were made with other options, outcome, features, intercept or penalty than this policy document has"
    )]
    Document,
    /// A planned look is at another number of cases.
    #[error(transparent)]
    Look(#[from] LookError),
    /// A log is included twice.
    #[error("a log of {rows} rows is included twice, row for row the same")]
    Twice {
        /// Its rows.
        rows: u64,
    },
    /// The key of a row is not its own.
    #[error("the key {column:?} does not tell rows apart: {}% of the rows in a sample have the key of another", percent(*share))]
    RepeatedKeys {
        /// The column of the key.
        column: String,
        /// The share of the rows in the sample that repeat the key of another.
        share: f64,
    },
    /// A fairness column has too many values.
    #[error("the fairness column {column:?} has more than {MOST_LEVELS} values")]
    TooManyLevels {
        /// The column.
        column: String,
    },
    /// There are too many groups.
    #[error("the column {column:?} has more than {MOST_GROUPS} groups")]
    TooManyGroups {
        /// The column.
        column: String,
    },
    /// The file holds something else.
    #[error("this is not a file of saved statistics ({0})")]
    NotATally(String),
    /// The file was altered or cut off.
    #[error("the saved statistics are damaged: {0}")]
    Damaged(&'static str),
    /// The sums are larger than the regression can hold.
    #[error(transparent)]
    Sums(#[from] MergeError),
}

impl Explain for TallyError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Format { .. } | Self::Damaged(_) => {
                Some(Remedy::new("compute them again from the logs").see(Topic::SavedStatistics))
            }
            Self::Document => Some(Remedy::new("review the logs again with this document").see(Topic::SavedStatistics)),
            Self::Twice { .. } => {
                Some(Remedy::new("leave one out, so that its cases do not count twice").see(Topic::SavedStatistics))
            }
            Self::RepeatedKeys { .. } => Some(Remedy::new(
                "leave out rows that are in the log twice; where several rows belong to one person or place, declare its column as cluster and another as key",
            )),
            Self::TooManyLevels { .. } => {
                Some(Remedy::new("name a column with few values, such as one with bands, or leave it out of fairness"))
            }
            Self::TooManyGroups { .. } => {
                Some(Remedy::new("name a column with fewer values, or review parts of the log one after the other"))
            }
            Self::NotATally(_) => {
                Some(Remedy::with("{action}", Action::GiveSavedStatistics).see(Topic::SavedStatistics))
            }
            Self::Sums(error) => error.remedy(),
            Self::Look(error) => error.remedy(),
        }
    }
}

/// With one digit, and two more for small shares.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 1.0 { format!("{percent:.2}") } else { format!("{percent:.1}") }
}
