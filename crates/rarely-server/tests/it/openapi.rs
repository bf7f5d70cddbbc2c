//! The OpenAPI document and the page made from it.

use rarely_error::Topic;
use serde_json::Value as Json;

use crate::support::Service;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_defines_every_reference() {
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
    for topic in Topic::ALL {
        let place = format!("<dt id=\"problem-{}\">", topic.name());
        assert!(page.text().contains(&place) && page.text().contains(topic.page()), "{place}");
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
