//! What waits to be committed, and who waits for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::receipt::{Receipt, Teller};
use super::turn::{Lookup, Turn};
use crate::entry::{Mark, Stamped};
use crate::error::StoreError;

/// For so long those who shared the last commit are awaited for the next.
const GATHER: Duration = Duration::from_millis(1);

/// Shared by everyone who appends and the writer's thread.
pub(super) struct Queue<P> {
    state: Mutex<State<P>>,
    filled: Condvar,
}

/// One group: entries in order, their payloads, and who waits for them.
pub(super) struct Batch<P> {
    pub(super) entries: Vec<Stamped>,
    pub(super) payloads: Vec<P>,
}

impl<P> Default for Batch<P> {
    fn default() -> Self {
        Self { entries: Vec::new(), payloads: Vec::new() }
    }
}

pub(super) struct State<P> {
    /// The number that the next entry gets.
    pub(super) next: u64,
    pub(super) last_time_ms: u64,
    committed: u64,
    pending: Batch<P>,
    /// Who waits for the pending group.
    tellers: Vec<Teller>,
    /// Who waits for the group that is being committed.
    tellers_in_flight: Vec<Teller>,
    marks: Marks,
    /// Who waited for the last group: they are likely to ask again in a moment.
    expected: usize,
    closed: bool,
}

impl<P> Queue<P> {
    pub(super) fn new(committed: u64, last_time_ms: u64) -> Self {
        let state = State {
            next: committed + 1,
            last_time_ms,
            committed,
            pending: Batch::default(),
            tellers: Vec::new(),
            tellers_in_flight: Vec::new(),
            marks: Marks::new(committed),
            expected: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), filled: Condvar::new() }
    }

    pub(super) fn take_turn<R>(
        &self,
        clock: &dyn Fn() -> u64,
        make: impl FnOnce(&mut Turn<'_, P>) -> R,
    ) -> (R, Receipt) {
        let mut state = self.lock();
        let mut turn = Turn::new(&state, clock().max(state.last_time_ms));
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
        let (teller, receipt) = Receipt::waiting();
        let in_pending = state.pending.entries.first().is_some_and(|first| awaited >= Some(first.entry.number));
        if nothing && !in_pending {
            state.tellers_in_flight.push(teller);
            return (answer, receipt);
        }
        state.tellers.push(teller);
        if !nothing {
            let idle = state.pending.entries.is_empty();
            state.accept(pushed, time_ms);
            let complete = state.tellers.len() == state.expected;
            drop(state);
            if idle || complete {
                self.filled.notify_one();
            }
        }
        (answer, receipt)
    }

    /// Takes everything that is pending as soon as there is something; `None` when closed and all is taken.
    ///
    /// Where several callers shared the last group it waits up to [`GATHER`] until as many have asked again: on a fast disk
    /// that is fewer and larger commits for the same work. One caller alone is never kept waiting.
    pub(super) fn take(&self) -> Option<Batch<P>> {
        let mut state = self.lock();
        while state.pending.entries.is_empty() {
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let deadline = Instant::now() + GATHER;
        while state.expected > 1 && state.tellers.len() < state.expected && !state.closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        state.expected = state.tellers.len();
        state.tellers_in_flight = std::mem::take(&mut state.tellers);
        Some(std::mem::take(&mut state.pending))
    }

    /// Everything up to `number` is on disk. Gives back whom to tell.
    pub(super) fn committed(&self, number: u64) -> Vec<Teller> {
        let mut state = self.lock();
        state.committed = number;
        state.marks.committed(number);
        std::mem::take(&mut state.tellers_in_flight)
    }

    /// The group in flight failed, and with it everything pushed since: their numbers are void, and the next entry
    /// follows `committed`.
    pub(super) fn failed(&self, committed: u64, last_time_ms: u64, error: &Arc<StoreError>) {
        let mut state = self.lock();
        state.committed = committed;
        state.next = committed + 1;
        state.last_time_ms = state.last_time_ms.max(last_time_ms);
        state.pending = Batch::default();
        // Entries that were found in the log after all came without their marks: whoever looked before must look again.
        state.marks = Marks::new(committed);
        let tellers =
            std::mem::take(&mut state.tellers_in_flight).into_iter().chain(std::mem::take(&mut state.tellers));
        let tellers: Vec<_> = tellers.collect();
        drop(state);
        for teller in tellers {
            // Who no longer listens need not know.
            let _ = teller.send(Err(Arc::clone(error)));
        }
    }

    /// Takes nothing more from now on.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }

    /// Closes, and lets everyone who waits know that it is in vain.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.tellers.clear();
        state.tellers_in_flight.clear();
        state.pending = Batch::default();
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // A panic in someone's turn leaves the state as it was before the turn.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P> State<P> {
    /// Whether an entry with this mark was pushed since `as_of`.
    pub(super) fn find(&self, mark: &Mark, as_of: u64) -> Lookup {
        match self.marks.latest.get(mark) {
            Some(&number) if number > self.committed => Lookup::Pending(number),
            Some(&number) if number > as_of => Lookup::Stale,
            Some(_) => Lookup::Absent,
            None if as_of >= self.marks.complete_after => Lookup::Absent,
            None => Lookup::Stale,
        }
    }

    fn accept(&mut self, pushed: Batch<P>, time_ms: u64) {
        self.next += pushed.entries.len() as u64;
        self.last_time_ms = time_ms;
        for Stamped { entry, mark } in &pushed.entries {
            if let Some(mark) = mark {
                self.marks.push(mark, entry.number);
            }
        }
        if self.pending.entries.is_empty() {
            self.pending = pushed;
        } else {
            self.pending.entries.extend(pushed.entries);
            self.pending.payloads.extend(pushed.payloads);
        }
    }
}

/// The marks of what is not yet committed and of what was committed lately, so that one who looked into the log a
/// moment ago need not look again only because something else was committed meanwhile.
struct Marks {
    latest: HashMap<Mark, u64>,
    in_order: VecDeque<(u64, Mark)>,
    /// Every mark of an entry above this number is here.
    complete_after: u64,
}

impl Marks {
    /// So many marks of committed entries are kept.
    const KEPT: usize = 16_384;

    fn new(complete_after: u64) -> Self {
        Self { latest: HashMap::new(), in_order: VecDeque::new(), complete_after }
    }

    fn push(&mut self, mark: &Mark, number: u64) {
        self.latest.insert(mark.clone(), number);
        self.in_order.push_back((number, mark.clone()));
    }

    fn committed(&mut self, committed: u64) {
        while self.in_order.len() > Self::KEPT {
            if self.in_order.front().is_none_or(|(number, _)| *number > committed) {
                break;
            }
            let Some((number, mark)) = self.in_order.pop_front() else { break };
            if self.latest.get(&mark) == Some(&number) {
                self.latest.remove(&mark);
            }
            self.complete_after = self.complete_after.max(number);
        }
    }
}
