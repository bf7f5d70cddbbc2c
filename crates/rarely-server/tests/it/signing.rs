//! Proposals, signatures, rollbacks, stops and reviews, and the plan that limits them.

use rarely_live::Role;
use rarely_policy::PolicyDocument;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, DAY_MS, Service, document, observations, signature};

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
    // "No change" cannot be signed if the evidence calls for a change.
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
async fn two_different_people_must_sign() {
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
    // A rollback also needs two signatures.
    let back = json!({ "to": 1, "meaning": "back", "reason": "complaints" });
    let asked = service.post(&ben, "/v1/policies/clinic/rollback", &back).await.is(200);
    assert_eq!((&asked["policy"]["version"], &asked["proposal"]["number"]), (&json!(2), &json!(2)));
    service.post(&ben, "/v1/policies/clinic/proposals/2/approve", &signature()).await.is(409);
    let signed = service.post(&ann, "/v1/policies/clinic/proposals/2/approve", &signature()).await.is(200);
    assert_eq!(signed["policy"]["version"], 3);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_forbids_a_change_outside_its_bounds() {
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

/// The plan requires days between two changes. Until then, the change that the evidence calls for is not allowed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn days_between_changes() {
    let service = Service::new();
    let control = "approval = \"automatic\"\nreview_every = 50\nminimum_days_between_changes = 30";
    service.register(&document("clinic", control)).await;
    let observe = "/v1/policies/clinic/observations";
    service.batch(&service.admin, observe, &observations(0..600)).await;
    let view = settled(&service, 600).await;
    assert_eq!(view["version"], 2, "{view}");
    // Back to the first rule, against the evidence.
    let mut back = signature();
    back["to"] = 1.into();
    service.post(&service.admin, "/v1/policies/clinic/rollback", &back).await.is(200);
    service.batch(&service.admin, observe, &observations(600..650)).await;
    let view = settled(&service, 650).await;
    assert_eq!(view["version"], 3, "{view}");
    assert!(view["review"]["refused"][0].as_str().is_some_and(|reason| reason.contains("30 days")), "{view}");
    service.wait_ms(31 * DAY_MS);
    service.batch(&service.admin, observe, &observations(650..700)).await;
    let view = settled(&service, 700).await;
    assert_eq!(view["version"], 4, "{view}");
    service.finish();
}

/// The policy, after a review of this many outcomes.
async fn settled(service: &Service, outcomes: u64) -> Json {
    service.wait_until("clinic", |state| state.reviews.outcomes == outcomes).await;
    service.get(&service.admin, "/v1/policies/clinic").await.is(200)
}
