//! Middleware around every request: the limit of requests in flight, security headers, metrics, panics; and the fallbacks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;

use crate::app::App;
use crate::client_address::ClientAddress;
use crate::problem::ProblemDetails;

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

pub(crate) async fn wrap(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let client = ClientAddress::of(request.extensions(), request.headers(), &app.settings.trusted_proxies);
    request.extensions_mut().insert(client);
    let mut response = match app.enter() {
        Some(_permit) => {
            let caught = AssertUnwindSafe(next.run(request)).catch_unwind().await;
            caught.unwrap_or_else(|_| ProblemDetails::internal().into_response())
        }
        None => ProblemDetails::busy().into_response(),
    };
    set_headers(response.headers_mut());
    let route = path.as_ref().map_or("other", MatchedPath::as_str);
    app.metrics.record_request(route, &method, response.status(), started.elapsed());
    response
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
