//! Limits of bodies, batches, names, keys and texts.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, record, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_of_bodies_batches_names_keys_and_texts() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let decide = "/v1/policies/clinic/decisions";
    let ten_megabytes = " ".repeat(10 << 20);
    for path in [
        "/v1/policies",
        "/v1/tokens",
        decide,
        "/v1/policies/clinic/outcomes",
        "/v1/policies/clinic/stop",
        "/v1/policies/clinic/review",
    ] {
        service.call(&service.admin, "POST", path, "application/json", ten_megabytes.clone()).await.is(413);
    }
    // Without a Content-Length.
    let chunks = (0..160).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 16]));
    let request = Request::post(decide)
        .header("authorization", format!("Bearer {}", service.admin))
        .header("content-type", "application/json");
    service.send(request.body(Body::from_stream(futures_util::stream::iter(chunks))).unwrap()).await.is(413);
    let mut long = document("long", BY_HAND);
    long += &"# note\n".repeat(200_000);
    service.call(&service.admin, "POST", "/v1/policies", "application/toml", long).await.is(413);

    let line = format!("{}\n", json!({ "record": record(1) }));
    let reply = service.call(&service.admin, "POST", decide, "application/x-ndjson", line.repeat(10_001)).await;
    reply.is(413);
    let reply = service.call(&service.admin, "POST", decide, "application/x-ndjson", line.repeat(10_000)).await;
    assert_eq!(reply.lines().len(), 10_000);
    let blank = service.call(&service.admin, "POST", decide, "application/x-ndjson", "\n \r\n\n").await;
    assert_eq!((blank.status.as_u16(), blank.body.len()), (200, 0));

    for (key, status) in [("k".repeat(256), 200), ("k".repeat(257), 422), (String::new(), 422)] {
        service.post(&service.admin, decide, &json!({ "record": record(1), "key": key })).await.is(status);
    }
    for name in ["n".repeat(129), "a/b".to_owned(), "..".to_owned(), "bell\\u0007".to_owned()] {
        let refused = service
            .call(&service.admin, "POST", "/v1/policies", "application/toml", document(&name, BY_HAND))
            .await
            .is(422);
        assert!(refused["field"].as_str().unwrap().starts_with("document"), "{refused}");
    }
    let mut words = signature();
    words["reason"] = "r".repeat(4001).into();
    assert_eq!(service.post(&service.admin, "/v1/policies/clinic/stop", &words).await.is(422)["field"], "reason");
    service.finish();
}
