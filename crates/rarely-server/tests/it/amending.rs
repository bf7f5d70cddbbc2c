//! Amendments over HTTP: proposed by an administrator, signed by a reviewer.

use rarely_live::Role;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, observations, signature};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_is_widened_under_signature() {
    let service = Service::new();
    let text = document("clinic", BY_HAND);
    service.register(&text).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..20)).await;
    let decided = json!({ "record": { "age": 50, "smoker": "no" } });
    let first = service.post(&service.admin, "/v1/policies/clinic/decisions", &decided).await.is(200);
    let aged = json!({ "record": { "age": 110, "smoker": "no" } });
    service.post(&service.admin, "/v1/policies/clinic/decisions", &aged).await.is(422);

    let (owner, signer) = (service.token("owner", &[Role::Admin], None), service.token("ann", &[Role::Review], None));
    let path = "/v1/policies/clinic/amendments";
    let wider = json!({ "document": text.replace("[0, 100]", "[0, 120]"), "reason": "people get older" });
    service.post(&signer, path, &wider).await.is(403);
    let proposed = service.post(&owner, path, &wider).await.is(201);
    assert_eq!((&proposed["number"], &proposed["amendment"]), (&json!(1), &json!(true)), "{proposed}");
    let words = &proposed["evidence"]["amendment"];
    assert_eq!(words["difference"], json!(["range of age 0–120, was 0–100"]), "{words}");
    assert!(words["statistics"].as_str().unwrap().starts_with("The statistics start again from nothing"), "{words}");
    service.post(&owner, path, &wider).await.is(200);
    let other = json!({ "document": text.replace("[0, 100]", "[0, 130]"), "reason": "and older" });
    let refused = service.post(&owner, path, &other).await.is(409);
    assert!(refused["detail"].as_str().unwrap().contains("proposal 1 is still open"), "{refused}");
    service.post(&owner, "/v1/policies/clinic/proposals/1/approve", &signature()).await.is(403);
    let signed = service.post(&signer, "/v1/policies/clinic/proposals/1/approve", &signature()).await.is(200);
    assert_eq!(signed["policy"]["version"], 2);
    service.post(&service.admin, "/v1/policies/clinic/decisions", &aged).await.is(200);

    // The old decision keeps its document, and is explained by it.
    let number = first["decision"].as_u64().unwrap();
    let old = service.get(&service.admin, &format!("/v1/policies/clinic/decisions/{number}")).await.is(200);
    assert!(old["rule"]["document"].as_str().unwrap().contains("[0, 100]"), "{old}");
    let version = service.get(&service.admin, "/v1/policies/clinic/versions/2").await.is(200);
    assert!(version["document"].as_str().unwrap().contains("[0, 120]"), "{version}");
    assert_eq!(version["origin"], json!({ "by": "amendment", "proposal": 1 }));
    let export = service.get(&service.admin, "/v1/policies/clinic/export").await;
    assert_eq!(export.status, 200);
    let service = service.restart();
    service.post(&service.admin, "/v1/policies/clinic/decisions", &aged).await.is(200);
    assert_eq!(service.finish().versions, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_cannot_replace_the_one_in_force() {
    let service = Service::new();
    let text = document("clinic", BY_HAND);
    service.register(&text).await;
    let path = "/v1/policies/clinic/amendments";
    for (document, reason, status, part) in [
        (text.clone(), "why", 409, "it is the document in force"),
        (text.replace("[30]", "[40]"), "why", 409, "its rule is not the rule in force: treat from 40 years, was 30"),
        (text.replace("clinic", "other"), "why", 409, "its name is \"other\""),
        (text.replace("noise = 0.1", "noise = 0"), "why", 422, "noise"),
        (text.replace("noise = 0.1", "noise = 0.2"), "", 409, "no reason was given"),
    ] {
        let refused = service.post(&service.admin, path, &json!({ "document": document, "reason": reason })).await;
        let refused = refused.is(status);
        assert!(refused["detail"].as_str().unwrap().contains(part), "{refused}");
        assert!(refused["field"].as_str().unwrap().starts_with("document"), "{refused}");
    }
    service.finish();
}
