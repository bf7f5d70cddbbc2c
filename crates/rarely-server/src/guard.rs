//! Around every request: how many at a time, what headers an answer has, how long it took, and what a panic looks like.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;

use crate::app::App;
use crate::problem::Problem;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let mut response = match app.enter() {
        Some(_place) => AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| panicked()),
        None => busy(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        // What a page says of itself stands.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let route = path.as_ref().map_or("other", MatchedPath::as_str);
    app.measures.request(route, &method, response.status(), started.elapsed());
    response
}

pub(crate) async fn no_route(request: Request) -> Problem {
    let shown: String = request.uri().path().chars().take(200).collect();
    Problem::new(StatusCode::NOT_FOUND, format!("there is nothing at {shown}")).remedy("/docs lists every address")
}

pub(crate) async fn no_method(request: Request) -> Problem {
    let (method, shown) = (request.method().clone(), request.uri().path().chars().take(200).collect::<String>());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("{shown} does not take {method}"))
        .remedy("the header Allow lists what it takes, and /docs explains it")
}

fn panicked() -> Response {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the service made a mistake, and wrote it to its log")
        .into_response()
}

fn busy() -> Response {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests are being worked on")
        .remedy("send it again in a second, or send batches")
        .retry_after(1)
        .into_response()
}
