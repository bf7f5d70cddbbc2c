//! Why a page is not shown.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;
use rarely_live::Objection;
use rarely_live::engine::ChangeError;
use rarely_store::StoreError;

use super::layout::Frame;
use crate::problem::Problem;

/// Why a page is not shown, or a form not taken: what was wrong, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
    pub(super) remedy: Option<String>,
    retry_after: Option<HeaderValue>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into(), remedy: None, retry_after: None }
    }

    /// 404.
    pub(super) fn not_found(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence)
    }

    /// 403 for a form that is not of the session.
    pub(super) fn foreign_form() -> Self {
        Self::new(StatusCode::FORBIDDEN, "This form was not made for this session, so nothing was done.")
            .remedy("Open the page again and fill in the form there.")
    }

    /// 500: something that nobody can help who reads this page.
    pub(super) fn fault(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, problem)
            .remedy("Tell whoever runs the service; `rarely audit verify` says what of the log is in order.")
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Both sentences.
    pub(super) fn words(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{} {}", sentence(&self.sentence), sentence(remedy)),
            None => sentence(&self.sentence),
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        let body = serde_json::to_value(&problem).unwrap_or_default();
        let remedy = body.get("remedy").and_then(|remedy| remedy.as_str()).map(ToOwned::to_owned);
        let (status, sentence) = (problem.status(), problem.detail().to_owned());
        let retry_after = problem.into_response().headers().get(header::RETRY_AFTER).cloned();
        Self { status, sentence, remedy, retry_after }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::fault(format!("The store could not be read: {error}."))
    }
}

impl From<ChangeError> for Refusal {
    fn from(error: ChangeError) -> Self {
        let status = match &error {
            ChangeError::Objection(Objection::SignatureIncomplete(_)) | ChangeError::Document(_) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            ChangeError::Objection(_)
            | ChangeError::NameTaken(_)
            | ChangeError::NoToken(_)
            | ChangeError::Review(_) => StatusCode::CONFLICT,
            ChangeError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            ChangeError::Fault(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let title = match self.status {
            StatusCode::NOT_FOUND => "There is no such page",
            StatusCode::FORBIDDEN => "You may not do this",
            StatusCode::TOO_MANY_REQUESTS => "Please wait",
            StatusCode::INTERNAL_SERVER_ERROR => "Something is broken",
            _ => "This could not be done",
        };
        let content = html! {
            h1 { (title) }
            p { (sentence(&self.sentence)) }
            @if let Some(remedy) = &self.remedy { p { (sentence(remedy)) } }
            p { a href="/" { "All policies" } }
        };
        let mut response = (self.status, Frame::bare(title).html(&content)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

/// A message as a sentence: with a capital, and an end.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let capital = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{capital}{}{end}", letters.as_str())
}
