//! What the service answers while it reads its log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::health::Health;
use crate::policies::json;
use crate::problem::ProblemDetails;

/// The last event of the log that was read so far.
pub(crate) type Reading = Arc<AtomicU64>;

/// It is alive, and everything else has to wait.
pub(crate) fn router(version: &'static str, reading: &Reading) -> Router {
    let (alive, wait) = (reading.clone(), reading.clone());
    let healthy =
        move || std::future::ready(json(StatusCode::OK, &Health::new(version, alive.load(Ordering::Relaxed))));
    let not_yet = move || std::future::ready(starting(wait.load(Ordering::Relaxed)));
    Router::new().route("/healthz", get(healthy)).fallback(not_yet)
}

fn starting(number: u64) -> Response {
    let detail = match number {
        0 => "the service is starting: it opens its store".to_owned(),
        number => format!("the service is starting: it has read its log up to event {number}"),
    };
    let problem = ProblemDetails::new(StatusCode::SERVICE_UNAVAILABLE, detail);
    problem.with_remedy("wait until `/readyz` answers with status 200").with_retry_after(1).into_response()
}
