//! Erasing people: nothing that tells about them is left in any file, and everything else is as it was, bit for bit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rarely_live::RecordField;
use rarely_live::engine::{ChangeError, DecisionRequest, ErasedStatistics, NewOutcome, OutcomeError, PolicyHandle};
use rarely_live::event::ExternalDecision;
use rarely_store::{SnapshotFile, backup};

use crate::support::{Bench, block_on, request};

const TOKENS: &str = "signatures = \"token\"\napproval = \"one\"\nreview_every = 100000";
const PERSON: &str = "patient-4711";
const ADMIN: (&str, &str) = ("ann", "ann");
/// An age and an outcome that nobody else has.
const AGE: f64 = 67.123_456_789;
const OUTCOME: f64 = 0.123_454_321;

fn about(handle: &PolicyHandle, person: &str, age: f64, key: Option<&str>) -> DecisionRequest {
    DecisionRequest { subject: Some(person.to_owned()), ..request(handle, age, key) }
}

fn decide(bench: &Bench, handle: &PolicyHandle, request: DecisionRequest) -> u64 {
    block_on(bench.engine.decide(handle, "ward", vec![request])).remove(0).expect("an answer").decision
}

fn report(
    bench: &Bench,
    handle: &PolicyHandle,
    decision: u64,
    outcome: f64,
    correction: Option<&str>,
) -> Result<u64, OutcomeError> {
    let correction = correction.map(ToOwned::to_owned);
    let report = NewOutcome::OfDecision { decision, outcome, guardrails: BTreeMap::new(), correction };
    block_on(bench.engine.observe(handle, "ward", vec![report])).remove(0).map(|recorded| recorded.event)
}

fn has(path: &Path, text: &str) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A bench in which a person was decided about, with an outcome, a correction and a case from elsewhere, among others.
fn with_person(control: &str, explore: &str, others: usize) -> (Bench, Arc<PolicyHandle>, u64) {
    let mut bench = Bench::new();
    let handle = bench.register(control, explore);
    bench.people(&handle, others);
    let decision = decide(&bench, &handle, about(&handle, PERSON, AGE, Some("visit-99")));
    assert_eq!(decide(&bench, &handle, about(&handle, PERSON, AGE, Some("visit-99"))), decision, "the same again");
    report(&bench, &handle, decision, 0.5, None).expect("recorded");
    bench.people(&handle, 5);
    report(&bench, &handle, decision, OUTCOME, Some("misread-by-nurse")).expect("corrected");
    let record = vec![RecordField::Number(AGE)];
    let elsewhere = ExternalDecision {
        key: Some("case-77".to_owned()),
        record,
        option: "wait".to_owned(),
        propensity: None,
        edition: None,
        time_ms: None,
    };
    let subject = Some(PERSON.to_owned());
    let case = NewOutcome::External { decision: elsewhere, outcome: OUTCOME, guardrails: BTreeMap::new(), subject };
    block_on(bench.engine.observe(&handle, "registry", vec![case])).remove(0).expect("recorded");
    bench.people(&handle, 5);
    (bench, handle, decision)
}

fn state(bench: &Bench) -> Vec<u8> {
    let handle = bench.engine.policy("screening").expect("a policy");
    let live = handle.live.lock();
    serde_json::to_vec(live.state()).expect("JSON")
}

/// Restarts without a snapshot, so that everything is replayed from the first event.
fn replay(bench: &mut Bench) {
    bench.engine.stop();
    SnapshotFile::beside(&bench.store()).remove().expect("removed");
    bench.restart();
}

#[test]
fn nothing_of_an_erased_person_is_left_in_any_file() {
    let (mut bench, handle, decision) = with_person(TOKENS, "none", 60);
    let context = handle.edition().reader.context(&[RecordField::Number(AGE)]).expect("in range");
    let encoded = serde_json::to_string(&context[context.len() - 1]).expect("JSON");
    bench.restart();
    let snapshot = bench.store().with_extension("db.snapshot");
    assert!(has(&snapshot, &encoded), "the sample and the recent contexts have the person");
    let handle = bench.engine.policy("screening").expect("a policy");
    let outcomes = handle.live.lock().state().learned.outcomes();
    let erased = bench.engine.erase(ADMIN, &[PERSON.to_owned()], "asked for it", ErasedStatistics::Keep);
    let erased = erased.expect("erased");
    assert_eq!((erased.decisions, erased.outcomes, erased.scrubbed), (1, 3, true));
    assert_eq!(handle.live.lock().state().learned.outcomes(), outcomes, "the sums stay");
    assert!(!has(&snapshot, &encoded), "the snapshot was written again");

    let copy = bench.folder.path().join("backup.db");
    backup(&bench.store(), &copy).expect("a backup");
    let wal = bench.store().with_extension("db-wal");
    for file in [&bench.store(), &wal, &snapshot, &copy] {
        for text in [PERSON, "67.123456789", "0.123454321", "visit-99", "case-77", "misread-by-nurse", &encoded] {
            assert!(!has(file, text), "{text} is in {}", file.display());
        }
    }
    let gone = report(&bench, &handle, decision, 0.2, None);
    assert!(matches!(gone, Err(OutcomeError::Erased)), "{gone:?}");
    let again = bench.engine.erase(ADMIN, &[PERSON.to_owned()], "again", ErasedStatistics::Keep);
    assert!(matches!(again, Err(ChangeError::NoSubject)), "{again:?}");
    let new = decide(&bench, &handle, about(&handle, PERSON, AGE, Some("visit-99")));
    assert_ne!(new, decision, "who comes back is somebody new");
    report(&bench, &handle, new, 0.25, None).expect("recorded");

    let before = state(&bench);
    bench.restart();
    assert_eq!(state(&bench), before, "the same from a snapshot");
    let summary = bench.verify();
    assert!(summary.snapshot.is_some());
    assert_eq!((summary.erased.people, summary.erased.decisions), (1, 1));
    assert_eq!(summary.decisions, 71);
    replay(&mut bench);
    assert_eq!(state(&bench), before, "the same from the first event");
    bench.verify();
}

#[test]
fn several_erasures_in_an_exploring_policy_replay_bit_for_bit() {
    let control = format!("{TOKENS}\noutcome_window = \"30 days\"");
    let (mut bench, handle, _) = with_person(&control, "pilot:3+equipoise:0.5", 40);
    for (person, age) in [("bea", 55.5), ("cyd", 44.25), ("dan", 71.125)] {
        let decision = decide(&bench, &handle, about(&handle, person, age, None));
        // Others wait for an outcome of dan, which never comes.
        if person != "dan" {
            report(&bench, &handle, decision, 0.125, None).expect("recorded");
        }
        bench.people(&handle, 12);
    }
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    for (names, statistics) in [
        (vec!["cyd".to_owned(), PERSON.to_owned()], ErasedStatistics::Keep),
        (vec!["bea".to_owned()], ErasedStatistics::Forget),
        (vec!["dan".to_owned()], ErasedStatistics::Keep),
    ] {
        bench.engine.erase(ADMIN, &names, "asked for it", statistics).expect("erased");
        let before = state(&bench);
        replay(&mut bench);
        assert_eq!(state(&bench), before, "after {names:?}");
        let handle = bench.engine.policy("screening").expect("a policy");
        bench.people(&handle, 10);
        bench.engine.review(&handle, Some(("ann", None))).expect("a review");
        bench.verify();
    }
    let handle = bench.engine.policy("screening").expect("a policy");
    let waiting = handle.live.lock().state().late.as_ref().map(|late| late.waiting().reported);
    assert_eq!(waiting, Some(0), "nobody waits for an erased person");
    bench.restart();
    let summary = bench.verify();
    assert_eq!(summary.erased.people, 4);
    assert!(summary.erased.reviews >= 1 && summary.reviews >= 1, "{summary:?}");
}

#[test]
fn few_other_people_do_not_hide_one() {
    let (mut bench, handle, _) = with_person(TOKENS, "none", 3);
    let before = handle.live.lock().state().learned.outcomes();
    bench.engine.erase(ADMIN, &[PERSON.to_owned()], "asked for it", ErasedStatistics::Keep).expect("erased");
    assert_eq!(handle.live.lock().state().learned.outcomes(), before - 2, "the statistics forget the person");
    let state_before = state(&bench);
    replay(&mut bench);
    assert_eq!(state(&bench), state_before);
    bench.verify();
}

#[test]
fn a_key_that_is_missing_without_an_erasure_is_a_fault() {
    let (bench, handle, _) = with_person(TOKENS, "none", 3);
    let nobody = bench.engine.erase(ADMIN, &["nobody".to_owned()], "asked for it", ErasedStatistics::Keep);
    assert!(matches!(nobody, Err(ChangeError::NoSubject)));
    let silent = bench.engine.erase(ADMIN, &[PERSON.to_owned()], " ", ErasedStatistics::Keep);
    assert!(silent.is_err(), "a reason is required");
    assert!(report(&bench, &handle, decide(&bench, &handle, about(&handle, PERSON, AGE, None)), 0.1, None).is_ok());
    bench.engine.stop();
    let log = rarely_store::SqliteLog::open_read_only(&bench.store()).expect("a log");
    assert_eq!(rarely_live::audit::verify(&log, None, |_| {}).expect("consistent").erased.people, 0);
    drop(log);
    let copy = bench.folder.path().join("copy.db");
    backup(&bench.store(), &copy).expect("a copy");
    let connection = rusqlite::Connection::open(&copy).expect("a database");
    connection.execute("DELETE FROM subjects", []).expect("deleted");
    drop(connection);
    let log = rarely_store::SqliteLog::open_read_only(&copy).expect("a log");
    let fault = rarely_live::audit::verify(&log, None, |_| {}).expect_err("keys are missing").to_string();
    assert!(fault.contains("no event says that the person was erased"), "{fault}");
}
