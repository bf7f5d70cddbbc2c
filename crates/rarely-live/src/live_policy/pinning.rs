//! Decisions by a version that the request names.

use super::{Counts, LivePolicy};
use crate::decider::Decider;
use crate::objection::Objection;

impl LivePolicy {
    /// The rule of a version alone, under the document of that version. Nothing is drawn at random, whatever the version in force does.
    ///
    /// # Errors
    /// [`Objection::NoVersion`].
    pub(crate) fn decider_of(&self, version: u64, basis: u64) -> Result<Decider, Objection> {
        let document = self.document_of(version)?;
        Ok(Decider::of_rule((self.edition_of(version), &document), (version, basis)))
    }

    /// Checks whether a request may name a version. While the policy is stopped only rules that people signed decide.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_pin(&self, version: u64) -> Result<(), Objection> {
        let is_signed = self.version_of(version)?.is_signed();
        if self.state.stopped && !is_signed { Err(Objection::UnsignedVersion(version)) } else { Ok(()) }
    }
}

impl Counts {
    /// Decisions of the policy in force: the pilot counts these.
    pub(crate) fn by_policy_in_force(&self) -> u64 {
        self.decided.iter().sum::<u64>().saturating_sub(self.pinned)
    }
}
