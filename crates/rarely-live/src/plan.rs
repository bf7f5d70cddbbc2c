//! Which acts the document's plan allows, and which signatures they require.

use rarely_policy::{Approval, WrittenRule};

use crate::event::{Event, Signature};
use crate::live_policy::{DAY_MS, ENGINE_ACTOR, EventHeader, LivePolicy, check_complete, inconsistent};
use crate::objection::Objection;
use crate::person_key::{PersonKeys, SignedStatement};
use crate::versions::{ProposalRecord, Version, VersionOrigin};

impl LivePolicy {
    /// Why the plan does not allow a change to this rule now; empty if it does.
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
                    "version {} is less than {least} days old, the minimum between two changes",
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

    /// Whether an automatic review may propose a change.
    pub fn may_propose(&self) -> bool {
        let state = self.state();
        !state.stopped && self.open_proposal().is_none() && state.reviews.may_repeat(state.learned.outcomes())
    }

    /// The number of people who must sign a change.
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

    /// Checks whether `header.actor` may sign a proposal.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_sign(&self, number: u64, header: EventHeader<'_>, signature: &Signature) -> Result<(), Objection> {
        check_complete(signature)?;
        let proposal = self.open(number)?;
        if proposal.is_overdue(header.time_ms) {
            return Err(Objection::ProposalExpired(number));
        }
        if self.state().stopped {
            return Err(Objection::Stopped);
        }
        self.check_version(proposal.version)?;
        if header.actor == ENGINE_ACTOR && self.signatures_needed() > 0 {
            return Err(inconsistent("a change without a signature, but the document requires one"));
        }
        if proposal.signers.iter().any(|signer| signer.name == header.actor) {
            return Err(Objection::SameSigner { name: header.actor.to_owned() });
        }
        if proposal.rollback.is_none() {
            self.check_plan(&proposal.rule, header.time_ms)?;
        }
        Ok(())
    }

    /// Checks that a person who has a key has put a rule in force with it.
    ///
    /// # Errors
    /// [`Objection`] says what is wrong.
    pub fn check_keys(&self, people: &PersonKeys, actor: &str, event: &Event) -> Result<(), Objection> {
        let (act, number, signature) = match event {
            Event::Approved(signed) => ("approve", signed.proposal, &signed.signature),
            Event::RolledBack(rolled) => ("roll back", rolled.to, &rolled.signature),
            Event::Proposed(proposed) => match (&proposed.signature, proposed.rollback) {
                (Some(signature), Some(to)) => ("roll back", to, signature),
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let subject = match event {
            Event::Approved(_) => self.state().proposals[self.place(number)?].hash,
            _ => self.state().registration.hash,
        };
        let policy = self.document().policy();
        let Signature { meaning, reason, .. } = signature;
        people.check(&SignedStatement { act, policy, number, subject, signer: actor, meaning, reason }, signature)
    }

    /// Checks whether a proposal may be rejected.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_reject(&self, number: u64, signature: &Signature) -> Result<(), Objection> {
        check_complete(signature)?;
        self.open(number).map(|_| ())
    }

    /// Checks whether the rule of an earlier version may be put in force again.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_roll_back(&self, to: u64, signature: &Signature) -> Result<(), Objection> {
        check_complete(signature)?;
        if self.state().stopped {
            return Err(Objection::Stopped);
        }
        if self.version_of(to)?.rule == self.version().rule {
            return Err(Objection::SameRule { version: to });
        }
        Ok(())
    }

    /// Checks whether the policy may be stopped.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_stop(&self, signature: &Signature) -> Result<(), Objection> {
        check_complete(signature)?;
        if self.state().stopped { Err(Objection::Stopped) } else { Ok(()) }
    }

    /// Checks whether the policy may be resumed.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_resume(&self, signature: &Signature) -> Result<(), Objection> {
        check_complete(signature)?;
        if self.state().stopped { Ok(()) } else { Err(Objection::NotStopped) }
    }

    /// The version with this number.
    ///
    /// # Errors
    /// [`Objection::NoVersion`].
    pub fn version_of(&self, number: u64) -> Result<&Version, Objection> {
        self.state().versions.iter().find(|version| version.number == number).ok_or(Objection::NoVersion(number))
    }

    /// The version in force after an event.
    pub fn version_at(&self, event: u64) -> Option<&Version> {
        self.state().versions.iter().rev().find(|version| version.event <= event)
    }

    /// The last version that a person signed, and its rule.
    pub(crate) fn last_signed(&self) -> (u64, WrittenRule) {
        let signed = self.state().versions.iter().rev().find(|version| version.is_signed());
        let version = signed.unwrap_or_else(|| self.version());
        (version.number, version.rule.clone())
    }

    /// The versions that count towards the plan's limits: those based on evidence.
    fn changes(&self) -> Vec<&Version> {
        let versions = self.state().versions.iter();
        versions.filter(|version| matches!(version.origin, VersionOrigin::Proposal { .. })).collect()
    }

    pub(crate) fn open(&self, number: u64) -> Result<&ProposalRecord, Objection> {
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
        if found == in_force { Ok(()) } else { Err(Objection::WrongVersion { found, in_force }) }
    }
}
