//! Outcomes: late, in any order, twice, corrected, or of decisions taken elsewhere.

use std::sync::Arc;

use rarely_store::{Entry, Lookup, Mark, StoreError, Subject};

use super::{Engine, Happened, Slot, draft};
use crate::event::{Corrected, Elsewhere, Event, Observed};
use crate::live::About;
use crate::mark;
use crate::replay::{self, ReplayError};

/// Somebody reports how it went.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// With one of our decisions.
    Outcome {
        /// Its number.
        decision: u64,
        /// The outcome.
        outcome: f64,
        /// Whether it replaces what was reported before, and why.
        correction: Option<Option<String>>,
    },
    /// With a decision taken elsewhere.
    Elsewhere {
        /// The decision.
        elsewhere: Elsewhere,
        /// The outcome.
        outcome: f64,
    },
}

/// It was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// The event.
    pub event: u64,
    /// Whether it had been reported before.
    pub repeated: bool,
}

/// Why a report was not taken in.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OutcomeError {
    /// There is no such decision.
    #[error("the policy has made no decision {0}; send the number that `POST …/decisions` answered")]
    Unknown(u64),
    /// Another outcome was reported.
    #[error(
        "decision {decision} has the outcome {found} already (event {event}); if it was wrong, send this one with \"correction\": true"
    )]
    Differs {
        /// The decision.
        decision: u64,
        /// The outcome it has.
        found: f64,
        /// The event that reported it.
        event: u64,
    },
    /// There is nothing to correct.
    #[error("decision {0} has no outcome yet that could be corrected; send it without \"correction\"")]
    NothingToCorrect(u64),
    /// The outcome is out of range.
    #[error("{0}")]
    Value(rarely_policy::ValueError),
    /// The key was used for something else.
    #[error("the key {key:?} was used for another observation (event {event}); use a new key for every new one")]
    KeyTaken {
        /// The key.
        key: String,
        /// The event that has it.
        event: u64,
    },
    /// It could not be stored.
    #[error("the outcome could not be stored: {0}; send it again")]
    Store(Arc<StoreError>),
    /// What was stored before could not be read.
    #[error("an earlier event could not be read: {0}")]
    Replay(Arc<ReplayError>),
}

/// A report that was looked at, and is to be written.
struct Writable {
    event: Event,
    about: Option<Arc<About>>,
    mark: Option<Mark>,
    /// The events before this one that were looked at.
    as_of: u64,
}

enum Looked {
    Done(Result<Reported, OutcomeError>),
    Write(Box<Writable>),
}

impl Engine {
    /// Takes in each report; all are on disk and known to the deciders when this returns. One that was reported before is not taken
    /// in again.
    pub async fn observe(&self, slot: &Slot, actor: &str, reports: Vec<Report>) -> Vec<Result<Reported, OutcomeError>> {
        let mut results: Vec<Option<Result<Reported, OutcomeError>>> = vec![None; reports.len()];
        loop {
            let mut writable = Vec::new();
            for (at, (report, result)) in reports.iter().zip(&mut results).enumerate() {
                if result.is_some() {
                    continue;
                }
                match self.look_at(slot, report) {
                    Looked::Done(done) => *result = Some(done),
                    Looked::Write(write) => writable.push((at, write)),
                }
            }
            if writable.is_empty() {
                return results.into_iter().flatten().collect();
            }
            let (written, receipt) = self.journal.append(|turn| {
                let mut written = Vec::new();
                for (at, write) in writable {
                    let Writable { event, about, mark, as_of } = *write;
                    if mark.as_ref().is_some_and(|mark| turn.find(mark, as_of) != Lookup::Absent) {
                        continue;
                    }
                    let draft = draft(actor, Subject::Policy(slot.id), &event, mark);
                    written.push((at, turn.push(draft, Happened { event, about })));
                }
                written
            });
            let waited = receipt.wait().await;
            if let (Ok(()), Some((_, last))) = (&waited, written.last()) {
                self.taken_in(*last).await;
            }
            for (at, event) in written {
                results[at] =
                    Some(waited.clone().map(|()| Reported { event, repeated: false }).map_err(OutcomeError::Store));
            }
        }
    }

    /// The event that reported the outcome of a decision, then those that corrected it; none if it has no outcome.
    ///
    /// # Errors
    /// [`ReplayError`] if they cannot be read.
    pub fn outcomes_of(&self, decision: u64) -> Result<Vec<Entry>, ReplayError> {
        let mut next = self.log().find(&mark::of_outcome(decision))?;
        let mut entries = Vec::new();
        while let Some(entry) = next.map(|number| self.log().entry(number)).transpose()?.flatten() {
            next = match replay::event(&entry)? {
                Event::Corrected(corrected) => Some(corrected.previous),
                _ => None,
            };
            entries.push(entry);
        }
        entries.reverse();
        Ok(entries)
    }

    /// Waits until an event is taken in, or nothing will be any more.
    async fn taken_in(&self, number: u64) {
        let mut applied = self.applied.clone();
        // An error means that the engine stopped; the event is on disk all the same.
        drop(applied.wait_for(|applied| *applied >= number).await);
    }

    fn look_at(&self, slot: &Slot, report: &Report) -> Looked {
        let looked = match report {
            Report::Outcome { decision, outcome, correction } => {
                self.outcome(slot, *decision, *outcome, correction.as_ref())
            }
            Report::Elsewhere { elsewhere, outcome } => self.elsewhere(slot, elsewhere, *outcome),
        };
        looked.unwrap_or_else(|error| Looked::Done(Err(error)))
    }

    fn outcome(
        &self,
        slot: &Slot,
        decision: u64,
        outcome: f64,
        correction: Option<&Option<String>>,
    ) -> Result<Looked, OutcomeError> {
        slot.reader.reward(outcome).map_err(OutcomeError::Value)?;
        let about = replay::decision(self.log().as_ref(), decision).map_err(unreadable)?;
        let about = about.filter(|about| about.policy == slot.id).ok_or(OutcomeError::Unknown(decision))?;
        let mark = mark::of_outcome(decision);
        let found = self.journal.find(&mark).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
        let known = found.number.map(|event| self.outcome_of(event).map(|known| (event, known))).transpose()?;
        let event = match (known, correction) {
            (Some((event, (_, known))), _) if known.to_bits() == outcome.to_bits() => {
                return Ok(Looked::Done(Ok(Reported { event, repeated: true })));
            }
            (Some((event, (_, known))), None) => {
                return Err(OutcomeError::Differs { decision, found: known, event });
            }
            (Some((previous, (first, from))), Some(reason)) => {
                Event::Corrected(Corrected { decision, first, previous, from, outcome, reason: reason.clone() })
            }
            (None, Some(_)) => return Err(OutcomeError::NothingToCorrect(decision)),
            (None, None) => Event::Observed(Observed { decision: Some(decision), elsewhere: None, outcome }),
        };
        let about = Some(Arc::new(about));
        Ok(Looked::Write(Box::new(Writable { event, about, mark: Some(mark), as_of: found.as_of })))
    }

    /// The outcome that an event reported, and the event that first reported one.
    fn outcome_of(&self, event: u64) -> Result<(u64, f64), OutcomeError> {
        let entry = self.log().entry(event).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
        let entry = entry.ok_or(OutcomeError::Unknown(event))?;
        match replay::event(&entry).map_err(unreadable)? {
            Event::Observed(observed) => Ok((event, observed.outcome)),
            Event::Corrected(corrected) => Ok((corrected.first, corrected.outcome)),
            _ => Err(OutcomeError::Unknown(event)),
        }
    }

    fn elsewhere(&self, slot: &Slot, elsewhere: &Elsewhere, outcome: f64) -> Result<Looked, OutcomeError> {
        slot.reader.reward(outcome).map_err(OutcomeError::Value)?;
        let observed = Observed { decision: None, elsewhere: Some(elsewhere.clone()), outcome };
        let (mut mark, mut as_of) = (None, u64::MAX);
        if let Some(key) = &elsewhere.key {
            let name = mark::of_observation(slot.id, key);
            let found = self.journal.find(&name).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
            if let Some(event) = found.number {
                let entry = self.log().entry(event).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
                let known = entry.as_ref().map(replay::event).transpose().map_err(unreadable)?;
                return if known == Some(Event::Observed(observed)) {
                    Ok(Looked::Done(Ok(Reported { event, repeated: true })))
                } else {
                    Err(OutcomeError::KeyTaken { key: key.clone(), event })
                };
            }
            (mark, as_of) = (Some(name), found.as_of);
        }
        let event = Event::Observed(observed);
        Ok(Looked::Write(Box::new(Writable { event, about: None, mark, as_of })))
    }
}

fn unreadable(error: ReplayError) -> OutcomeError {
    OutcomeError::Replay(Arc::new(error))
}
