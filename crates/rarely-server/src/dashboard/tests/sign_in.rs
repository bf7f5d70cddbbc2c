//! Signing in and out.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use rarely_live::Role;

use super::{TestService, blocking};
use crate::dashboard::session::LENGTH_MS;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_with_a_token_and_ends_with_it() {
    let service = TestService::new(true);
    let token = service.token(1, "Ann", Role::Read, None);
    let answer = service.get("/policies/x", "").await;
    assert_eq!((answer.status, answer.location.as_str()), (StatusCode::SEE_OTHER, "/sign-in?next=%2Fpolicies%2Fx"));
    let answer = service.post("/sign-in", "", &[("token", "wrong"), ("next", "/policies/x")]).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.contains("This is not a rarely token"), "{}", answer.body);
    assert!(answer.cookie.is_empty());

    let answer = service.post("/sign-in", "", &[("token", &token), ("next", "/policies/x")]).await;
    assert_eq!(answer.location, "/policies/x");
    let flags: Vec<&str> = answer.cookie.split("; ").skip(1).collect();
    assert_eq!(flags, ["Path=/", "Max-Age=28800", "HttpOnly", "SameSite=Strict", "Secure"]);

    let session = service.sign_in(&token).await;
    assert_eq!(service.get("/", &session).await.status, StatusCode::OK);
    service.now.fetch_add(LENGTH_MS, Ordering::SeqCst);
    assert_eq!(service.get("/", &session).await.status, StatusCode::SEE_OTHER, "eight hours are over");
    let session = service.sign_in(&token).await;
    blocking(|| service.engine.revoke_token("test", &"01".repeat(8))).expect("revoked");
    assert_eq!(service.get("/", &session).await.location, "/sign-in", "a revoked token's session is dead");

    let token = service.token(2, "Ben", Role::Read, None);
    let session = service.sign_in(&token).await;
    service.now.store(1_000_000_000, Ordering::SeqCst);
    assert_eq!(service.get("/", &session).await.location, "/sign-in", "an expired token's session is dead");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tls_the_cookie_is_not_secure_and_signing_out_ends_the_session() {
    let service = TestService::new(false);
    let token = service.token(1, "Ann", Role::Read, None);
    let answer = service.post("/sign-in", "", &[("token", &token)]).await;
    assert!(!answer.cookie.contains("Secure"), "{}", answer.cookie);
    let session = service.sign_in(&token).await;
    assert_eq!(service.post("/sign-out", &session, &[("csrf", "wrong")]).await.status, StatusCode::FORBIDDEN);
    let csrf = service.csrf(&session).await;
    let answer = service.post("/sign-out", &session, &[("csrf", &csrf)]).await;
    assert!(answer.cookie.starts_with("rarely_session=; Path=/; Max-Age=0"), "{}", answer.cookie);
    assert_eq!(service.get("/", &session).await.location, "/sign-in");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_cannot_sign_in_and_attempts_are_throttled() {
    let service = TestService::new(false);
    let token = service.token(1, "Ann", Role::Read, None);
    let request = Request::post("/sign-in").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request =
        request.header("sec-fetch-site", "cross-site").body(Body::from(format!("token={token}"))).expect("a request");
    assert_eq!(service.ask(request).await.status, StatusCode::FORBIDDEN);
    for _ in 0..10 {
        assert_eq!(service.post("/sign-in", "", &[("token", "wrong")]).await.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(service.post("/sign-in", "", &[("token", "wrong")]).await.status, StatusCode::TOO_MANY_REQUESTS);
    let answer = service.post("/sign-in", "", &[("token", &token)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "a right one need not wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_the_role_read_cannot_sign_in() {
    let service = TestService::new(false);
    for (byte, role) in [(1, Role::Decide), (2, Role::Observe)] {
        let token = service.token(byte, "program", role, None);
        assert_eq!(service.post("/sign-in", "", &[("token", &token)]).await.status, StatusCode::FORBIDDEN);
    }
}
