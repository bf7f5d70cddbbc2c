//! People who were erased and records that were archived: what a policy keeps of them, and what it does not.

use super::{ArchiveRecord, EventHeader, LivePolicy, inconsistent};
use crate::event::{AboutPerson, Archived, Event, PersonErased};
use crate::late_outcomes::HeldOutcome;
use crate::objection::Objection;

impl LivePolicy {
    /// Notes that an event of an erased person could not be read.
    pub(super) fn lack(&mut self, about: Option<AboutPerson>, outcomes: u64) {
        if let Some(about) = about.filter(|about| about.erased) {
            *self.lacking.entry(about.tag).or_default() += outcomes;
        }
    }

    /// Whether outcomes are missing that had been learned at this event: the people were erased only later. Statistics, and what is drawn
    /// by them, cannot be computed again.
    pub fn lacks_outcomes(&self) -> bool {
        self.lacked_outcomes() > 0
    }

    /// How many outcomes and corrections are missing.
    pub(crate) fn lacked_outcomes(&self) -> u64 {
        self.lacking.values().sum::<u64>() + self.archived.values().sum::<u64>()
    }

    /// Whether events cannot be read although no event says that the person was erased, or that they were archived.
    pub(crate) fn lacks_keys(&self) -> bool {
        !self.lacking.is_empty() || !self.archived.is_empty()
    }

    /// Notes that an outcome could not be read, or not its record, because it is archived.
    pub(super) fn lack_archived(&mut self, by: Option<u64>) {
        if let Some(by) = by {
            *self.archived.entry(by).or_default() += 1;
        }
    }

    /// Whether outcomes are missing that were archived only later.
    pub(crate) fn lacks_archived(&self) -> bool {
        !self.archived.is_empty()
    }

    /// Whether the policy was replayed with records that are gone since this event, and must be without them.
    pub(crate) fn still_has_what_is_gone(&self, number: u64, event: &Event) -> bool {
        match event {
            Event::PersonErased(erased) => self.still_has(erased),
            Event::Archived(archived) => self.archived.get(&number).copied().unwrap_or_default() != archived.outcomes,
            _ => false,
        }
    }

    /// The archive in which the record of a decision is.
    pub fn archive_of(&self, decision: u64) -> Option<&ArchiveRecord> {
        let archives = &self.state.archives;
        archives.get(archives.partition_point(|archive| archive.last < decision))
    }

    /// Nothing of the archived records is left but sums. Their outcomes are not learned any more.
    pub(super) fn archived(&mut self, header: EventHeader<'_>, archived: &Archived) -> Result<(), Objection> {
        let known = self.archived.get(&header.number).copied().unwrap_or_default();
        if known != archived.outcomes {
            return Err(inconsistent("records were archived, and are still there"));
        }
        if self.state.archives.last().is_some_and(|before| before.last >= archived.first) {
            return Err(inconsistent("records are archived twice"));
        }
        let mut learned = self.state.learned.clone();
        learned.replace_sums(&archived.statistics, &self.document).map_err(inconsistent)?;
        self.state.learned = learned;
        self.archived.remove(&header.number);
        if let Some(late) = &mut self.state.late {
            late.exclude_until(archived.last, header);
        }
        let Archived { first, last, file, .. } = archived;
        self.state.archives.push(ArchiveRecord {
            event: header.number,
            first: *first,
            last: *last,
            file: file.name.clone(),
        });
        self.learned_at = header.number;
        Ok(())
    }

    /// Whether the policy was replayed with the records of these people, and must be without them.
    pub(crate) fn still_has(&self, erased: &PersonErased) -> bool {
        let lacked: u64 = erased.subjects.iter().filter_map(|tag| self.lacking.get(tag)).sum();
        lacked != erased.outcomes
    }

    /// Nothing of these people is left but sums. An outcome that waited for its turn is not learned any more.
    pub(super) fn person_erased(&mut self, header: EventHeader<'_>, erased: &PersonErased) -> Result<(), Objection> {
        if self.still_has(erased) {
            return Err(inconsistent("a person was erased, and records of the person are still there"));
        }
        let mut learned = self.state.learned.clone();
        if let Some(sums) = &erased.statistics {
            learned.replace_sums(sums, &self.document).map_err(inconsistent)?;
        }
        self.state.learned = learned;
        for tag in &erased.subjects {
            self.lacking.remove(tag);
        }
        if let Some(late) = &mut self.state.late {
            for decision in &erased.open {
                late.exclude(*decision, header);
            }
        }
        self.learned_at = header.number;
        Ok(())
    }
}

impl HeldOutcome {
    /// In place of an outcome that is not learned.
    pub(crate) fn excluded() -> Self {
        let (context, guardrails) = (Vec::new(), Vec::new());
        Self { context, arm: rarely_core::Arm::new(0), reward: 0.0, guardrails, excluded: true }
    }
}
