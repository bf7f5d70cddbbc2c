//! A policy as a flag of OpenFeature.

use serde_json::json;

use crate::support::{BY_HAND, Service, document};

const PATH: &str = "/ofrep/v1/evaluate/flags/clinic";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flag_is_a_decision() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let ask = |age: u32, person: &str| json!({ "context": { "targetingKey": person, "age": age, "smoker": "no" } });
    let given = service.post(&service.admin, PATH, &ask(50, "p1")).await.is(200);
    assert_eq!(
        (&given["key"], &given["variant"], &given["value"]),
        (&json!("clinic"), &json!("treat"), &json!("treat"))
    );
    assert_eq!((&given["reason"], &given["metadata"]["version"]), (&json!("TARGETING_MATCH"), &json!(1)));
    let again = service.post(&service.admin, PATH, &ask(50, "p1")).await.is(200);
    assert_eq!(again, given, "the same person, the same features");
    for other in [ask(51, "p1"), ask(50, "p2"), json!({ "context": { "age": 50, "smoker": "no" } })] {
        let other = service.post(&service.admin, PATH, &other).await.is(200);
        assert_ne!(other["metadata"]["decision"], given["metadata"]["decision"]);
    }
    let outcome = json!({ "decision": given["metadata"]["decision"], "outcome": 0.5 });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(200);
    assert_eq!(service.finish().decisions, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_those_of_the_protocol() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    for (path, body, status, code, part) in [
        ("/ofrep/v1/evaluate/flags/nobody", json!({ "context": {} }), 404, "FLAG_NOT_FOUND", "not found"),
        (PATH, json!({ "context": { "age": 50 } }), 400, "INVALID_CONTEXT", "the record has no smoker"),
        (PATH, json!({ "context": { "age": 500, "smoker": "no" } }), 400, "INVALID_CONTEXT", "500"),
        (
            PATH,
            json!({ "context": { "targetingKey": 7, "age": 5, "smoker": "no" } }),
            400,
            "INVALID_CONTEXT",
            "not a text",
        ),
        (PATH, json!({ "context": 7 }), 400, "PARSE_ERROR", "expected an object"),
    ] {
        let failed = service.post(&service.admin, path, &body).await.is(status);
        assert_eq!(failed["errorCode"], code, "{failed}");
        assert!(failed["errorDetails"].as_str().unwrap().contains(part), "{failed}");
    }
    service.post("", PATH, &json!({ "context": {} })).await.is(401);
    service.finish();
}
