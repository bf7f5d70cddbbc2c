//! The same responses after a restart, with and without a snapshot.

use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document, observations, record, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_are_the_same_after_a_restart() {
    let service = Service::new();
    let control = format!("{BY_HAND}\noutcome_window = \"3 days\"\n[change]\nexplore = \"equipoise:0.2\"");
    service.register(&document("clinic", &control)).await;
    let mut lines = observations(0..600);
    lines[0]["key"] = "case 0".into();
    service.batch(&service.admin, "/v1/policies/clinic/observations", &lines).await;
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    let asks: Vec<Json> = (0..200).map(|n| json!({ "record": record(n), "key": format!("visit {n}") })).collect();
    let first = service.batch(&service.admin, "/v1/policies/clinic/decisions", &asks).await;
    assert!(first.iter().any(|answer| answer["reason"] == "equipoise"), "some are drawn at random");
    assert_eq!(first[0]["decision"].as_u64(), Some(605));
    let said = json!({ "decision": 605, "outcome": 0.5 });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &said).await.is(200);
    let fixed = json!({ "decision": 605, "outcome": 0.25, "correction": true, "reason": "typing error" });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &fixed).await.is(200);
    service.post(&service.admin, "/v1/policies/clinic/proposals/1/approve", &signature()).await.is(200);
    let before = looks(&service, 605).await;

    let service = service.restart();
    assert!(service.has_snapshot());
    assert_eq!(looks(&service, 605).await, before, "from the snapshot");
    let service = service.restart();
    let again = service.batch(&service.admin, "/v1/policies/clinic/decisions", &asks).await;
    assert_eq!(again, first, "the same keys get the same decisions");
    service.snapshot().remove().unwrap();
    // Stopping writes no snapshot if there was no event since the last one, so the next start has only the log.
    let service = service.restart();
    assert!(!service.has_snapshot(), "only the log is left");
    assert_eq!(looks(&service, 605).await, before, "from the log alone");
    service.finish();
}

async fn looks(service: &Service, decision: u64) -> Vec<Json> {
    let mut all = Vec::new();
    for path in ["", "/versions", "/proposals", "/evidence"] {
        all.push(service.get(&service.admin, &format!("/v1/policies/clinic{path}")).await.is(200));
    }
    all.push(service.get(&service.admin, &format!("/v1/policies/clinic/decisions/{decision}")).await.is(200));
    let said = json!({ "decision": decision, "outcome": 0.25 });
    all.push(service.post(&service.admin, "/v1/policies/clinic/outcomes", &said).await.is(200));
    all.push(service.get(&service.admin, "/v1/tokens").await.is(200));
    all
}
