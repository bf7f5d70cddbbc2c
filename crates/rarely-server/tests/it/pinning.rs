//! Requests that name the version that decides.

use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document, observations, signature};

const DECIDE: &str = "/v1/policies/clinic/decisions";

/// A policy whose second version treats from about 60 years on, not from 30.
async fn with_two_versions(service: &Service, control: &str) {
    service.register(&document("clinic", control)).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..600)).await;
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    if !control.contains("automatic") {
        service.post(&service.admin, "/v1/policies/clinic/proposals/1/approve", &signature()).await.is(200);
    }
    let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
    assert_eq!(view["version"], 2, "{view}");
}

fn ask(version: Option<u64>, key: &str) -> Json {
    let mut ask = json!({ "record": { "age": 45, "smoker": "no" }, "key": key, "explain": true });
    if let Some(version) = version {
        ask["version"] = version.into();
    }
    ask
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_names_the_version_that_decides() {
    let service = Service::new();
    with_two_versions(&service, BY_HAND).await;
    let now = service.post(&service.admin, DECIDE, &ask(None, "now")).await.is(200);
    assert_eq!((&now["version"], &now["option"]), (&2.into(), &"wait".into()));
    let pinned = service.post(&service.admin, DECIDE, &ask(Some(1), "old")).await.is(200);
    assert_eq!(
        (&pinned["version"], &pinned["option"], &pinned["propensity"]),
        (&1.into(), &"treat".into(), &1.0.into())
    );
    assert!(pinned["explanation"]["words"].as_str().unwrap().starts_with("The rule of version 1 gives treat"));
    assert_eq!(service.post(&service.admin, DECIDE, &ask(Some(1), "old")).await.is(200), pinned, "the same again");
    for other in [ask(Some(2), "old"), ask(None, "old"), ask(Some(2), "now")] {
        assert_eq!(service.post(&service.admin, DECIDE, &other).await.is(409)["field"], "key", "{other}");
    }
    let unknown = service.post(&service.admin, DECIDE, &ask(Some(3), "new")).await.is(422);
    assert_eq!((&unknown["field"], &unknown["detail"]), (&"version".into(), &"the policy has no version 3".into()));
    service.post(&service.admin, DECIDE, &ask(Some(0), "new")).await.is(422);
    let lines = service.batch(&service.admin, DECIDE, &[ask(Some(1), "a"), ask(Some(7), "b"), ask(None, "c")]).await;
    assert_eq!((&lines[0]["version"], &lines[1]["status"], &lines[2]["version"]), (&1.into(), &422.into(), &2.into()));

    // Its outcome is evidence like any other's.
    service.caught_up().await;
    let before = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
    assert_eq!((&before["decisions"], &before["pinned"]), (&4.into(), &2.into()));
    for decision in [&now, &pinned, &lines[0], &lines[2]] {
        let outcome = json!({ "decision": decision["decision"], "outcome": 0.5 });
        service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(200);
    }
    service.wait_until("clinic", |state| state.learned.outcomes() == 604).await;
    let service = service.restart();
    let path = format!("{DECIDE}/{}", pinned["decision"]);
    let whole = service.get(&service.admin, &path).await.is(200);
    assert_eq!((&whole["rule"]["number"], &whole["event"]["body"]["pinned"]), (&1.into(), &true.into()));
    assert_eq!(service.finish().decisions, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_decides_under_its_own_document() {
    let service = Service::new();
    let text = document("clinic", BY_HAND);
    service.register(&text).await;
    let wider = json!({ "document": text.replace("[0, 100]", "[0, 120]"), "reason": "people get older" });
    service.post(&service.admin, "/v1/policies/clinic/amendments", &wider).await.is(201);
    service.post(&service.admin, "/v1/policies/clinic/proposals/1/approve", &signature()).await.is(200);
    let aged = |version: u64| json!({ "record": { "age": 110, "smoker": "no" }, "version": version });
    let refused = service.post(&service.admin, DECIDE, &aged(1)).await.is(422);
    assert_eq!(refused["field"], "record.age", "the first document ends at 100 years: {refused}");
    service.post(&service.admin, DECIDE, &aged(2)).await.is(200);
    let old = service.post(&service.admin, DECIDE, &ask(Some(1), "old")).await.is(200);
    let outcome = json!({ "decision": old["decision"], "outcome": 0.5 });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(200);
    service.caught_up().await;
    let learned = service.app.engine.policy("clinic").expect("a policy").live.lock().state().learned.outcomes();
    assert_eq!(learned, 0, "the statistics of its document have ended");
    assert_eq!(service.finish().decisions, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_holds_for_versions_that_nobody_signed() {
    let service = Service::new();
    with_two_versions(&service, &format!("{BY_HAND}\napproval = \"automatic\"")).await;
    service.post(&service.admin, DECIDE, &ask(Some(2), "before")).await.is(200);
    service.post(&service.admin, "/v1/policies/clinic/stop", &signature()).await.is(200);
    let refused = service.post(&service.admin, DECIDE, &ask(Some(2), "after")).await.is(409);
    assert_eq!(refused["detail"], "the policy is stopped, and nobody has signed version 2", "{refused}");
    service.post(&service.admin, DECIDE, &ask(Some(1), "signed")).await.is(200);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pinned_decision_is_not_one_of_the_pilot() {
    let service = Service::new();
    let text = document("clinic", BY_HAND).replace("[control]", "[change]\nexplore = \"pilot:2\"\n[control]");
    service.register(&text).await;
    for n in 0..8 {
        let pinned = service.post(&service.admin, DECIDE, &ask(Some(1), &format!("pinned {n}"))).await.is(200);
        assert_eq!((&pinned["reason"], &pinned["propensity"]), (&"policy".into(), &1.0.into()), "nothing is drawn");
    }
    service.caught_up().await;
    let drawn = service.post(&service.admin, DECIDE, &ask(None, "drawn")).await.is(200);
    assert_eq!(drawn["reason"], "pilot", "the pilot has not begun: {drawn}");
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flag_names_a_version_too() {
    let service = Service::new();
    with_two_versions(&service, BY_HAND).await;
    let path = "/ofrep/v1/evaluate/flags/clinic";
    let ask = |version: Json| json!({ "context": { "targetingKey": "p1", "age": 45, "smoker": "no", "policyVersion": version } });
    let old = service.post(&service.admin, path, &ask(json!(1))).await.is(200);
    assert_eq!((&old["metadata"]["version"], &old["value"]), (&1.into(), &"treat".into()));
    assert_eq!(service.post(&service.admin, path, &ask(json!(1))).await.is(200), old);
    let now = service.post(&service.admin, path, &ask(Json::Null)).await.is(200);
    assert_eq!((&now["metadata"]["version"], &now["value"]), (&2.into(), &"wait".into()));
    for (wrong, part) in [(json!("first"), "not a version"), (json!(9), "no version 9"), (json!(1.5), "not a version")]
    {
        let failed = service.post(&service.admin, path, &ask(wrong)).await.is(400);
        assert!(failed["errorDetails"].as_str().unwrap().contains(part), "{failed}");
    }
    service.finish();
}
