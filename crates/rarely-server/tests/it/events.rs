//! The event stream.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, observations, record};

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
