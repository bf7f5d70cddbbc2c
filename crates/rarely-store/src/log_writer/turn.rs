//! One caller's turn under the lock that assigns numbers.

use std::cell::Cell;
use std::collections::HashMap;

use super::queue::{Batch, QueueState, WriteBody};
use crate::entry::{EntryDraft, KeyedEntry, LogEntry, LookupKey, PolicyRef, Stamp};
use crate::hash::Hash;
use crate::subject::SubjectTag;

/// The turn of one [`append`](crate::LogWriter::append). The entries pushed in it are committed together. Other callers
/// wait meanwhile, so do only what needs the number.
pub struct Turn<'a, P> {
    state: &'a QueueState<P>,
    stamp: Stamp,
    pushed: Batch<P>,
    keys: HashMap<LookupKey, u64>,
    awaited: Cell<Option<u64>>,
}

/// The result of [`Turn::find`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// The entry with this number carries the key and is not yet on disk. The turn's receipt waits for it.
    Pending(u64),
    /// No entry above `as_of` carries the key.
    Absent,
    /// An entry committed since `as_of` may carry the key: call [`LogWriter::find`](crate::LogWriter::find) again.
    Stale,
}

impl<'a, P> Turn<'a, P> {
    pub(super) fn new(state: &'a QueueState<P>, stamp: Stamp) -> Self {
        Self { state, stamp, pushed: Batch::default(), keys: HashMap::new(), awaited: Cell::new(None) }
    }

    /// The pushed entries, their time, and the highest pending number that was found.
    pub(super) fn finish(self) -> (Batch<P>, u64, Option<u64>) {
        (self.pushed, self.stamp.time_ms, self.awaited.get())
    }

    /// The number that the next [`push`](Self::push) assigns.
    pub fn number(&self) -> u64 {
        self.state.next + self.pushed.entries.len() as u64
    }

    /// The time of all entries pushed in this turn: the clock's, or the last entry's if the clock was set back.
    pub fn time_ms(&self) -> u64 {
        self.stamp.time_ms
    }

    /// Gives the entries of this turn another time, which may be before the last entry's. Verification allows that for entries of the
    /// kind [`CLOCK_CORRECTED`](crate::CLOCK_CORRECTED) only.
    pub fn correct_time(&mut self, time_ms: u64) {
        self.stamp.time_ms = time_ms;
    }

    /// Adds an entry and returns its number, which is void if the receipt fails.
    pub fn push(&mut self, draft: EntryDraft, payload: P) -> u64 {
        let EntryDraft { actor, policy, kind, body, key } = draft;
        self.add(EntryDraft { actor, policy, kind, body: (), key }, payload, body, None)
    }

    /// As [`push`](Self::push), for an entry whose body the writing thread produces from the payload, after the lock is
    /// released.
    pub fn push_deferred(&mut self, draft: EntryDraft<fn(&P) -> String>, payload: P) -> u64 {
        let EntryDraft { actor, policy, kind, body, key } = draft;
        self.add(EntryDraft { actor, policy, kind, body: (), key }, payload, String::new(), Some(body))
    }

    fn add(&mut self, draft: EntryDraft<()>, payload: P, body: String, write_body: Option<WriteBody<P>>) -> u64 {
        let number = self.number();
        let policy = match draft.policy {
            PolicyRef::None => 0,
            PolicyRef::Id(policy) => policy,
            PolicyRef::OwnNumber => number,
        };
        if let Some(key) = &draft.key {
            self.keys.insert(key.clone(), number);
        }
        // The writing thread fills in the hash, to keep the turn short.
        let EntryDraft { actor, kind, key, .. } = draft;
        let (Stamp { time_ms, elapsed_ms }, kind, hash) = (self.stamp, kind.to_owned(), Hash::ZERO);
        let entry = LogEntry { number, time_ms, elapsed_ms, actor, policy, kind, body, hash };
        self.pushed.entries.push(KeyedEntry { entry, key, destroys: Vec::new(), archives: Vec::new() });
        self.pushed.payloads.push(payload);
        self.pushed.bodies.push(write_body);
        number
    }

    /// Destroys the keys of these people together with the entry that was pushed last.
    pub fn destroy(&mut self, people: Vec<SubjectTag>) {
        if let Some(last) = self.pushed.entries.last_mut() {
            last.destroys = people;
        }
    }

    /// Moves the bodies of these entries out of the log together with the entry that was pushed last.
    pub fn archive(&mut self, stubs: Vec<(u64, String)>) {
        if let Some(last) = self.pushed.entries.last_mut() {
            last.archives = stubs;
        }
    }

    /// Whether an entry that is not in the log as of `as_of` carries this key: one of this turn, another caller's that is
    /// not yet on disk, or one committed since.
    pub fn find(&self, key: &LookupKey, as_of: u64) -> Lookup {
        if let Some(&number) = self.keys.get(key) {
            return Lookup::Pending(number);
        }
        let lookup = self.state.find(key, as_of);
        if let Lookup::Pending(number) = lookup {
            self.awaited.set(self.awaited.get().max(Some(number)));
        }
        lookup
    }
}
