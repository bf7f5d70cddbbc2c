//! `EventLog`, as SQLite and memory implement it.

use std::sync::Arc;

use rarely_store::{EntryDraft, EventLog, LogEntry, LogWriter, MemoryLog, PolicyRef};

use crate::support::{Folder, all, filled, said, say, writer};

#[test]
fn entries_of_one_policy() {
    let folder = Folder::new();
    check_entries_of_one_policy(&writer(&folder.store()));
}

/// Fills an empty log, and reads the entries of its policies.
pub(crate) fn check_entries_of_one_policy(writer: &LogWriter<()>) {
    let about = |policy| EntryDraft { policy, ..said("something") };
    let registered = say(writer, about(PolicyRef::OwnNumber), ());
    let another = say(writer, about(PolicyRef::OwnNumber), ());
    for _ in 0..10 {
        say(writer, about(PolicyRef::Id(registered)), ());
        say(writer, about(PolicyRef::Id(another)), ());
        say(writer, about(PolicyRef::None), ());
    }
    let numbers = |after, policy, limit| -> Vec<u64> {
        writer.log().entries(after, Some(policy), limit).unwrap().iter().map(|entry| entry.number).collect()
    };
    assert_eq!(numbers(0, registered, 3), [1, 3, 6]);
    assert_eq!(numbers(6, registered, 2), [9, 12]);
    assert_eq!(numbers(0, another, 100).len(), 11);
    assert_eq!(numbers(0, 0, 100).len(), 10);
    assert_eq!(numbers(0, 999, 100), [0; 0]);
    assert_eq!(writer.log().entries(30, None, 100).unwrap().len(), 2);
    assert_eq!(writer.log().entries(u64::MAX, None, 100).unwrap(), []);
    assert_eq!(writer.log().entry(u64::MAX).unwrap(), None);
    assert_eq!(writer.log().entry(0).unwrap(), None);
}

/// Checks `entries_before` against the whole log.
pub(crate) fn check_backwards(log: &dyn EventLog) {
    let entries = all(log);
    let last = entries.len() as u64;
    for before in [0, 1, 2, last / 2, last, last + 1, u64::MAX] {
        for policy in [None, Some(0), Some(1), Some(2), Some(999), Some(u64::MAX)] {
            for limit in [0, 1, 5, usize::MAX] {
                let below = entries.iter().rev().filter(|entry| entry.number < before);
                let own = below.filter(|entry| policy.is_none_or(|policy| entry.policy == policy));
                let expected: Vec<LogEntry> = own.take(limit).cloned().collect();
                let found = log.entries_before(before, policy, limit).unwrap();
                assert_eq!(found, expected, "before {before}, policy {policy:?}, limit {limit}");
            }
        }
    }
}

#[test]
fn entries_before_a_number_come_newest_first() {
    let folder = Folder::new();
    filled(&folder.store(), 40);
    let on_disk = writer(&folder.store());
    check_backwards(&**on_disk.log());
    let in_memory = LogWriter::start(Arc::new(MemoryLog::new()), None, || 5, |_| ()).unwrap();
    for number in 0..40 {
        say(&in_memory, EntryDraft { policy: PolicyRef::Id(number % 3), ..said("something") }, ());
    }
    check_backwards(&**in_memory.log());
}

#[test]
fn a_deferred_body_is_written_and_chained() {
    let log = Arc::new(MemoryLog::new());
    let writer = LogWriter::start(Arc::clone(&log) as Arc<dyn EventLog>, None, || 5, |_| ()).unwrap();
    let EntryDraft { actor, policy, kind, key, .. } = said("");
    let body: fn(&u64) -> String = |payload| format!("{{\"payload\":{payload}}}");
    let draft = EntryDraft { actor, policy, kind, body, key };
    let (_, receipt) = writer.append(|turn| {
        turn.push(said("first"), 1);
        turn.push_deferred(draft.clone(), 2)
    });
    receipt.wait_blocking().unwrap();
    assert_eq!(log.entry(1).unwrap().unwrap().body, said("first").body);
    assert_eq!(log.entry(2).unwrap().unwrap().body, "{\"payload\":2}");
    rarely_store::verify_chain(&*log, |_| ()).unwrap();
}
