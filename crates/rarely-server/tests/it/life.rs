//! The whole life of policies.

use rarely_data::{Cases, Columns, LoggedCase};
use rarely_live::Role;
use rarely_policy::PolicyDocument;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, DAY_MS, Service, document, observations, outcome, person, record, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_registration_to_rollback() {
    let service = Service::new();
    let text = document("clinic", BY_HAND);
    let view = service.register(&text).await;
    assert_eq!((&view["version"], &view["name"], &view["approval"]), (&json!(1), &json!("clinic"), &json!("one")));
    let again = service.call(&service.admin, "POST", "/v1/policies", "text/plain", text.clone()).await.is(200);
    assert_eq!(again["id"], view["id"]);
    let other = json!({ "document": document("clinic", "review_every = 7") });
    service.post(&service.admin, "/v1/policies", &other).await.is(409);
    service.get(&service.admin, "/v1/policies/clinic/evidence").await.is(409);
    service.post(&service.admin, "/v1/policies/clinic/review", &signature()).await.is(409);
    let all = service.get(&service.admin, "/v1/policies").await.is(200);
    assert_eq!(all["policies"].as_array().map(Vec::len), Some(1));

    let taken = service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..600)).await;
    assert!(taken.iter().all(|line| line["repeated"] == false), "{taken:?}");
    let evidence = service.get(&service.admin, "/v1/policies/clinic/evidence").await.is(200);
    assert_eq!(evidence["verdict"], "change", "{evidence}");
    let reviewed = service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    assert_eq!((&reviewed["verdict"], &reviewed["proposal"]), (&json!("change"), &json!(1)), "{reviewed}");
    // "No change" cannot be signed where the evidence asks for one.
    let unsigned = service.post(&service.admin, "/v1/policies/clinic/review", &signature()).await.is(200);
    assert_eq!((&unsigned["signed"], &unsigned["proposal"]), (&json!(false), &Json::Null));

    let proposal = service.get(&service.admin, "/v1/policies/clinic/proposals/1").await.is(200);
    assert!(proposal["evidence"]["case"]["before"][0].is_string() && proposal["status"]["is"] == "open", "{proposal}");
    let path = "/v1/policies/clinic/proposals/1/reject";
    let wordless = service.post(&service.admin, path, &json!({ "meaning": "no", "reason": "  " })).await.is(422);
    assert_eq!(wordless["field"], "reason");
    service.post(&service.admin, path, &signature()).await.is(200);
    let closed = service.post(&service.admin, path, &signature()).await.is(409);
    assert!(closed["detail"].as_str().unwrap().contains("rejected"), "{closed}");
    service.post(&service.admin, "/v1/policies/clinic/proposals/9/approve", &signature()).await.is(404);

    let reviewed = service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    assert_eq!(reviewed["proposal"], 2, "asked for, it is proposed again");
    let signed = service.post(&service.admin, "/v1/policies/clinic/proposals/2/approve", &signature()).await.is(200);
    assert_eq!((&signed["policy"]["version"], &signed["proposal"]["status"]["is"]), (&json!(2), &json!("approved")));
    let second = service.get(&service.admin, "/v1/policies/clinic/versions/2").await.is(200);
    let parsed = PolicyDocument::parse(second["document"].as_str().unwrap(), "second").expect("a document");
    assert_eq!(serde_json::to_value(parsed.rule()).unwrap(), second["rule"]);
    assert_eq!((&second["signers"][0]["name"], &second["origin"]["by"]), (&json!("admin"), &json!("proposal")));

    let kept = service.post(&service.admin, "/v1/policies/clinic/review", &signature()).await.is(200);
    assert_eq!((&kept["verdict"], &kept["signed"]), (&json!("keep"), &json!(true)), "{kept}");
    let mut back = signature();
    back["to"] = 9.into();
    assert_eq!(service.post(&service.admin, "/v1/policies/clinic/rollback", &back).await.is(422)["field"], "to");
    back["to"] = 2.into();
    service.post(&service.admin, "/v1/policies/clinic/rollback", &back).await.is(409);
    back["to"] = 1.into();
    let rolled = service.post(&service.admin, "/v1/policies/clinic/rollback", &back).await.is(200);
    assert_eq!(rolled["policy"]["version"], 3);

    service.post(&service.admin, "/v1/policies/clinic/resume", &signature()).await.is(409);
    let stopped = service.post(&service.admin, "/v1/policies/clinic/stop", &signature()).await.is(200);
    assert_eq!(stopped["policy"]["stopped"], true);
    service.post(&service.admin, "/v1/policies/clinic/stop", &signature()).await.is(409);
    service.post(&service.admin, "/v1/policies/clinic/rollback", &back).await.is(409);
    service.post(&service.admin, "/v1/policies/clinic/resume", &signature()).await.is(200);

    let events = service.get(&service.admin, "/v1/policies/clinic/events?after=1&limit=3").await;
    assert_eq!((events.kind(), events.lines().len()), ("application/x-ndjson", 3));
    let all = service.get(&service.admin, "/v1/events").await.lines();
    let numbers: Vec<u64> = all.iter().map(|event| event["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let findings = service.finish();
    assert_eq!((findings.outcomes, findings.versions, findings.proposals), (600, 3, 2));
}

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
    let correction =
        json!({ "decision": first["decision"], "outcome": 0.75, "correction": true, "reason": "typing error" });
    let corrected = service.post(&service.admin, report, &correction).await.is(200);
    assert_eq!(service.post(&service.admin, report, &correction).await.is(200)["event"], corrected["event"]);
    service.post(&service.admin, report, &said).await.is(409);
    let early = json!({ "decision": answers[0]["decision"], "outcome": 0.5, "correction": true });
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
async fn two_must_sign_and_both_are_different() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\napproval = \"two\""))).await;
    let (ann, ben) =
        (service.token("ann", &[Role::Review], None), service.token("ben", &[Role::Review], Some(&["clinic"])));
    let also_ann = service.token("ann", &[Role::Review], None);
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..600)).await;
    service.call(&ann, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    let approve = "/v1/policies/clinic/proposals/1/approve";
    let signed = service.post(&ann, approve, &signature()).await.is(200);
    assert_eq!((&signed["policy"]["version"], &signed["proposal"]["signers"][0]["name"]), (&json!(1), &json!("ann")));
    service.post(&ann, approve, &signature()).await.is(409);
    service.post(&also_ann, approve, &signature()).await.is(409);
    let signed = service.post(&ben, approve, &signature()).await.is(200);
    assert_eq!(signed["policy"]["version"], 2);
    // Back by two as well.
    let back = json!({ "to": 1, "meaning": "back", "reason": "complaints" });
    let asked = service.post(&ben, "/v1/policies/clinic/rollback", &back).await.is(200);
    assert_eq!((&asked["policy"]["version"], &asked["proposal"]["number"]), (&json!(2), &json!(2)));
    service.post(&ben, "/v1/policies/clinic/proposals/2/approve", &signature()).await.is(409);
    let signed = service.post(&ann, "/v1/policies/clinic/proposals/2/approve", &signature()).await.is(200);
    assert_eq!(signed["policy"]["version"], 3);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_refuses_what_was_not_agreed() {
    let service = Service::new();
    let control = format!("{BY_HAND}\nmaximum_changes = 1\n[control.bounds]\ncut = [20, 40]");
    service.register(&document("bounded", &control)).await;
    service.batch(&service.admin, "/v1/policies/bounded/observations", &observations(0..600)).await;
    let reviewed = service.call(&service.admin, "POST", "/v1/policies/bounded/review", "", "").await.is(200);
    assert_eq!(reviewed["proposal"], Json::Null);
    assert!(reviewed["refused"][0].as_str().unwrap().contains("20 to 40"), "{reviewed}");
    let kinds: Vec<Json> = service.get(&service.admin, "/v1/policies/bounded/events").await.lines();
    assert!(kinds.iter().any(|event| event["kind"] == "refused"), "it is written down");
    service.finish();
}

/// What is exported is read again by `rarely-data`, with every number the same and corrections applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_is_read_again() {
    let service = Service::new();
    let text = document("clinic", BY_HAND);
    service.register(&text).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..50)).await;
    let mut expected: Vec<(u64, String, f64)> = (0..50)
        .map(|n| {
            let option = if n % 2 == 0 { "wait" } else { "treat" };
            (n, option.to_owned(), outcome(n, person(n).0, option))
        })
        .collect();
    let asks: Vec<Json> = (100..150).map(|n| json!({ "record": record(n) })).collect();
    let given = service.batch(&service.admin, "/v1/policies/clinic/decisions", &asks).await;
    let mut reports = Vec::new();
    for (n, decision) in (100..150).zip(&given) {
        let option = decision["option"].as_str().unwrap();
        let outcome = outcome(n, person(n).0, option);
        reports.push(json!({ "decision": decision["decision"], "outcome": outcome }));
        expected.push((n, option.to_owned(), outcome));
    }
    service.batch(&service.admin, "/v1/policies/clinic/outcomes", &reports).await;
    let correction = json!({ "decision": given[3]["decision"], "outcome": -1.25, "correction": true });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &correction).await.is(200);
    expected[53].2 = -1.25;

    let file = service.get(&service.admin, "/v1/policies/clinic/export").await;
    assert_eq!((file.status.as_u16(), file.kind()), (200, "application/vnd.apache.parquet"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.parquet");
    std::fs::write(&path, &file.body).unwrap();
    let document = PolicyDocument::parse(&text, "clinic").unwrap();
    let columns = Columns {
        option: document.option_column().to_owned(),
        propensity: Some("propensity".to_owned()),
        time: Some("time".to_owned()),
    };
    let mut cases = Cases::open(&document, &columns, &[path], 0).expect("it opens");
    let mut case = LoggedCase::new(&document);
    for (n, option, outcome) in &expected {
        assert!(cases.next(&mut case).expect("a case"));
        let (age, smoker) = person(*n);
        assert_eq!(case.context, [1.0, age / 100.0, f64::from(smoker == "yes")]);
        assert_eq!((&document.options()[case.arm.index()], case.reward.to_bits()), (option, outcome.to_bits()));
        assert_eq!(case.propensity, Some(if *n < 50 { 0.5 } else { 1.0 }));
    }
    assert!(!cases.next(&mut case).unwrap());
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reason_is_explained_as_what_it_is() {
    let service = Service::new();
    for (explore, reason, words) in [
        ("pilot:2", "pilot", "The pilot tries every option in turn"),
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
