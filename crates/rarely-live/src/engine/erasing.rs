//! Erases people: their keys are destroyed in the transaction of the events that say so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rarely_store::{EventLog, LogEntry, PolicyRef, Receipt, Subject, SubjectTag};
use serde::Deserialize;

use super::subjects::OpenSubject;
use super::{ChangeError, Engine, EngineFault, PendingEvent, draft};
use crate::event::{Event, PersonErased};
use crate::objection::Objection;
use crate::replay::{ReplayError, for_each_entry};

/// Sums over fewer outcomes of other people would tell about the erased one: the statistics forget the person then.
const FEWEST_OTHERS: u64 = 20;
/// How long the events before an erasure may take to be written and applied.
const PATIENCE: Duration = Duration::from_secs(30);

/// What becomes of what was learned from people who are erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasedStatistics {
    /// It stays in the sums, unless these are of few other people: evidence must not depend on who asks to be erased.
    Keep,
    /// The sums are computed again without it.
    Forget,
}

/// What was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The events that say so, one for each policy that decided about these people.
    pub events: Vec<u64>,
    /// Decisions whose records cannot be read any more.
    pub decisions: u64,
    /// Outcomes and corrections that cannot be read any more.
    pub outcomes: u64,
    /// Whether what is left of the keys in free space was overwritten; otherwise the next start does it.
    pub scrubbed: bool,
}

/// What the log has about people, by policy.
#[derive(Default)]
struct Mentions {
    policies: BTreeMap<u64, Mentioned>,
    /// Up to this event the log was searched.
    searched: u64,
}

#[derive(Default)]
struct Mentioned {
    decisions: BTreeSet<u64>,
    answered: BTreeSet<u64>,
    outcomes: u64,
}

/// What is not encrypted in an event about a person.
#[derive(Deserialize)]
struct ClearPart {
    subject: Option<SubjectTag>,
    #[serde(default)]
    decision: Option<u64>,
}

impl Engine {
    /// Erases people: nothing that the log has about them can be read any more. All of them or none are erased. It is done by `actor`, the
    /// name of a person with this id.
    ///
    /// # Errors
    /// [`ChangeError`] if no reason is given, if nobody of such a name has records, or if it cannot be stored.
    pub fn erase(
        &self,
        (actor, person): (&str, &str),
        names: &[String],
        reason: &str,
        statistics: ErasedStatistics,
    ) -> Result<Erasure, ChangeError> {
        if reason.trim().is_empty() {
            return Err(Objection::SignatureIncomplete("reason").into());
        }
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let people = Closed::new(self, self.people_named(names)?);
        let tags: BTreeSet<SubjectTag> = people.held.iter().map(|person| person.subject.tag).collect();
        let mut mentions = Mentions::default();
        let found = mentions.search(self.log().as_ref(), &tags, self.writer.committed());
        found.map_err(diverged)?;
        let (events, receipt, erasure) = self.append_erasure((actor, person), reason, statistics, &tags, mentions)?;
        receipt.wait_blocking().map_err(|error| {
            drop(self.wait_applied(self.writer.committed()));
            ChangeError::Store(error)
        })?;
        people.are_erased();
        self.wait_applied(events.last().copied().unwrap_or(0))?;
        let scrubbed = self.log().scrub().unwrap_or_else(|error| {
            tracing::warn!(%error, "what is left of a destroyed key could not be overwritten; the next start tries again");
            false
        });
        Ok(Erasure { events, scrubbed, ..erasure })
    }

    /// Those of these people of whom there are records.
    ///
    /// # Errors
    /// [`ChangeError`] if the store cannot be read.
    pub fn with_records(&self, names: &[String]) -> Result<Vec<String>, ChangeError> {
        let store = |error| ChangeError::Store(Arc::new(error));
        let log = self.log().as_ref();
        let Some(secret) = log.subject_secret().map_err(store)? else { return Ok(Vec::new()) };
        let mut known = Vec::new();
        for name in names {
            if self.subjects.of_digest(log, &Subject::digest(&secret, name)).map_err(store)?.is_some() {
                known.push(name.clone());
            }
        }
        Ok(known)
    }

    fn people_named(&self, names: &[String]) -> Result<Vec<Arc<OpenSubject>>, ChangeError> {
        let store = |error| ChangeError::Store(Arc::new(error));
        let log = self.log().as_ref();
        let secret = log.subject_secret().map_err(store)?.ok_or(ChangeError::NoSubject)?;
        let names: BTreeSet<&String> = names.iter().collect();
        let mut people = Vec::new();
        for name in names {
            let found = self.subjects.of_digest(log, &Subject::digest(&secret, name)).map_err(store)?;
            people.push(found.ok_or(ChangeError::NoSubject)?);
        }
        if people.is_empty() { Err(ChangeError::NoSubject) } else { Ok(people) }
    }

    /// Appends the events while nobody else appends, so that the sums are those at these events.
    fn append_erasure(
        &self,
        (actor, person): (&str, &str),
        reason: &str,
        statistics: ErasedStatistics,
        tags: &BTreeSet<SubjectTag>,
        mut mentions: Mentions,
    ) -> Result<(Vec<u64>, Receipt, Erasure), ChangeError> {
        let _nobody_else = self.appending.write().unwrap_or_else(PoisonError::into_inner);
        let last = self.wait_for_all()?;
        mentions.search(self.log().as_ref(), tags, last).map_err(diverged)?;
        if statistics == ErasedStatistics::Forget
            && let Some(archived) = mentions.policies.keys().find_map(|id| self.archived_name(*id))
        {
            return Err(ChangeError::ArchivedStatistics(archived));
        }
        if mentions.policies.is_empty() {
            mentions.policies.insert(0, Mentioned::default());
        }
        let mut erasure = Erasure { events: Vec::new(), decisions: 0, outcomes: 0, scrubbed: false };
        let mut events = Vec::new();
        for (policy, mentioned) in mentions.policies {
            let Mentioned { decisions, answered, outcomes } = mentioned;
            let sums = self.policy_with(policy).and_then(|handle| {
                let live = handle.live.lock();
                let learned = &live.state().learned;
                let keeps = statistics == ErasedStatistics::Keep && outcomes > 0;
                // Sums from before cannot be computed again without what is archived.
                let must = outcomes > 0 && !live.state().archives.is_empty();
                let enough = must || learned.outcomes().saturating_sub(outcomes) >= FEWEST_OTHERS;
                (must || keeps && enough).then(|| Box::new(learned.sums()))
            });
            erasure.decisions += decisions.len() as u64;
            erasure.outcomes += outcomes;
            let erased = PersonErased {
                subjects: tags.iter().copied().collect(),
                reason: reason.to_owned(),
                person: person.to_owned(),
                decisions: decisions.len() as u64,
                outcomes,
                open: decisions.difference(&answered).copied().collect(),
                statistics: sums,
            };
            events.push((policy, Event::PersonErased(Box::new(erased))));
        }
        let (numbers, receipt) = self.writer.append(|turn| {
            let mut numbers = Vec::new();
            for (policy, event) in events {
                let policy = if policy == 0 { PolicyRef::None } else { PolicyRef::Id(policy) };
                let draft = draft(actor, policy, &event, None);
                numbers.push(turn.push_deferred(draft, PendingEvent::of(event)));
            }
            turn.destroy(tags.iter().copied().collect());
            numbers
        });
        Ok((numbers, receipt, erasure))
    }

    /// The name of a policy whose records were archived.
    fn archived_name(&self, policy: u64) -> Option<String> {
        let handle = self.policy_with(policy)?;
        let is_archived = !handle.live.lock().state().archives.is_empty();
        is_archived.then(|| handle.name.clone())
    }

    /// Waits until everything that was appended is applied. The caller keeps others from appending. Returns the last event.
    pub(super) fn wait_for_all(&self) -> Result<u64, ChangeError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(fault) = self.fault() {
                return Err(fault.into());
            }
            let last = self.writer.append(|turn| turn.number()).0 - 1;
            if *self.applied.borrow() >= last {
                return Ok(last);
            }
            if Instant::now() > deadline {
                return Err(ChangeError::Busy);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(super) fn policy_with(&self, id: u64) -> Option<Arc<super::PolicyHandle>> {
        self.policies().into_iter().find(|handle| handle.id == id)
    }
}

impl Mentions {
    /// Searches the log from where the last search ended.
    fn search(&mut self, log: &dyn EventLog, tags: &BTreeSet<SubjectTag>, until: u64) -> Result<(), ReplayError> {
        let texts: Vec<String> = tags.iter().map(ToString::to_string).collect();
        for_each_entry::<ReplayError>(log, self.searched, None, |entry| {
            if entry.number <= until && texts.iter().any(|text| entry.body.contains(text)) {
                self.note(&entry, tags);
            }
            Ok(())
        })?;
        self.searched = until;
        Ok(())
    }

    fn note(&mut self, entry: &LogEntry, tags: &BTreeSet<SubjectTag>) {
        let Ok(ClearPart { subject: Some(subject), decision }) = serde_json::from_str(&entry.body) else { return };
        if !tags.contains(&subject) {
            return;
        }
        let mentioned = self.policies.entry(entry.policy).or_default();
        match entry.kind.as_str() {
            "decided" => _ = mentioned.decisions.insert(entry.number),
            "observed" | "corrected" => {
                mentioned.outcomes += 1;
                mentioned.answered.extend(decision);
            }
            _ => {}
        }
    }
}

/// People about whom no event may follow. They are open again unless they were erased.
struct Closed<'a> {
    engine: &'a Engine,
    held: Vec<Arc<OpenSubject>>,
    erased: bool,
}

impl<'a> Closed<'a> {
    fn new(engine: &'a Engine, held: Vec<Arc<OpenSubject>>) -> Self {
        for person in &held {
            person.set_closed(true);
        }
        Self { engine, held, erased: false }
    }

    fn are_erased(mut self) {
        self.erased = true;
        self.engine.subjects.forget(&self.held);
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        if self.erased {
            return;
        }
        for person in &self.held {
            // If it is unknown whether the erasure was written, the log knows.
            if self.engine.log().subject_key(&person.subject.tag).is_ok_and(|key| key.is_none()) {
                self.engine.subjects.forget(std::slice::from_ref(person));
            } else {
                person.set_closed(false);
            }
        }
    }
}

pub(super) fn diverged(error: ReplayError) -> ChangeError {
    EngineFault::Diverged(Arc::new(error)).into()
}
