//! How much is taken, and what is said of more.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, record, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_batches_names_keys_and_texts() {
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
    // Without its length being announced.
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_bodies() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let decide = "/v1/policies/clinic/decisions";
    for (kind, body, status) in [
        ("", "{}", 415),
        ("application/x-www-form-urlencoded", "record=1", 415),
        ("text/html", "{}", 415),
        ("application/json", "", 400),
        ("application/json", "{\"record\": {\"age\": 3,}}", 400),
        ("application/json", "{\"record\": {\"age\": 1e999, \"smoker\": \"no\"}}", 400),
        ("application/json", "[1]", 422),
        ("application/json", "\"text\"", 422),
        ("application/json; charset=utf-8", "{\"record\": 3}", 422),
        ("application/json", "{\"record\": {}, \"explain\": 3}", 422),
        ("application/json", "{\"record\": {}, \"extra\": 3}", 422),
        ("application/json", "{\"record\": {\"age\": 40}}", 422),
        ("application/json", "{\"record\": {\"age\": null, \"smoker\": \"no\"}}", 422),
        ("application/json", "{\"record\": {\"age\": [4], \"smoker\": \"no\"}}", 422),
        ("application/json", "{\"record\": {\"age\": 40, \"smoker\": \"sometimes\"}}", 422),
        ("APPLICATION/JSON", "{\"record\": {\"age\": 40, \"smoker\": \"no\", \"beside\": {\"a\": []}}}", 200),
    ] {
        let answer = service.call(&service.admin, "POST", decide, kind, body).await.is(status);
        if status == 400 {
            assert!(answer["detail"].as_str().unwrap().contains("line 1"), "{answer}");
        }
        if status == 422 {
            assert!(answer["field"].is_string() && answer["remedy"].is_string(), "{answer}");
        }
    }
    let nested = format!("{{\"record\": {{\"age\": {}{}}}}}", "[".repeat(100_000), "]".repeat(100_000));
    service.call(&service.admin, "POST", decide, "application/json", nested).await.is(400);
    let wrong = service.call(&service.admin, "POST", "/v1/policies", "application/toml", "policy = \"x").await.is(422);
    assert!(wrong["detail"].as_str().unwrap().contains("line 1"), "{wrong}");
    service.call(&service.admin, "POST", "/v1/policies", "application/toml", vec![0xff, 0xfe]).await.is(422);
    service.call(&service.admin, "POST", decide, "application/json", vec![b'"', 0xff, b'"']).await.is(400);
    let kept = service.get(&service.admin, "/v1/policies/clinic/events").await.text();
    assert!(!kept.contains("beside"), "what the document does not name is not kept");
    service.finish();
}
