//! `EngineState` and its snapshot.

use rarely_live::engine::SNAPSHOT_FORMAT;
use rarely_live::{EngineSnapshot, EngineState};
use rarely_store::{SnapshotFile, SqliteLog};

use crate::support::Bench;

/// Snapshots and logs of earlier versions must stay readable, whatever the Rust names are.
#[test]
fn stored_field_names_do_not_change() {
    let mut bench = Bench::new();
    let handle = bench.register("review_every = 1000000\noutcome_window = \"1 day\"", "none");
    bench.people(&handle, 20);
    bench.engine.stop();
    let log = SqliteLog::open_read_only(&bench.store()).expect("a log");
    let snapshot = SnapshotFile::beside(&bench.store()).read(SNAPSHOT_FORMAT, &log).expect("fits").expect("is there");
    let state: serde_json::Value = serde_json::from_slice(&snapshot.body).expect("JSON");
    assert_eq!(keys(&state), ["applied", "format", "policies", "tokens"]);
    let policy = &state["policies"][0];
    let expected =
        ["birth", "counts", "last_event", "late", "learned", "proposals", "reviews", "signing", "stopped", "versions"];
    assert_eq!(keys(policy), expected);
    assert_eq!(keys(&policy["late"]), ["learned_before_rule", "queue", "too_late"]);
    assert_eq!(keys(&policy["late"]["queue"]), ["cases", "delay", "reported", "timed_out", "window"]);
    assert_eq!(keys(&policy["birth"]), ["author", "event", "hash", "seed", "text", "time_ms"]);
    assert_eq!(keys(&policy["counts"]), ["answered", "corrections", "decided", "elsewhere", "explored", "waiting"]);
    assert_eq!(keys(&policy["counts"]["waiting"]), ["closed", "open", "overdue", "window_ms"]);
    assert_eq!(policy["reviews"]["verdict"], "", "before the first review");
    let restored: EngineSnapshot = serde_json::from_value(state).expect("a snapshot");
    let restored = EngineState::restore(restored).expect("consistent");
    assert_eq!(serde_json::to_vec(&restored.snapshot()).expect("JSON"), snapshot.body);
}

fn keys(value: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
