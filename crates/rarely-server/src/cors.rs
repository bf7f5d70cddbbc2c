//! Which web sites may call the API from a browser.

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::network_settings::SharedNetworkSettings;

const METHODS: &str = "GET, POST, DELETE";
const HEADERS: &str = "authorization, content-type, last-event-id";
const EXPOSED: &str = "x-request-id, retry-after, rarely-failed-lines";

/// Answers for the origins that are allowed at the moment; all others are served as if they had not said where they come from, and
/// their browsers keep the answer back. Cookies are never allowed: the API is for tokens.
pub(crate) async fn wrap(State(network): State<SharedNetworkSettings>, request: Request, next: Next) -> Response {
    let is_allowed =
        |origin: &&HeaderValue| network.get().cors_origins.iter().any(|known| known.as_bytes() == origin.as_bytes());
    let Some(origin) = request.headers().get(ORIGIN).filter(is_allowed).cloned() else {
        return next.run(request).await;
    };
    let asks = request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks { StatusCode::OK.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("origin"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    if asks {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
    }
    response
}
