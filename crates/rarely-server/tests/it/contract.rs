//! What the service says of itself.

use serde_json::Value as Json;

use crate::support::{BY_HAND, Service, document, observations, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_describes_every_reference() {
    let service = Service::new();
    let document = service.get("", "/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = Vec::new();
    references(&document, &mut names);
    assert!(names.len() > 20);
    for name in names {
        assert!(document.pointer(&name[1..]).is_some(), "{name}");
    }
    let mut identifiers: Vec<&str> = Vec::new();
    for methods in document["paths"].as_object().unwrap().values() {
        identifiers
            .extend(methods.as_object().unwrap().values().map(|operation| operation["operationId"].as_str().unwrap()));
    }
    let count = identifiers.len();
    identifiers.sort_unstable();
    identifiers.dedup();
    assert_eq!(identifiers.len(), count);
    let page = service.get("", "/docs").await;
    assert_eq!(page.kind(), "text/html");
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.text().contains(path.as_str()), "{path}");
    }
    assert!(!page.text().contains("<script") && !page.text().contains("style="), "nothing that its policy forbids");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'"));
    service.finish();
}

fn references(value: &Json, names: &mut Vec<String>) {
    match value {
        Json::Object(fields) => {
            names.extend(fields.get("$ref").and_then(Json::as_str).map(ToOwned::to_owned));
            fields.values().for_each(|value| references(value, names));
        }
        Json::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_and_measures() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\noutcome_window = \"1 day\""))).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..40)).await;
    let ask = serde_json::json!({ "record": record(1) });
    service.post(&service.admin, "/v1/policies/clinic/decisions", &ask).await.is(200);
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    assert_eq!(service.get("", "/healthz").await.is(200)["status"], "ok");
    service.get("", "/readyz").await.is(200);
    service.wait_ms(2 * crate::support::DAY_MS);
    service.caught_up().await;
    let text = service.get(&service.admin, "/metrics").await.text();
    for line in [
        "rarely_decisions_total{policy=\"clinic\"} 1",
        "rarely_outcomes_total{policy=\"clinic\"} 40",
        "rarely_pending_proposals{policy=\"clinic\"} 0",
        "rarely_unanswered_share{policy=\"clinic\",option=\"treat\"} 1",
        "rarely_excluded_share{policy=\"clinic\"}",
        "rarely_stuck_options{policy=\"clinic\"} 0",
        "rarely_store_events_total",
        "rarely_build_info{version=\"0.0.0\"} 1",
        "rarely_request_seconds_bucket{route=\"/v1/policies/{name}/decisions\",method=\"POST\",status=\"200\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("smoker"), "no record in a measure");
    service.finish();
}
