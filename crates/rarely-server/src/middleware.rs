//! Middleware around every request: the limit of requests in flight, security headers, metrics, the log, panics; and the fallbacks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;

use crate::app::App;
use crate::client_origin::ClientOrigin;
use crate::metrics::method_label;
use crate::problem::ProblemDetails;
use crate::request_id::X_REQUEST_ID;
use crate::traces::{Span, TraceContext};

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Browsers that came by TLS once come by TLS for a year.
const ONLY_TLS: &str = "max-age=31536000";
/// The target of the lines about requests.
const REQUEST_TARGET: &str = "rarely::request";

pub(crate) async fn wrap(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let origin = request.extensions().get::<ClientOrigin>().cloned();
    let traced = app.settings.traces.as_ref().and_then(|traces| Some((traces, TraceContext::of(request.headers())?)));
    let traced = traced.map(|(traces, context)| (traces, context, SystemTime::now()));
    let mut response = match app.enter() {
        Some(_permit) => {
            let caught = AssertUnwindSafe(next.run(request)).catch_unwind().await;
            caught.unwrap_or_else(|_| ProblemDetails::internal().into_response())
        }
        None => ProblemDetails::busy().into_response(),
    };
    set_headers(response.headers_mut());
    let (route, took) = (path.as_ref().map_or("other", MatchedPath::as_str), started.elapsed());
    app.metrics.record_request(route, &method, response.status(), took);
    if let Some((traces, context, begun)) = traced {
        let id = origin.as_ref().map(|origin| origin.request_id.to_string());
        traces.record(Span::new(context, (&method, route, response.status()), (begun, took), id));
    }
    if let Some(origin) = origin {
        finish(&mut response, &origin);
        log(&method, route, response.status(), took, &origin);
    }
    response
}

/// Sets what depends on how the request came.
fn finish(response: &mut Response, origin: &ClientOrigin) {
    let headers = response.headers_mut();
    if origin.https {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(ONLY_TLS));
    }
    if let Some(id) = origin.request_id.header() {
        headers.insert(X_REQUEST_ID, id);
    }
}

/// Writes the line of a request. It has neither the path nor the query, because they have names and keys.
pub(crate) fn log(method: &Method, route: &str, status: StatusCode, took: Duration, origin: &ClientOrigin) {
    let (status, duration_ms) = (status.as_u16(), took.as_micros() as f64 / 1000.0);
    tracing::info!(
        target: REQUEST_TARGET,
        method = method_label(method), route, status, duration_ms, request_id = %origin.request_id, client = %origin.address,
        "request"
    );
}

/// Sets the headers that every response has.
pub(crate) fn set_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        // A handler that set the header itself wins.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

pub(crate) async fn no_route(request: Request) -> ProblemDetails {
    let shown: String = request.uri().path().chars().take(200).collect();
    ProblemDetails::new(StatusCode::NOT_FOUND, format!("{shown} not found")).with_remedy("`/docs` lists every route")
}

pub(crate) async fn no_method(request: Request) -> ProblemDetails {
    let (method, shown) = (request.method().clone(), request.uri().path().chars().take(200).collect::<String>());
    ProblemDetails::new(StatusCode::METHOD_NOT_ALLOWED, format!("{shown} does not support {method}"))
        .with_remedy("the header `Allow` lists the supported methods; see `/docs`")
}
