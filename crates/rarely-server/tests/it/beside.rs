//! A candidate beside the rule in force, overrides, and lists in parts.

use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document, observations};

const POLICY: &str = "/v1/policies/clinic";

async fn decide(service: &Service, age: u32) -> Json {
    let ask = json!({ "record": { "age": age, "smoker": "no" } });
    service.post(&service.admin, &format!("{POLICY}/decisions"), &ask).await.is(200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_candidate_is_watched_and_nothing_acts_on_it() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let path = format!("{POLICY}/shadow");
    service.get(&service.admin, &path).await.is(404);
    let version = service.get(&service.admin, &format!("{POLICY}/versions/1")).await.is(200);
    let later = version["rule"].to_string().replace("30", "60");
    let candidate: Json = serde_json::from_str(&later).expect("a rule");
    let start = json!({ "rule": candidate, "reason": "A trial." });
    let started = service.post(&service.admin, &path, &start).await.is(201);
    assert_eq!((&started["decisions"], &started["different_share"]), (&0.into(), &Json::Null));
    service.post(&service.admin, &path, &start).await.is(409);
    for (age, option) in [(20, "wait"), (40, "treat"), (50, "treat"), (70, "treat")] {
        assert_eq!(decide(&service, age).await["option"], option, "the rule in force decides");
    }
    service.caught_up().await;
    let view = service.get(&service.admin, &path).await.is(200);
    assert_eq!((&view["decisions"], &view["different"], &view["different_share"]), (&4.into(), &2.into(), &0.5.into()));
    let pairs = view["pairs"].as_array().expect("pairs");
    assert!(pairs.contains(&json!({ "decided": "treat", "candidate": "wait", "decisions": 2 })), "{view}");
    let service = service.restart();
    assert_eq!(service.get(&service.admin, &path).await.is(200), view, "the same after a restart");
    service.call(&service.admin, "DELETE", &path, "", "").await.is(200);
    service.get(&service.admin, &path).await.is(404);
    decide(&service, 40).await;
    service.post(&service.admin, &path, &json!({ "version": 1, "proposal": 1, "reason": "Both." })).await.is(422);
    service.post(&service.admin, &path, &json!({ "version": 9, "reason": "None." })).await.is(422);
    service.post(&service.admin, &path, &json!({ "version": 1, "reason": "The same." })).await.is(201);
    decide(&service, 40).await;
    service.caught_up().await;
    assert_eq!(service.get(&service.admin, &path).await.is(200)["different"], 0);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_override_is_recorded_and_is_no_evidence() {
    for control in [BY_HAND.to_owned(), format!("{BY_HAND}\ndelay = \"independent\"")] {
        let service = Service::new();
        service.register(&document("clinic", &control)).await;
        let outcome = |decision: &Json, outcome: f64| json!({ "decision": decision, "outcome": outcome });
        let (first, second) =
            (decide(&service, 40).await["decision"].clone(), decide(&service, 50).await["decision"].clone());
        let path = |decision: &Json| format!("{POLICY}/decisions/{decision}/override");
        let other = json!({ "option": "wait", "reason": "The patient declined." });
        service.post(&service.admin, &path(&first), &json!({ "option": "treat", "reason": "x" })).await.is(422);
        service.post(&service.admin, &path(&first), &json!({ "option": "none", "reason": "x" })).await.is(422);
        service.post(&service.admin, &path(&json!(999)), &other).await.is(404);
        service.post(&service.admin, &path(&first), &other).await.is(200);
        service.post(&service.admin, &path(&first), &other).await.is(409);
        let seen = service.get(&service.admin, &format!("{POLICY}/decisions/{first}")).await.is(200);
        assert_eq!(seen["overridden"]["body"]["option"], "wait", "what the person got: {seen}");
        let seen = service.get(&service.admin, &format!("{POLICY}/decisions/{second}")).await.is(200);
        assert_eq!(seen["overridden"], Json::Null, "the decision was followed: {seen}");
        service.post(&service.admin, &format!("{POLICY}/outcomes"), &outcome(&second, 0.5)).await.is(200);
        service.wait_until("clinic", |state| state.learned.outcomes() == 1).await;
        service.post(&service.admin, &path(&second), &other).await.is(409);
        service.post(&service.admin, &format!("{POLICY}/outcomes"), &outcome(&first, 4.0)).await.is(200);
        let corrected = json!({ "decision": first, "outcome": 3.0, "correction": true, "reason": "A typo." });
        service.post(&service.admin, &format!("{POLICY}/outcomes"), &corrected).await.is(200);
        service.caught_up().await;
        let learned = |service: &Service| {
            let handle = service.app.engine.policy("clinic").expect("a policy");
            let live = handle.live.lock();
            (live.state().learned.outcomes(), live.state().counts.outcomes())
        };
        assert_eq!(learned(&service), (1, 2), "two were reported, one is evidence");
        let service = service.restart();
        assert_eq!(learned(&service), (1, 2), "after a restart too");
        assert!(service.get(&service.admin, &format!("{POLICY}/export")).await.body.len() > 8);
        service.finish();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_come_in_parts() {
    let service = Service::new();
    for name in ["a", "b", "c"] {
        service.register(&document(name, BY_HAND)).await;
    }
    let first = service.get(&service.admin, "/v1/policies?limit=2").await.is(200);
    assert_eq!((first["policies"].as_array().map(Vec::len), &first["next"]), (Some(2), &"b".into()));
    let rest = service.get(&service.admin, "/v1/policies?limit=2&after=b").await.is(200);
    assert_eq!((&rest["policies"][0]["name"], &rest["next"]), (&"c".into(), &Json::Null));
    service.get(&service.admin, "/v1/policies?after=nobody").await.is(400);
    service.get(&service.admin, "/v1/policies?limit=0").await.is(400);
    assert_eq!(service.get(&service.admin, "/v1/policies").await.is(200)["policies"].as_array().map(Vec::len), Some(3));
    for list in ["/v1/tokens", "/v1/keys", "/v1/policies/a/versions", "/v1/policies/a/proposals"] {
        service.get(&service.admin, &format!("{list}?limit=1")).await.is(200);
    }
    service.batch(&service.admin, "/v1/policies/a/observations", &observations(0..3)).await;
    let events = service.get(&service.admin, "/v1/policies/a/events?limit=2").await.lines();
    assert_eq!(events.len(), 2);
    service.finish();
}
