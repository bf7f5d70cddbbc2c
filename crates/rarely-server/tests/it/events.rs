//! The event stream.

use axum::body::Body;
use axum::http::Request;
use rarely_live::Role;
use serde_json::json;

use crate::support::{BY_HAND, START_MS, Service, document, observations, record};

/// A stream has the events so far, then new ones, and continues after `Last-Event-ID`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_sent_events_continue_where_they_stopped() {
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

/// Reads a stream to its end.
async fn rest(mut stream: axum::body::BodyDataStream) -> String {
    use futures_util::StreamExt as _;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        text += std::str::from_utf8(&chunk.unwrap()).unwrap();
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_with_its_token() {
    use futures_util::StreamExt as _;
    use tower::ServiceExt as _;
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let soon = START_MS + 60_000;
    let (revoked, id) = service.token_until("ann", &[Role::Read], None, None);
    let (expired, _) = service.token_until("ben", &[Role::Read], None, Some(soon));
    let listen = |token: String| {
        let request = Request::get("/v1/policies/clinic/events").header("accept", "text/event-stream");
        let request = request.header("authorization", format!("Bearer {token}"));
        let router = rarely_server::router(service.app.clone());
        async move {
            let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            let mut stream = response.into_body().into_data_stream();
            assert!(stream.next().await.unwrap().unwrap().starts_with(b"id: 2\nevent: registered"));
            stream
        }
    };
    let (one, other) = (listen(revoked).await, listen(expired).await);
    let revoke = format!("/v1/tokens/{id}");
    service.call(&service.admin, "DELETE", &revoke, "", "").await.is(204);
    service.post(&service.admin, "/v1/policies/clinic/decisions", &json!({ "record": record(1) })).await.is(200);
    assert_eq!(rest(one).await, "", "nothing more is sent");
    service.wait_ms(60_000);
    service.post(&service.admin, "/v1/policies/clinic/decisions", &json!({ "record": record(2) })).await.is(200);
    let seen = rest(other).await;
    assert!(seen.matches("event: decided").count() <= 1, "what happens after it expired is not sent: {seen}");
    service.finish();
}
