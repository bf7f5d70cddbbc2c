//! What an audit finds.

use rarely_live::audit;
use rarely_live::engine::SNAPSHOT_FORMAT;
use rarely_store::{Entry, Hash, Log, Mark, MemoryLog, SnapshotFile, SqliteLog, Stamped};

use crate::support::{Bench, signature};

/// A life with a bit of everything, as a list of entries.
fn life() -> Vec<Entry> {
    let mut bench = Bench::new();
    let slot = bench.register("approval = \"one\"\nreview_every = 100", "equipoise:0.3");
    bench.people(&slot, 150);
    bench.cases(&slot, 2000);
    bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    let open = slot.live.lock().open_proposal().map(|open| open.number);
    if let Some(open) = open {
        bench.engine.approve(&slot, "bob", open, signature("yes")).expect("approved");
    }
    bench.people(&slot, 50);
    bench.engine.stop();
    let log = SqliteLog::open_read_only(&bench.store()).expect("a log");
    log.entries(0, None, 1_000_000).expect("entries")
}

/// The same entries with the chain made good again, as whoever forges a log would.
fn chained(mut entries: Vec<Entry>) -> MemoryLog {
    let log = MemoryLog::new();
    let mut hash = Hash::ZERO;
    let stamped: Vec<Stamped> = entries
        .drain(..)
        .map(|mut entry| {
            entry.hash = entry.expected_hash(&hash);
            hash = entry.hash;
            let mark = mark(&entry);
            Stamped { entry, mark }
        })
        .collect();
    log.append(&stamped).expect("appended");
    log
}

/// As the engine marks them: space 2 holds the outcomes of decisions.
fn mark(entry: &Entry) -> Option<Mark> {
    let body: serde_json::Value = serde_json::from_str(&entry.body).expect("JSON");
    let decision = body["decision"].as_u64().filter(|_| entry.kind == "observed")?;
    Some(Mark::new(2, &decision.to_be_bytes()))
}

fn fault(entries: Vec<Entry>) -> (Option<u64>, String) {
    let fault = audit::verify(&chained(entries), None, |_| {}).expect_err("a fault");
    (fault.event(), fault.to_string())
}

#[test]
fn a_forged_log_is_found_even_if_its_chain_is_right() {
    let entries = life();
    audit::verify(&chained(entries.clone()), None, |_| {}).expect("as it was");
    let forge = |kind: &str, nth: usize, from: &str, to: &str| {
        let mut forged = entries.clone();
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
    assert!(event > Some(number), "the next review's sums, or the next draw, do not fit: {problem}");
    let (number, event, problem) = forge("approved", 0, "\"proposal\":", "\"proposal\":7");
    assert_eq!(event, Some(number), "{problem}");
    let mut unsigned = entries.clone();
    unsigned
        .iter_mut()
        .filter(|entry| entry.kind == "approved")
        .for_each(|entry| "engine".clone_into(&mut entry.actor));
    assert!(fault(unsigned).1.contains("without a signature"));
}

#[test]
fn a_snapshot_that_lies_is_found() {
    let mut bench = Bench::new();
    let slot = bench.register("review_every = 1000", "none");
    bench.people(&slot, 30);
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
