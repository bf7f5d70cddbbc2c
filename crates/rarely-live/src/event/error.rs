//! Why a log entry cannot be read.

use rarely_error::{Action, Explain, Remedy, Topic};

/// Why a log entry cannot be read as an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// An unknown kind.
    #[error("unknown event kind {0:?}")]
    Kind(String),
    /// An invalid body.
    #[error("the body of an event of kind {kind:?} is invalid: {problem}")]
    Body {
        /// The kind.
        kind: String,
        /// The parse error.
        problem: String,
    },
}

impl Explain for EventError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Kind(_) => Some(Remedy::new("use the version of rarely that wrote the log").see(Topic::Upgrades)),
            Self::Body { .. } => Some(Remedy::with("{action}", Action::RestoreBackup).see(Topic::Recovery)),
        }
    }
}
