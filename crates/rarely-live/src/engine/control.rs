//! What people do: register policies, sign, reject, roll back, stop, resume; and manage tokens.

use std::sync::{Arc, PoisonError};

use rarely_core::{Delay, Digest};
use rarely_policy::{Approval, PolicyDocument};
use rarely_store::{Hash, PolicyRef};

use super::{ChangeError, Engine, EngineFault, PendingEvent, PolicyHandle, draft};
use crate::amendment::AmendmentEffect;
use crate::document_edition::DocumentEdition;
use crate::event::{
    Event, Expired, PersonKey, Proposed, ProposedAmendment, Registered, RolledBack, Signature, Signed, TokenRevoked,
};
use crate::live_policy::EventHeader;
use crate::objection::Objection;
use crate::passkey::Passkey;
use crate::person::{self, PersonError};
use crate::person_key::{PersonKeyRecord, PersonPublicKey};
use crate::token::TokenGrant;

impl Engine {
    /// Registers a policy. If a policy with the same document exists, returns that one.
    ///
    /// # Errors
    /// [`ChangeError`] if the document is invalid or its name is taken.
    pub fn register(&self, actor: &str, text: &str, seed: u64) -> Result<Arc<PolicyHandle>, ChangeError> {
        let document = PolicyDocument::parse(text, "document")?;
        check_runs(&document)?;
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let name = document.policy();
        if let Some(handle) = self.policy(name) {
            let same = handle.live.lock().state().registration.text == text;
            return if same { Ok(handle) } else { Err(ChangeError::NameTaken(name.to_owned())) };
        }
        let decision_order = document.control().delay == Delay::Any;
        let signatures = Some(document.control().signatures());
        let registered = Registered { document: text.to_owned(), seed, decision_order, signatures };
        self.record(actor, PolicyRef::OwnNumber, Event::Registered(registered))?;
        self.policy(name).ok_or_else(|| EngineFault::ApplierEnded.into())
    }

    /// Proposes another document for a policy. It comes into force when people have signed it, at least one of them. Returns the number
    /// of the proposal; if the same document is proposed already, of that one.
    ///
    /// # Errors
    /// [`ChangeError`] if the document is invalid or cannot replace the one in force, or if another proposal is open.
    pub fn amend(&self, handle: &PolicyHandle, actor: &str, text: &str, reason: &str) -> Result<u64, ChangeError> {
        check_runs(&PolicyDocument::parse(text, "document")?)?;
        if reason.trim().is_empty() {
            let help = "say in a few words why the document changes";
            return Err(Objection::Amendment { problem: "no reason was given".to_owned(), help }.into());
        }
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        self.expire(handle, actor)?;
        let (number, event) = {
            let live = handle.live.lock();
            match live.open_proposal() {
                Some(open) if open.amendment.as_deref() == Some(text) => return Ok(open.number),
                Some(open) => return Err(Objection::OpenProposal(open.number).into()),
                None => {}
            }
            let version = live.version();
            let edition = DocumentEdition::parse(version.number + 1, text)?;
            let AmendmentEffect { difference, sentence, .. } = live.amendment(&edition)?;
            let (document, reason) = (text.to_owned(), reason.to_owned());
            let proposed = Proposed {
                proposal: live.next_proposal(),
                basis: live.state().last_event,
                version: version.number,
                rule: version.rule.clone(),
                rollback: None,
                expires_ms: self.now_ms().saturating_add(live.document().control().proposal_expires_ms),
                outcomes: live.state().learned.outcomes(),
                digest: Digest([0; 32]),
                amendment: Some(ProposedAmendment { document, reason, difference, statistics: sentence }),
                signature: None,
                case: None,
            };
            (proposed.proposal, Event::Proposed(Box::new(proposed)))
        };
        self.record(actor, PolicyRef::Id(handle.id), event)?;
        Ok(number)
    }

    /// Creates a token.
    ///
    /// # Errors
    /// [`ChangeError`] if its owner can be mistaken for somebody else, or if it cannot be stored.
    pub fn create_token(&self, actor: &str, mut grant: TokenGrant) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        (grant.name, grant.person) = self.distinct_person(&grant.name, grant.person.as_deref())?;
        self.record(actor, PolicyRef::None, Event::TokenCreated(grant))
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// [`ChangeError`] if the token does not exist, is already revoked, or is the last one with the role `admin`.
    pub fn revoke_token(&self, actor: &str, id: &str) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if self.tokens().get(id).is_none_or(|kept| kept.revoked_ms.is_some()) {
            return Err(ChangeError::NoToken(id.to_owned()));
        }
        if self.tokens().is_last_admin(id, self.now_ms()) {
            return Err(ChangeError::LastAdmin(id.to_owned()));
        }
        self.record(actor, PolicyRef::None, Event::TokenRevoked(TokenRevoked { id: id.to_owned() }))
    }

    /// Registers a key of the person with this name and id. Without an id it is derived from the name. From now on this person signs only
    /// with the key.
    ///
    /// # Errors
    /// [`ChangeError`] if the key is registered already, or if the person can be mistaken for somebody else.
    pub fn register_person_key(
        &self,
        actor: &str,
        name: &str,
        person: Option<&str>,
        key: impl Into<PersonPublicKey>,
    ) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.add_key(actor, name, person, key.into())
    }

    /// Registers the first passkey of a person who is signed in with a token. Whoever has a key registers no other one in this way: a
    /// stolen token must not be enough to sign.
    ///
    /// # Errors
    /// [`ChangeError`] if the person has a key, or the passkey is registered already.
    pub fn register_own_passkey(&self, owner: &TokenGrant, passkey: Passkey) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let person = owner.person_id();
        if self.people().of(&person).next().is_some() {
            return Err(ChangeError::HasKey(owner.name.clone()));
        }
        self.add_key(&owner.name, &owner.name, Some(&person), PersonPublicKey::Passkey(passkey))
    }

    fn add_key(&self, actor: &str, name: &str, person: Option<&str>, key: PersonPublicKey) -> Result<u64, ChangeError> {
        if !self.people().is_free(&key) {
            return Err(ChangeError::PersonKeyTaken(key.id()));
        }
        let (person, person_id) = self.distinct_person(name, person)?;
        let registered = PersonKey { person, person_id, key, signature: None };
        self.record(actor, PolicyRef::None, Event::PersonKeyRegistered(registered))
    }

    /// Revokes a key of a person who signs that with a key.
    ///
    /// # Errors
    /// [`ChangeError`] if the person has no such key, or the signature is not right.
    pub fn revoke_own_key(&self, owner: &TokenGrant, id: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let (people, owner_id) = (self.people(), owner.person_id());
        let known = people.of(&owner_id).find(|known| known.key.id() == id);
        let known = known.ok_or_else(|| ChangeError::NoPersonKey(id.to_owned()))?;
        let PersonKeyRecord { person, person_id, key, .. } = known.clone();
        let revoked = PersonKey { person, person_id, key, signature: Some(signature) };
        people.check_revocation(&revoked)?;
        self.record(&owner.name, PolicyRef::None, Event::PersonKeyRevoked(revoked))
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
        let PersonKeyRecord { person, person_id, key, .. } = known.clone();
        let revoked = PersonKey { person, person_id, key, signature: None };
        self.record(actor, PolicyRef::None, Event::PersonKeyRevoked(revoked))
    }

    /// Checks that a person with this name and id cannot be mistaken for somebody else.
    ///
    /// # Errors
    /// [`PersonError`] says for whom, or what else is wrong.
    pub fn check_person(&self, name: &str, person: &str) -> Result<(), PersonError> {
        self.distinct_person(name, Some(person)).map(|_| ())
    }

    /// A name and an id as they are stored. Nobody else may have ones that look alike.
    fn distinct_person(&self, name: &str, person: Option<&str>) -> Result<(String, Option<String>), PersonError> {
        let name = person::clean("name", name)?;
        let person = person.map_or_else(|| Ok(person::person_of(&name)), |person| person::clean("person", person))?;
        person::check_distinct(&self.tokens(), &self.people(), &person, &name)?;
        Ok((name, Some(person)))
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
        let (number, receipt) = self.append(|turn| {
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
        self.record_signed(handle, actor, Event::Rejected(Signed { proposal, signature }))
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
                    amendment: None,
                    signature: Some(signature),
                    case: None,
                }))
            } else {
                Event::RolledBack(RolledBack { to, signature })
            }
        };
        self.record_signed(handle, actor, event)
    }

    /// Puts the last signed rule in force again, and ends exploration.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn stop_policy(&self, handle: &PolicyHandle, actor: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_stop(&signature)?;
        self.record_signed(handle, actor, Event::Stopped(signature))
    }

    /// Resumes a stopped policy.
    ///
    /// # Errors
    /// [`ChangeError`] if the policy does not allow it.
    pub fn resume_policy(&self, handle: &PolicyHandle, actor: &str, signature: Signature) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_resume(&signature)?;
        self.record_signed(handle, actor, Event::Resumed(signature))
    }

    /// Records what a person signed, after a check of the key. The caller holds the policy's control lock.
    fn record_signed(&self, handle: &PolicyHandle, actor: &str, event: Event) -> Result<u64, ChangeError> {
        let _no_new_key = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().check_keys(&self.people(), actor, &event)?;
        self.record(actor, PolicyRef::Id(handle.id), event)
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

/// Checks that a policy with this document can run.
fn check_runs(document: &PolicyDocument) -> Result<(), ChangeError> {
    if document.noise().is_none() || document.norm_bound().is_none() {
        return Err(ChangeError::NoNoise);
    }
    document.never_live().map_or(Ok(()), |what| Err(rarely_review::OnlyReviewed { what }.into()))
}
