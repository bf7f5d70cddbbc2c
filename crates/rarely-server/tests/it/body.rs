//! Bodies that cannot be parsed.

use crate::support::{BY_HAND, Service, document};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_bodies_name_the_place() {
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
