//! What several tests share.

use std::path::{Path, PathBuf};

use rarely_store::{Draft, Durability, Entry, Head, Journal, Log, Mark, Stamped, Store, Subject};
use tempfile::TempDir;

/// A folder for one store, removed at the end of the test.
pub(crate) struct Folder {
    pub(crate) folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.file("rarely.db")
    }
}

/// An event that says something.
pub(crate) fn said(text: &str) -> Draft {
    let body = format!("{{\"said\":{text:?}}}");
    Draft { actor: "ann".to_owned(), subject: Subject::None, kind: "said", body, mark: None }
}

pub(crate) fn marked(text: &str, mark: &Mark) -> Draft {
    Draft { mark: Some(mark.clone()), ..said(text) }
}

/// A journal over the store at `path` that does nothing with what is committed.
pub(crate) fn journal(path: &Path) -> Journal<()> {
    Store::open(path, Durability::Full).unwrap().start(|| 1_000, |_| ()).unwrap()
}

/// Appends one event and waits for it.
pub(crate) fn say<P: Send + 'static>(journal: &Journal<P>, draft: Draft, payload: P) -> u64 {
    let (number, receipt) = journal.append(|turn| turn.push(draft, payload));
    receipt.wait_blocking().unwrap();
    number
}

/// A store at `path` with so many events, each with a mark and every third of another policy, closed again.
pub(crate) fn filled(path: &Path, count: u64) -> Vec<Entry> {
    let journal = journal(path);
    let ((), receipt) = journal.append(|turn| {
        for number in 0..count {
            let mark = Mark::new(1, &number.to_be_bytes());
            let subject = Subject::Policy(number % 3);
            turn.push(Draft { subject, ..marked(&format!("event {number}, at some length"), &mark) }, ());
        }
    });
    receipt.wait_blocking().unwrap();
    let entries = all(&**journal.log());
    journal.stop();
    entries
}

pub(crate) fn all(log: &dyn Log) -> Vec<Entry> {
    log.entries(0, None, usize::MAX).unwrap()
}

pub(crate) fn head(log: &dyn Log) -> Head {
    log.head().unwrap().map_or(Head::EMPTY, |(number, hash)| Head { number, hash })
}

/// Chains entries that are to follow `after`.
pub(crate) fn chained(after: Head, entries: impl IntoIterator<Item = Entry>) -> Vec<Stamped> {
    let mut previous = after.hash;
    let link = |mut entry: Entry| {
        entry.hash = entry.expected_hash(&previous);
        previous = entry.hash;
        Stamped { entry, mark: None }
    };
    entries.into_iter().map(link).collect()
}

/// Copies every file of a store, as it is on disk at this moment.
pub(crate) fn copy_store(from: &Path, to: &Path) {
    for suffix in ["", "-wal", ".head"] {
        let of = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        if of(from).exists() {
            std::fs::copy(of(from), of(to)).unwrap();
        }
    }
}
