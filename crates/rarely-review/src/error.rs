//! Why a review could not be made.

use rarely_core::{ContextError, ObserveError, SettingsError};
use rarely_policy::RuleError;

use crate::tally::TallyError;

/// Why a review could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The document's settings exclude each other.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The people do not fit the document.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A row does not fit the document.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// A rule does not fit the document.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The sums do not fit the document.
    #[error(transparent)]
    Tally(#[from] TallyError),
    /// Nobody to review the policy on.
    #[error("there is not one usable row: a review needs a log with at least one")]
    Empty,
}
