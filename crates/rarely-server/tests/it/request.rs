//! Tokens and headers that are not accepted.

use axum::body::Body;
use axum::http::Request;
use rarely_live::Role::Admin;

use crate::route::{filled, status, table};
use crate::support::{BY_HAND, START_MS, Service, document};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_tokens_are_rejected_everywhere() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let (revoked, id) = service.token_until("gone", &[Admin], None, None);
    service.call(&service.admin, "DELETE", &format!("/v1/tokens/{id}"), "", "").await.is(204);
    service.call(&service.admin, "DELETE", &format!("/v1/tokens/{id}"), "", "").await.is(404);
    let (expired, _) = service.token_until("late", &[Admin], None, Some(START_MS + 1));
    service.wait_ms(120_000);
    let mut forged = service.admin.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == '0' { '1' } else { '0' });
    let wrong = [revoked.as_str(), &expired, &forged, "rarely_", "nonsense", "rarely_0123456789abcdef_0123"];
    for (method, path, _) in table().filter(|(_, _, allowed)| !allowed.is_empty()) {
        let path = filled(path, "clinic");
        let reply = service.call("", method, &path, "", "").await;
        assert_eq!((reply.status.as_u16(), &reply.headers["www-authenticate"]), (401, &"Bearer".parse().unwrap()));
        for token in wrong {
            let refused = status(&service, token, method, &path).await;
            // 429 after the first ten: it is refused all the same.
            assert!(refused == 401 || refused == 429, "{method} {path} {token}: {refused}");
        }
    }
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_authorization_headers() {
    let service = Service::new();
    let get = || Request::get("/v1/policies");
    let twice =
        get().header("authorization", format!("Bearer {}", service.admin)).header("authorization", "Bearer other");
    service.send(twice.body(Body::empty()).unwrap()).await.is(401);
    for value in ["", "Bearer", "Bearer ", "Basic YTpi", "bearer  ", "Token x"] {
        service.send(get().header("authorization", value).body(Body::empty()).unwrap()).await.is(401);
        service.wait_ms(61_000);
    }
    let odd = get().header("authorization", [b'B', 0xff, b'r'].as_slice());
    service.send(odd.body(Body::empty()).unwrap()).await.is(401);
    let small =
        get().header("authorization", format!("bearer {}", service.admin)).header("x-huge", "h".repeat(1 << 20));
    service.send(small.body(Body::empty()).unwrap()).await.is(200);
    service.finish();
}
