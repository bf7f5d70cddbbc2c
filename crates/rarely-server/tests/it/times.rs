//! Clocks that go back, proposals whose time is over, plans with days in them.

use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, DAY_MS, START_MS, Service, document, observations, record, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clock_goes_back() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\noutcome_window = \"1 day\""))).await;
    let decide = "/v1/policies/clinic/decisions";
    let first = service.post(&service.admin, decide, &json!({ "record": record(1) })).await.is(200);
    service.set_time(START_MS - 400 * DAY_MS);
    let second = service.post(&service.admin, decide, &json!({ "record": record(2) })).await.is(200);
    for decision in [&first, &second] {
        let report = json!({ "decision": decision["decision"], "outcome": 0.5 });
        service.post(&service.admin, "/v1/policies/clinic/outcomes", &report).await.is(200);
    }
    let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
    assert_eq!(view["unanswered"], 0);
    let times: Vec<u64> = service
        .get(&service.admin, "/v1/events")
        .await
        .lines()
        .iter()
        .map(|event| event["time_ms"].as_u64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    service.set_time(0);
    service.get(&service.admin, "/metrics").await;
    service.post(&service.admin, decide, &json!({ "record": record(3) })).await.is(200);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposal_expires() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\nproposal_expires = \"2 days\""))).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..600)).await;
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    service.wait_ms(2 * DAY_MS);
    let late = service.post(&service.admin, "/v1/policies/clinic/proposals/1/approve", &signature()).await.is(409);
    assert!(late["detail"].as_str().unwrap().contains("expired"), "{late}");
    let again = service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    assert_eq!(again["proposal"], 2);
    let all = service.get(&service.admin, "/v1/policies/clinic/proposals").await.is(200);
    assert_eq!(
        (&all["proposals"][0]["status"]["is"], &all["proposals"][1]["status"]["is"]),
        (&json!("expired"), &json!("open"))
    );
    service.finish();
}

/// Days must lie between two changes; until then the change that the evidence asks for is refused, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn days_between_changes() {
    let service = Service::new();
    let control = "approval = \"automatic\"\nreview_every = 50\nminimum_days_between_changes = 30";
    service.register(&document("clinic", control)).await;
    let observe = "/v1/policies/clinic/observations";
    service.batch(&service.admin, observe, &observations(0..600)).await;
    let view = settled(&service, 600).await;
    assert_eq!(view["version"], 2, "{view}");
    // The world turns: from now on waiting is better for everybody.
    let turned: Vec<Json> = observations(0..3000)
        .into_iter()
        .map(|mut line| {
            line["outcome"] = json!(if line["option"] == "wait" { 2.0 } else { -1.0 });
            line
        })
        .collect();
    service.batch(&service.admin, observe, &turned).await;
    let view = settled(&service, 3600).await;
    assert_eq!(view["version"], 2, "{view}");
    assert!(view["review"]["refused"][0].as_str().is_some_and(|reason| reason.contains("30 days")), "{view}");
    service.wait_ms(31 * DAY_MS);
    service.batch(&service.admin, observe, &turned[..50]).await;
    let view = settled(&service, 3650).await;
    assert_eq!(view["version"], 3, "{view}");
    service.finish();
}

/// The policy, once a review has seen so many outcomes.
async fn settled(service: &Service, outcomes: u64) -> Json {
    loop {
        let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
        if view["review"]["outcomes"].as_u64() == Some(outcomes) {
            return view;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
