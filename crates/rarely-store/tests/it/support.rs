//! Shared by several tests.

use std::path::{Path, PathBuf};

use rarely_error::Explain;
use rarely_store::{
    Durability, EntryDraft, EventLog, Head, KeyedEntry, LogEntry, LogWriter, LookupKey, PolicyRef, Store,
};
use tempfile::TempDir;

/// A directory for one store, removed at the end of the test.
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

/// An event with this text.
pub(crate) fn said(text: &str) -> EntryDraft {
    let body = format!("{{\"said\":{text:?}}}");
    EntryDraft { actor: "ann".to_owned(), policy: PolicyRef::None, kind: "said", body, key: None }
}

pub(crate) fn marked(text: &str, key: &LookupKey) -> EntryDraft {
    EntryDraft { key: Some(key.clone()), ..said(text) }
}

/// A writer over the store at `path` that ignores commits.
pub(crate) fn writer(path: &Path) -> LogWriter<()> {
    Store::open(path, Durability::Full).unwrap().start(|| 1_000, |_| ()).unwrap()
}

/// Appends one event and waits for it.
pub(crate) fn say<P: Send + 'static>(writer: &LogWriter<P>, draft: EntryDraft, payload: P) -> u64 {
    let (number, receipt) = writer.append(|turn| turn.push(draft, payload));
    receipt.wait_blocking().unwrap();
    number
}

/// What to do about an error.
pub(crate) fn remedy(error: &impl Explain) -> String {
    error.remedy().map_or_else(String::new, |remedy| remedy.to_string())
}

/// Creates a store at `path` with `count` events of three policies, each with a key, and closes it.
pub(crate) fn filled(path: &Path, count: u64) -> Vec<LogEntry> {
    let writer = writer(path);
    let ((), receipt) = writer.append(|turn| {
        for number in 0..count {
            let key = LookupKey::new(1, &number.to_be_bytes());
            let policy = PolicyRef::Id(number % 3);
            turn.push(EntryDraft { policy, ..marked(&format!("event {number}, at some length"), &key) }, ());
        }
    });
    receipt.wait_blocking().unwrap();
    let entries = all(&**writer.log());
    writer.stop();
    entries
}

pub(crate) fn all(log: &dyn EventLog) -> Vec<LogEntry> {
    log.entries(0, None, usize::MAX).unwrap()
}

pub(crate) fn head(log: &dyn EventLog) -> Head {
    log.head().unwrap().map_or(Head::EMPTY, |(number, hash)| Head { number, hash })
}

/// An entry with this number, not yet chained.
pub(crate) fn said_entry(number: u64) -> LogEntry {
    let body = format!("{{\"said\":\"{number}\"}}");
    let (actor, kind) = ("ann".to_owned(), "said".to_owned());
    LogEntry { number, time_ms: number, elapsed_ms: None, actor, policy: 0, kind, body, hash: rarely_store::Hash::ZERO }
}

/// Chains entries that follow `after`.
pub(crate) fn chained(after: Head, entries: impl IntoIterator<Item = LogEntry>) -> Vec<KeyedEntry> {
    let mut previous = after.hash;
    let link = |mut entry: LogEntry| {
        entry.hash = entry.expected_hash(&previous);
        previous = entry.hash;
        KeyedEntry { entry, key: None, destroys: Vec::new(), archives: Vec::new() }
    };
    entries.into_iter().map(link).collect()
}

/// Copies the files of a store as they are on disk now.
pub(crate) fn copy_store(from: &Path, to: &Path) {
    for suffix in ["", "-wal", ".head"] {
        let of = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        if of(from).exists() {
            std::fs::copy(of(from), of(to)).unwrap();
        }
    }
}
