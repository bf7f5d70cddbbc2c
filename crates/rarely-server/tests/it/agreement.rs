//! The server and the lab agree: the same rounds give the same versions.

use rarely_core::Arm;
use rarely_policy::PolicyDocument;
use rarely_review::Replay;
use serde_json::json;

use crate::support::{Service, document, outcome, person, record};

const ROUNDS: u64 = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_rounds_give_the_same_versions() {
    let service = Service::new();
    let control = "approval = \"automatic\"\nreview_every = 1\n[change]\ndigits = \"all\"\nexplore = \"equipoise:0.3\"";
    let text = document("clinic", control);
    service.register(&text).await;
    let read = PolicyDocument::parse(&text, "clinic").unwrap();
    let mut replay = Replay::new(&read, 1);
    for n in 0..ROUNDS {
        let (age, smoker) = person(n);
        let option = if n.is_multiple_of(2) {
            let answer = service
                .post(&service.admin, "/v1/policies/clinic/decisions", &json!({ "record": record(n) }))
                .await
                .is(200);
            let option = answer["option"].as_str().unwrap().to_owned();
            let report = json!({ "decision": answer["decision"], "outcome": outcome(n, age, &option) });
            service.post(&service.admin, "/v1/policies/clinic/outcomes", &report).await.is(200);
            option
        } else {
            let option = if n % 4 == 1 { "wait" } else { "treat" }.to_owned();
            let report = json!({ "record": record(n), "option": option, "outcome": outcome(n, age, &option) });
            service.post(&service.admin, "/v1/policies/clinic/observations", &report).await.is(200);
            option
        };
        let context = [1.0, age / 100.0, f64::from(smoker == "yes")];
        let arm = read.options().iter().position(|known| *known == option).unwrap();
        replay.step(&context, Arm::new(arm), outcome(n, age, &option), None, None).expect("a round");
        reviewed(&service, n + 1).await;
    }
    let walk = replay.finish(None).expect("a walk");
    assert!(!walk.changes.is_empty(), "there is something to agree on");
    let versions = service.get(&service.admin, "/v1/policies/clinic/versions").await.is(200);
    let served: Vec<&serde_json::Value> =
        versions["versions"].as_array().unwrap().iter().skip(1).map(|version| &version["rule"]).collect();
    let walked: Vec<serde_json::Value> =
        walk.changes.iter().map(|change| serde_json::to_value(&change.to).unwrap()).collect();
    assert_eq!(served, walked.iter().collect::<Vec<_>>());
    let proposals = service.get(&service.admin, "/v1/policies/clinic/proposals").await.is(200);
    let rows: Vec<u64> = proposals["proposals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|proposal| proposal["outcomes"].as_u64().unwrap())
        .collect();
    assert_eq!(rows, walk.changes.iter().map(|change| change.row).collect::<Vec<_>>(), "after the same rounds");
    service.finish();
}

/// Waits until a review has seen so many outcomes.
async fn reviewed(service: &Service, outcomes: u64) {
    loop {
        let handle = service.app.engine.policy("clinic").unwrap();
        if handle.live.lock().state().reviews.outcomes == outcomes {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_micros(200)).await;
    }
}
