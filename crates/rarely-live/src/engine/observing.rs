//! Reports of outcomes: late, in any order, repeated, corrected, or of decisions made elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use rarely_error::{Action, Explain, Remedy};
use rarely_store::{LogEntry, LookedUp, Lookup, LookupKey, PolicyRef, StoreError};

use super::{Engine, OpenSubject, PendingEvent, PolicyHandle, draft};
use crate::event::{Corrected, Event, ExternalDecision, Observed};
use crate::live_policy::DecisionRef;
use crate::lookup_key;
use crate::objection::Objection;
use crate::record::GuardrailError;
use crate::replay::{self, ReplayError};

/// A report of an outcome.
#[derive(Debug, Clone, PartialEq)]
pub enum NewOutcome {
    /// The outcome of one of our decisions.
    OfDecision {
        /// The decision's event number.
        decision: u64,
        /// The outcome.
        outcome: f64,
        /// The outcomes of guard-rails, by column.
        guardrails: BTreeMap<String, f64>,
        /// The reason, if this corrects an earlier outcome.
        correction: Option<String>,
    },
    /// The outcome of a decision made elsewhere.
    External {
        /// The decision.
        decision: ExternalDecision,
        /// The outcome.
        outcome: f64,
        /// The outcomes of guard-rails, by column.
        guardrails: BTreeMap<String, f64>,
        /// The person that it is about, as the caller names the person.
        subject: Option<String>,
    },
}

/// A recorded outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedOutcome {
    /// Its event number.
    pub event: u64,
    /// Whether it was already reported before.
    pub repeated: bool,
}

/// Why a report of an outcome failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OutcomeError {
    /// The decision does not exist.
    #[error("the policy has made no decision {0}")]
    Unknown(u64),
    /// The person was erased, or is being erased.
    #[error("the person of this decision was erased, so nothing more is recorded about it")]
    Erased,
    /// The record of the decision is archived.
    #[error("the record of decision {decision} is archived in {file}, so nothing more is recorded about it")]
    Archived {
        /// The decision.
        decision: u64,
        /// The name of the file.
        file: String,
    },
    /// Another outcome was already reported.
    #[error("decision {decision} already has the outcome {found}, or other guard-rails (event {event})")]
    Differs {
        /// The decision.
        decision: u64,
        /// The outcome it has.
        found: f64,
        /// The event that reported it.
        event: u64,
    },
    /// There is nothing to correct.
    #[error("decision {0} has no outcome to correct")]
    NothingToCorrect(u64),
    /// The correction has no reason.
    #[error("the correction of decision {0} has no reason")]
    NoReason(u64),
    /// The outcome is out of range.
    #[error(transparent)]
    Value(rarely_policy::ValueError),
    /// The outcomes of guard-rails are incomplete or wrong.
    #[error(transparent)]
    Guardrails(GuardrailError),
    /// A decision of the past that cannot be imported.
    #[error(transparent)]
    History(Objection),
    /// The key was used for another observation.
    #[error("the key {key:?} belongs to another observation (event {event})")]
    KeyTaken {
        /// The key.
        key: String,
        /// The event with this key.
        event: u64,
    },
    /// The outcome could not be stored.
    #[error("the outcome could not be stored: {0}")]
    Store(Arc<StoreError>),
    /// An earlier event could not be read.
    #[error("an earlier event could not be read: {0}")]
    Replay(Arc<ReplayError>),
}

/// What the log knows about a report.
struct Known {
    /// The entry that the report calls its decision.
    decision: Option<LogEntry>,
    /// The key under which the report is recorded, …
    lookup_key: Option<LookupKey>,
    /// … and the event that has it already, …
    event: Option<u64>,
    /// … as far as the log was searched.
    as_of: u64,
    /// The person that the report is about.
    person: Option<Arc<OpenSubject>>,
}

/// An outcome that was reported.
struct KnownOutcome {
    /// The event that first reported one.
    first: u64,
    outcome: f64,
    guardrails: BTreeMap<String, f64>,
}

impl KnownOutcome {
    fn is(&self, outcome: f64, guardrails: &BTreeMap<String, f64>) -> bool {
        self.outcome.to_bits() == outcome.to_bits() && self.guardrails == *guardrails
    }
}

/// A checked report that is ready to be written.
struct Writable {
    event: Event,
    about: Option<Arc<DecisionRef>>,
    lookup_key: Option<LookupKey>,
    /// The last event number that was searched for the key.
    as_of: u64,
    /// The person that it is about.
    person: Option<Arc<OpenSubject>>,
}

enum Checked {
    Done(Result<RecordedOutcome, OutcomeError>),
    Write(Box<Writable>),
}

impl Explain for OutcomeError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Unknown(_) => Some(Remedy::with("send the number that {action} returned", Action::RequestDecision)),
            Self::Differs { .. } => Some(Remedy::with("if that is wrong, {action}", Action::CorrectOutcome)),
            Self::Erased | Self::Archived { .. } => None,
            Self::NothingToCorrect(_) => Some(Remedy::with("{action}", Action::ReportOutcome)),
            Self::NoReason(_) => Some(Remedy::new("say in a few words why the outcome was wrong")),
            Self::KeyTaken { .. } => Some(Remedy::new("use a new key for every new observation")),
            Self::Store(error) => error.remedy(),
            Self::Replay(error) => error.remedy(),
            Self::Value(error) => error.remedy(),
            Self::Guardrails(error) => error.remedy(),
            Self::History(objection) => objection.remedy(),
        }
    }
}

impl Engine {
    /// Records each report. All are on disk and applied when this returns. A repeated report is not recorded again.
    pub async fn observe(
        &self,
        handle: &PolicyHandle,
        actor: &str,
        reports: Vec<NewOutcome>,
    ) -> Vec<Result<RecordedOutcome, OutcomeError>> {
        let mut results: Vec<Option<Result<RecordedOutcome, OutcomeError>>> = vec![None; reports.len()];
        loop {
            let mut writable = Vec::new();
            let archivings = self.archivings();
            let open: Vec<usize> = (0..reports.len()).filter(|&at| results[at].is_none()).collect();
            let known = self.known(handle, open.iter().map(|&at| &reports[at])).await;
            for (at, known) in open.into_iter().zip(known) {
                let result = &mut results[at];
                match self.check(handle, &reports[at], known) {
                    Checked::Done(done) => *result = Some(done),
                    Checked::Write(write) => writable.push((at, write)),
                }
            }
            if writable.is_empty() {
                return results.into_iter().flatten().collect();
            }
            let (written, receipt) = self.append(|turn| {
                let mut written = Vec::new();
                if self.archivings() != archivings {
                    return written;
                }
                for (at, write) in writable {
                    let Writable { event, about, lookup_key, as_of, person } = *write;
                    if lookup_key.as_ref().is_some_and(|lookup_key| turn.find(lookup_key, as_of) != Lookup::Absent) {
                        continue;
                    }
                    if person.as_ref().is_some_and(|person| person.is_closed()) {
                        results[at] = Some(Err(OutcomeError::Erased));
                        continue;
                    }
                    let draft = draft(actor, PolicyRef::Id(handle.id), &event, lookup_key);
                    written.push((at, turn.push_deferred(draft, PendingEvent { event, about, person })));
                }
                written
            });
            let waited = receipt.wait().await;
            if let (Ok(()), Some((_, last))) = (&waited, written.last()) {
                self.applied(*last).await;
            }
            for (at, event) in written {
                results[at] = Some(
                    waited.clone().map(|()| RecordedOutcome { event, repeated: false }).map_err(OutcomeError::Store),
                );
            }
        }
    }

    /// The entry that reported a decision's outcome, then its corrections; empty if it has no outcome.
    ///
    /// # Errors
    /// [`ReplayError`] if they cannot be read.
    pub fn outcomes_of(&self, decision: u64) -> Result<Vec<LogEntry>, ReplayError> {
        let mut next = self.log().find(&lookup_key::of_outcome(decision))?;
        let mut entries = Vec::new();
        while let Some(entry) = next.map(|number| self.log().entry(number)).transpose()?.flatten() {
            next = match replay::event(self.log().as_ref(), &entry)? {
                Event::Corrected(corrected) => Some(corrected.previous),
                _ => None,
            };
            entries.push(entry);
        }
        entries.reverse();
        Ok(entries)
    }

    /// Waits until an event is applied, or the applier has ended.
    async fn applied(&self, number: u64) {
        let mut applied = self.applied.clone();
        // An error means that the engine stopped; the event is on disk nevertheless.
        drop(applied.wait_for(|applied| *applied >= number).await);
    }

    /// What the log knows about each report, in one reading.
    async fn known(
        &self,
        handle: &PolicyHandle,
        reports: impl Iterator<Item = &NewOutcome> + Clone,
    ) -> Vec<Result<Known, Arc<StoreError>>> {
        let named = reports.clone().map(|report| match report {
            NewOutcome::OfDecision { .. } => None,
            NewOutcome::External { subject, .. } => subject.as_deref(),
        });
        let people = match self.people_of(named) {
            Ok(people) => people,
            Err(error) => return reports.map(|_| Err(error.clone())).collect(),
        };
        let asked: Vec<(Option<u64>, Option<LookupKey>)> = reports
            .zip(&people)
            .map(|(report, person)| match report {
                NewOutcome::OfDecision { decision, .. } => (Some(*decision), Some(lookup_key::of_outcome(*decision))),
                NewOutcome::External { decision, .. } => {
                    let lookup_key = decision.key.as_ref().map(|key| match person {
                        Some(person) => lookup_key::of_observation_about(handle.id, &person.subject.key, key),
                        None => lookup_key::of_observation(handle.id, key),
                    });
                    (None, lookup_key)
                }
            })
            .collect();
        let numbers = asked.iter().filter_map(|(number, _)| *number).collect();
        let keys = asked.iter().filter_map(|(_, key)| key.clone()).collect();
        match self.writer.look_up(numbers, keys).await {
            Ok(LookedUp { entries, found, as_of }) => {
                let (mut entries, mut found) = (entries.into_iter(), found.into_iter());
                let known = |((number, lookup_key), person): ((Option<u64>, Option<LookupKey>), _)| {
                    let decision = number.and_then(|_| entries.next().flatten());
                    let event = lookup_key.as_ref().and_then(|_| found.next().flatten());
                    Ok(Known { decision, lookup_key, event, as_of, person })
                };
                asked.into_iter().zip(people).map(known).collect()
            }
            Err(error) => asked.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    fn check(&self, handle: &PolicyHandle, report: &NewOutcome, known: Result<Known, Arc<StoreError>>) -> Checked {
        let checked = known.map_err(OutcomeError::Store).and_then(|known| match report {
            NewOutcome::OfDecision { decision, outcome, guardrails, correction } => {
                self.outcome(handle, *decision, (*outcome, guardrails), correction.as_ref(), known)
            }
            NewOutcome::External { decision, outcome, guardrails, .. } => {
                self.external(handle, decision, (*outcome, guardrails), known)
            }
        });
        checked.unwrap_or_else(|error| Checked::Done(Err(error)))
    }

    fn outcome(
        &self,
        handle: &PolicyHandle,
        decision: u64,
        (outcome, guardrails): (f64, &BTreeMap<String, f64>),
        correction: Option<&String>,
        known: Known,
    ) -> Result<Checked, OutcomeError> {
        handle.edition().reader.check_outcome(outcome).map_err(OutcomeError::Value)?;
        let Known { decision: entry, lookup_key, event, as_of, .. } = known;
        let log = self.log().as_ref();
        let about = entry.as_ref().map_or(Ok(None), |entry| replay::decision_in(log, entry)).map_err(unreadable)?;
        let about = about.filter(|about| about.policy == handle.id).ok_or(OutcomeError::Unknown(decision))?;
        if about.decided.archived.is_some() {
            let file = handle.archive_file_of(decision).unwrap_or_default().to_string();
            return Err(OutcomeError::Archived { decision, file });
        }
        let subject = about.decided.subject;
        let person = self.subjects.of_event(log, subject).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
        if subject.is_some() && person.is_none() {
            return Err(OutcomeError::Erased);
        }
        let edition = handle.live.lock().edition_of(about.decided.version).clone();
        edition.reader.guardrails(guardrails).map_err(OutcomeError::Guardrails)?;
        let guardrails = guardrails.clone();
        let known = event.map(|event| self.outcome_of(event).map(|known| (event, known))).transpose()?;
        let event = match (known, correction) {
            (Some((event, known)), _) if known.is(outcome, &guardrails) => {
                return Ok(Checked::Done(Ok(RecordedOutcome { event, repeated: true })));
            }
            (Some((event, known)), None) => {
                return Err(OutcomeError::Differs { decision, found: known.outcome, event });
            }
            (Some((previous, known)), Some(reason)) => {
                if reason.trim().is_empty() {
                    return Err(OutcomeError::NoReason(decision));
                }
                let reason = Some(reason.clone());
                let KnownOutcome { first, outcome: from, guardrails: from_guardrails } = known;
                Event::Corrected(Corrected {
                    decision,
                    first,
                    previous,
                    from,
                    outcome,
                    from_guardrails,
                    guardrails,
                    reason,
                    subject,
                    archived: None,
                })
            }
            (None, Some(_)) => return Err(OutcomeError::NothingToCorrect(decision)),
            (None, None) => {
                let (decision, elsewhere) = (Some(decision), None);
                Event::Observed(Observed { decision, elsewhere, outcome, guardrails, subject, archived: None })
            }
        };
        let about = Some(Arc::new(about));
        Ok(Checked::Write(Box::new(Writable { event, about, lookup_key, as_of, person })))
    }

    /// What `event` reported.
    fn outcome_of(&self, event: u64) -> Result<KnownOutcome, OutcomeError> {
        let entry = self.log().entry(event).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
        let entry = entry.ok_or(OutcomeError::Unknown(event))?;
        match replay::event(self.log().as_ref(), &entry).map_err(unreadable)? {
            Event::Observed(Observed { outcome, guardrails, .. }) => {
                Ok(KnownOutcome { first: event, outcome, guardrails })
            }
            Event::Corrected(Corrected { first, outcome, guardrails, .. }) => {
                Ok(KnownOutcome { first, outcome, guardrails })
            }
            _ => Err(OutcomeError::Unknown(event)),
        }
    }

    fn external(
        &self,
        handle: &PolicyHandle,
        decision: &ExternalDecision,
        (outcome, guardrails): (f64, &BTreeMap<String, f64>),
        known: Known,
    ) -> Result<Checked, OutcomeError> {
        let edition = handle.edition();
        edition.reader.check_outcome(outcome).map_err(OutcomeError::Value)?;
        edition.reader.guardrails(guardrails).map_err(OutcomeError::Guardrails)?;
        let Known { lookup_key, event, as_of, person, .. } = known;
        let (elsewhere, guardrails) = (Some(decision.clone()), guardrails.clone());
        let subject = person.as_ref().map(|person| person.about());
        let observed = Observed { decision: None, elsewhere, outcome, guardrails, subject, archived: None };
        if let (Some(key), Some(event)) = (&decision.key, event) {
            let entry = self.log().entry(event).map_err(|error| OutcomeError::Store(Arc::new(error)))?;
            let log = self.log().as_ref();
            let known = entry.as_ref().map(|entry| replay::event(log, entry)).transpose().map_err(unreadable)?;
            return if known.is_some_and(|known| observed.repeats(&known)) {
                Ok(Checked::Done(Ok(RecordedOutcome { event, repeated: true })))
            } else {
                Err(OutcomeError::KeyTaken { key: key.clone(), event })
            };
        }
        if let Some(time_ms) = decision.time_ms {
            handle.live.lock().may_import(time_ms, self.now_ms()).map_err(OutcomeError::History)?;
        }
        let event = Event::Observed(observed);
        Ok(Checked::Write(Box::new(Writable { event, about: None, lookup_key, as_of, person })))
    }
}

fn unreadable(error: ReplayError) -> OutcomeError {
    OutcomeError::Replay(Arc::new(error))
}
