//! Why a policy has no value on a log.

use rarely_error::{Explain, Remedy};
use thiserror::Error;

use super::{ContextError, ObserveError, ScoreError, SettingsError, short};

/// Why the value of a policy cannot be estimated from a log.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// Contexts that do not fit.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A row that cannot be used.
    #[error(transparent)]
    Outcome(#[from] ObserveError),
    /// A number out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A list that does not have the entries of all rows.
    #[error("the log has {rows} rows, so that {expected} {name} are needed, but {found} were given")]
    Length {
        /// Which list.
        name: &'static str,
        /// Rows.
        rows: usize,
        /// Entries that are needed.
        expected: usize,
        /// Entries.
        found: usize,
    },
    /// A log of fewer than two rows.
    #[error("the log has {rows} rows, but an interval needs at least 2")]
    TooFewRows {
        /// Rows.
        rows: usize,
    },
    /// A row whose numbers do not fit.
    #[error("row {row}: {source}")]
    Row {
        /// The row, from 0.
        row: usize,
        /// What is wrong with it.
        source: ScoreError,
    },
    /// A propensity that is no probability above 0.
    #[error("row {row}: the propensity of the arm that was given is {}, but must be above 0 and at most 1", short(*propensity))]
    Propensity {
        /// The row, from 0.
        row: usize,
        /// The number.
        propensity: f64,
    },
    /// An estimator that needs predictions, without them.
    #[error("the estimator {estimator} needs predictions of every arm's reward")]
    NoPredictions {
        /// The estimator.
        estimator: &'static str,
    },
    /// A certain interval of an estimator that has none.
    #[error("the estimator {estimator} has no interval that is certain: {reason}")]
    NotCertain {
        /// The estimator.
        estimator: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// A certain interval of a log that does not say what every arm's probability was.
    #[error("a certain interval needs the propensity of every arm, not only of the one that was given")]
    EveryPropensity,
    /// A term outside the range that the declarations imply.
    #[error(
        "row {row}: a term is {}, outside {} to {}: a prediction is not within the declared range of the outcome",
        short(*term), short(*low), short(*high)
    )]
    TermRange {
        /// The row, from 0.
        row: usize,
        /// The term.
        term: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// No weight at all.
    #[error("no row got an arm that the policy gives, so that the weights have no sum to divide by")]
    NoWeight,
}

impl Explain for EvaluateError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Context(error) => error.remedy(),
            Self::Outcome(error) => error.remedy(),
            Self::Settings(error) => error.remedy(),
            Self::Row { source, .. } => match source {
                ScoreError::Overlap { .. } => Some(Remedy::new(
                    "evaluate a policy that gives no arm where it was too improbable, or declare a smaller minimum",
                )),
                other => other.remedy(),
            },
            Self::Propensity { .. } => {
                Some(Remedy::new("log the probability with which the given arm was drawn; it is never 0"))
            }
            Self::NoPredictions { .. } => Some(Remedy::new("give predictions, or contexts to fit a model to")),
            Self::NotCertain { .. } => {
                Some(Remedy::new("use inverse propensities or the doubly robust estimator, or an approximate interval"))
            }
            Self::EveryPropensity => Some(Remedy::new(
                "log the probability of every arm: that of the given one is always positive, even where nothing was random",
            )),
            Self::Length { .. } | Self::TooFewRows { .. } | Self::TermRange { .. } | Self::NoWeight => None,
        }
    }
}
