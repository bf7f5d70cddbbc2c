//! Archived records over HTTP.

use rarely_live::engine::ArchiveFile;
use rarely_store::Hash;
use serde_json::json;

use crate::support::{BY_HAND, DAY_MS, Service, document, observations};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archived_record_is_said_to_be_archived_and_takes_no_outcome() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\nretain = \"30 days\""))).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..40)).await;
    let decisions = "/v1/policies/clinic/decisions";
    let ask = json!({ "record": { "age": 61.625, "smoker": "yes" }, "key": "visit 1" });
    let made = service.post(&service.admin, decisions, &ask).await.is(200);
    let outcome = json!({ "decision": made["decision"], "outcome": 0.40625 });
    let one = format!("{decisions}/{}", made["decision"]);
    service.wait_ms(40 * DAY_MS);
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(200);
    let export = service.get(&service.admin, "/v1/policies/clinic/export").await.body.len();
    let engine = service.app.engine.clone();
    let file = tokio::task::spawn_blocking(move || {
        let due = engine.due_archives(None).expect("read");
        assert_eq!((due.len(), due[0].events), (1, 41));
        let name = format!("events-{}-{}.parquet", due[0].first, due[0].last);
        let file = ArchiveFile { name: name.clone(), sha256: Hash::ZERO, checkpoint: None };
        engine.archive(("ann", "ann"), &due[0], file).expect("archived");
        name
    });
    let file = file.await.expect("archived");

    let gone = service.get(&service.admin, &one).await.is(200);
    assert_eq!(
        (&gone["archived"], &gone["option"], &gone["record"]),
        (&json!(file), &made["option"], &json!({})),
        "{gone}"
    );
    let text = service.get(&service.admin, "/v1/policies/clinic/events").await.text();
    assert!(!text.contains("61.625") && !text.contains("visit 1"), "the record is gone");
    assert!(text.contains("\"kind\":\"archived\""), "{text}");
    let after = service.get(&service.admin, "/v1/policies/clinic/export").await.body.len();
    assert!(after < export, "the export has {after} bytes, and had {export}");
    let late = json!({ "decision": made["decision"], "outcome": 0.25, "correction": true, "reason": "misread" });
    let refused = service.post(&service.admin, "/v1/policies/clinic/outcomes", &late).await.is(410);
    assert!(refused["detail"].as_str().unwrap().contains(&file), "{refused}");
    let instead = json!({ "option": "wait", "reason": "why" });
    service.post(&service.admin, &format!("{one}/override"), &instead).await.is(410);
    let again = service.post(&service.admin, decisions, &ask).await.is(200);
    assert_ne!(again["decision"], made["decision"], "the key went with the record");
    let forget = json!({ "subjects": ["nobody"], "reason": "asked", "statistics": "forget" });
    service.post(&service.admin, "/v1/erasures", &forget).await.is(404);
    let service = service.restart();
    service.get(&service.admin, &one).await.is(200);
    let summary = service.finish();
    assert_eq!((summary.archived.events, summary.archived.decisions, summary.decisions), (41, 1, 1));
}
