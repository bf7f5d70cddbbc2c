//! Entries that wait to be committed, and the receipts that wait for them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::receipt::{Receipt, ReceiptSender};
use super::turn::{Lookup, Turn};
use crate::entry::{KeyedEntry, LookupKey, Stamp};
use crate::error::StoreError;

/// How long callers that shared the last commit are awaited for the next one.
const GATHER: Duration = Duration::from_millis(1);

/// Shared by all callers of `append` and the writing thread.
pub(super) struct Queue<P> {
    state: Mutex<QueueState<P>>,
    filled: Condvar,
}

/// Writes the body of an entry from its payload.
pub(super) type WriteBody<P> = fn(&P) -> String;

/// One group of entries, in order. The three lists have the same length.
pub(super) struct Batch<P> {
    pub(super) entries: Vec<KeyedEntry>,
    pub(super) payloads: Vec<P>,
    /// For entries whose body is still to be written.
    pub(super) bodies: Vec<Option<WriteBody<P>>>,
}

impl<P> Default for Batch<P> {
    fn default() -> Self {
        Self { entries: Vec::new(), payloads: Vec::new(), bodies: Vec::new() }
    }
}

pub(super) struct QueueState<P> {
    /// The next entry's number.
    pub(super) next: u64,
    pub(super) last_time_ms: u64,
    committed: u64,
    pending: Batch<P>,
    /// Receipts for the pending group.
    senders: Vec<ReceiptSender>,
    /// Receipts for the group that is being committed.
    senders_in_flight: Vec<ReceiptSender>,
    keys: RecentKeys,
    /// The number of receipts of the last group: as many callers are likely to append again soon.
    expected: usize,
    closed: bool,
}

impl<P> Queue<P> {
    pub(super) fn new(committed: u64, last_time_ms: u64) -> Self {
        let state = QueueState {
            next: committed + 1,
            last_time_ms,
            committed,
            pending: Batch::default(),
            senders: Vec::new(),
            senders_in_flight: Vec::new(),
            keys: RecentKeys::new(committed),
            expected: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), filled: Condvar::new() }
    }

    pub(super) fn take_turn<R>(
        &self,
        clock: &dyn Fn() -> Stamp,
        make: impl FnOnce(&mut Turn<'_, P>) -> R,
    ) -> (R, Receipt) {
        let mut state = self.lock();
        let stamp = clock();
        let mut turn = Turn::new(&state, Stamp { time_ms: stamp.time_ms.max(state.last_time_ms), ..stamp });
        let answer = make(&mut turn);
        let (pushed, time_ms, awaited) = turn.finish();
        let nothing = pushed.entries.is_empty();
        if state.closed {
            let refused = !nothing || awaited.is_some();
            return (answer, if refused { Receipt::refused() } else { Receipt::settled() });
        }
        if nothing && awaited.is_none() {
            return (answer, Receipt::settled());
        }
        let (sender, receipt) = Receipt::waiting();
        let in_pending = state.pending.entries.first().is_some_and(|first| awaited >= Some(first.entry.number));
        if nothing && !in_pending {
            state.senders_in_flight.push(sender);
            return (answer, receipt);
        }
        state.senders.push(sender);
        if !nothing {
            let idle = state.pending.entries.is_empty();
            state.accept(pushed, time_ms);
            let complete = state.senders.len() == state.expected;
            drop(state);
            if idle || complete {
                self.filled.notify_one();
            }
        }
        (answer, receipt)
    }

    /// Waits for entries and takes everything that is pending; `None` when closed and empty.
    ///
    /// If several callers shared the last group, it waits up to [`GATHER`] until as many have appended again: on a fast
    /// disk that makes fewer and larger commits. A single caller is never delayed.
    pub(super) fn take(&self) -> Option<Batch<P>> {
        let mut state = self.lock();
        while state.pending.entries.is_empty() {
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let deadline = Instant::now() + GATHER;
        while state.expected > 1 && state.senders.len() < state.expected && !state.closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        state.expected = state.senders.len();
        state.senders_in_flight = std::mem::take(&mut state.senders);
        Some(std::mem::take(&mut state.pending))
    }

    /// Records that everything up to `number` is on disk. Returns the receipts to complete.
    pub(super) fn committed(&self, number: u64) -> Vec<ReceiptSender> {
        let mut state = self.lock();
        state.committed = number;
        state.keys.committed(number);
        std::mem::take(&mut state.senders_in_flight)
    }

    /// Fails the group in flight and everything pushed since. Their numbers are void; the next entry follows `committed`.
    pub(super) fn failed(&self, committed: u64, last_time_ms: u64, error: &Arc<StoreError>) {
        let mut state = self.lock();
        state.committed = committed;
        state.next = committed + 1;
        state.last_time_ms = state.last_time_ms.max(last_time_ms);
        state.pending = Batch::default();
        // Entries that were found in the log after the failure came without their keys, so earlier lookups are stale.
        state.keys = RecentKeys::new(committed);
        let senders =
            std::mem::take(&mut state.senders_in_flight).into_iter().chain(std::mem::take(&mut state.senders));
        let senders: Vec<_> = senders.collect();
        drop(state);
        for sender in senders {
            // An error means that the receipt was dropped.
            let _ = sender.send(Err(Arc::clone(error)));
        }
    }

    /// How many entries wait to be committed.
    pub(super) fn depth(&self) -> usize {
        self.lock().pending.entries.len()
    }

    /// Refuses new entries from now on.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }

    /// Closes, and fails all waiting receipts.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.senders.clear();
        state.senders_in_flight.clear();
        state.pending = Batch::default();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<P>> {
        // A panic in a caller's turn leaves the state as it was before the turn.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P> QueueState<P> {
    /// Whether an entry with this key was pushed since `as_of`.
    pub(super) fn find(&self, key: &LookupKey, as_of: u64) -> Lookup {
        match self.keys.latest.get(key) {
            Some(&number) if number > self.committed => Lookup::Pending(number),
            Some(&number) if number > as_of => Lookup::Stale,
            Some(_) => Lookup::Absent,
            None if as_of >= self.keys.complete_after => Lookup::Absent,
            None => Lookup::Stale,
        }
    }

    fn accept(&mut self, pushed: Batch<P>, time_ms: u64) {
        self.next += pushed.entries.len() as u64;
        self.last_time_ms = time_ms;
        for KeyedEntry { entry, key, .. } in &pushed.entries {
            if let Some(key) = key {
                self.keys.push(key, entry.number);
            }
        }
        if self.pending.entries.is_empty() {
            self.pending = pushed;
        } else {
            self.pending.entries.extend(pushed.entries);
            self.pending.payloads.extend(pushed.payloads);
            self.pending.bodies.extend(pushed.bodies);
        }
    }
}

/// The keys of uncommitted and of recently committed entries. With them a lookup stays valid when unrelated entries are
/// committed after it.
struct RecentKeys {
    latest: HashMap<LookupKey, u64>,
    in_order: VecDeque<(u64, LookupKey)>,
    /// Every key of an entry above this number is in `latest`.
    complete_after: u64,
}

impl RecentKeys {
    /// How many keys of committed entries are kept.
    const KEPT: usize = 16_384;

    fn new(complete_after: u64) -> Self {
        Self { latest: HashMap::new(), in_order: VecDeque::new(), complete_after }
    }

    fn push(&mut self, key: &LookupKey, number: u64) {
        self.latest.insert(key.clone(), number);
        self.in_order.push_back((number, key.clone()));
    }

    fn committed(&mut self, committed: u64) {
        while self.in_order.len() > Self::KEPT {
            if self.in_order.front().is_none_or(|(number, _)| *number > committed) {
                break;
            }
            let Some((number, key)) = self.in_order.pop_front() else { break };
            if self.latest.get(&key) == Some(&number) {
                self.latest.remove(&key);
            }
            self.complete_after = self.complete_after.max(number);
        }
    }
}
