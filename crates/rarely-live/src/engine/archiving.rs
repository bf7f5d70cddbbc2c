//! Moves old records out of the log: their bodies are replaced by what stays, in the transaction of the event that says so.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rarely_store::{LogEntry, PolicyRef, Receipt, StubChain};
use serde::Deserialize;

use super::erasing::diverged;
use super::{ChangeError, Engine, PendingEvent, PolicyHandle, draft};
use crate::event::{ArchiveFile, Archived, Event};
use crate::objection::Objection;
use crate::replay::{ReplayError, for_each_entry};

/// Events that are archived at once. More are archived one part after the other, so that memory does not grow with the log.
const MOST: u64 = 250_000;

/// Records of a policy that are older than its document wants to keep them: all of its events with a record in a part of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueArchive {
    /// The name of the policy.
    pub policy: String,
    /// Its number.
    pub id: u64,
    /// The records are from before this time.
    pub before_ms: u64,
    /// The first event, …
    pub first: u64,
    /// … and the last.
    pub last: u64,
    /// How many events.
    pub events: u64,
}

/// What was archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archival {
    /// The event that says so.
    pub event: u64,
    /// Decisions without a record from now on.
    pub decisions: u64,
}

/// What an event says about the decision that it is about.
#[derive(Deserialize)]
struct AboutDecision {
    #[serde(default)]
    decision: Option<u64>,
}

enum Search {
    Done,
    Failed(ReplayError),
}

impl From<rarely_store::StoreError> for Search {
    fn from(error: rarely_store::StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl DueArchive {
    /// Whether it archives an entry.
    pub fn has(&self, entry: &LogEntry) -> bool {
        entry.policy == self.id && (self.first..=self.last).contains(&entry.number) && Event::has_record(&entry.kind)
    }
}

impl Engine {
    /// Records that are older than their documents want to keep them, and than `before_ms` if it is given: for each policy at most one part
    /// of the log.
    ///
    /// # Errors
    /// [`ReplayError`] if the log cannot be read.
    pub fn due_archives(&self, before_ms: Option<u64>) -> Result<Vec<DueArchive>, ReplayError> {
        self.policies().iter().filter_map(|handle| self.due_archive(handle, before_ms).transpose()).collect()
    }

    /// The same for one policy.
    fn due_archive(&self, handle: &PolicyHandle, before_ms: Option<u64>) -> Result<Option<DueArchive>, ReplayError> {
        let (retain_ms, after) = {
            let live = handle.live.lock();
            (live.document().control().retain_ms, live.state().archives.last().map_or(0, |last| last.last))
        };
        let Some(kept_from_ms) = retain_ms.map(|retain| self.now_ms().saturating_sub(retain)) else { return Ok(None) };
        let before_ms = before_ms.map_or(kept_from_ms, |before| before.min(kept_from_ms));
        let mut found =
            DueArchive { policy: handle.name.clone(), id: handle.id, before_ms, first: 0, last: 0, events: 0 };
        let searched = for_each_entry(self.log().as_ref(), after, Some(handle.id), |entry| {
            if !Event::has_record(&entry.kind) {
                return Ok(());
            }
            if entry.time_ms >= before_ms || found.events == MOST {
                return Err(Search::Done);
            }
            found.first = if found.events == 0 { entry.number } else { found.first };
            (found.last, found.events) = (entry.number, found.events + 1);
            Ok(())
        });
        match searched {
            Err(Search::Failed(error)) => Err(error),
            _ => Ok(Some(found).filter(|found| found.events > 0)),
        }
    }

    /// Removes records from the log that are in a file. It is done by `actor`, the name of a person with this id. The caller has read the
    /// file again.
    ///
    /// # Errors
    /// [`ChangeError`] if these records are not the next ones that are due, or it cannot be stored.
    pub fn archive(
        &self,
        (actor, person): (&str, &str),
        due: &DueArchive,
        file: ArchiveFile,
    ) -> Result<Archival, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let (event, decisions, receipt) = self.append_archival((actor, person), due, file)?;
        receipt.wait_blocking().map_err(|error| {
            drop(self.wait_applied(self.writer.committed()));
            ChangeError::Store(error)
        })?;
        self.wait_applied(event)?;
        Ok(Archival { event, decisions })
    }

    /// Gives the space of archived records back to the system. Nothing is written meanwhile. Returns whether that was possible.
    pub fn compact(&self) -> bool {
        let compacted = self.log().compact();
        if let Err(error) = &compacted {
            tracing::warn!(%error, "the space of archived records could not be given back; the next archiving tries again");
        }
        compacted.is_ok()
    }

    /// Appends the event while nobody else appends, so that the sums are those at this event.
    fn append_archival(
        &self,
        (actor, person): (&str, &str),
        due: &DueArchive,
        file: ArchiveFile,
    ) -> Result<(u64, u64, Receipt), ChangeError> {
        let _nobody_else = self.appending.write().unwrap_or_else(PoisonError::into_inner);
        let last = self.wait_for_all()?;
        let not_due = || Objection::NotDue(due.policy.clone());
        let handle = self.policy_with(due.id).ok_or_else(not_due)?;
        if self.due_archive(&handle, Some(due.before_ms)).map_err(diverged)?.as_ref() != Some(due) {
            return Err(not_due().into());
        }
        let by = last + 1;
        let Leaving { stubs, chain, decisions, outcomes } = self.leaving(due, by).map_err(diverged)?;
        let archived = Archived {
            before_ms: due.before_ms,
            first: due.first,
            last: due.last,
            decisions,
            outcomes,
            file,
            person: person.to_owned(),
            stubs: chain,
            statistics: Box::new(handle.live.lock().state().learned.sums()),
        };
        // Whoever has read a decision before reads it again.
        self.archivings.fetch_add(1, Ordering::SeqCst);
        let (number, receipt) = self.writer.append(|turn| {
            if turn.number() != by {
                return None;
            }
            let event = Event::Archived(Box::new(archived));
            let number = turn.push_deferred(draft(actor, PolicyRef::Id(due.id), &event, None), PendingEvent::of(event));
            turn.archive(stubs);
            Some(number)
        });
        Ok((number.ok_or(ChangeError::Busy)?, decisions, receipt))
    }

    /// What stays of the events, and what is lost without the file.
    fn leaving(&self, due: &DueArchive, by: u64) -> Result<Leaving, ReplayError> {
        let mut leaving = Leaving { stubs: Vec::new(), chain: StubChain::default(), decisions: 0, outcomes: 0 };
        for_each_entry::<ReplayError>(self.log().as_ref(), due.first - 1, Some(due.id), |entry| {
            let is_archived = due.has(&entry);
            if matches!(entry.kind.as_str(), "observed" | "corrected") {
                let about: Option<AboutDecision> = serde_json::from_str(&entry.body).ok();
                leaving.outcomes += u64::from(match about.and_then(|about| about.decision) {
                    // Every decision of the policy between the first and the last event is archived, and none after.
                    Some(decision) => (due.first..=due.last).contains(&decision),
                    None => is_archived,
                });
            }
            if is_archived {
                leaving.decisions += u64::from(entry.kind == "decided");
                let body = Event::stub(&entry, by)?;
                let stub = LogEntry { body: body.clone(), ..entry };
                leaving.chain.push(&stub);
                leaving.stubs.push((stub.number, body));
            }
            Ok(())
        })?;
        Ok(leaving)
    }

    /// How often records were archived since the start: what was read before the last time may be archived now.
    pub(super) fn archivings(&self) -> u64 {
        self.archivings.load(Ordering::SeqCst)
    }

    /// The names of files with archived records, by the event that says so.
    pub fn archive_files(&self) -> BTreeMap<u64, String> {
        let policies = self.policies();
        let archives = policies.iter().flat_map(|handle| handle.live.lock().state().archives.clone());
        archives.map(|archive| (archive.event, archive.file)).collect()
    }
}

struct Leaving {
    stubs: Vec<(u64, String)>,
    chain: StubChain,
    decisions: u64,
    outcomes: u64,
}

impl PolicyHandle {
    /// The name of the file in which the record of a decision is, if it is archived.
    pub fn archive_file_of(&self, decision: u64) -> Option<Arc<str>> {
        self.live.lock().archive_of(decision).map(|archive| archive.file.as_str().into())
    }
}
