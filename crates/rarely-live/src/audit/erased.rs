//! What an audit checks of people who were erased, and what it cannot check.

use rarely_store::{LogEntry, SubjectKey};

use super::{Auditor, CheckError};
use crate::event::{AboutPerson, PersonErased};
use crate::live_policy::{self, inconsistent};
use crate::replay::ReplayError;

/// What cannot be verified any more, because people were erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasedCounts {
    /// People.
    pub people: u64,
    /// Decisions that cannot be drawn again: those about these people, and those drawn by statistics that had their outcomes.
    pub decisions: u64,
    /// Reviews of statistics that had their outcomes, before they were erased.
    pub reviews: u64,
    /// Proposals from such statistics.
    pub proposals: u64,
}

impl Auditor<'_> {
    /// The key of the person that an event is about.
    pub(super) fn key_of(&self, about: Option<AboutPerson>) -> Result<Option<SubjectKey>, CheckError> {
        let key = about.map(|about| self.log.subject_key(&about.tag)).transpose().map_err(ReplayError::Store)?;
        Ok(key.flatten())
    }

    /// Checks that the recorded sums are of as many outcomes as the log has, with those of erased people.
    pub(super) fn person_erased(&self, entry: &LogEntry, erased: &PersonErased) -> Result<(), CheckError> {
        let live = self.state.policy(entry.policy).map(|policy| policy.lock());
        if let (Some(live), Some(sums)) = (live, &erased.statistics) {
            let known = live.state().learned.outcomes();
            if !(known..=known + live.lacked_outcomes()).contains(&sums.outcomes()) {
                return Err(
                    inconsistent("the sums at an erasure are of more or fewer outcomes than the log has").into()
                );
            }
        }
        Ok(())
    }

    /// Checks that exactly those people have no key who were erased.
    pub(super) fn check_erased(&mut self, number: u64) -> Result<(), ReplayError> {
        let inconsistent = |source| ReplayError::Inconsistent { number, source };
        self.state.check_keys_of_people().map_err(inconsistent)?;
        for tag in self.state.erased().keys() {
            if self.log.subject_key(tag)?.is_some() {
                return Err(inconsistent(live_policy::inconsistent("a person was erased, but the key is still there")));
            }
        }
        self.summary.erased.people = self.state.erased().len() as u64;
        Ok(())
    }
}
