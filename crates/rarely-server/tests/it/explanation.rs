//! Why a person got an option.

use serde_json::json;

use crate::support::{BY_HAND, Service, document, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reason_has_its_explanation() {
    let service = Service::new();
    for (explore, reason, words) in [
        ("pilot:2", "pilot", "This was in the pilot, which draws every option with the same probability"),
        ("equipoise:1", "equipoise", "drawn at random"),
        ("none", "policy", "The rule of version 1 gives treat"),
    ] {
        let control = format!("{BY_HAND}\n[change]\nexplore = \"{explore}\"");
        service.register(&document(reason, &control)).await;
        let ask = json!({ "record": record(5), "explain": true });
        let answer = service.post(&service.admin, &format!("/v1/policies/{reason}/decisions"), &ask).await.is(200);
        assert_eq!(answer["reason"], reason, "{answer}");
        assert!(answer["explanation"]["words"].as_str().unwrap().contains(words), "{answer}");
    }
    service.finish();
}
