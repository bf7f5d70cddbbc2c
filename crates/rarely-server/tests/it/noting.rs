//! What is written down about readings, exports and sign-ins, and who may see it.

use axum::body::Body;
use axum::http::Request;
use rarely_live::Role;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Reply, Service, document, observations, record};

/// The events of some kind: actor and body.
async fn noted(service: &Service, kind: &str) -> Vec<(Json, Json)> {
    let events = service.get(&service.admin, "/v1/events").await.lines();
    let fitting = events.into_iter().filter(|event| event["kind"] == kind);
    fitting.map(|event| (event["actor"].clone(), event["body"].clone())).collect()
}

async fn sign_in(service: &Service, token: &str) -> String {
    let request = Request::post("/sign-in").header("content-type", "application/x-www-form-urlencoded");
    let reply = service.send_page(request.body(Body::from(format!("token={token}"))).unwrap()).await;
    assert_eq!(reply.status.as_u16(), 303, "{}", reply.text());
    reply.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}

async fn page(service: &Service, session: &str, path: &str) -> Reply {
    service.send_page(Request::get(path).header("cookie", session).body(Body::empty()).unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reading_of_a_record_and_an_export_are_one_event_each() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..3)).await;
    let asked = json!({ "record": record(1), "explain": true });
    let decided = service.post(&service.admin, "/v1/policies/clinic/decisions", &asked).await.is(200);
    let reader = json!({ "name": "Ann Lee", "person": "a.lee", "roles": ["read"], "policies": ["clinic"] });
    let reader =
        service.post(&service.admin, "/v1/tokens", &reader).await.is(201)["token"].as_str().unwrap().to_owned();
    let before = service.app.engine.policy("clinic").unwrap().live.lock().state().last_event;
    let path = format!("/v1/policies/clinic/decisions/{}", decided["decision"]);
    service.get(&reader, &path).await.is(200);
    service.get(&reader, "/v1/policies/clinic/decisions/1").await.is(404);
    for listing in
        ["/v1/policies", "/v1/policies/clinic", "/v1/policies/clinic/events", "/v1/policies/clinic/proposals"]
    {
        assert_eq!(service.get(&reader, listing).await.status.as_u16(), 200);
    }
    assert_eq!(service.get(&reader, "/v1/policies/clinic/export").await.status.as_u16(), 200);
    let read = json!({ "person": "a.lee", "decision": decided["decision"] });
    assert_eq!(noted(&service, "decision read").await, [(json!("Ann Lee"), read.clone())]);
    assert_eq!(noted(&service, "exported").await, [(json!("Ann Lee"), json!({ "person": "a.lee" }))]);
    let session = sign_in(&service, &reader).await;
    let shown = page(&service, &session, &format!("/policies/clinic/decisions/{}", decided["decision"])).await;
    assert_eq!(shown.status.as_u16(), 200);
    assert_eq!(noted(&service, "decision read").await.len(), 2);
    let listed = page(&service, &session, "/policies/clinic/audit").await.text();
    assert!(
        listed.contains("The person a.lee read the record of") && listed.contains("exported all cases"),
        "{listed}"
    );
    let state = service.app.engine.policy("clinic").unwrap();
    assert_eq!(state.live.lock().state().last_event, before, "reading changes nothing");
    drop(state);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_ins_are_recorded_and_auditors_see_them() {
    let service = Service::new();
    let (auditor, id) = service.token_until("Eve", &[Role::Auditor], None, None);
    let reader = service.token("Ben", &[Role::Read], None);
    let session = sign_in(&service, &auditor).await;
    let seen = noted(&service, "signed in").await;
    let body = json!({ "person": "eve", "with": format!("the token {id}"), "address": "0.0.0.0" });
    assert_eq!(seen, [(json!("Eve"), body)]);
    let shown = page(&service, &session, "/audit").await.text();
    assert!(shown.contains("The person eve signed in to the dashboard"), "{shown}");
    assert!(shown.contains("was created for Ben (person ben): read."), "{shown}");
    let only = page(&service, &session, "/audit?kind=signed+in").await.text();
    assert!(!only.contains("was created for"), "{only}");
    let session = sign_in(&service, &reader).await;
    assert_eq!(page(&service, &session, "/audit").await.status.as_u16(), 403);
    assert!(!page(&service, &session, "/").await.text().contains("href=\"/audit\""));
    service.finish();
}
