//! Outcomes: reports, corrections, external decisions, and clocks that run back.

use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, DAY_MS, START_MS, Service, document, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_outcomes_and_corrections() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\noutcome_window = \"10 days\""))).await;
    let decide = "/v1/policies/clinic/decisions";
    let ask = json!({ "record": record(5), "key": "visit 5", "explain": true });
    let first = service.post(&service.admin, decide, &ask).await.is(200);
    assert_eq!(
        (&first["option"], &first["version"], &first["reason"], &first["propensity"]),
        (&json!("treat"), &json!(1), &json!("policy"), &json!(1.0))
    );
    assert!(first["explanation"]["words"].as_str().unwrap().contains("age 84 years"), "{first}");
    assert_eq!(service.post(&service.admin, decide, &ask).await.is(200), first, "the same again");
    let other = json!({ "record": record(6), "key": "visit 5" });
    assert_eq!(service.post(&service.admin, decide, &other).await.is(409)["field"], "key");

    let lines: Vec<Json> = vec![
        json!({ "record": record(7), "key": "seven" }),
        json!({ "record": { "age": 300, "smoker": "no" } }),
        json!({ "record": record(7), "key": "seven" }),
        json!({ "rekord": {} }),
        json!({ "record": record(5), "key": "visit 5" }),
    ];
    let answers = service.batch(&service.admin, decide, &lines).await;
    assert_eq!(answers.len(), 5);
    assert_eq!(answers[0], answers[2], "twice in one batch is once");
    assert_eq!((&answers[1]["status"], &answers[1]["field"]), (&json!(422), &json!("record.age")));
    assert_eq!((&answers[3]["status"], &answers[3]["field"]), (&json!(422), &json!("rekord")));
    assert_eq!(answers[4]["decision"], first["decision"]);

    let report = "/v1/policies/clinic/outcomes";
    let said = json!({ "decision": first["decision"], "outcome": 0.5 });
    service.caught_up().await;
    service.wait_ms(11 * DAY_MS);
    let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
    assert_eq!(view["unanswered"], 2, "both are overdue: {view}");
    let taken = service.post(&service.admin, report, &said).await.is(200);
    assert_eq!(taken["repeated"], false, "late is not too late");
    let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
    assert_eq!(view["unanswered"], 1);
    let again = service.post(&service.admin, report, &said).await.is(200);
    assert_eq!((&again["event"], &again["repeated"]), (&taken["event"], &json!(true)));
    let differs = json!({ "decision": first["decision"], "outcome": 0.75 });
    assert_eq!(service.post(&service.admin, report, &differs).await.is(409)["field"], "outcome");
    let silent = json!({ "decision": first["decision"], "outcome": 0.75, "correction": true });
    assert_eq!(service.post(&service.admin, report, &silent).await.is(422)["field"], "reason");
    let correction =
        json!({ "decision": first["decision"], "outcome": 0.75, "correction": true, "reason": "typing error" });
    let corrected = service.post(&service.admin, report, &correction).await.is(200);
    assert_eq!(service.post(&service.admin, report, &correction).await.is(200)["event"], corrected["event"]);
    service.post(&service.admin, report, &said).await.is(409);
    let early = json!({ "decision": answers[0]["decision"], "outcome": 0.5, "correction": true, "reason": "late" });
    service.post(&service.admin, report, &early).await.is(409);
    for (wrong, status, field) in [
        (json!({ "decision": 999_999, "outcome": 0.5 }), 404, "decision"),
        (json!({ "decision": 1, "outcome": 0.5 }), 404, "decision"),
        (json!({ "decision": u64::MAX, "outcome": 0.5 }), 404, "decision"),
        (json!({ "decision": first["decision"], "outcome": 50 }), 422, "outcome"),
        (json!({ "decision": first["decision"], "outcome": "good" }), 422, "outcome"),
        (json!({ "decision": -1, "outcome": 1 }), 422, "decision"),
        (json!({ "decision": first["decision"], "outcome": 0.5, "reason": "why not" }), 422, "reason"),
    ] {
        assert_eq!(service.post(&service.admin, report, &wrong).await.is(status)["field"], field, "{wrong}");
    }

    let path = format!("/v1/policies/clinic/decisions/{}", first["decision"]);
    let whole = service.get(&service.admin, &path).await.is(200);
    assert_eq!((&whole["record"], &whole["outcome"], &whole["stream"]), (&record(5), &json!(0.75), &first["decision"]));
    assert_eq!(whole["outcomes"].as_array().map(Vec::len), Some(2));
    assert!(
        whole["event"]["hash"].as_str().is_some_and(|hash| hash.len() == 64) && whole["rule"]["document"].is_string()
    );
    service.get(&service.admin, "/v1/policies/clinic/decisions/1").await.is(404);

    let here = json!({ "record": record(8), "option": "wait", "outcome": 0.1, "key": "case 8" });
    let observe = "/v1/policies/clinic/observations";
    let seen = service.post(&service.admin, observe, &here).await.is(200);
    assert_eq!(service.post(&service.admin, observe, &here).await.is(200)["event"], seen["event"]);
    let mut other = here.clone();
    other["outcome"] = json!(0.2);
    assert_eq!(service.post(&service.admin, observe, &other).await.is(409)["field"], "key");
    other["option"] = json!("operate");
    assert_eq!(service.post(&service.admin, observe, &other).await.is(422)["field"], "option");
    other["option"] = json!("wait");
    other["propensity"] = json!(1.5);
    assert_eq!(service.post(&service.admin, observe, &other).await.is(422)["field"], "propensity");
    let findings = service.finish();
    assert_eq!((findings.decisions, findings.outcomes), (2, 3));
}

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
