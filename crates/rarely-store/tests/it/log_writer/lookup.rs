//! Lookup keys: the latest entry with a key is found, and a request sent twice becomes one entry.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use rarely_store::{
    EventLog, Hash, KeyedEntry, LogEntry, LogWriter, Lookup, LookupKey, MemoryLog, Receipt, SignedCheckpoint,
    StoreError, SubjectKeys, verify_chain,
};

use crate::support::{Folder, all, marked, said, say, writer};

/// The recipe in the documentation of [`LogWriter`].
fn once(writer: &LogWriter<()>, key: &LookupKey) -> Result<(u64, Receipt), StoreError> {
    loop {
        let found = writer.find(key)?;
        if let Some(number) = found.number {
            return Ok((number, Receipt::settled()));
        }
        let (number, receipt) = writer.append(|turn| match turn.find(key, found.as_of) {
            Lookup::Absent => Some(turn.push(marked("once", key), ())),
            Lookup::Pending(number) => Some(number),
            Lookup::Stale => None,
        });
        if let Some(number) = number {
            return Ok((number, receipt));
        }
    }
}

#[test]
fn sixteen_threads_with_the_same_keys_make_one_entry_each() {
    let folder = Folder::new();
    let writer = writer(&folder.store());
    let answers = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for key in 0_u64..40 {
                    let (number, receipt) = once(&writer, &LookupKey::new(b'k', &key.to_be_bytes())).unwrap();
                    receipt.wait_blocking().unwrap();
                    assert!(writer.log().entry(number).unwrap().is_some(), "answered before it was on disk");
                    answers.lock().unwrap().insert((key, number));
                }
            });
        }
    });
    assert_eq!(answers.lock().unwrap().len(), 40, "two answers to the same request");
    assert_eq!(all(&**writer.log()).len(), 40);
    verify_chain(&**writer.log(), |_| ()).unwrap();
}

#[test]
fn the_latest_entry_wins_even_within_a_commit() {
    let folder = Folder::new();
    let writer = writer(&folder.store());
    let (key, other) = (LookupKey::new(1, b"the outcome of 17"), LookupKey::new(2, b"the outcome of 17"));
    let ((), receipt) = writer.append(|turn| {
        for text in ["first", "second", "third"] {
            turn.push(marked(text, &key), ());
        }
        assert_eq!(turn.find(&key, 0), Lookup::Pending(3));
        assert_eq!(turn.find(&other, 0), Lookup::Absent);
    });
    receipt.wait_blocking().unwrap();
    assert_eq!(writer.find(&key).unwrap().number, Some(3));
    say(&writer, marked("fourth", &key), ());
    assert_eq!(writer.find(&key).unwrap().number, Some(4));
    assert_eq!(writer.find(&other).unwrap().number, None);
}

/// A log whose appends wait until they are released.
struct Held {
    log: MemoryLog,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Held {
    fn new() -> Self {
        Self { log: MemoryLog::new(), open: Mutex::new(false), opened: Condvar::new() }
    }

    fn release(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

impl SubjectKeys for Held {}

impl EventLog for Held {
    fn append(&self, entries: &[KeyedEntry]) -> Result<(), StoreError> {
        drop(self.opened.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
        self.log.append(entries)
    }
    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        self.log.head()
    }
    fn entry(&self, number: u64) -> Result<Option<LogEntry>, StoreError> {
        self.log.entry(number)
    }
    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.log.entries(after, policy, limit)
    }
    fn entries_before(&self, before: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.log.entries_before(before, policy, limit)
    }
    fn find(&self, key: &LookupKey) -> Result<Option<u64>, StoreError> {
        self.log.find(key)
    }
    fn keep_checkpoint(&self, checkpoint: &SignedCheckpoint, first: u64, blocks: &[Hash]) -> Result<(), StoreError> {
        self.log.keep_checkpoint(checkpoint, first, blocks)
    }
    fn checkpoints(&self, after: Option<u64>) -> Result<Vec<SignedCheckpoint>, StoreError> {
        self.log.checkpoints(after)
    }
    fn tree_blocks(&self) -> Result<Vec<Hash>, StoreError> {
        self.log.tree_blocks()
    }
    fn lookup_keys(&self, visit: &mut dyn FnMut(&LookupKey, u64)) -> Result<(), StoreError> {
        self.log.lookup_keys(visit)
    }
    fn policy_index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.log.policy_index(visit)
    }
}

#[test]
fn pending_then_stale_then_found() {
    let log = Arc::new(Held::new());
    let writer: LogWriter<()> = LogWriter::start(Arc::clone(&log) as Arc<dyn EventLog>, None, || 5, |_| ()).unwrap();
    let key = LookupKey::new(1, b"a request");
    let before = writer.find(&key).unwrap();
    assert_eq!((before.number, before.as_of), (None, 0));

    let (_, first) = writer.append(|turn| turn.push(marked("one", &key), ()));
    let (_, second) = writer.append(|turn| turn.push(said("two"), ()));
    let (lookup, also_first) = writer.append(|turn| turn.find(&key, before.as_of));
    assert_eq!(lookup, Lookup::Pending(1));
    log.release();
    for receipt in [first, second, also_first] {
        receipt.wait_blocking().unwrap();
    }

    let look = |key: &LookupKey, as_of| writer.append(|turn| turn.find(key, as_of)).0;
    assert_eq!(look(&key, before.as_of), Lookup::Stale);
    let now = writer.find(&key).unwrap();
    assert_eq!((now.number, now.as_of), (Some(1), 2));
    assert_eq!(look(&key, now.as_of), Lookup::Absent);
    // Other commits do not make a lookup of another key stale.
    assert_eq!(look(&LookupKey::new(1, b"another"), before.as_of), Lookup::Absent);
}

#[test]
fn a_lookup_older_than_the_recent_keys_is_stale() {
    let writer: LogWriter<()> = LogWriter::start(Arc::new(MemoryLog::new()), None, || 5, |_| ()).unwrap();
    for round in 0_u64..3 {
        let ((), receipt) = writer.append(|turn| {
            for key in 0_u64..10_000 {
                turn.push(marked("x", &LookupKey::new(1, &(round * 10_000 + key).to_be_bytes())), ());
            }
        });
        receipt.wait_blocking().unwrap();
    }
    let look = |key: &LookupKey, as_of| writer.append(|turn| turn.find(key, as_of)).0;
    let never = LookupKey::new(2, b"never");
    assert_eq!(look(&never, 0), Lookup::Stale);
    assert_eq!(look(&never, 29_000), Lookup::Absent);
    assert_eq!(look(&LookupKey::new(1, &0_u64.to_be_bytes()), 0), Lookup::Stale);
}
