//! Why a log cannot be reviewed by sums that an engine computes.

use rarely_error::{Action, Explain, Remedy, Topic};

use super::Dialect;
use crate::error::OnlyReviewed;
use crate::tally_error::TallyError;

/// Why a log cannot be reviewed by sums that an engine computes, or why their result cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SumsError {
    /// There is no such dialect.
    #[error("unknown dialect \"{found}\"")]
    UnknownDialect {
        /// What was given.
        found: String,
    },
    /// Outcomes have no declared range.
    #[error("the outcome has no range, so that sums of it depend on the order of the rows")]
    NoRange,
    /// No column tells rows apart.
    #[error("the policy document names no column that tells rows apart")]
    NoKey,
    /// No column holds the time of a row.
    #[error("the policy document names no column with the time of a row, and a table has no order")]
    NoTime,
    /// Choices depended on outcomes.
    #[error("the policy document says that options depended on earlier outcomes, so that rows are not divided")]
    Adaptive,
    /// A column is declared that needs the rows.
    #[error("the policy document declares a {column} column, and {reason}")]
    Column {
        /// What the column holds.
        column: &'static str,
        /// Why sums are not enough.
        reason: &'static str,
    },
    /// The document has something that needs the rows.
    #[error(transparent)]
    OnlyReviewed(#[from] OnlyReviewed),
    /// The result is of another document, or of another version of this program.
    #[error("the result is not of this policy document: {0}")]
    Document(&'static str),
    /// A row of the result cannot be read.
    #[error("row {row} of the result, of kind \"{kind}\", {problem}")]
    Row {
        /// The row, from 1.
        row: usize,
        /// Its kind.
        kind: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Rows of the result are missing, or are there twice.
    #[error("the result is not whole: {0}")]
    Incomplete(String),
    /// Too many rows cannot be used.
    #[error("{rows} of the log cannot be used: {reasons}")]
    Rejected {
        /// How many, in words.
        rows: String,
        /// How many for each reason, in words.
        reasons: String,
    },
    /// The log has other rows than in the first reading.
    #[error(
        "the second result is of {found} rows that confirm, but the first of {expected}: the log has changed in between"
    )]
    Changed {
        /// Rows in the first result.
        expected: u64,
        /// Rows in the second.
        found: u64,
    },
    /// The statistics do not fit.
    #[error(transparent)]
    Tally(#[from] TallyError),
}

impl Explain for SumsError {
    fn remedy(&self) -> Option<Remedy> {
        let run_again = "run the statement again and give its whole result, unchanged";
        Some(match self {
            Self::UnknownDialect { .. } => {
                let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
                Remedy::new(format!("use one of {}", names.join(", ")))
            }
            Self::NoRange => Remedy::new("declare range = [LOW, HIGH] for the outcome, or review the rows themselves")
                .see(Topic::Warehouse),
            Self::NoKey => {
                Remedy::new("declare key = \"COLUMN\" under [evidence]: a column with another value in every row")
                    .see(Topic::Warehouse)
            }
            Self::NoTime => Remedy::new(
                "declare time = \"COLUMN\" under [evidence], or order = \"any\" to go without the check for trends",
            )
            .see(Topic::Warehouse),
            Self::Adaptive => Remedy::new("review the rows themselves").see(Topic::Warehouse),
            Self::Column { .. } => {
                Remedy::new("review the rows themselves, or remove the column from [evidence]").see(Topic::Warehouse)
            }
            Self::OnlyReviewed(error) => return error.remedy(),
            Self::Document(_) => Remedy::with("{action} for this document, and run it again", Action::PrintStatement),
            Self::Row { .. } | Self::Incomplete(_) => Remedy::new(run_again),
            Self::Rejected { .. } => Remedy::with(
                "correct them, leave them out by a condition on the rows, or {action}",
                Action::RaiseRejectLimit,
            )
            .see(Topic::BadRows),
            Self::Changed { .. } => Remedy::new("run both statements on the same rows, for example of a closed period")
                .see(Topic::WarehouseTraps),
            Self::Tally(error) => return error.remedy(),
        })
    }
}
