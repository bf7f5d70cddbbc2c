//! From the entries of a log to what they add up to.

use rarely_store::{Entry, Log, StoreError};

use crate::event::{Event, EventError};
use crate::live::{About, Stamp};
use crate::objection::Objection;
use crate::world::World;

/// Entries that are read at a time.
const BLOCK: usize = 4096;

/// An entry that does not fit, or could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// An entry that is no event of ours.
    #[error("event {number}: {source}")]
    Event {
        /// Its number.
        number: u64,
        /// What is wrong with it.
        source: EventError,
    },
    /// An event that does not follow from those before.
    #[error("event {number} does not fit what happened before: {source}")]
    Misfit {
        /// Its number.
        number: u64,
        /// Why not.
        source: Objection,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReplayError {
    /// The event that does not fit.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Event { number, .. } | Self::Misfit { number, .. } => Some(*number),
            Self::Store(_) => None,
        }
    }
}

/// The circumstances of an entry.
pub fn stamp(entry: &Entry) -> Stamp<'_> {
    Stamp { number: entry.number, time_ms: entry.time_ms, actor: &entry.actor }
}

/// The event that an entry holds.
///
/// # Errors
/// [`ReplayError::Event`] if it holds none of ours.
pub fn event(entry: &Entry) -> Result<Event, ReplayError> {
    Event::parse(&entry.kind, &entry.body).map_err(|source| ReplayError::Event { number: entry.number, source })
}

/// The decision with a number, if there is one.
///
/// # Errors
/// [`ReplayError`] if it cannot be read.
pub fn decision(log: &dyn Log, number: u64) -> Result<Option<About>, ReplayError> {
    let Some(entry) = log.entry(number)? else { return Ok(None) };
    match event(&entry)? {
        Event::Decided(decided) => Ok(Some(About { policy: entry.policy, time_ms: entry.time_ms, decided })),
        _ => Ok(None),
    }
}

/// The decision that an event is about, from the log.
///
/// # Errors
/// [`ReplayError`] if it cannot be read.
pub fn about(log: &dyn Log, event: &Event) -> Result<Option<About>, ReplayError> {
    match event {
        Event::Observed(observed) => observed.decision.map_or(Ok(None), |number| decision(log, number)),
        Event::Corrected(corrected) => decision(log, corrected.decision),
        _ => Ok(None),
    }
}

/// Shows every entry after a number, in order.
///
/// # Errors
/// What `each` returns, or [`StoreError`] as the error type has it.
pub fn each_entry<E: From<StoreError>>(
    log: &dyn Log,
    mut after: u64,
    policy: Option<u64>,
    mut each: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        let block = log.entries(after, policy, BLOCK)?;
        let Some(last) = block.last() else { return Ok(()) };
        after = last.number;
        block.into_iter().try_for_each(&mut each)?;
    }
}

impl World {
    /// Takes in an entry and the event it holds; the decision it is about is looked up.
    ///
    /// # Errors
    /// [`ReplayError`] if it does not fit.
    pub fn take_in(&mut self, log: &dyn Log, entry: &Entry, event: &Event) -> Result<(), ReplayError> {
        let about = about(log, event)?;
        let applied = self.apply(stamp(entry), entry.policy, event, about.as_ref());
        applied.map_err(|source| ReplayError::Misfit { number: entry.number, source })
    }

    /// Takes in everything that the log has beyond this world.
    ///
    /// # Errors
    /// [`ReplayError`] names the first event that does not fit.
    pub fn catch_up(&mut self, log: &dyn Log, mut progress: impl FnMut(u64)) -> Result<(), ReplayError> {
        each_entry(log, self.applied(), None, |entry| {
            progress(entry.number);
            self.take_in(log, &entry, &event(&entry)?)
        })
    }
}
