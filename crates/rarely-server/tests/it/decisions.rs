//! Decisions with many features, and repeated at the same time.

use serde_json::{Map, Value as Json, json};

use crate::support::{BY_HAND, Service, document, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_features() {
    use std::fmt::Write as _;
    let service = Service::new();
    let mut text =
        "policy = \"wide\"\noptions = [\"a\", \"b\"]\noutcome = { column = \"y\", range = [0, 1] }\n".to_owned();
    for n in 0..200 {
        let _ = write!(text, "[[features]]\ncolumn = \"f{n}\"\nrange = [0, 1]\n");
    }
    text += "[control]\nreview_every = 1000000\n[rule]\nthreshold = { feature = \"f0\", cuts = [0.5], options = [\"a\", \"b\"] }\n";
    service.register(&text).await;
    let record = |value: f64| -> Map<String, Json> { (0..200).map(|n| (format!("f{n}"), json!(value))).collect() };
    let answer = service
        .post(&service.admin, "/v1/policies/wide/decisions", &json!({ "record": record(0.75), "explain": true }))
        .await
        .is(200);
    assert_eq!(answer["option"], "b");
    let report = json!({ "decision": answer["decision"], "outcome": 1 });
    service.post(&service.admin, "/v1/policies/wide/outcomes", &report).await.is(200);
    let mut missing = record(0.5);
    missing.remove("f123");
    let wrong =
        service.post(&service.admin, "/v1/policies/wide/decisions", &json!({ "record": missing })).await.is(422);
    assert_eq!(wrong["field"], "record.f123");
    let whole =
        service.get(&service.admin, &format!("/v1/policies/wide/decisions/{}", answer["decision"])).await.is(200);
    assert_eq!(whole["record"].as_object().map(Map::len), Some(200));
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_at_the_same_time_is_one_decision() {
    let service = std::sync::Arc::new(Service::new());
    service.register(&document("clinic", BY_HAND)).await;
    let callers: Vec<_> = (0..64)
        .map(|n| {
            let service = service.clone();
            tokio::spawn(async move {
                let ask = json!({ "record": record(1), "key": format!("visit {}", n % 4) });
                let answer = service.post(&service.admin, "/v1/policies/clinic/decisions", &ask).await.is(200);
                let report = json!({ "decision": answer["decision"], "outcome": 0.5 });
                service.post(&service.admin, "/v1/policies/clinic/outcomes", &report).await.is(200);
                answer["decision"].as_u64().unwrap()
            })
        })
        .collect();
    let mut decisions = Vec::new();
    for caller in callers {
        decisions.push(caller.await.unwrap());
    }
    decisions.sort_unstable();
    decisions.dedup();
    assert_eq!(decisions.len(), 4);
    let service = std::sync::Arc::into_inner(service).expect("nobody else");
    let findings = service.finish();
    assert_eq!((findings.decisions, findings.outcomes), (4, 4));
}
