//! Many policies; the versions of a policy.

use rarely_core::Arm;
use rarely_policy::PolicyDocument;
use rarely_review::Replay;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, outcome, person, record, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_policies() {
    let service = Service::new();
    let engine = service.app.engine.clone();
    tokio::task::spawn_blocking(move || {
        for n in 0..10_000 {
            engine.register("console", &document(&format!("policy {n}"), BY_HAND), n).expect("a policy");
        }
    })
    .await
    .unwrap();
    let ask = json!({ "record": record(1) });
    let answer = service.post(&service.admin, "/v1/policies/policy%209999/decisions", &ask).await.is(200);
    assert_eq!(answer["option"], "treat");
    let all = service.get(&service.admin, "/v1/policies").await.is(200);
    assert_eq!(all["policies"].as_array().map(Vec::len), Some(10_000));
    service.caught_up().await;
    let text = service.get(&service.admin, "/metrics").await.text();
    let series = text.lines().filter(|line| line.starts_with("rarely_decisions_total{")).count();
    assert_eq!(series, 201, "200 of their own, and one for the others");
    assert!(text.contains("rarely_decisions_total{policy=\"\"} 1\n"));
    let service = service.restart();
    assert_eq!(service.app.engine.policies().len(), 10_000);
    service.finish();
}

const ROUNDS: u64 = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_and_a_replay_make_the_same_versions() {
    let service = Service::new();
    let control = "approval = \"one\"\nsignatures = \"token\"\nreview_every = 1\n[change]\ndigits = \"all\"\nexplore = \"equipoise:0.3\"";
    let text = document("clinic", control);
    service.register(&text).await;
    let read = PolicyDocument::parse(&text, "clinic").unwrap();
    let mut replay = Replay::new(&read, 1).expect("it can be replayed");
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
        service.wait_until("clinic", |state| state.reviews.outcomes == n + 1).await;
        service.caught_up().await;
        let handle = service.app.engine.policy("clinic").expect("a policy");
        let open = handle.live.lock().open_proposal().map(|open| open.number);
        if let Some(number) = open {
            // At once, as a replay does.
            let path = format!("/v1/policies/clinic/proposals/{number}/approve");
            service.post(&service.admin, &path, &signature()).await.is(200);
        }
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
