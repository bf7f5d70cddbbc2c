//! Addresses and headers that nobody should send.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, observations, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.register(&document("größe 1%", BY_HAND)).await;
    for (path, status) in [
        ("/v1/policies/clinic", 200),
        ("/v1/policies/%63linic", 200),
        ("/v1/policies/gr%C3%B6%C3%9Fe%201%25", 200),
        ("/v1/policies/gr%C3", 400),
        ("/v1/policies/clinic%2Fversions", 404),
        ("/v1/policies/%2e%2e/policies", 404),
        ("/v1/policies/../tokens", 404),
        ("/v1//policies", 404),
        ("/v1/policies/", 404),
        ("/v1/policies//versions", 404),
        ("/v1/policies/clinic/", 404),
        ("/v1/policies/clinic/versions/0", 404),
        ("/v1/policies/clinic/versions/-1", 404),
        ("/v1/policies/clinic/versions/one", 404),
        ("/v1/policies/clinic/versions/99999999999999999999999", 404),
        ("/v1/policies/clinic/decisions/18446744073709551615", 404),
        ("/v1/policies/clinic/events?after=x", 400),
        ("/v1/policies/clinic/events?after=18446744073709551615", 200),
        ("/v1/policies/clinic/events?limit=0", 200),
        ("/v1/policies/clinic/events?unknown=1", 200),
        ("/V1/policies", 404),
        ("/v2/policies", 404),
        ("/v1/policies/clinic%00", 404),
    ] {
        let got = service.get(&service.admin, path).await;
        assert_eq!(got.status.as_u16(), status, "{path}: {}", got.text());
    }
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let got = service.call(&service.admin, method, "/v1/policies/clinic", "", "").await;
        assert_eq!((got.status.as_u16(), got.headers["allow"].to_str().unwrap()), (405, "GET,HEAD"), "{method}");
    }
    let head = service.call(&service.admin, "HEAD", "/v1/policies/clinic", "", "").await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers() {
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

/// A listener gets what happened, then what happens, and goes on from where it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listeners() {
    use futures_util::StreamExt as _;
    use tower::ServiceExt as _;
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..3)).await;
    let listen = |last: &str| {
        let request = Request::get("/v1/policies/clinic/events?after=1")
            .header("authorization", format!("Bearer {}", service.admin))
            .header("accept", "text/event-stream");
        let request = if last.is_empty() { request } else { request.header("last-event-id", last) };
        let router = rarely_server::router(service.app.clone());
        async move { router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap() }
    };
    let response = listen("").await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.into_body().into_data_stream();
    let mut text = String::new();
    while text.matches("data: ").count() < 4 {
        text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
    }
    assert!(text.starts_with("id: 2\nevent: registered\ndata: {\"number\":2,"), "{text}");
    service.post(&service.admin, "/v1/policies/clinic/decisions", &json!({ "record": record(1) })).await.is(200);
    let next = stream.next().await.unwrap().unwrap();
    assert!(next.starts_with(b"id: 6\nevent: decided\ndata: "), "{next:?}");
    let mut again = listen("5").await.into_body().into_data_stream();
    assert!(again.next().await.unwrap().unwrap().starts_with(b"id: 6\n"));
    service.app.close();
    assert!(stream.next().await.is_none() && again.next().await.is_none(), "the end of the service ends them");
    drop((stream, again));
    service.finish();
}
