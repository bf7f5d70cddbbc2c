//! Failing disks: no acknowledged entry is lost, no entry is in the log twice, and the next append tries again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use rarely_store::{
    EventLog, InjectedFault, LogEntry, LogWriter, Lookup, LookupKey, MemoryLog, StoreError, verify_chain,
};

use crate::support::{Folder, all, marked, said, say};

type Delivered = Arc<Mutex<Vec<(LogEntry, Option<String>)>>>;

fn start(log: &Arc<MemoryLog>) -> (LogWriter<String>, Delivered) {
    let delivered = Delivered::default();
    let on_commit = {
        let delivered = Arc::clone(&delivered);
        move |committed: Vec<_>| delivered.lock().unwrap().extend(committed)
    };
    (LogWriter::start(Arc::clone(log) as Arc<dyn EventLog>, None, || 5, on_commit).unwrap(), delivered)
}

/// Appends one by one. Returns the acknowledged numbers by text.
fn append_all(writer: &LogWriter<String>, texts: impl IntoIterator<Item = String>) -> HashMap<String, u64> {
    let mut acknowledged = HashMap::new();
    for text in texts {
        let (number, receipt) = writer.append(|turn| turn.push(said(&text), text.clone()));
        if receipt.wait_blocking().is_ok() {
            assert_eq!(acknowledged.insert(text, number), None);
        }
    }
    acknowledged
}

/// Checks that the chain is intact, every entry was delivered, and acknowledged entries have the promised numbers.
fn check(log: &MemoryLog, delivered: &Delivered, acknowledged: &HashMap<String, u64>) {
    let entries = all(log);
    verify_chain(log, |_| ()).unwrap();
    let delivered = delivered.lock().unwrap();
    assert_eq!(entries, delivered.iter().map(|(entry, _)| entry.clone()).collect::<Vec<_>>());
    for (entry, payload) in delivered.iter() {
        if let Some(text) = payload {
            assert_eq!(entry.body, said(text).body);
        }
    }
    for (text, number) in acknowledged {
        assert_eq!(log.entry(*number).unwrap().unwrap().body, said(text).body);
    }
    let mut bodies: Vec<_> = entries.iter().map(|entry| &entry.body).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), entries.len(), "something is in the log twice");
}

#[test]
fn every_append_fails_in_turn() {
    for failing in [InjectedFault::Fail, InjectedFault::FailAfterWriting] {
        for at in 0..12 {
            let log = Arc::new(MemoryLog::new());
            log.stage((0..at).map(|_| InjectedFault::None).chain([failing]));
            let (writer, delivered) = start(&log);
            let acknowledged = append_all(&writer, (0..12).map(|number| format!("event {number}")));
            writer.stop();
            assert_eq!(acknowledged.len(), 11, "{failing:?} at {at}");
            assert_eq!(all(&*log).len(), if failing == InjectedFault::Fail { 11 } else { 12 });
            check(&log, &delivered, &acknowledged);
        }
    }
}

#[test]
fn reopening_fails_too() {
    for failing in [InjectedFault::Fail, InjectedFault::FailAfterWriting] {
        for reopenings in 0..6 {
            let log = Arc::new(MemoryLog::new());
            log.stage([InjectedFault::None, failing, InjectedFault::None, failing]);
            log.inject_reopen_faults(vec![InjectedFault::Fail; reopenings]);
            let (writer, delivered) = start(&log);
            let acknowledged = append_all(&writer, (0..20).map(|number| format!("event {number}")));
            writer.stop();
            assert!(acknowledged.len() >= 12, "{failing:?} {reopenings}: {}", acknowledged.len());
            check(&log, &delivered, &acknowledged);
        }
    }
}

#[test]
fn failures_among_many_threads() {
    let log = Arc::new(MemoryLog::new());
    let pattern = [
        InjectedFault::None,
        InjectedFault::Fail,
        InjectedFault::None,
        InjectedFault::FailAfterWriting,
        InjectedFault::None,
    ];
    log.stage(pattern.into_iter().cycle().take(400));
    let (writer, delivered) = start(&log);
    let acknowledged = Mutex::new(HashMap::new());
    thread::scope(|scope| {
        for name in 0..8 {
            let (writer, acknowledged) = (&writer, &acknowledged);
            scope.spawn(move || {
                let mine = append_all(writer, (0..100).map(|round| format!("{name} {round}")));
                acknowledged.lock().unwrap().extend(mine);
            });
        }
    });
    writer.stop();
    check(&log, &delivered, &acknowledged.into_inner().unwrap());
}

#[test]
fn entries_pushed_during_a_failing_commit_fail_with_it() {
    let log = Arc::new(MemoryLog::new());
    log.stage([InjectedFault::Fail]);
    let (writer, delivered) = start(&log);
    // The second is either pushed before the failure and void with the first, or after it with the first's number.
    let (first, one) = writer.append(|turn| turn.push(said("one"), "one".to_owned()));
    let (second, two) = writer.append(|turn| turn.push(said("two"), "two".to_owned()));
    assert_eq!(first, 1);
    assert!(matches!(*one.wait_blocking().unwrap_err(), StoreError::Injected));
    let mut acknowledged = HashMap::new();
    if two.wait_blocking().is_ok() {
        acknowledged.insert("two".to_owned(), second);
    }
    let three = say(&writer, said("three"), "three".to_owned());
    assert_eq!(three, acknowledged.len() as u64 + 1);
    acknowledged.insert("three".to_owned(), three);
    check(&log, &delivered, &acknowledged);
}

#[test]
fn a_retry_finds_an_entry_whose_commit_was_reported_as_failed() {
    let log = Arc::new(MemoryLog::new());
    log.stage([InjectedFault::FailAfterWriting]);
    let (writer, delivered) = start(&log);
    let key = LookupKey::new(1, b"request");
    let before = writer.find(&key).unwrap();
    let (_, receipt) = writer.append(|turn| turn.push(marked("one", &key), "one".to_owned()));
    receipt.wait_blocking().unwrap_err();
    // A lookup from before the failure is stale; a new one finds the entry.
    assert_eq!(writer.append(|turn| turn.find(&key, before.as_of)).0, Lookup::Stale);
    let again = writer.find(&key).unwrap();
    assert_eq!((again.number, again.as_of), (Some(1), 1));
    let delivered = delivered.lock().unwrap();
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].1, None, "its payload went with the failed commit");
}

#[test]
fn a_failed_commit_leaves_no_key_behind() {
    let log = Arc::new(MemoryLog::new());
    log.stage([InjectedFault::Fail]);
    let (writer, _) = start(&log);
    let key = LookupKey::new(1, b"request");
    let (_, receipt) = writer.append(|turn| turn.push(marked("one", &key), "one".to_owned()));
    receipt.wait_blocking().unwrap_err();
    let found = writer.find(&key).unwrap();
    assert_eq!(found.number, None);
    assert_eq!(writer.append(|turn| turn.find(&key, found.as_of)).0, Lookup::Absent);
}

#[test]
fn a_commit_that_sqlite_refuses_is_void_and_the_next_one_works() {
    let folder = Folder::new();
    let path = folder.store();
    let writer = crate::support::writer(&path);
    say(&writer, said("one"), ());
    let disk = rusqlite::Connection::open(&path).unwrap();
    disk.execute_batch(
        "CREATE TRIGGER failing BEFORE INSERT ON events WHEN NEW.body LIKE '%refused%' \
         BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END",
    )
    .unwrap();
    let ((), receipt) = writer.append(|turn| {
        turn.push(said("with it"), ());
        turn.push(said("refused"), ());
    });
    let error = receipt.wait_blocking().unwrap_err();
    assert!(error.to_string().contains("appending events: disk I/O error"), "{error}");
    assert_eq!(say(&writer, said("two"), ()), 2);
    disk.execute_batch("DROP TRIGGER failing").unwrap();
    let (_, receipt) = writer.append(|turn| turn.push(said("refused"), ()));
    receipt.wait_blocking().unwrap();
    assert_eq!(verify_chain(&**writer.log(), |_| ()).unwrap().number, 3);
}

#[test]
fn entries_of_another_writer_are_detected_and_adopted() {
    let folder = Folder::new();
    let path = folder.store();
    let writer = crate::support::writer(&path);
    say(&writer, said("one"), ());
    // A program that ignores the lock appends a valid event.
    let mut foreign = all(&**writer.log()).remove(0);
    let previous = foreign.hash;
    foreign.number = 2;
    foreign.hash = foreign.expected_hash(&previous);
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute(
            "INSERT INTO events SELECT 2, time_ms, actor, policy, kind, body, ?1, elapsed_ms FROM events",
            [&foreign.hash.0[..]],
        )
        .unwrap();
    let (number, receipt) = writer.append(|turn| turn.push(said("two"), ()));
    assert_eq!(number, 2);
    receipt.wait_blocking().unwrap_err();
    assert_eq!(writer.committed(), 2);
    assert_eq!(say(&writer, said("three"), ()), 3);
    verify_chain(&**writer.log(), |_| ()).unwrap();
}
