//! What may be done: the plan that was agreed beforehand, and who must sign.

use rarely_policy::{Approval, WrittenRule};

use crate::event::Signature;
use crate::history::{Origin, Proposal, Version};
use crate::live::{DAY_MS, ENGINE, Live, Stamp, check_words, misfit};
use crate::objection::Objection;

impl Live {
    /// Why the plan does not allow a change to a rule now; nothing if it does.
    pub fn outside_plan(&self, rule: &WrittenRule, now_ms: u64) -> Vec<String> {
        let control = self.document().control();
        let mut reasons = self.document().outside_bounds(rule);
        let made = self.changes();
        if let Some(most) = control.maximum_changes.filter(|most| made.len() as u64 >= *most) {
            reasons.push(format!("{} of at most {most} changes have been made", made.len()));
        }
        if let Some(last) = made.last() {
            let days = now_ms.saturating_sub(last.time_ms) as f64 / DAY_MS;
            let least = control.minimum_days_between_changes;
            if days < least {
                reasons.push(format!(
                    "version {} is less than {least} days old, which are to lie between two changes",
                    last.number
                ));
            }
        }
        reasons
    }

    pub(crate) fn check_plan(&self, rule: &WrittenRule, now_ms: u64) -> Result<(), Objection> {
        if self.state().stopped {
            return Err(Objection::Stopped);
        }
        let reasons = self.outside_plan(rule, now_ms);
        if reasons.is_empty() { Ok(()) } else { Err(Objection::Plan(reasons)) }
    }

    /// Whether a review that nobody asked for may propose a change.
    pub fn may_propose(&self) -> bool {
        let state = self.state();
        !state.stopped && self.open_proposal().is_none() && state.reviews.may_repeat(state.learned.outcomes())
    }

    /// Signatures of different people that a change needs.
    pub fn signatures_needed(&self) -> usize {
        match self.document().control().approval {
            Approval::Automatic => 0,
            Approval::One => 1,
            Approval::Two => 2,
        }
    }

    /// The number of the next proposal.
    pub fn next_proposal(&self) -> u64 {
        self.state().proposals.len() as u64 + 1
    }

    /// Whether somebody may sign for a proposal.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_sign(&self, number: u64, stamp: Stamp<'_>, signature: &Signature) -> Result<(), Objection> {
        check_words(signature)?;
        let proposal = self.open(number)?;
        if proposal.is_overdue(stamp.time_ms) {
            return Err(Objection::TooLate(number));
        }
        if self.state().stopped {
            return Err(Objection::Stopped);
        }
        self.check_version(proposal.version)?;
        if stamp.actor == ENGINE && self.signatures_needed() > 0 {
            return Err(misfit("a change without a signature, where the document asks for one"));
        }
        if proposal.signers.iter().any(|signer| signer.name == stamp.actor) {
            return Err(Objection::SameSigner { name: stamp.actor.to_owned() });
        }
        if proposal.rollback.is_none() {
            self.check_plan(&proposal.rule, stamp.time_ms)?;
        }
        Ok(())
    }

    /// Whether somebody may sign against a proposal.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_reject(&self, number: u64, signature: &Signature) -> Result<(), Objection> {
        check_words(signature)?;
        self.open(number).map(|_| ())
    }

    /// Whether the rule of an older version may be put in force again.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_roll_back(&self, to: u64, signature: &Signature) -> Result<(), Objection> {
        check_words(signature)?;
        if self.state().stopped {
            return Err(Objection::Stopped);
        }
        if self.version_of(to)?.rule == self.version().rule {
            return Err(Objection::SameRule { version: to });
        }
        Ok(())
    }

    /// Whether the policy can be stopped.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_stop(&self, signature: &Signature) -> Result<(), Objection> {
        check_words(signature)?;
        if self.state().stopped { Err(Objection::Stopped) } else { Ok(()) }
    }

    /// Whether the policy can go on.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_resume(&self, signature: &Signature) -> Result<(), Objection> {
        check_words(signature)?;
        if self.state().stopped { Ok(()) } else { Err(Objection::NotStopped) }
    }

    /// A version.
    ///
    /// # Errors
    /// [`Objection::NoVersion`].
    pub fn version_of(&self, number: u64) -> Result<&Version, Objection> {
        self.state().versions.iter().find(|version| version.number == number).ok_or(Objection::NoVersion(number))
    }

    /// The version that was in force when everything up to an event was known.
    pub fn version_at(&self, event: u64) -> Option<&Version> {
        self.state().versions.iter().rev().find(|version| version.event <= event)
    }

    /// The last version that a person put in force, and its rule.
    pub(crate) fn last_signed(&self) -> (u64, WrittenRule) {
        let signed = self.state().versions.iter().rev().find(|version| version.is_signed());
        let version = signed.unwrap_or_else(|| self.version());
        (version.number, version.rule.clone())
    }

    /// The versions that the plan counts: those that came of evidence.
    fn changes(&self) -> Vec<&Version> {
        let versions = self.state().versions.iter();
        versions.filter(|version| matches!(version.origin, Origin::Proposal { .. })).collect()
    }

    pub(crate) fn open(&self, number: u64) -> Result<&Proposal, Objection> {
        let proposal = &self.state().proposals[self.place(number)?];
        if proposal.is_open() {
            Ok(proposal)
        } else {
            Err(Objection::NotOpen { number, status: proposal.status.name() })
        }
    }

    pub(crate) fn place(&self, number: u64) -> Result<usize, Objection> {
        let place = self.state().proposals.iter().position(|proposal| proposal.number == number);
        place.ok_or(Objection::NoProposal(number))
    }

    pub(crate) fn check_version(&self, found: u64) -> Result<(), Objection> {
        let in_force = self.version().number;
        if found == in_force { Ok(()) } else { Err(Objection::Version { found, in_force }) }
    }
}
