//! Whether the service runs, and whether it can serve requests.

use axum::http::StatusCode;
use rarely_live::engine::ChangeError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

/// The state of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The number of the last event on disk.
    events: u64,
}

impl Health {
    pub(crate) fn new(version: &'static str, events: u64) -> Self {
        Self { status: "ok", version, events }
    }
}

fn health(request: &AuthorizedRequest) -> Health {
    Health::new(request.app.settings.version, request.app.engine.committed())
}

pub(crate) async fn healthy(request: AuthorizedRequest) -> ApiResult {
    Ok(json(StatusCode::OK, &health(&request)))
}

/// Ready means: no fault, not shutting down, and the log can be read and written.
pub(crate) async fn ready(request: AuthorizedRequest) -> ApiResult {
    let engine = request.app.engine.clone();
    if let Some(fault) = engine.fault() {
        return Err(ChangeError::from(fault).into());
    }
    if *request.app.closing().borrow() {
        return Err(
            ProblemDetails::new(StatusCode::SERVICE_UNAVAILABLE, "the service is shutting down").with_retry_after(10)
        );
    }
    blocking(move || {
        engine.check_writable().map_err(ChangeError::Store)?;
        Ok::<_, ProblemDetails>(engine.log().head()?)
    })
    .await??;
    Ok(json(StatusCode::OK, &health(&request)))
}
