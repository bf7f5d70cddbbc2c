//! Rebuilds state from the entries of a log.

use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_store::{EventLog, LogEntry, StoreError};

use crate::engine_state::EngineState;
use crate::event::{Event, EventError};
use crate::lagged_replay::LaggedReplay;
use crate::live_policy::{DecisionRef, EventHeader};
use crate::objection::Objection;

/// The edition of events that this version writes, and up to which it reads them. Raise it with a new kind of event, and with a field
/// without which an event would mean something else: replicas of an older version then do not take over.
pub const EVENT_EDITION: u64 = 4;

/// Entries read at a time.
const BLOCK: usize = 4096;

/// Why an entry cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// An entry that cannot be read as an event.
    #[error("event {number}: {source}")]
    Event {
        /// Its number.
        number: u64,
        /// Why.
        source: EventError,
    },
    /// An event that contradicts earlier ones.
    #[error("event {number} contradicts earlier events: {source}")]
    Inconsistent {
        /// Its number.
        number: u64,
        /// The contradiction.
        source: Objection,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explain for ReplayError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Event { source, .. } => source.remedy(),
            Self::Inconsistent { .. } => Some(Remedy::with("{action}", Action::RestoreBackup).see(Topic::Recovery)),
            Self::Store(error) => error.remedy(),
        }
    }
}

impl ReplayError {
    /// The event's number, unless the store could not be read.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Event { number, .. } | Self::Inconsistent { number, .. } => Some(*number),
            Self::Store(_) => None,
        }
    }
}

/// Number, time and actor of an entry.
pub fn header(entry: &LogEntry) -> EventHeader<'_> {
    EventHeader { number: entry.number, time_ms: entry.time_ms, actor: &entry.actor, hash: entry.hash }
}

/// The event in an entry of a log. What it tells about a person is decrypted, or left empty if the person was erased.
///
/// # Errors
/// [`ReplayError`] if it cannot be read.
pub fn event(log: &dyn EventLog, entry: &LogEntry) -> Result<Event, ReplayError> {
    Event::open(log, entry)
}

/// The decision with this event number, if it is one.
///
/// # Errors
/// [`ReplayError`] if it cannot be read.
pub fn decision(log: &dyn EventLog, number: u64) -> Result<Option<DecisionRef>, ReplayError> {
    log.entry(number)?.map_or(Ok(None), |entry| decision_in(log, &entry))
}

/// The decision that an entry records, if it records one.
///
/// # Errors
/// [`ReplayError`] if it cannot be read.
pub fn decision_in(log: &dyn EventLog, entry: &LogEntry) -> Result<Option<DecisionRef>, ReplayError> {
    match event(log, entry)? {
        Event::Decided(decided) => Ok(Some(DecisionRef { policy: entry.policy, time_ms: entry.time_ms, decided })),
        _ => Ok(None),
    }
}

/// The decision that an event refers to, read from the log.
///
/// # Errors
/// [`ReplayError`] if it cannot be read.
pub fn decision_of(log: &dyn EventLog, event: &Event) -> Result<Option<DecisionRef>, ReplayError> {
    match event {
        Event::Observed(observed) => observed.decision.map_or(Ok(None), |number| decision(log, number)),
        Event::Corrected(corrected) => decision(log, corrected.decision),
        Event::Overridden(overridden) => decision(log, overridden.decision),
        _ => Ok(None),
    }
}

/// Calls `each` with every entry above `after`, in order.
///
/// # Errors
/// The first error of `each`, or a [`StoreError`] if the log cannot be read.
pub fn for_each_entry<E: From<StoreError>>(
    log: &dyn EventLog,
    mut after: u64,
    policy: Option<u64>,
    mut each: impl FnMut(LogEntry) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        let block = log.entries(after, policy, BLOCK)?;
        let Some(last) = block.last() else { return Ok(()) };
        after = last.number;
        block.into_iter().try_for_each(&mut each)?;
    }
}

impl EngineState {
    /// Applies an entry and its event. The decision that it refers to is read from the log.
    ///
    /// # Errors
    /// [`ReplayError`] if the event contradicts earlier ones.
    pub fn apply_entry(&mut self, log: &dyn EventLog, entry: &LogEntry, event: &Event) -> Result<(), ReplayError> {
        if matches!(event, Event::PersonErased(_) | Event::Archived(_)) {
            self.forget(log, entry, event)?;
        }
        let about = decision_of(log, event)?;
        let applied = self.apply(header(entry), entry.policy, event, about.as_ref());
        applied.map_err(|source| ReplayError::Inconsistent { number: entry.number, source })
    }

    /// Applies everything in the log after this state's last event.
    ///
    /// # Errors
    /// [`ReplayError`] names the first event that cannot be applied.
    pub fn catch_up(&mut self, log: &dyn EventLog, mut progress: impl FnMut(u64)) -> Result<(), ReplayError> {
        for_each_entry(log, self.applied(), None, |entry| {
            progress(entry.number);
            self.apply_entry(log, &entry, &event(log, &entry)?)
        })
    }

    /// Replays a policy without people who are erased or records that are archived, unless they are missing already: what it has of single
    /// people comes from the log alone, so that every later replay agrees.
    fn forget(&self, log: &dyn EventLog, entry: &LogEntry, event: &Event) -> Result<(), ReplayError> {
        let Some(shared) = self.policy(entry.policy) else { return Ok(()) };
        if shared.lock().still_has_what_is_gone(entry.number, event) {
            let without = LaggedReplay::without_what_is_gone(log, entry)?;
            *shared.lock() = without.into_live();
        }
        Ok(())
    }
}
