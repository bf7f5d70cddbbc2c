//! Checkpoints and proofs.

use rarely_live::Role;
use rarely_store::{Hash, LogEntry, NoteKey, NoteVerdict, SignedCheckpoint, check_consistency, check_inclusion};
use serde_json::Value as Json;

use crate::support::{BY_HAND, Service, document, record};

fn hash(value: &Json) -> Hash {
    value.as_str().expect("a hash").parse().expect("a hash")
}

fn hashes(value: &Json) -> Vec<Hash> {
    value.as_array().expect("a list").iter().map(hash).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_is_proved_against_the_checkpoint() {
    let service = Service::signing();
    service.register(&document("clinic", BY_HAND)).await;
    for at in 0..5 {
        let ask = serde_json::json!({ "record": record(at) });
        service.post(&service.admin, "/v1/policies/clinic/decisions", &ask).await.is(200);
    }
    let early = service.get(&service.admin, "/v1/events/7/proof").await;
    assert_eq!(early.status.as_u16(), 409, "no checkpoint covers it yet");
    service.app.engine.notary().expect("a notary").sign_checkpoint().expect("signed");
    let key: NoteKey = service.get("", "/v1/checkpoint/key").await.text().parse().expect("a key");
    let checkpoint: SignedCheckpoint = service.get("", "/v1/checkpoint").await.text().parse().expect("a checkpoint");
    assert_eq!((checkpoint.size(), checkpoint.verdict(&key)), (7, NoteVerdict::Signed));
    for number in 1..=7 {
        let answer = service.get(&service.admin, &format!("/v1/events/{number}/proof")).await.is(200);
        assert_eq!(answer["checkpoint"], checkpoint.to_string());
        let mut event = answer["event"].clone();
        event["hash"] = Hash::ZERO.to_string().into();
        let entry: LogEntry = serde_json::from_value(event).expect("an entry");
        let computed = entry.expected_hash(&hash(&answer["previous_hash"]));
        assert_eq!(computed, hash(&answer["event"]["hash"]), "the answer has everything that is hashed");
        assert!(check_inclusion(&hashes(&answer["proof"]), 7, &checkpoint.root(), number, &computed));
    }
    let reader = service.token("reader", &[Role::Read], Some(&["clinic"]));
    service.get(&reader, "/v1/policies/clinic/events/3/proof").await.is(200);
    assert_eq!(service.get(&reader, "/v1/policies/clinic/events/1/proof").await.status.as_u16(), 404);
    assert_eq!(service.get(&reader, "/v1/events/3/proof").await.status.as_u16(), 403);
    let answer = service.get("", "/v1/checkpoint/consistency?from=3").await.is(200);
    let (old, new) = (hash(&answer["from_root"]), hash(&answer["to_root"]));
    assert_eq!(new, checkpoint.root());
    assert!(check_consistency(&hashes(&answer["proof"]), (3, &old), (7, &new)));
    for wrong in ["from=0", "from=8", "from=3&to=2", "from=1&to=99"] {
        service.get("", &format!("/v1/checkpoint/consistency?{wrong}")).await.is(422);
    }
    let metrics = service.get(&service.admin, "/metrics").await.text();
    assert!(
        metrics.contains("rarely_checkpoint_events 7\n") && metrics.contains("rarely_unsigned_events 1\n"),
        "{metrics}"
    );
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_without_a_key_says_so() {
    let service = Service::new();
    for path in ["/v1/checkpoint", "/v1/checkpoint/key", "/v1/checkpoint/consistency?from=1"] {
        service.get("", path).await.is(404);
    }
    service.get(&service.admin, "/v1/events/1/proof").await.is(404);
    service.finish();
}
