//! What people do: register policies, sign, reject, roll back, stop, resume; and manage tokens.

use std::sync::{Arc, PoisonError};

use rarely_core::{Delay, Digest};
use rarely_policy::{Approval, PolicyDocument};
use rarely_store::{Hash, NoteKey, PolicyRef};

use super::{ChangeError, Engine, EngineFault, PendingEvent, PolicyHandle, draft};
use crate::event::{
    Event, Expired, PersonKey, Proposed, Recovered, Registered, RolledBack, SignInFailed, Signature, Signed,
    TokenRevoked,
};
use crate::live_policy::EventHeader;
use crate::objection::Objection;
use crate::token::TokenGrant;

impl Engine {
    /// Registers a policy. If a policy with the same document exists, returns that one.
    ///
    /// # Errors
    /// [`ChangeError`] if the document is invalid or its name is taken.
    pub fn register(&self, actor: &str, text: &str, seed: u64) -> Result<Arc<PolicyHandle>, ChangeError> {
        let document = PolicyDocument::parse(text, "document")?;
        if document.noise().is_none() || document.norm_bound().is_none() {
            return Err(ChangeError::NoNoise);
        }
        if let Some(what) = document.only_reviewed() {
            return Err(rarely_review::OnlyReviewed { what }.into());
        }
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let name = document.policy();
        if let Some(handle) = self.policy(name) {
            let same = handle.live.lock().state().registration.text == text;
            return if same { Ok(handle) } else { Err(ChangeError::NameTaken(name.to_owned())) };
        }
        let decision_order = document.control().delay == Delay::Any;
        let registered = Registered { document: text.to_owned(), seed, decision_order };
        self.record(actor, PolicyRef::OwnNumber, Event::Registered(registered))?;
        self.policy(name).ok_or_else(|| EngineFault::ApplierEnded.into())
    }

    /// Creates a token.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn create_token(&self, actor: &str, grant: TokenGrant) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(actor, PolicyRef::None, Event::TokenCreated(grant))
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// [`ChangeError`] if the token does not exist or is already revoked.
    pub fn revoke_token(&self, actor: &str, id: &str) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if self.tokens().get(id).is_none_or(|kept| kept.revoked_ms.is_some()) {
            return Err(ChangeError::NoToken(id.to_owned()));
        }
        self.record(actor, PolicyRef::None, Event::TokenRevoked(TokenRevoked { id: id.to_owned() }))
    }

    /// Registers a person's key. From now on this person puts rules in force only with it.
    ///
    /// # Errors
    /// [`ChangeError`] if the key is registered already.
    pub fn register_person_key(&self, actor: &str, person: &str, key: NoteKey) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.people().is_free(&key) {
            return Err(ChangeError::PersonKeyTaken(key.id()));
        }
        let registered = PersonKey { person: person.to_owned(), key };
        self.record(actor, PolicyRef::None, Event::PersonKeyRegistered(registered))
    }

    /// Revokes the key of a person with this id.
    ///
    /// # Errors
    /// [`ChangeError`] if there is no such key, or it is already revoked.
    pub fn revoke_person_key(&self, actor: &str, id: &str) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let people = self.people();
        let known = people.iter().find(|known| known.key.id() == id && known.revoked_ms.is_none());
        let known = known.ok_or_else(|| ChangeError::NoPersonKey(id.to_owned()))?;
        let revoked = PersonKey { person: known.person.clone(), key: known.key.clone() };
        self.record(actor, PolicyRef::None, Event::PersonKeyRevoked(revoked))
    }

    /// Records a refused sign-in.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn sign_in_failed(&self, address: String, problem: String) -> Result<u64, ChangeError> {
        self.record(&address.clone(), PolicyRef::None, Event::SignInFailed(SignInFailed { address, problem }))
    }

    /// Records that the loss of events was accepted.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn recovered(&self, actor: &str, recovered: Recovered) -> Result<u64, ChangeError> {
        self.record(actor, PolicyRef::None, Event::Recovered(recovered))
    }

    /// Signs a proposal.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn approve(
        &self,
        handle: &PolicyHandle,
        actor: &str,
        proposal: u64,
        signature: Signature,
    ) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        let expires_ms = {
            let live = handle.live.lock();
            let header = EventHeader { number: 0, time_ms: self.now_ms(), actor, hash: Hash::ZERO };
            live.may_sign(proposal, header, &signature)?;
            live.open(proposal)?.expires_ms
        };
        let event = Event::Approved(Signed { proposal, signature });
        let _no_new_key = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().check_keys(&self.people(), actor, &event)?;
        let (number, receipt) = self.writer.append(|turn| {
            // The event's time counts, not the time of the check.
            let in_time = turn.time_ms() < expires_ms;
            in_time.then(|| {
                turn.push_deferred(draft(actor, PolicyRef::Id(handle.id), &event, None), PendingEvent::of(event))
            })
        });
        let number = number.ok_or(Objection::ProposalExpired(proposal))?;
        receipt.wait_blocking().map_err(ChangeError::Store)?;
        self.wait_applied(number)?;
        Ok(number)
    }

    /// Rejects a proposal.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn reject(
        &self,
        handle: &PolicyHandle,
        actor: &str,
        proposal: u64,
        signature: Signature,
    ) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_reject(proposal, &signature)?;
        self.record(actor, PolicyRef::Id(handle.id), Event::Rejected(Signed { proposal, signature }))
    }

    /// Puts the rule of an earlier version in force again, or proposes it if the document requires two signatures.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn roll_back(
        &self,
        handle: &PolicyHandle,
        actor: &str,
        to: u64,
        signature: Signature,
    ) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        let event = {
            let live = handle.live.lock();
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
        let _no_new_key = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().check_keys(&self.people(), actor, &event)?;
        self.record(actor, PolicyRef::Id(handle.id), event)
    }

    /// Puts the last signed rule in force again, and ends exploration.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn stop_policy(&self, handle: &PolicyHandle, actor: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_stop(&signature)?;
        self.record(actor, PolicyRef::Id(handle.id), Event::Stopped(signature))
    }

    /// Resumes a stopped policy.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn resume_policy(&self, handle: &PolicyHandle, actor: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_resume(&signature)?;
        self.record(actor, PolicyRef::Id(handle.id), Event::Resumed(signature))
    }

    /// Closes an overdue proposal. The caller holds the policy's control lock.
    pub(super) fn expire(&self, handle: &PolicyHandle, actor: &str) -> Result<(), ChangeError> {
        let now_ms = self.now_ms();
        let overdue = {
            let live = handle.live.lock();
            live.open_proposal().filter(|proposal| proposal.is_overdue(now_ms)).map(|proposal| proposal.number)
        };
        if let Some(proposal) = overdue {
            self.record(actor, PolicyRef::Id(handle.id), Event::Expired(Expired { proposal }))?;
        }
        Ok(())
    }
}
