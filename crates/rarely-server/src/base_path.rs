//! A service below a path of another site, such as `/rarely`. Pages and redirects are written as if the service had a site of its own;
//! here the path is taken off requests and put before every address in a response.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION, REFRESH, SET_COOKIE};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::client_origin::ClientOrigin;
use crate::problem::ProblemDetails;

/// The longest path, in bytes.
const LONGEST: usize = 200;
/// Attributes of our pages that have addresses. Texts in pages have no plain quotation marks, so that nothing else looks like them.
const ATTRIBUTES: [&str; 4] = [" href=\"/", " src=\"/", " action=\"/", " data-live=\"/"];

/// The path below which a service is seen: empty, or with a slash before each part and none at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BasePath(String);

impl BasePath {
    /// Reads a path. A slash at its end does not matter.
    ///
    /// # Errors
    /// What a path looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let path = text.strip_suffix('/').unwrap_or(text);
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_part = |part: &str| !part.is_empty() && part != "." && part != ".." && part.bytes().all(known);
        let parts_known = path.strip_prefix('/').is_some_and(|parts| parts.split('/').all(is_part));
        if path.is_empty() || (parts_known && path.len() <= LONGEST) {
            return Ok(Self(path.to_owned()));
        }
        Err("expected a path such as /rarely, of letters, digits and -._~".to_owned())
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An address of this site, below the path.
    fn before(&self, address: &str) -> Option<String> {
        (address.starts_with('/') && !address.starts_with("//")).then(|| format!("{}{address}", self.0))
    }

    /// The address of a request without the path, if it begins with it.
    pub(crate) fn taken_off(&self, uri: &Uri) -> Option<Uri> {
        let rest = uri.path().strip_prefix(&self.0)?;
        let rest = match rest {
            "" => "/",
            rest if rest.starts_with('/') => rest,
            _ => return None,
        };
        let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(format!("{rest}{query}")).ok()?);
        Uri::from_parts(parts).ok()
    }
}

/// Finds out how a request came, and serves it as if the service had a site of its own.
pub(crate) async fn wrap(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let settings = &app.settings;
    // A replica that passed the request on has told already.
    let origin = request.extensions_mut().remove::<ClientOrigin>().unwrap_or_else(|| {
        let trusted = &settings.network.get().trusted_proxies;
        ClientOrigin::of(request.extensions(), request.headers(), trusted, settings.secure, &settings.base_path)
    });
    let base_path = origin.base_path.clone();
    request.extensions_mut().insert(origin);
    if base_path.0.is_empty() {
        return next.run(request).await;
    }
    // Some proxies take the path off, and some do not.
    if let Some(uri) = base_path.taken_off(request.uri()) {
        *request.uri_mut() = uri;
    }
    put_before(&base_path, next.run(request).await).await
}

/// Puts the path before every address in a response.
async fn put_before(base_path: &BasePath, response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    rewrite(&mut parts.headers, &LOCATION, |address| base_path.before(address));
    rewrite(&mut parts.headers, &REFRESH, |value| {
        let (wait, address) = value.split_once("url=")?;
        Some(format!("{wait}url={}", base_path.before(address)?))
    });
    rewrite(&mut parts.headers, &SET_COOKIE, |cookie| {
        Some(cookie.replace("; Path=/", &format!("; Path={}/", base_path.0)))
    });
    let is = |kind: &[u8]| parts.headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind));
    // The address in a problem document is its type.
    let attributes: &[&str] = match () {
        () if is(b"text/html") => &ATTRIBUTES,
        () if is(b"application/problem+json") => &["\"type\":\"/"],
        () => return Response::from_parts(parts, body),
    };
    let Ok(bytes) = to_bytes(body, usize::MAX).await else { return ProblemDetails::internal().into_response() };
    let page = attributes.iter().fold(String::from_utf8_lossy(&bytes).into_owned(), |page, attribute| {
        let (name, slash) = attribute.split_at(attribute.len() - 1);
        page.replace(attribute, &format!("{name}{}{slash}", base_path.0))
    });
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(page))
}

/// Rewrites every header of a name; those that `rewritten` leaves alone stay.
fn rewrite(headers: &mut HeaderMap, name: &HeaderName, rewritten: impl Fn(&str) -> Option<String>) {
    let before: Vec<HeaderValue> = headers.get_all(name).iter().cloned().collect();
    headers.remove(name);
    for value in before {
        let new = value.to_str().ok().and_then(&rewritten).and_then(|new| HeaderValue::from_str(&new).ok());
        headers.append(name.clone(), new.unwrap_or(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_has_plain_parts() {
        for (text, path) in [("", ""), ("/", ""), ("/rarely", "/rarely"), ("/a/b.c/", "/a/b.c")] {
            assert_eq!(BasePath::parse(text).expect(text).as_str(), path);
        }
        for wrong in
            ["rarely", "//x", "/a//b", "/a/../b", "/a b", "/a\"", "https://x", &format!("/{}", "x".repeat(200))]
        {
            assert!(BasePath::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_path_is_taken_off_where_it_is_whole() {
        let path = BasePath::parse("/rarely").expect("a path");
        let taken = |uri: &'static str| path.taken_off(&Uri::from_static(uri)).map(|uri| uri.to_string());
        assert_eq!(taken("/rarely/v1/policies?limit=2").as_deref(), Some("/v1/policies?limit=2"));
        assert_eq!(taken("/rarely").as_deref(), Some("/"));
        assert_eq!(taken("/rarelyer"), None);
        assert_eq!(taken("/v1/policies"), None);
    }
}
