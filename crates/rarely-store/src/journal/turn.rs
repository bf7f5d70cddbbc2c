//! One caller's turn under the lock that gives out numbers.

use std::cell::Cell;
use std::collections::HashMap;

use super::queue::{Batch, State};
use crate::entry::{Draft, Entry, Mark, Stamped, Subject};
use crate::hash::Hash;

/// The turn of one [`append`](crate::Journal::append): what is pushed in it is committed together. Others wait
/// meanwhile, so do here only what needs the number.
pub struct Turn<'a, P> {
    state: &'a State<P>,
    time_ms: u64,
    pushed: Batch<P>,
    marks: HashMap<Mark, u64>,
    awaited: Cell<Option<u64>>,
}

/// What [`Turn::find`] knows of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// An entry with this number carries it and is not yet on disk; the turn's receipt waits for it.
    Pending(u64),
    /// Nothing above `as_of` carries it.
    Absent,
    /// Something committed since `as_of` may carry it: call [`Journal::find`](crate::Journal::find) again.
    Stale,
}

impl<'a, P> Turn<'a, P> {
    pub(super) fn new(state: &'a State<P>, time_ms: u64) -> Self {
        Self { state, time_ms, pushed: Batch::default(), marks: HashMap::new(), awaited: Cell::new(None) }
    }

    /// What was pushed, when, and the highest number found pending.
    pub(super) fn finish(self) -> (Batch<P>, u64, Option<u64>) {
        (self.pushed, self.time_ms, self.awaited.get())
    }

    /// The number that the next [`push`](Self::push) gives.
    pub fn number(&self) -> u64 {
        self.state.next + self.pushed.entries.len() as u64
    }

    /// The time of everything pushed in this turn: the clock's, or the last entry's if the clock went back.
    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// Adds an entry; gives its number, which is void if the receipt says so.
    pub fn push(&mut self, draft: Draft, payload: P) -> u64 {
        let number = self.number();
        let policy = match draft.subject {
            Subject::None => 0,
            Subject::Policy(policy) => policy,
            Subject::Itself => number,
        };
        if let Some(mark) = &draft.mark {
            self.marks.insert(mark.clone(), number);
        }
        // The writer's thread fills in the hash, so that the turn is short.
        let Draft { actor, kind, body, mark, .. } = draft;
        let entry =
            Entry { number, time_ms: self.time_ms, actor, policy, kind: kind.to_owned(), body, hash: Hash::ZERO };
        self.pushed.entries.push(Stamped { entry, mark });
        self.pushed.payloads.push(payload);
        number
    }

    /// Whether an entry that is not in the log as of `as_of` carries this mark: one of this turn, one of another's
    /// that is not yet on disk, or one committed since.
    pub fn find(&self, mark: &Mark, as_of: u64) -> Lookup {
        if let Some(&number) = self.marks.get(mark) {
            return Lookup::Pending(number);
        }
        let lookup = self.state.find(mark, as_of);
        if let Lookup::Pending(number) = lookup {
            self.awaited.set(self.awaited.get().max(Some(number)));
        }
        lookup
    }
}
