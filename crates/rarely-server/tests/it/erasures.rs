//! Erasing people over HTTP.

use rarely_live::Role;
use serde_json::json;

use crate::support::{BY_HAND, Service, document, observations};

const PATH: &str = "/v1/erasures";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_person_is_nowhere_and_the_log_still_verifies() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..40)).await;
    let decisions = "/v1/policies/clinic/decisions";
    let ask = json!({ "record": { "age": 61.625, "smoker": "yes" }, "subject": "patient 4711", "key": "visit 1" });
    let made = service.post(&service.admin, decisions, &ask).await.is(200);
    assert_eq!(service.post(&service.admin, decisions, &ask).await.is(200), made, "a repeated request");
    let outcome = json!({ "decision": made["decision"], "outcome": 0.40625 });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(200);
    let one = format!("{decisions}/{}", made["decision"]);
    let known = service.get(&service.admin, &one).await.is(200);
    assert_eq!((&known["record"]["age"], &known["outcome"]), (&json!(61.625), &json!(0.40625)), "{known}");
    let listed = service.get(&service.admin, "/v1/policies/clinic/events").await;
    let opened = listed.lines().into_iter().find(|line| line["number"] == made["decision"]).unwrap();
    assert_eq!(opened["opened"]["key"], "visit 1", "{opened}");
    assert!(opened["body"]["record"].is_null() && opened["body"]["sealed"].is_string(), "{opened}");
    let export = service.get(&service.admin, "/v1/policies/clinic/export").await.body.len();

    let reader = service.token("reader", &[Role::Read, Role::Review], None);
    let erase = json!({ "subjects": ["patient 4711"], "reason": "asked for it" });
    service.post(&reader, PATH, &erase).await.is(403);
    service.post(&service.admin, PATH, &json!({ "subjects": ["nobody"], "reason": "why" })).await.is(404);
    service.post(&service.admin, PATH, &json!({ "subjects": ["patient 4711"], "reason": " " })).await.is(422);
    service.post(&service.admin, PATH, &json!({ "subjects": [""], "reason": "why" })).await.is(422);
    let erased = service.post(&service.admin, PATH, &erase).await.is(200);
    assert_eq!((&erased["decisions"], &erased["outcomes"]), (&json!(1), &json!(1)), "{erased}");

    let gone = service.get(&service.admin, &one).await.is(200);
    assert!(gone["erased"].is_string() && gone["outcome"].is_null() && gone["explanation"].is_null(), "{gone}");
    assert_eq!(gone["record"], json!({}));
    let text = service.get(&service.admin, "/v1/policies/clinic/events").await.text();
    for word in ["61.625", "0.40625", "visit 1", "4711"] {
        assert!(!text.contains(word), "{word} is among the events");
    }
    assert!(text.contains("\"erased\":\"") && text.contains("person erased"), "{text}");
    let after = service.get(&service.admin, "/v1/policies/clinic/export").await.body.len();
    assert!(after < export, "the export has {after} bytes, and had {export}");
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(410);
    let instead = json!({ "option": "wait", "reason": "why" });
    service.post(&service.admin, &format!("{one}/override"), &instead).await.is(410);
    service.post(&service.admin, PATH, &erase).await.is(404);
    service.post(&service.admin, decisions, &ask).await.is(200);
    let service = service.restart();
    service.get(&service.admin, &one).await.is(200);
    let summary = service.finish();
    assert_eq!((summary.erased.people, summary.erased.decisions, summary.decisions), (1, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_and_observations_name_people_too() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let flag = json!({ "context": { "targetingKey": "p1", "age": 50, "smoker": "no" } });
    service.post(&service.admin, "/ofrep/v1/evaluate/flags/clinic", &flag).await.is(200);
    let case = json!({ "record": { "age": 44.5, "smoker": "no" }, "option": "wait", "outcome": 0.5, "key": "case 9", "subject": "p1" });
    let observed = service.post(&service.admin, "/v1/policies/clinic/observations", &case).await.is(200);
    let again = service.post(&service.admin, "/v1/policies/clinic/observations", &case).await.is(200);
    assert_eq!((&again["event"], &again["repeated"]), (&observed["event"], &json!(true)));
    let erase = json!({ "subjects": ["p1"], "reason": "asked for it", "statistics": "forget" });
    let erased = service.post(&service.admin, PATH, &erase).await.is(200);
    assert_eq!((&erased["decisions"], &erased["outcomes"]), (&json!(1), &json!(1)), "{erased}");
    assert_eq!(service.finish().erased.people, 1);
}
