//! Proposals, signatures, rollbacks, stops and reviews, and the plan that limits them.

use rarely_live::{Role, SignedAct, SignedStatement};
use rarely_policy::PolicyDocument;
use rarely_store::{Hash, NoteSigner};
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
    let also_ann = service.token("Ann", &[Role::Review], None);
    let other_name = json!({ "name": "Dr. Lee", "person": "ann", "roles": ["review"] });
    let other_name =
        service.post(&service.admin, "/v1/tokens", &other_name).await.is(201)["token"].as_str().unwrap().to_owned();
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..600)).await;
    service.call(&ann, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    let approve = "/v1/policies/clinic/proposals/1/approve";
    let signed = service.post(&ann, approve, &signature()).await.is(200);
    assert_eq!((&signed["policy"]["version"], &signed["proposal"]["signers"][0]["name"]), (&json!(1), &json!("ann")));
    service.post(&ann, approve, &signature()).await.is(409);
    for same in [&also_ann, &other_name] {
        let twice = service.post(same, approve, &signature()).await.is(409);
        assert!(twice["detail"].as_str().unwrap().contains("two different people"), "{twice}");
    }
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

/// A signature of an act with a person's own key.
fn by_key(signer: &NoteSigner, act: SignedAct, number: u64, subject: &Json, name: &str) -> Json {
    let mut body = signature();
    let statement = SignedStatement {
        act,
        policy: "clinic",
        number,
        subject: subject.as_str().unwrap().parse().unwrap(),
        signer: name,
        meaning: body["meaning"].as_str().unwrap(),
        reason: body["reason"].as_str().unwrap(),
    };
    let made = statement.sign(signer);
    body["by_key"] = serde_json::to_value(made).unwrap();
    body
}

/// A policy says nothing about signatures, so they need keys: neither a stolen token nor another's signature is enough.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_sign_with_two_keys() {
    let service = Service::new();
    let view = service.register(&document("clinic", "approval = \"two\"\nreview_every = 1000000")).await;
    assert_eq!(view["signatures"], "key");
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..600)).await;
    let [ann, bob] =
        ["ann", "bob"].map(|name| (service.token(name, &[Role::Review], None), NoteSigner::generate(name)));
    for (name, (token, signer)) in ["ann", "bob"].into_iter().zip([&ann, &bob]) {
        let body = json!({ "name": name, "key": signer.key().to_string() });
        service.post(token, "/v1/keys", &body).await.is(403);
        assert_eq!(service.post(&service.admin, "/v1/keys", &body).await.is(201)["name"], name);
        service.post(&service.admin, "/v1/keys", &body).await.is(409);
    }
    let wrong = json!({ "name": "cara", "key": "no key" });
    assert_eq!(service.post(&service.admin, "/v1/keys", &wrong).await.is(422)["field"], "key");
    assert_eq!(service.get(&ann.0, "/v1/keys").await.is(200)["keys"].as_array().map(Vec::len), Some(2));
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    let hash = service.get(&ann.0, "/v1/policies/clinic/proposals/1").await.is(200)["hash"].clone();
    let path = "/v1/policies/clinic/proposals/1/approve";
    let bare = service.post(&ann.0, path, &signature()).await.is(409);
    assert!(bare["detail"].as_str().unwrap().contains("requires a signature with a key of ann"), "{bare}");
    let keyless = service.post(&service.admin, path, &signature()).await.is(409);
    assert!(keyless["detail"].as_str().unwrap().contains("with a key of admin"), "{keyless}");
    let zero = json!("0".repeat(64));
    let mut other_reason = by_key(&ann.1, SignedAct::Approve, 1, &hash, "ann");
    other_reason["reason"] = "another".into();
    for wrong in [
        by_key(&bob.1, SignedAct::Approve, 1, &hash, "ann"),
        by_key(&ann.1, SignedAct::Approve, 1, &hash, "bob"),
        by_key(&ann.1, SignedAct::Approve, 2, &hash, "ann"),
        by_key(&ann.1, SignedAct::Approve, 1, &zero, "ann"),
        by_key(&ann.1, SignedAct::RollBack, 1, &hash, "ann"),
        by_key(&NoteSigner::generate("ann"), SignedAct::Approve, 1, &hash, "ann"),
        other_reason,
    ] {
        service.post(&ann.0, path, &wrong).await.is(409);
    }
    let first = service.post(&ann.0, path, &by_key(&ann.1, SignedAct::Approve, 1, &hash, "ann")).await.is(200);
    assert_eq!(first["policy"]["version"], 1);
    let second = service.post(&bob.0, path, &by_key(&bob.1, SignedAct::Approve, 1, &hash, "bob")).await.is(200);
    assert_eq!(second["policy"]["version"], 2);
    assert_eq!(second["proposal"]["signers"][1]["by_key"]["key"], bob.1.key().to_string());
    // The log has everything that a stranger needs to check it.
    let events = service.get(&service.admin, "/v1/policies/clinic/events").await.text();
    let mut latest = events.lines().rev().map(|line| serde_json::from_str(line).unwrap());
    let approved: Json = latest.find(|event: &Json| event["kind"] == "approved").unwrap();
    let kept = &approved["body"]["by_key"];
    let digest: Hash = kept["digest"].as_str().unwrap().parse().unwrap();
    assert!(bob.1.key().has_signed(&digest.0, kept["signature"].as_str().unwrap()));

    let mut back = by_key(&ann.1, SignedAct::RollBack, 1, &second["policy"]["signing_subject"], "ann");
    back["to"] = 1.into();
    service.post(&ann.0, "/v1/policies/clinic/rollback", &back).await.is(200);
    let id = ann.1.key().id();
    service.call(&service.admin, "DELETE", &format!("/v1/keys/{id}"), "", "").await.is(204);
    service.call(&service.admin, "DELETE", &format!("/v1/keys/{id}"), "", "").await.is(404);
    // Of a store with such signatures everything is read again, by a restart and by an audit.
    let service = service.restart();
    assert_eq!(service.get(&service.admin, "/v1/policies/clinic").await.is(200)["version"], 2);
    let findings = service.finish();
    assert_eq!((findings.signatures.by_key, findings.signatures.by_token), (3, 0));
}

/// Everything but a stop needs a key, and a signature is good once, for what the person saw.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_act_but_a_stop_needs_a_key() {
    let service = Service::new();
    service.register(&document("clinic", "review_every = 1000000")).await;
    let (ann, key) = (service.token("ann", &[Role::Review], None), NoteSigner::generate("ann"));
    let body = json!({ "name": "ann", "key": key.key().to_string() });
    service.post(&service.admin, "/v1/keys", &body).await.is(201);
    let path = |act: &str| format!("/v1/policies/clinic/{act}");
    service.batch(&service.admin, &path("observations"), &observations(0..600)).await;
    let propose = async || service.call(&ann, "POST", &path("review"), "", "").await.is(200)["proposal"].clone();
    let hash =
        async |number: u64| service.get(&ann, &path(&format!("proposals/{number}"))).await.is(200)["hash"].clone();
    assert_eq!(propose().await, 1);
    let reject = by_key(&key, SignedAct::Reject, 1, &hash(1).await, "ann");
    service.post(&ann, &path("proposals/1/reject"), &signature()).await.is(409);
    service.post(&ann, &path("proposals/1/approve"), &reject).await.is(409);
    service.post(&ann, &path("proposals/1/reject"), &reject).await.is(200);
    assert_eq!(propose().await, 2);
    let approve = by_key(&key, SignedAct::Approve, 2, &hash(2).await, "ann");
    let mut view = service.post(&ann, &path("proposals/2/approve"), &approve).await.is(200)["policy"].clone();
    assert_eq!(view["version"], 2);

    let mut back = by_key(&key, SignedAct::RollBack, 1, &view["signing_subject"], "ann");
    back["to"] = 1.into();
    let mut bare = signature();
    bare["to"] = 1.into();
    service.post(&ann, &path("rollback"), &bare).await.is(409);
    view = service.post(&ann, &path("rollback"), &back).await.is(200)["policy"].clone();
    // The evidence brings the change again. The same signature does not take it back again.
    assert_eq!(propose().await, 3);
    let approve = by_key(&key, SignedAct::Approve, 3, &hash(3).await, "ann");
    service.post(&ann, &path("proposals/3/approve"), &approve).await.is(200);
    let again = service.post(&ann, &path("rollback"), &back).await.is(409);
    assert!(again["detail"].as_str().unwrap().contains("something else"), "{again}");

    // A stop works with the token alone, and with a key if it is right.
    let mut wrong = by_key(&key, SignedAct::Stop, 0, &view["signing_subject"], "ann");
    service.post(&ann, &path("stop"), &wrong).await.is(409);
    view = service.post(&ann, &path("stop"), &signature()).await.is(200)["policy"].clone();
    service.post(&ann, &path("resume"), &signature()).await.is(409);
    let resume = by_key(&key, SignedAct::Resume, 0, &view["signing_subject"], "ann");
    view = service.post(&ann, &path("resume"), &resume).await.is(200)["policy"].clone();
    wrong = by_key(&key, SignedAct::Stop, 0, &view["signing_subject"], "ann");
    service.post(&ann, &path("stop"), &wrong).await.is(200);
    service.post(&ann, &path("resume"), &resume).await.is(409);
    let events = service.get(&ann, &path("events")).await.lines();
    let stops: Vec<bool> = events
        .iter()
        .filter(|event| event["kind"] == "stopped")
        .map(|event| event["body"]["by_key"].is_null())
        .collect();
    assert_eq!(stops, [true, false], "the log says which stop was by token");
    let findings = service.finish();
    assert_eq!((findings.signatures.by_key, findings.signatures.by_token), (6, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_says_token_needs_no_key() {
    let service = Service::new();
    let view = service.register(&document("clinic", BY_HAND)).await;
    assert_eq!(view["signatures"], "token");
    let view = service.post(&service.admin, "/v1/policies/clinic/stop", &signature()).await.is(200);
    assert_eq!(view["policy"]["stopped"], true);
    service.post(&service.admin, "/v1/policies/clinic/resume", &signature()).await.is(200);
    service.finish();
}
