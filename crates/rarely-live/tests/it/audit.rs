//! `audit::verify`: forged logs and snapshots are found.

use rarely_live::audit;
use rarely_live::engine::SNAPSHOT_FORMAT;
use rarely_store::{EventLog, Hash, KeyedEntry, LogEntry, LookupKey, MemoryLog, SnapshotFile, SqliteLog};

use crate::support::{Bench, signature};

/// The entries of a policy with decisions, outcomes, reviews and an approval.
fn entries() -> Vec<LogEntry> {
    let mut bench = Bench::new();
    let handle = bench.register("approval = \"one\"\nsignatures = \"token\"\nreview_every = 100", "equipoise:0.3");
    bench.people(&handle, 150);
    bench.cases(&handle, 2000);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    let open = handle.live.lock().open_proposal().map(|open| open.number);
    if let Some(open) = open {
        bench.engine.approve(&handle, "bob", open, signature("yes")).expect("approved");
    }
    bench.people(&handle, 50);
    bench.engine.stop();
    let log = SqliteLog::open_read_only(&bench.store()).expect("a log");
    log.entries(0, None, 1_000_000).expect("entries")
}

/// The same entries with a recomputed chain, as a forger would write them.
fn chained(mut entries: Vec<LogEntry>) -> MemoryLog {
    let log = MemoryLog::new();
    let mut hash = Hash::ZERO;
    let keyed: Vec<KeyedEntry> = entries
        .drain(..)
        .map(|mut entry| {
            entry.hash = entry.expected_hash(&hash);
            hash = entry.hash;
            let key = lookup_key(&entry);
            KeyedEntry { entry, key, destroys: Vec::new(), archives: Vec::new() }
        })
        .collect();
    log.append(&keyed).expect("appended");
    log
}

/// The engine's lookup key of an outcome: namespace 2.
fn lookup_key(entry: &LogEntry) -> Option<LookupKey> {
    let body: serde_json::Value = serde_json::from_str(&entry.body).expect("JSON");
    let decision = body["decision"].as_u64().filter(|_| entry.kind == "observed")?;
    Some(LookupKey::new(2, &decision.to_be_bytes()))
}

fn fault(entries: Vec<LogEntry>) -> (Option<u64>, String) {
    let fault = audit::verify(&chained(entries), None, |_| {}).expect_err("a fault");
    (fault.event(), fault.to_string())
}

#[test]
fn a_forged_log_is_found_even_if_its_chain_is_right() {
    let original = entries();
    audit::verify(&chained(original.clone()), None, |_| {}).expect("as it was");
    let forge = |kind: &str, nth: usize, from: &str, to: &str| {
        let mut forged = original.clone();
        let at =
            forged.iter().enumerate().filter(|(_, entry)| entry.kind == kind && entry.body.contains(from)).nth(nth);
        let (at, number) = at.map(|(at, entry)| (at, entry.number)).expect("such an entry");
        forged[at].body = forged[at].body.replacen(from, to, 1);
        let (event, problem) = fault(forged);
        (number, event, problem)
    };
    let (number, event, problem) = forge("decided", 20, "\"propensity\":0", "\"propensity\":1");
    assert_eq!(event, Some(number), "{problem}");
    let (number, event, problem) = forge("decided", 30, "\"wait\"", "\"invite\"");
    assert_eq!(event, Some(number), "{problem}");
    let (number, event, problem) = forge("observed", 40, "\"outcome\":0.", "\"outcome\":0.1");
    assert!(event > Some(number), "the next review's statistics or the next draw differ: {problem}");
    let (number, event, problem) = forge("approved", 0, "\"proposal\":", "\"proposal\":7");
    assert_eq!(event, Some(number), "{problem}");
    let mut unsigned = original.clone();
    unsigned
        .iter_mut()
        .filter(|entry| entry.kind == "approved")
        .for_each(|entry| "engine".clone_into(&mut entry.actor));
    assert!(fault(unsigned).1.contains("without a signature"));
}

#[test]
fn a_forged_snapshot_is_found() {
    let mut bench = Bench::new();
    let handle = bench.register("review_every = 1000", "none");
    bench.people(&handle, 30);
    bench.engine.stop();
    let log = SqliteLog::open_read_only(&bench.store()).expect("a log");
    let mut snapshot =
        SnapshotFile::beside(&bench.store()).read(SNAPSHOT_FORMAT, &log).expect("fits").expect("is there");
    audit::verify(&log, Some(&snapshot), |_| {}).expect("as it was");
    let text = String::from_utf8(snapshot.body.clone()).expect("text").replacen("\"explored\":0", "\"explored\":1", 1);
    snapshot.body = text.into_bytes();
    let fault = audit::verify(&log, Some(&snapshot), |_| {}).expect_err("a fault");
    assert_eq!(fault.event(), Some(snapshot.number));
}
