//! Errors as pages.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;

use super::layout::PageLayout;
use crate::error::{Audience, ServiceError, problem};
use crate::problem::ProblemDetails;

/// Why a page is not shown, or a form not accepted: a problem that is rendered as HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageError(ProblemDetails);

impl PageError {
    /// 403 for a form that another session, or another site, made.
    pub(super) fn foreign_form() -> Self {
        Self(
            ProblemDetails::new(StatusCode::FORBIDDEN, "this form belongs to another session, so nothing was changed")
                .with_remedy("open the page again and fill in the form there"),
        )
    }

    pub(super) fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// What went wrong and what to do, as sentences.
    pub(super) fn sentences(&self) -> String {
        let detail = sentence(self.0.detail());
        self.0.remedy().map_or_else(|| detail.clone(), |remedy| format!("{detail} {}", sentence(remedy)))
    }
}

impl From<ProblemDetails> for PageError {
    fn from(problem: ProblemDetails) -> Self {
        Self(problem)
    }
}

impl<E: Into<ServiceError>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self(problem(&error.into(), Audience::Page))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let title = match self.status() {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::FORBIDDEN => "Not allowed",
            StatusCode::TOO_MANY_REQUESTS => "Too many requests",
            StatusCode::INTERNAL_SERVER_ERROR | StatusCode::SERVICE_UNAVAILABLE => "The service failed",
            _ => "This did not work",
        };
        let content = html! {
            h1 { (title) }
            p { (sentence(self.0.detail())) }
            @if let Some(remedy) = self.0.remedy() { p { (sentence(remedy)) } }
            p { a href="/" { "All policies" } }
        };
        let mut response = (self.status(), PageLayout::bare(title).html(&content)).into_response();
        if let Some(seconds) = self.0.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// A message as a sentence: with a capital letter and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let capital = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{capital}{}{end}", letters.as_str())
}
