//! What went wrong, as an RFC 9457 problem document.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rarely_error::Topic;
use serde::{Deserialize, Serialize};

/// A problem document: what went wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ProblemDetails {
    /// What the problem is about, as a URI reference to `/docs`, which names the page of the book that explains it. `about:blank` means
    /// that the status says it all.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: Cow<'static, str>,
    /// The name of the HTTP status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What went wrong, with the value that was found.
    detail: String,
    /// Where: the field of the body, or the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    field: Option<Box<str>>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    remedy: Option<Box<str>>,
    #[serde(skip)]
    retry_after: Option<u64>,
}

impl ProblemDetails {
    /// A problem with a status and a sentence.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: Cow::Borrowed("about:blank"),
            title: status.canonical_reason().unwrap_or("problem"),
            status: status.as_u16(),
            detail: detail.into(),
            field: None,
            remedy: None,
            retry_after: None,
        }
    }

    /// The problem that another replica told.
    pub(crate) fn told(status: StatusCode, body: &[u8], retry_after: Option<&str>) -> Self {
        let told: Told = serde_json::from_slice(body).unwrap_or_default();
        let mut problem = Self::new(status, told.detail);
        if !told.kind.is_empty() {
            problem.kind = told.kind.into();
        }
        problem.field = told.field.map(Into::into);
        problem.remedy = told.remedy.map(Into::into);
        problem.retry_after = retry_after.and_then(|seconds| seconds.parse().ok());
        problem
    }

    /// A field of the request that is wrong: status 422.
    pub(crate) fn wrong(field: impl Into<String>, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail).with_field(field).with_remedy(remedy)
    }

    /// A failure of the service itself: status 500.
    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the service failed; its log has the details")
    }

    /// Too much is being done already: status 503.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the service has too much to do at the moment")
            .with_remedy("send the request again in a second; one batch takes less than many single requests")
            .with_topic(Topic::Pressure)
            .with_retry_after(1)
    }

    /// Names the field or parameter that is wrong.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into().into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into().into());
        self
    }

    /// Names the topic of the book that explains it.
    #[must_use]
    pub fn with_topic(mut self, topic: Topic) -> Self {
        self.kind = format!("/docs#{}", anchor(topic)).into();
        self
    }

    /// Says after how many seconds to try again.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Whether the service failed, and not the request.
    pub(crate) fn is_failure(&self) -> bool {
        self.status >= 500
    }

    /// What went wrong.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// What to do.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// After how many seconds to try again.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }
}

/// A problem document as another replica sends it.
#[derive(Debug, Default, Deserialize)]
struct Told {
    #[serde(rename = "type", default)]
    kind: String,
    detail: String,
    field: Option<String>,
    remedy: Option<String>,
}

/// The name of a topic's place in `/docs`.
pub(crate) fn anchor(topic: Topic) -> String {
    format!("problem-{}", topic.name())
}

impl IntoResponse for ProblemDetails {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED.as_u16() {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
