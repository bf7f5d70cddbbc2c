//! Marks: the latest entry that carries a name is found again, and a request sent twice becomes one entry.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use rarely_store::{Entry, Hash, Journal, Log, Lookup, Mark, MemoryLog, Receipt, Stamped, StoreError, verify_chain};

use crate::support::{Folder, all, journal, marked, said, say};

/// The recipe in the documentation of [`Journal`].
fn once(journal: &Journal<()>, mark: &Mark) -> Result<(u64, Receipt), StoreError> {
    loop {
        let found = journal.find(mark)?;
        if let Some(number) = found.number {
            return Ok((number, Receipt::settled()));
        }
        let (number, receipt) = journal.append(|turn| match turn.find(mark, found.as_of) {
            Lookup::Absent => Some(turn.push(marked("once", mark), ())),
            Lookup::Pending(number) => Some(number),
            Lookup::Stale => None,
        });
        if let Some(number) = number {
            return Ok((number, receipt));
        }
    }
}

#[test]
fn sixteen_threads_with_the_same_marks_make_one_entry_each() {
    let folder = Folder::new();
    let journal = journal(&folder.store());
    let answers = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for key in 0_u64..40 {
                    let (number, receipt) = once(&journal, &Mark::new(b'k', &key.to_be_bytes())).unwrap();
                    receipt.wait_blocking().unwrap();
                    assert!(journal.log().entry(number).unwrap().is_some(), "answered before it was on disk");
                    answers.lock().unwrap().insert((key, number));
                }
            });
        }
    });
    assert_eq!(answers.lock().unwrap().len(), 40, "two answers to the same request");
    assert_eq!(all(&**journal.log()).len(), 40);
    verify_chain(&**journal.log(), |_| ()).unwrap();
}

#[test]
fn the_latest_entry_wins_also_within_a_commit() {
    let folder = Folder::new();
    let journal = journal(&folder.store());
    let (mark, other) = (Mark::new(1, b"the outcome of 17"), Mark::new(2, b"the outcome of 17"));
    let ((), receipt) = journal.append(|turn| {
        for text in ["first", "second", "third"] {
            turn.push(marked(text, &mark), ());
        }
        assert_eq!(turn.find(&mark, 0), Lookup::Pending(3));
        assert_eq!(turn.find(&other, 0), Lookup::Absent);
    });
    receipt.wait_blocking().unwrap();
    assert_eq!(journal.find(&mark).unwrap().number, Some(3));
    say(&journal, marked("fourth", &mark), ());
    assert_eq!(journal.find(&mark).unwrap().number, Some(4));
    assert_eq!(journal.find(&other).unwrap().number, None);
}

#[test]
fn names_of_any_length_stay_apart() {
    let long = [7_u8; 500];
    let hash = Hash::of(&long);
    let marks: HashSet<_> = [&long[..], &long[..499], &long[..64], &long[..65], &hash.0, b""]
        .into_iter()
        .flat_map(|name| [Mark::new(0, name), Mark::new(1, name)])
        .collect();
    assert_eq!(marks.len(), 12);
    assert!(marks.iter().all(|mark| mark.as_bytes().len() <= Mark::LONGEST + 2));
}

/// A log whose appends wait until they are let through.
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

impl Log for Held {
    fn append(&self, entries: &[Stamped]) -> Result<(), StoreError> {
        drop(self.opened.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
        self.log.append(entries)
    }
    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        self.log.head()
    }
    fn entry(&self, number: u64) -> Result<Option<Entry>, StoreError> {
        self.log.entry(number)
    }
    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.log.entries(after, policy, limit)
    }
    fn find(&self, mark: &Mark) -> Result<Option<u64>, StoreError> {
        self.log.find(mark)
    }
    fn marks(&self, visit: &mut dyn FnMut(&Mark, u64)) -> Result<(), StoreError> {
        self.log.marks(visit)
    }
    fn index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.log.index(visit)
    }
}

#[test]
fn pending_then_stale_then_found() {
    let log = Arc::new(Held::new());
    let journal: Journal<()> = Journal::start(Arc::clone(&log) as Arc<dyn Log>, None, || 5, |_| ()).unwrap();
    let mark = Mark::new(1, b"a request");
    let before = journal.find(&mark).unwrap();
    assert_eq!((before.number, before.as_of), (None, 0));

    let (_, first) = journal.append(|turn| turn.push(marked("one", &mark), ()));
    let (_, second) = journal.append(|turn| turn.push(said("two"), ()));
    let (lookup, also_first) = journal.append(|turn| turn.find(&mark, before.as_of));
    assert_eq!(lookup, Lookup::Pending(1));
    log.release();
    for receipt in [first, second, also_first] {
        receipt.wait_blocking().unwrap();
    }

    let look = |mark: &Mark, as_of| journal.append(|turn| turn.find(mark, as_of)).0;
    assert_eq!(look(&mark, before.as_of), Lookup::Stale);
    let now = journal.find(&mark).unwrap();
    assert_eq!((now.number, now.as_of), (Some(1), 2));
    assert_eq!(look(&mark, now.as_of), Lookup::Absent);
    // Others' commits do not make an answer about another mark stale.
    assert_eq!(look(&Mark::new(1, b"another"), before.as_of), Lookup::Absent);
}

#[test]
fn old_marks_are_forgotten_and_then_stale() {
    let journal: Journal<()> = Journal::start(Arc::new(MemoryLog::new()), None, || 5, |_| ()).unwrap();
    for round in 0_u64..3 {
        let ((), receipt) = journal.append(|turn| {
            for key in 0_u64..10_000 {
                turn.push(marked("x", &Mark::new(1, &(round * 10_000 + key).to_be_bytes())), ());
            }
        });
        receipt.wait_blocking().unwrap();
    }
    let look = |mark: &Mark, as_of| journal.append(|turn| turn.find(mark, as_of)).0;
    let never = Mark::new(2, b"never");
    assert_eq!(look(&never, 0), Lookup::Stale);
    assert_eq!(look(&never, 29_000), Lookup::Absent);
    assert_eq!(look(&Mark::new(1, &0_u64.to_be_bytes()), 0), Lookup::Stale);
}
