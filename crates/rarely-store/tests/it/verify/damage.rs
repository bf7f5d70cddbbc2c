//! Flipped bytes are found by verification, or are in a place without an entry, key or index.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rarely_store::{EventLog, LogEntry, LookupKey, SqliteLog, StoreError, verify_chain};

use crate::support::{Folder, all, filled};

/// A generator of positions; the seed is printed with a failure.
struct Positions(u64);

impl Positions {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % below
    }
}

/// Everything that can be read from a store: entries, entries by policy, lookup keys.
type Everything = (Vec<LogEntry>, Vec<LogEntry>, Vec<Option<u64>>);

fn everything(log: &SqliteLog, count: u64) -> Result<Everything, StoreError> {
    let entries = log.entries(0, None, usize::MAX)?;
    let mut by_policy = Vec::new();
    for policy in 0..4 {
        by_policy.extend(log.entries(0, Some(policy), usize::MAX)?);
    }
    let marks =
        (0..count).map(|number| log.find(&LookupKey::new(1, &number.to_be_bytes()))).collect::<Result<_, _>>()?;
    Ok((entries, by_policy, marks))
}

/// Verifies the store at `path`. If it passes, compares its content with the expected content.
fn found_or_harmless(path: &Path, expected: &Everything, what: &str) -> bool {
    let count = expected.0.len() as u64;
    let Ok(log) = SqliteLog::open_read_only(path) else { return true };
    let Ok(head) = verify_chain(&log, |_| ()) else { return true };
    assert_eq!(head.number, count, "{what}: the end of the log is gone and nobody noticed");
    let found = everything(&log, count).unwrap();
    assert!(found == *expected, "{what}: a silent difference");
    false
}

#[test]
fn a_flipped_byte_anywhere_is_found_or_harmless() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 400);
    let expected = everything(&SqliteLog::open_read_only(&path).unwrap(), 400).unwrap();
    let good = fs::read(&path).unwrap();
    let mut positions = Positions(0x5eed_0001);
    let mut found = 0;
    // Besides random places, the header of every page, where a flip does the most damage.
    let headers = (0..good.len()).step_by(4096).flat_map(|page| (0..12).map(move |byte| page + byte));
    let random: Vec<_> = (0..1200).map(|_| positions.next(good.len())).collect();
    let last = good.len();
    for at in random.into_iter().chain(headers.filter(|at| *at < last)).chain(100..112) {
        let bit = 1_u8 << positions.next(8);
        let mut bad = good.clone();
        bad[at] ^= bit;
        fs::write(&path, &bad).unwrap();
        found += u32::from(found_or_harmless(&path, &expected, &format!("byte {at}, bit {bit}")));
    }
    assert!(found > 800, "only {found} flips were found");
}

#[test]
fn a_flipped_byte_in_a_body_is_found_at_its_event() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 300);
    let good = fs::read(&path).unwrap();
    for event in [1_u64, 50, 150, 299] {
        let text = format!("event {event},");
        let mut named = 0;
        for at in (0..good.len()).filter(|at| good[*at..].starts_with(text.as_bytes())) {
            for (offset, bit) in [(0, 1), (3, 0x80)] {
                let mut bad = good.clone();
                bad[at + offset] ^= bit;
                fs::write(&path, bad).unwrap();
                // When SQLite splits a page it leaves copies in free space, which belong to no entry.
                if let Err(fault) = verify_chain(&SqliteLog::open_read_only(&path).unwrap(), |_| ()) {
                    assert_eq!(fault.number(), event + 1, "{fault}");
                    named += 1;
                }
            }
        }
        assert_eq!(named, 2, "event {event}");
    }
}

#[test]
fn a_wiped_page_is_reported_with_the_last_valid_event() {
    let folder = Folder::new();
    let path = folder.store();
    let entries = filled(&path, 2000);
    let mut bad = fs::read(&path).unwrap();
    let text = b"event 1000,";
    for at in (0..bad.len()).filter(|at| bad[*at..].starts_with(text)).collect::<Vec<_>>() {
        let page = at / 4096 * 4096;
        bad[page..page + 4096].fill(0xa5);
    }
    fs::write(&path, bad).unwrap();
    let mut reached = 0;
    let fault = verify_chain(&SqliteLog::open_read_only(&path).unwrap(), |number| reached = number).unwrap_err();
    assert!((900..=1001).contains(&fault.number()), "{fault}");
    assert!(reached < fault.number());
    assert!(entries.len() == 2000 && fault.to_string().contains("(the last valid event is "), "{fault}");
}

#[test]
fn rows_modified_through_sqlite_are_found() {
    let check = |change: &str, number: u64| {
        let folder = Folder::new();
        let path = folder.store();
        filled(&path, 100);
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        let fault = verify_chain(&SqliteLog::open_read_only(&path).unwrap(), |_| ()).unwrap_err();
        assert_eq!(fault.number(), number, "{change}: {fault}");
    };
    check("UPDATE events SET body = '{}' WHERE number = 40", 40);
    check("UPDATE events SET time_ms = time_ms + 1 WHERE number = 100", 100);
    check("DELETE FROM events WHERE number = 40", 40);
    check("DELETE FROM events WHERE number = 1", 1);
    check("UPDATE events SET number = 200 WHERE number = 100", 100);
    check("UPDATE events SET number = -5 WHERE number = 1", 1);
    check("UPDATE events SET hash = x'00' WHERE number = 7", 7);
    check("UPDATE events SET policy = -1 WHERE number = 7", 7);
    // If the last events are missing, their lookup keys show it.
    check("DELETE FROM events WHERE number > 90", 91);
    check("UPDATE marks SET number = 101 WHERE number = 100", 100);
    check("DROP TABLE marks", 100);
}

#[test]
fn verification_never_panics_on_garbage() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 300);
    let good = fs::read(&path).unwrap();
    let mut positions = Positions(0x5eed_0002);
    for round in 0..150 {
        let mut bad = good.clone();
        for _ in 0..40 {
            // The first page's header stays, so that the file still opens.
            let at = 100 + positions.next(bad.len() - 100);
            bad[at] = u8::try_from(positions.next(256)).unwrap();
        }
        fs::write(&path, &bad).unwrap();
        let verified = catch_unwind(AssertUnwindSafe(|| {
            SqliteLog::open_read_only(&path).map(|log| verify_chain(&log, |_| ()).map(|_| all(&log).len()))
        }));
        assert!(verified.is_ok(), "round {round}");
    }
}
