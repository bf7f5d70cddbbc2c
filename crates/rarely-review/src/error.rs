//! Why a review could not be made.

use rarely_core::{ConfirmError, ContextError, ObserveError, SettingsError};
use rarely_error::{Explain, Remedy};
use rarely_policy::RuleError;

use crate::tally_error::TallyError;

/// A policy document has something that only a review of the rows of a log takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the policy document has {what}, which only a review of the rows of a log takes into account")]
pub struct OnlyReviewed {
    /// What it has.
    pub what: &'static str,
}

impl Explain for OnlyReviewed {
    fn remedy(&self) -> Option<Remedy> {
        let what = self.what;
        Some(Remedy::new(format!(
            "review the log as files or as a frame, or use a copy of the document without {what}"
        )))
    }
}

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
    /// The document has something that only a review takes into account.
    #[error(transparent)]
    OnlyReviewed(#[from] OnlyReviewed),
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
            Self::OnlyReviewed(error) => error.remedy(),
            Self::Empty => Some(Remedy::new("provide at least one case with an outcome")),
        }
    }
}
