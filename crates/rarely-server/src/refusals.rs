//! The engine's errors as problems.

use axum::http::StatusCode;
use rarely_live::engine::{ChangeError, DecisionError, OutcomeError};
use rarely_live::replay::ReplayError;
use rarely_live::{Objection, RecordError};
use rarely_review::ReviewError;
use rarely_store::StoreError;

use crate::limits::{wrong, wrong_in_words};
use crate::problem::Problem;

/// Something that is not so now; the remedy stands behind a semicolon or a colon, as our messages have it.
fn conflict(message: &str) -> Problem {
    match message.split_once("; ") {
        Some((detail, remedy)) => Problem::new(StatusCode::CONFLICT, detail).remedy(remedy),
        None => Problem::new(StatusCode::CONFLICT, message),
    }
}

/// The store does not work now.
pub(crate) fn unavailable(message: impl Into<String>) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, message).remedy("send it again; nothing was changed").retry_after(1)
}

impl From<Objection> for Problem {
    fn from(objection: Objection) -> Self {
        let message = objection.to_string();
        match objection {
            Objection::NoProposal(_) => Self::new(StatusCode::NOT_FOUND, message).field("number"),
            Objection::NoVersion(_) => wrong_in_words("to", &message),
            Objection::SignatureIncomplete(field) => wrong(field, message, "say it in a few words"),
            _ => conflict(&message),
        }
    }
}

impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        let message = error.to_string();
        match error {
            ChangeError::Objection(objection) => objection.into(),
            ChangeError::Document(_) => wrong_in_words("document", &message),
            ChangeError::NameTaken(_) => conflict(&message).field("document"),
            ChangeError::NoToken(_) => Self::new(StatusCode::NOT_FOUND, message).field("id"),
            ChangeError::Review(error) => error.into(),
            ChangeError::Store(_) => unavailable(message),
            ChangeError::Fault(_) => Self::new(StatusCode::SERVICE_UNAVAILABLE, message),
        }
    }
}

impl From<ReviewError> for Problem {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Empty => Self::new(StatusCode::CONFLICT, "there is no outcome yet, so nothing can be said")
                .remedy("report outcomes first: `POST …/outcomes` or `POST …/observations`"),
            other => conflict(&other.to_string()),
        }
    }
}

impl From<DecisionError> for Problem {
    fn from(error: DecisionError) -> Self {
        let message = error.to_string();
        match error {
            DecisionError::KeyTaken { .. } => conflict(&message).field("key"),
            DecisionError::Store(_) | DecisionError::Replay(_) => unavailable(message),
        }
    }
}

impl From<OutcomeError> for Problem {
    fn from(error: OutcomeError) -> Self {
        let message = error.to_string();
        match error {
            OutcomeError::Unknown(_) => {
                let (detail, remedy) = message.split_once("; ").unwrap_or((&message, ""));
                Self::new(StatusCode::NOT_FOUND, detail).field("decision").remedy(remedy)
            }
            OutcomeError::Differs { .. } | OutcomeError::NothingToCorrect(_) => conflict(&message).field("outcome"),
            OutcomeError::Value(_) => wrong_in_words("outcome", &message),
            OutcomeError::KeyTaken { .. } => conflict(&message).field("key"),
            OutcomeError::Store(_) | OutcomeError::Replay(_) => unavailable(message),
        }
    }
}

impl From<RecordError> for Problem {
    fn from(error: RecordError) -> Self {
        let field = error.column().map_or_else(|| "record".to_owned(), |column| format!("record.{column}"));
        wrong_in_words(field, &error.to_string())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        unavailable(error.to_string())
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        unavailable(error.to_string())
    }
}
