//! Which acts the document's plan allows, and which signatures they require.

use rarely_policy::{Approval, SignedWith, WrittenRule};
use rarely_store::Hash;

use crate::event::{Event, Signature};
use crate::live_policy::{DAY_MS, ENGINE_ACTOR, EventHeader, LivePolicy, check_complete, inconsistent};
use crate::objection::Objection;
use crate::person_key::{PasskeyUse, PersonKeys};
use crate::signed_statement::{SignedAct, SignedStatement};
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

    /// The number of people who must sign a proposal. Nobody but people amends a document.
    pub fn signatures_needed_for(&self, proposal: &ProposalRecord) -> usize {
        self.signatures_needed().max(usize::from(proposal.amendment.is_some()))
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
        // A document may be mended before the policy is resumed.
        if self.state().stopped && proposal.amendment.is_none() {
            return Err(Objection::Stopped);
        }
        self.check_version(proposal.version)?;
        if header.actor == ENGINE_ACTOR && self.signatures_needed_for(proposal) > 0 {
            return Err(inconsistent("a change without a signature, but the document requires one"));
        }
        let person = signature.person_id(header.actor);
        if proposal.signers.iter().any(|signer| signer.person_id() == person) {
            return Err(Objection::SameSigner { name: header.actor.to_owned() });
        }
        if proposal.rollback.is_none() && proposal.amendment.is_none() {
            self.check_plan(&proposal.rule, header.time_ms)?;
        }
        Ok(())
    }

    /// What people sign with, as recorded at the registration.
    pub fn signed_with(&self) -> SignedWith {
        self.state().signing.as_ref().map_or(SignedWith::Token, |signing| signing.signed_with)
    }

    /// Whether an act of the person with this id requires a key. Whoever has a key signs with it. A stop never requires one: it must work at once,
    /// wherever the person is.
    pub fn requires_key(&self, people: &PersonKeys, person: &str, act: SignedAct) -> bool {
        let has_key = || people.of(person).next().is_some();
        match (&self.state().signing, act) {
            (_, SignedAct::Stop) => false,
            (Some(signing), _) => signing.signed_with == SignedWith::Key || has_key(),
            // Logs from before policies could say it.
            (None, SignedAct::Approve | SignedAct::RollBack) => has_key(),
            (None, _) => false,
        }
    }

    /// The hash of the policy's last act, which signatures without a proposal are about. In logs from before policies could say what
    /// people sign with, it is that of the registration.
    pub fn last_act(&self) -> Hash {
        self.state().signing.as_ref().map_or(self.state().registration.hash, |signing| signing.last_act)
    }

    /// What a signature is about: the event that made the proposal; for other acts the policy's last act, so that the signature is
    /// good only for what the person saw, and only once.
    ///
    /// # Errors
    /// [`Objection::NoProposal`].
    pub fn signing_subject(&self, act: SignedAct, number: u64) -> Result<Hash, Objection> {
        match act {
            SignedAct::Approve | SignedAct::Reject => Ok(self.state().proposals[self.place(number)?].hash),
            _ => Ok(self.last_act()),
        }
    }

    /// Checks the key of a person who acts. Returns the passkey that was used, if it was one.
    ///
    /// # Errors
    /// [`Objection`] says what is wrong.
    pub fn check_keys(&self, people: &PersonKeys, actor: &str, event: &Event) -> Result<Option<PasskeyUse>, Objection> {
        let Some((act, number, signature)) = event.signed_act() else { return Ok(None) };
        if actor == ENGINE_ACTOR && act == SignedAct::Approve {
            // The plan allows this only where no signature is needed.
            return Ok(None);
        }
        let person = signature.person_id(actor);
        let Some(made) = &signature.by_key else {
            let required = self.requires_key(people, &person, act);
            return if required { Err(Objection::KeyRequired { name: actor.to_owned() }) } else { Ok(None) };
        };
        let (subject, policy) = (self.signing_subject(act, number)?, self.document().policy());
        let Signature { meaning, reason, .. } = signature;
        let statement = SignedStatement { act, policy, number, subject, signer: actor, meaning, reason };
        people.check(&person, &statement, made)
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
        self.rolled_back(to).map(|_| ())
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
