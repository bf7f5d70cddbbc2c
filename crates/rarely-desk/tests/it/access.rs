//! Who may use the desk.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};

use crate::support::{ORIGIN, Person};

#[tokio::test]
async fn the_token_is_good_once_and_nothing_is_shown_without_the_cookie() {
    let person = Person::new().await;
    assert!(person.desk.address().is_none(), "the address is used up");
    assert_eq!(person.get("/").await.status, StatusCode::OK);
    for path in [
        "/",
        "/columns",
        "/work.json",
        "/files/policy.toml",
        "/assets/desk.js",
        "/start?token=",
        "/start",
        "/start?token=0000",
    ] {
        let request = Request::builder().uri(path).header(header::HOST, "127.0.0.1:4711").body(Body::empty());
        let reply = person.send(request.expect("a request")).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(reply.text.contains("start `rarely desk` again"), "{}", reply.text);
    }
}

#[tokio::test]
async fn another_name_of_this_machine_is_refused() {
    let person = Person::new().await;
    for host in ["evil.example:4711", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:4711", ""] {
        let mut request = person.request(&Method::GET, "/").body(Body::empty()).expect("a request");
        request.headers_mut().insert(header::HOST, host.parse().expect("a header"));
        assert_eq!(person.send(request).await.status, StatusCode::FORBIDDEN, "{host}");
    }
    for host in ["localhost:4711", "[::1]:4711"] {
        let mut request = person.request(&Method::GET, "/").body(Body::empty()).expect("a request");
        request.headers_mut().insert(header::HOST, host.parse().expect("a header"));
        assert_eq!(person.send(request).await.status, StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let person = Person::new().await;
    for origin in [Some("https://evil.example"), Some("http://127.0.0.1:80"), Some("null"), None] {
        let mut request = person.request(&Method::POST, "/path").body(Body::from("path=x")).expect("a request");
        request.headers_mut().remove(header::ORIGIN);
        if let Some(origin) = origin {
            request.headers_mut().insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        assert_eq!(person.send(request).await.status, StatusCode::FORBIDDEN, "{origin:?}");
    }
    assert_eq!(person.post("/path", &[("path", "x.csv")]).await.status, StatusCode::SEE_OTHER, "{ORIGIN} is our own");
}

#[tokio::test]
async fn every_response_says_that_nothing_is_loaded_from_elsewhere() {
    let person = Person::new().await;
    for path in ["/", "/assets/desk.css", "/assets/desk.js", "/nothing", "/files/nothing"] {
        let reply = person.get(path).await;
        let policy = reply.headers[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(
            policy.starts_with("default-src 'none'") && !policy.contains("http") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(reply.headers[header::CACHE_CONTROL], "no-store");
    }
}
