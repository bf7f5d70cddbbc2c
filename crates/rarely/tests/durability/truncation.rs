//! Files that lost their end, or a byte: recovered or refused, never silently wrong.

use std::fs::OpenOptions;
use std::path::PathBuf;

use crate::service::{DOCUMENT, Service, assert_verified, verify};

/// A store with a few decisions, killed so that its write-ahead log is still there.
fn killed() -> (tempfile::TempDir, PathBuf, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("rarely.db");
    let service = Service::start(&store, &[]).expect("it starts");
    assert!(service.post("/v1/policies", DOCUMENT).expect("an answer").is_success());
    let mut last = 0;
    for at in 0..20 {
        let answer = service.decide(&format!("k{at}")).expect("an answer");
        last = answer.json()["decision"].as_u64().expect("a number");
    }
    service.kill();
    (folder, store, last)
}

#[test]
fn a_truncated_write_ahead_log_is_refused() {
    let (_folder, store, last) = killed();
    let log = store.with_extension("db-wal");
    // Room for a few commits; the others are gone.
    OpenOptions::new().write(true).open(&log).and_then(|file| file.set_len(40_000)).expect("cut");
    let output = verify(&store);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = Service::start(&store, &[]).err().expect("it does not start");
    assert!(said.contains(&last.to_string()), "it says up to where events were acknowledged: {said}");
    assert!(said.contains("rarely store recover"), "and what to do: {said}");
}

#[test]
fn a_missing_or_foreign_snapshot_is_made_again() {
    let (_folder, store, _) = killed();
    Service::start(&store, &[]).expect("it starts").kill();
    std::fs::write(store.with_extension("db.snapshot"), b"{\"format\":\"another\"}\nnothing").expect("written");
    assert_eq!(verify(&store).status.code(), Some(1), "the audit says that it is of no use");
    let service = Service::start(&store, &[]).expect("it starts without");
    assert!(service.decide("k1").expect("an answer").is_success());
    assert!(service.decide("new").expect("an answer").is_success());
    service.stop();
    assert_verified(&store, "with a snapshot made anew");
}
