//! Archiving old records: they are gone from the store, the sums stay, and every replay gives the same, bit for bit.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use rarely_live::audit;
use rarely_live::engine::{
    ChangeError, DecisionRequest, DueArchive, ErasedStatistics, NewOutcome, OutcomeError, PolicyHandle,
};
use rarely_live::event::ArchiveFile;
use rarely_store::{ChainFault, Hash, RestoredLog, SnapshotFile, SqliteLog, backup};

use crate::support::{Bench, block_on, request};

const TOKENS: &str = "signatures = \"token\"\napproval = \"one\"\nreview_every = 100000\nretain = \"30 days\"";
const ADMIN: (&str, &str) = ("ann", "ann");
const DAY: u64 = 86_400_000;
const AGE: f64 = 67.123_456_789;

/// The bodies that were archived, as a file would have them.
type Bodies = HashMap<u64, String>;

fn decide(bench: &Bench, handle: &PolicyHandle, person: Option<&str>, age: f64, key: Option<&str>) -> u64 {
    let request = DecisionRequest { subject: person.map(ToOwned::to_owned), ..request(handle, age, key) };
    let decision = block_on(bench.engine.decide(handle, "ward", vec![request])).remove(0).expect("an answer").decision;
    let mut applied = bench.engine.subscribe();
    block_on(async { drop(applied.wait_for(|applied| *applied >= decision).await) });
    decision
}

fn report(
    bench: &Bench,
    handle: &PolicyHandle,
    decision: u64,
    outcome: f64,
    why: Option<&str>,
) -> Result<u64, OutcomeError> {
    let correction = why.map(ToOwned::to_owned);
    let report = NewOutcome::OfDecision { decision, outcome, guardrails: BTreeMap::new(), correction };
    block_on(bench.engine.observe(handle, "ward", vec![report])).remove(0).map(|recorded| recorded.event)
}

fn has(path: &Path, text: &str) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn policy(bench: &Bench) -> Arc<PolicyHandle> {
    bench.engine.policy("screening").expect("a policy")
}

fn state(bench: &Bench) -> Vec<u8> {
    serde_json::to_vec(policy(bench).live.lock().state()).expect("JSON")
}

fn outcomes(bench: &Bench) -> u64 {
    policy(bench).live.lock().state().learned.outcomes()
}

/// Restarts without a snapshot, so that everything is replayed from the first event.
fn replay(bench: &mut Bench) {
    bench.engine.stop();
    SnapshotFile::beside(&bench.store()).remove().expect("removed");
    bench.restart();
}

/// Archives what is due, and keeps the bodies.
fn archive(bench: &Bench, bodies: &mut Bodies) -> DueArchive {
    let due = bench.engine.due_archives(None).expect("read");
    let [due] = &due[..] else { panic!("{due:?}") };
    for entry in bench.engine.log().entries(due.first - 1, Some(due.id), 100_000).expect("read") {
        if due.has(&entry) {
            bodies.insert(entry.number, entry.body);
        }
    }
    let file = ArchiveFile {
        name: format!("events-{}-{}.parquet", due.first, due.last),
        sha256: Hash::ZERO,
        checkpoint: None,
    };
    bench.engine.archive(ADMIN, due, file).expect("archived");
    assert!(bench.engine.compact());
    due.clone()
}

/// Audits the store with the archived bodies, from the first event.
fn verify_with(bench: &Bench, bodies: &Bodies) -> audit::AuditSummary {
    let log = SqliteLog::open_read_only(&bench.store()).expect("a log");
    let snapshot =
        SnapshotFile::beside(&bench.store()).read(rarely_live::engine::SNAPSHOT_FORMAT, &log).expect("of this log");
    let restored = RestoredLog::new(&log, bodies.clone()).unwrap_or_else(|error| panic!("{error}"));
    audit::verify(&restored, snapshot.as_ref(), |_| {}).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn archived_records_are_in_no_file_and_the_sums_stay() {
    let mut bench = Bench::new();
    let handle = bench.register(TOKENS, "none");
    bench.people(&handle, 400);
    let secret = decide(&bench, &handle, None, AGE, Some("visit-99"));
    report(&bench, &handle, secret, 0.123_454_321, None).expect("recorded");
    report(&bench, &handle, secret, 0.223_454_321, Some("misread-by-nurse")).expect("corrected");
    let open = decide(&bench, &handle, None, 51.5, None);
    bench.cases(&handle, 2000);
    assert_eq!(bench.engine.due_archives(None).expect("read"), [], "nothing is old");
    bench.pass(40 * DAY);
    let late = report(&bench, &handle, open, 0.25, None).expect("it may come late");
    bench.people(&handle, 30);
    let before = (outcomes(&bench), policy(&bench).live.lock().state().learned.tally().clone());
    bench.restart();
    let snapshot = bench.store().with_extension("db.snapshot");
    let context = handle.edition().reader.context(&[rarely_live::RecordField::Number(AGE)]).expect("in range");
    let encoded = serde_json::to_string(&context[context.len() - 1]).expect("JSON");
    assert!(has(&snapshot, &encoded), "the sample has the case");
    let was = std::fs::metadata(bench.store()).expect("a file").len();

    let mut bodies = Bodies::new();
    let due = archive(&bench, &mut bodies);
    assert_eq!((due.events, bodies.len()), (400 * 2 + 3 + 1 + 2000, 2804));
    let wal = bench.store().with_extension("db-wal");
    let copy = bench.folder.path().join("backup.db");
    backup(&bench.store(), &copy).expect("a backup");
    for file in [&bench.store(), &wal, &snapshot, &copy] {
        for text in ["67.123456789", "0.123454321", "visit-99", "misread-by-nurse", &encoded] {
            assert!(!has(file, text), "{text} is in {}", file.display());
        }
    }
    let is = std::fs::metadata(bench.store()).expect("a file").len();
    assert!(is < was - 64 * 1024, "the store has {is} bytes and had {was}");
    assert_eq!(outcomes(&bench), before.0, "the sums stay");
    assert_eq!(policy(&bench).live.lock().state().learned.tally().without_people(), before.1.without_people());

    let handle = policy(&bench);
    let refused = report(&bench, &handle, secret, 0.2, Some("again"));
    assert!(matches!(&refused, Err(OutcomeError::Archived { file, .. }) if file.ends_with(".parquet")), "{refused:?}");
    let new = decide(&bench, &handle, None, AGE, Some("visit-99"));
    assert_ne!(new, secret, "the key went with the record");
    report(&bench, &handle, new, 0.3, None).expect("recorded");
    let stub = bench.engine.log().entry(secret).expect("read").expect("there");
    assert!(stub.body.contains("\"option\":") && !stub.body.contains("record"), "{}", stub.body);
    assert!(!bodies.contains_key(&late), "it is younger");

    let now = state(&bench);
    bench.restart();
    assert_eq!(state(&bench), now, "the same from a snapshot");
    let summary = bench.verify();
    assert_eq!((summary.archived.events, summary.archived.decisions, summary.decisions), (2804, 402, 31));
    assert!(summary.snapshot.is_some());
    let whole = verify_with(&bench, &bodies);
    assert_eq!((whole.archived, whole.decisions), (audit::ArchivedCounts::default(), 433));
    replay(&mut bench);
    assert_eq!(state(&bench), now, "the same from the first event");
}

#[test]
fn an_exploring_policy_is_archived_twice_and_forgets_people() {
    let mut bench = Bench::new();
    let handle = bench.register(&format!("{TOKENS}\noutcome_window = \"20 days\""), "pilot:3+equipoise:0.5");
    let mut bodies = Bodies::new();
    for round in 0..3 {
        let handle = policy(&bench);
        bench.people(&handle, 30);
        for person in ["bea", "cyd"] {
            let decision = decide(&bench, &handle, Some(person), 55.5, Some(&format!("{person} {round}")));
            report(&bench, &handle, decision, 0.125, None).expect("recorded");
        }
        bench.people_without_outcomes(&handle, 2);
        bench.people(&handle, 10);
        bench.engine.review(&handle, Some(("ann", None))).expect("a review");
        bench.pass(16 * DAY);
    }
    drop(handle);
    bench.engine.erase(ADMIN, &["cyd".to_owned()], "asked for it", ErasedStatistics::Keep).expect("erased");
    for round in 0..2 {
        archive(&bench, &mut bodies);
        let now = state(&bench);
        replay(&mut bench);
        assert_eq!(state(&bench), now, "after archive {round}");
        let handle = policy(&bench);
        bench.people(&handle, 12);
        bench.engine.review(&handle, Some(("ann", None))).expect("a review");
        let summary = {
            bench.restart();
            bench.verify()
        };
        assert!(summary.archived.decisions > 0 && summary.archived.reviews > 0, "{summary:?}");
        let whole = verify_with(&bench, &bodies);
        assert_eq!((whole.archived.events, whole.archived.decisions), (0, 0), "{whole:?}");
        assert_eq!(whole.erased.people, 1);
        bench.pass(16 * DAY);
    }
    let refused = bench.engine.erase(ADMIN, &["bea".to_owned()], "asked for it", ErasedStatistics::Forget);
    assert!(matches!(refused, Err(ChangeError::ArchivedStatistics(_))), "{refused:?}");
    let erased =
        bench.engine.erase(ADMIN, &["bea".to_owned()], "asked for it", ErasedStatistics::Keep).expect("erased");
    assert_eq!((erased.decisions, erased.outcomes), (3, 3), "archived ones are hers too");
    let now = state(&bench);
    replay(&mut bench);
    assert_eq!(state(&bench), now);
    archive(&bench, &mut bodies);
    let now = state(&bench);
    replay(&mut bench);
    assert_eq!(state(&bench), now);
    bench.restart();
    bench.verify();
    let whole = verify_with(&bench, &bodies);
    assert_eq!(whole.erased.people, 2);
    let sealed = bodies.values().filter(|body| body.contains("\"sealed\"")).count();
    assert!(sealed >= 4, "what was encrypted stays encrypted in the archive");
}

#[test]
fn what_is_left_of_archived_events_cannot_be_changed_unseen() {
    let mut bench = Bench::new();
    let handle = bench.register(TOKENS, "none");
    bench.people(&handle, 10);
    bench.pass(40 * DAY);
    let mut bodies = Bodies::new();
    let due = archive(&bench, &mut bodies);
    assert!(
        bench
            .engine
            .archive(ADMIN, &due, ArchiveFile { name: "again".to_owned(), sha256: Hash::ZERO, checkpoint: None })
            .is_err()
    );
    bench.engine.stop();
    let copy = bench.folder.path().join("copy.db");
    backup(&bench.store(), &copy).expect("a copy");
    let connection = rusqlite::Connection::open(&copy).expect("a database");
    let change = |statement: &str| assert!(connection.execute(statement, []).expect("changed") > 0, "{statement}");
    let fault = || {
        let log = SqliteLog::open_read_only(&copy).expect("a log");
        audit::verify(&log, None, |_| {}).map(drop).map_err(|fault| fault.to_string())
    };
    fault().expect("consistent");
    for (there, back) in [
        (
            "UPDATE events SET body = replace(body, '\"wait\"', '\"invite\"') WHERE number = 2",
            "UPDATE events SET body = replace(body, '\"invite\"', '\"wait\"') WHERE number = 2",
        ),
        (
            "UPDATE events SET elapsed_ms = ifnull(elapsed_ms, 0) + 1 WHERE number = 2",
            "UPDATE events SET elapsed_ms = elapsed_ms - 1 WHERE number = 2",
        ),
        ("UPDATE events SET actor = 'bob' WHERE number = 3", "UPDATE events SET actor = 'ward' WHERE number = 3"),
    ] {
        change(there);
        assert!(fault().expect_err("changed").contains("what is left of archived events was modified"), "{there}");
        change(back);
    }
    fault().expect("consistent again");
    let log = SqliteLog::open_read_only(&copy).expect("a log");
    bodies.insert(2, bodies[&2].replace("\"version\":1", "\"version\":2"));
    assert!(RestoredLog::new(&log, bodies).is_err(), "a body that is not the one that was archived");
    let number = ChainFault::Stubs { number: 3 };
    assert_eq!(number.number(), 3);
}
