//! What people do: register, sign, roll back, stop; and who may.

use std::sync::{Arc, PoisonError};

use rarely_core::Digest;
use rarely_policy::{Approval, PolicyDocument};
use rarely_store::Subject;

use super::{ChangeError, Engine, Happened, Slot, draft};
use crate::event::{
    Event, Expired, Proposed, Recovered, Registered, RolledBack, SignInFailed, Signature, Signed, TokenRevoked,
};
use crate::live::Stamp;
use crate::objection::Objection;
use crate::token::Grant;

impl Engine {
    /// Registers a policy; one with the same document is the same policy.
    ///
    /// # Errors
    /// [`ChangeError`] if the document is wrong or its name is taken.
    pub fn register(&self, actor: &str, text: &str, seed: u64) -> Result<Arc<Slot>, ChangeError> {
        let document = PolicyDocument::parse(text, "document")?;
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let name = document.policy();
        if let Some(slot) = self.policy(name) {
            let same = slot.live.lock().state().birth.text == text;
            return if same { Ok(slot) } else { Err(ChangeError::NameTaken(name.to_owned())) };
        }
        let registered = Registered { document: text.to_owned(), seed };
        self.record(actor, Subject::Itself, Event::Registered(registered))?;
        self.policy(name).ok_or_else(|| ChangeError::Fault("the policy was registered, but is not there".to_owned()))
    }

    /// Makes a token.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn create_token(&self, actor: &str, grant: Grant) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(actor, Subject::None, Event::TokenCreated(grant))
    }

    /// Takes a token back.
    ///
    /// # Errors
    /// [`ChangeError`] if there is no such token.
    pub fn revoke_token(&self, actor: &str, id: &str) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if self.tokens().get(id).is_none_or(|kept| kept.revoked_ms.is_some()) {
            return Err(ChangeError::NoToken(id.to_owned()));
        }
        self.record(actor, Subject::None, Event::TokenRevoked(TokenRevoked { id: id.to_owned() }))
    }

    /// Writes down that somebody was not let in.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn sign_in_failed(&self, address: String, problem: String) -> Result<u64, ChangeError> {
        self.record(&address.clone(), Subject::None, Event::SignInFailed(SignInFailed { address, problem }))
    }

    /// Writes down that the end of the log was lost.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn recovered(&self, actor: &str, recovered: Recovered) -> Result<u64, ChangeError> {
        self.record(actor, Subject::None, Event::Recovered(recovered))
    }

    /// Signs for a proposal.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy objects.
    pub fn approve(&self, slot: &Slot, actor: &str, proposal: u64, signature: Signature) -> Result<u64, ChangeError> {
        let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
        let expires_ms = {
            let live = slot.live.lock();
            let stamp = Stamp { number: 0, time_ms: self.now_ms(), actor };
            live.may_sign(proposal, stamp, &signature)?;
            live.open(proposal)?.expires_ms
        };
        let event = Event::Approved(Signed { proposal, signature });
        let (number, receipt) = self.journal.append(|turn| {
            // The time of the event counts, not that of the check.
            let in_time = turn.time_ms() < expires_ms;
            in_time.then(|| turn.push(draft(actor, Subject::Policy(slot.id), &event, None), Happened::of(event)))
        });
        let number = number.ok_or(Objection::TooLate(proposal))?;
        receipt.wait_blocking().map_err(ChangeError::Store)?;
        self.wait_applied(number)?;
        Ok(number)
    }

    /// Signs against a proposal.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy objects.
    pub fn reject(&self, slot: &Slot, actor: &str, proposal: u64, signature: Signature) -> Result<u64, ChangeError> {
        let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
        slot.live.lock().may_reject(proposal, &signature)?;
        self.record(actor, Subject::Policy(slot.id), Event::Rejected(Signed { proposal, signature }))
    }

    /// Puts the rule of an older version in force again; where the document asks for two signatures, proposes it.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy objects.
    pub fn roll_back(&self, slot: &Slot, actor: &str, to: u64, signature: Signature) -> Result<u64, ChangeError> {
        let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
        let event = {
            let live = slot.live.lock();
            live.may_roll_back(to, &signature)?;
            let control = live.document().control();
            if control.approval == Approval::Two {
                if let Some(open) = live.open_proposal() {
                    return Err(Objection::OpenProposal(open.number).into());
                }
                Event::Proposed(Box::new(Proposed {
                    proposal: live.next_proposal(),
                    basis: live.state().last_event,
                    version: live.version().number,
                    rule: live.version_of(to)?.rule.clone(),
                    rollback: Some(to),
                    expires_ms: self.now_ms().saturating_add(control.proposal_expires_ms),
                    outcomes: live.state().learned.outcomes(),
                    digest: Digest([0; 32]),
                    signature: Some(signature),
                    case: None,
                }))
            } else {
                Event::RolledBack(RolledBack { to, signature })
            }
        };
        self.record(actor, Subject::Policy(slot.id), event)
    }

    /// Goes back to the last rule that somebody signed, and explores no more.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy objects.
    pub fn stop_policy(&self, slot: &Slot, actor: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
        slot.live.lock().may_stop(&signature)?;
        self.record(actor, Subject::Policy(slot.id), Event::Stopped(signature))
    }

    /// Lets a stopped policy go on.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy objects.
    pub fn resume_policy(&self, slot: &Slot, actor: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
        slot.live.lock().may_resume(&signature)?;
        self.record(actor, Subject::Policy(slot.id), Event::Resumed(signature))
    }

    /// Closes a proposal whose time is over; the caller holds the policy's control.
    pub(super) fn expire(&self, slot: &Slot, actor: &str) -> Result<(), ChangeError> {
        let now_ms = self.now_ms();
        let overdue = {
            let live = slot.live.lock();
            live.open_proposal().filter(|proposal| proposal.is_overdue(now_ms)).map(|proposal| proposal.number)
        };
        if let Some(proposal) = overdue {
            self.record(actor, Subject::Policy(slot.id), Event::Expired(Expired { proposal }))?;
        }
        Ok(())
    }
}
