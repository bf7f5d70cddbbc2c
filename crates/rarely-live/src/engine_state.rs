//! All policies and tokens: the state that follows from the whole log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rarely_store::{NoteKey, SubjectTag};
use serde::{Deserialize, Serialize};

use crate::event::{Event, KeyReplaced, PersonKey};
use crate::live_policy::{DecisionRef, EventHeader, LivePolicy, PolicyState, inconsistent};
use crate::objection::Objection;
use crate::person_key::PersonKeys;
use crate::token::Tokens;

/// The format of an [`EngineSnapshot`].
pub const ENGINE_STATE_FORMAT: u32 = 1;

/// A policy that several threads read; one of them applies its events.
#[derive(Debug, Clone)]
pub struct SharedPolicy(Arc<Mutex<LivePolicy>>);

/// All policies and tokens.
#[derive(Debug, Default)]
pub struct EngineState {
    policies: BTreeMap<u64, SharedPolicy>,
    names: BTreeMap<String, u64>,
    tokens: Tokens,
    key_replacements: Vec<KeyReplaced>,
    people: PersonKeys,
    /// By channel, the last event that is settled.
    notified: BTreeMap<String, u64>,
    /// When people were erased, by what stands for them in the log.
    erased: BTreeMap<SubjectTag, u64>,
    /// The last event that erased people or archived records, of those that this state was given.
    last_erasure: u64,
    /// The last act that was copied from the service's own chain.
    followed: u64,
    applied: u64,
}

/// The state as plain data, as a snapshot stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineSnapshot {
    /// The format of this data.
    pub format: u32,
    /// The last event included.
    pub applied: u64,
    /// All tokens.
    pub tokens: Tokens,
    /// How the key that signs checkpoints was replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_replacements: Vec<KeyReplaced>,
    /// The keys of people.
    #[serde(default, skip_serializing_if = "PersonKeys::is_empty")]
    pub people: PersonKeys,
    /// How far those outside were told what happened.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notified: BTreeMap<String, u64>,
    /// When people were erased.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub erased: BTreeMap<SubjectTag, u64>,
    /// The last act that was copied from the service's own chain.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub followed: u64,
    /// All policies.
    pub policies: Vec<PolicyState>,
}

impl SharedPolicy {
    fn new(live: LivePolicy) -> Self {
        Self(Arc::new(Mutex::new(live)))
    }

    /// Locks the policy.
    pub fn lock(&self) -> MutexGuard<'_, LivePolicy> {
        // Applying an event changes everything or nothing, so a poisoned lock protects a consistent value.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EngineState {
    /// The last event applied.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// All tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The keys of people.
    pub fn people(&self) -> &PersonKeys {
        &self.people
    }

    /// By channel, the last event about which those outside need not be told any more.
    pub fn notified(&self) -> &BTreeMap<String, u64> {
        &self.notified
    }

    /// When people were erased, by what stands for them in the log.
    pub fn erased(&self) -> &BTreeMap<SubjectTag, u64> {
        &self.erased
    }

    /// The last act that was copied from the service's own chain; 0 in that chain itself.
    pub fn followed(&self) -> u64 {
        self.followed
    }

    /// Whether people were erased or records archived after this event.
    pub(crate) fn erased_since(&self, event: u64) -> bool {
        self.last_erasure > event
    }

    /// Checks that every event that cannot be read is of a person who was erased.
    ///
    /// # Errors
    /// [`Objection::Inconsistent`] if a key is missing without an event that says so.
    pub fn check_keys_of_people(&self) -> Result<(), Objection> {
        if self.policies.values().any(|policy| policy.lock().lacks_keys()) {
            return Err(inconsistent(
                "the key of a person is missing, so that records cannot be read, but no event says that the person was erased",
            ));
        }
        Ok(())
    }

    /// The key that signs checkpoints, if it was ever replaced.
    pub fn signing_key(&self) -> Option<&NoteKey> {
        self.key_replacements.last().map(|last| &last.to)
    }

    /// How the key that signs checkpoints was replaced, in order.
    pub fn key_replacements(&self) -> &[KeyReplaced] {
        &self.key_replacements
    }

    /// The policy with this id.
    pub fn policy(&self, id: u64) -> Option<&SharedPolicy> {
        self.policies.get(&id)
    }

    /// All policies.
    pub fn policies(&self) -> impl Iterator<Item = (u64, &SharedPolicy)> {
        self.policies.iter().map(|(id, policy)| (*id, policy))
    }

    /// The id of the policy with this name.
    pub fn named(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// Applies the next event. `policy` is the id of its policy, or 0.
    ///
    /// # Errors
    /// [`Objection`] if the event contradicts earlier ones; the state is then unchanged.
    pub fn apply(
        &mut self,
        header: EventHeader<'_>,
        policy: u64,
        event: &Event,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        if header.number != self.applied + 1 {
            return Err(inconsistent(format!("event {} follows event {}", header.number, self.applied)));
        }
        match event {
            Event::Registered(registered) => {
                let live = LivePolicy::register(header, registered)?;
                let name = live.document().policy().to_owned();
                if policy != header.number {
                    return Err(inconsistent("the policy's id is not the number of the event that registers it"));
                }
                if self.names.contains_key(&name) {
                    return Err(inconsistent(format!("the policy {name:?} is registered twice")));
                }
                self.names.insert(name, policy);
                self.policies.insert(policy, SharedPolicy::new(live));
            }
            Event::KeyReplaced(replaced) => {
                if !replaced.is_signed() {
                    return Err(inconsistent("the signing key is replaced, but its signatures are not right"));
                }
                let in_use = self.signing_key();
                if in_use.is_some() && replaced.from.is_some() && replaced.from.as_ref() != in_use {
                    return Err(inconsistent("the signing key is replaced by one that is not in use"));
                }
                self.key_replacements.push(replaced.clone());
            }
            act if act.is_act_for_all_chains() => self.apply_act(header.time_ms, act)?,
            Event::Followed(followed) if policy == 0 => {
                if followed.number <= self.followed {
                    let (number, before) = (followed.number, self.followed);
                    return Err(inconsistent(format!("act {number} of the service is copied after act {before}")));
                }
                self.apply_act(followed.time_ms, &followed.act)?;
                self.followed = followed.number;
            }
            Event::ClockCorrected(corrected) => {
                if !corrected.is_signed() || corrected.to_ms != header.time_ms {
                    return Err(inconsistent("the clock is corrected, but the signature is not right"));
                }
            }
            Event::Notified(notified) if policy == 0 => {
                let before = self.notified.get(&notified.channel).copied().unwrap_or(0);
                if notified.about < before || notified.about >= header.number {
                    return Err(inconsistent(format!(
                        "a notice of event {} after that of event {before}",
                        notified.about
                    )));
                }
                self.notified.insert(notified.channel.clone(), notified.about);
            }
            note if note.is_note() && policy == 0 => {}
            Event::PersonErased(_) if policy == 0 => {}
            _ => {
                let live = self.policies.get(&policy).ok_or_else(|| inconsistent("an event of an unknown policy"))?;
                if about.is_some_and(|about| about.policy != policy) {
                    return Err(inconsistent("an outcome of another policy's decision"));
                }
                let mut live = live.lock();
                let passkey = live.check_keys(&self.people, header.actor, event)?;
                live.apply(header, event, about)?;
                if let Some(passkey) = passkey {
                    self.people.used(&passkey);
                }
            }
        }
        if matches!(event, Event::PersonErased(_) | Event::Archived(_)) {
            self.last_erasure = header.number;
        }
        if let Event::PersonErased(erased) = event {
            self.erased.extend(erased.subjects.iter().map(|tag| (*tag, header.time_ms)));
        }
        self.applied = header.number;
        Ok(())
    }

    /// Applies an act that holds for all policies.
    fn apply_act(&mut self, time_ms: u64, act: &Event) -> Result<(), Objection> {
        match act {
            Event::TokenCreated(grant) => {
                if self.tokens.get(&grant.id).is_some() {
                    return Err(inconsistent(format!("the token {} is created twice", grant.id)));
                }
                self.tokens.create(grant.clone(), time_ms);
            }
            Event::TokenRevoked(revoked) => {
                let revoked_now = self.tokens.revoke(&revoked.id, time_ms);
                return revoked_now
                    .then_some(())
                    .ok_or_else(|| inconsistent(format!("token {} does not exist or is already revoked", revoked.id)));
            }
            Event::PersonKeyRegistered(registered) => {
                if !self.people.is_free(&registered.key) {
                    return Err(inconsistent(format!("the key {} is registered twice", registered.key.id())));
                }
                self.people.register(registered, time_ms);
            }
            Event::PersonKeyRevoked(revoked @ PersonKey { key, .. }) => {
                self.people.check_revocation(revoked)?;
                if !self.people.revoke(key, time_ms) {
                    return Err(inconsistent(format!("the key {} does not exist or is already revoked", key.id())));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A copy as plain data.
    pub fn snapshot(&self) -> EngineSnapshot {
        EngineSnapshot {
            format: ENGINE_STATE_FORMAT,
            applied: self.applied,
            tokens: self.tokens.clone(),
            key_replacements: self.key_replacements.clone(),
            people: self.people.clone(),
            notified: self.notified.clone(),
            erased: self.erased.clone(),
            followed: self.followed,
            policies: self.policies.values().map(|policy| policy.lock().state().clone()).collect(),
        }
    }

    /// Restores the state from plain data.
    ///
    /// # Errors
    /// [`Objection::Inconsistent`] if it has another format, or its parts contradict each other.
    pub fn restore(snapshot: EngineSnapshot) -> Result<Self, Objection> {
        if snapshot.format != ENGINE_STATE_FORMAT {
            return Err(inconsistent(format!(
                "format {}, but this version reads format {ENGINE_STATE_FORMAT}",
                snapshot.format
            )));
        }
        let EngineSnapshot { applied, tokens, key_replacements, people, notified, erased, followed, policies, .. } =
            snapshot;
        let mut restored =
            Self { tokens, key_replacements, people, notified, erased, followed, applied, ..Self::default() };
        for state in policies {
            let (id, live) = (state.registration.event, LivePolicy::restore(state)?);
            restored.names.insert(live.document().policy().to_owned(), id);
            restored.policies.insert(id, SharedPolicy::new(live));
        }
        Ok(restored)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
