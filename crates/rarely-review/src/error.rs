//! Why a review could not be made.

use rarely_core::{ConfirmError, ContextError, ObserveError, SettingsError};
use rarely_error::{Explain, Remedy};
use rarely_policy::RuleError;

use crate::tally_error::TallyError;

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
    /// The statistics do not fit the document.
    #[error(transparent)]
    Tally(#[from] TallyError),
    /// A gain cannot be computed.
    #[error(transparent)]
    Confirm(#[from] ConfirmError),
    /// There is no case.
    #[error("there is no usable case")]
    Empty,
}

impl Explain for ReviewError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Settings(error) => error.remedy(),
            Self::Context(error) => error.remedy(),
            Self::Observe(error) => error.remedy(),
            Self::Rule(error) => error.remedy(),
            Self::Tally(error) => error.remedy(),
            Self::Confirm(error) => error.remedy(),
            Self::Empty => Some(Remedy::new("provide at least one case with an outcome")),
        }
    }
}
