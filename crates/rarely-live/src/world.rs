//! All policies and all tokens: the fold over the whole log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::live::{About, Live, Stamp, State, misfit};
use crate::objection::Objection;
use crate::token::Tokens;

/// The format of a frozen world.
pub const WORLD_FORMAT: u32 = 1;

/// A policy that several threads look at; one of them takes in its events.
#[derive(Debug, Clone)]
pub struct Shared(Arc<Mutex<Live>>);

/// All policies and all tokens.
#[derive(Debug, Default)]
pub struct World {
    policies: BTreeMap<u64, Shared>,
    names: BTreeMap<String, u64>,
    tokens: Tokens,
    applied: u64,
}

/// A world as plain data: what a snapshot holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    /// Of this type.
    pub format: u32,
    /// The last event that is in it.
    pub applied: u64,
    /// All tokens.
    pub tokens: Tokens,
    /// All policies.
    pub policies: Vec<State>,
}

impl Shared {
    fn new(live: Live) -> Self {
        Self(Arc::new(Mutex::new(live)))
    }

    /// The policy, for a moment.
    pub fn lock(&self) -> MutexGuard<'_, Live> {
        // An event either fits and is taken in, or changes nothing: there is no half of one to be afraid of.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// The last event that was taken in.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// All tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The policy that an event registered.
    pub fn policy(&self, id: u64) -> Option<&Shared> {
        self.policies.get(&id)
    }

    /// All policies.
    pub fn policies(&self) -> impl Iterator<Item = (u64, &Shared)> {
        self.policies.iter().map(|(id, policy)| (*id, policy))
    }

    /// The policy of a name.
    pub fn named(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// Takes in the next event; `policy` is the number of the event that registered the policy it is about, or 0.
    ///
    /// # Errors
    /// [`Objection`] if it does not fit what happened before; nothing is changed then.
    pub fn apply(
        &mut self,
        stamp: Stamp<'_>,
        policy: u64,
        event: &Event,
        about: Option<&About>,
    ) -> Result<(), Objection> {
        if stamp.number != self.applied + 1 {
            return Err(misfit(format!("event {} comes after event {}", stamp.number, self.applied)));
        }
        match event {
            Event::Registered(registered) => {
                let live = Live::register(stamp, registered)?;
                let name = live.document().policy().to_owned();
                if policy != stamp.number {
                    return Err(misfit("a policy has the number of the event that registered it"));
                }
                if self.names.contains_key(&name) {
                    return Err(misfit(format!("the policy {name:?} is registered a second time")));
                }
                self.names.insert(name, policy);
                self.policies.insert(policy, Shared::new(live));
            }
            Event::TokenCreated(grant) => {
                if self.tokens.get(&grant.id).is_some() {
                    return Err(misfit(format!("the token {} is made a second time", grant.id)));
                }
                self.tokens.create(grant.clone(), stamp.time_ms);
            }
            Event::TokenRevoked(revoked) => {
                if !self.tokens.revoke(&revoked.id, stamp.time_ms) {
                    return Err(misfit(format!("there is no token {} to revoke", revoked.id)));
                }
            }
            Event::SignInFailed(_) | Event::Recovered(_) => {}
            _ => {
                let live = self.policies.get(&policy).ok_or_else(|| misfit("an event of an unknown policy"))?;
                if about.is_some_and(|about| about.policy != policy) {
                    return Err(misfit("an outcome of another policy's decision"));
                }
                live.lock().apply(stamp, event, about)?;
            }
        }
        self.applied = stamp.number;
        Ok(())
    }

    /// A copy as plain data.
    pub fn freeze(&self) -> Frozen {
        Frozen {
            format: WORLD_FORMAT,
            applied: self.applied,
            tokens: self.tokens.clone(),
            policies: self.policies.values().map(|policy| policy.lock().state().clone()).collect(),
        }
    }

    /// From plain data.
    ///
    /// # Errors
    /// [`Objection::Misfit`] if it is of another format, or its parts do not fit together.
    pub fn restore(frozen: Frozen) -> Result<Self, Objection> {
        if frozen.format != WORLD_FORMAT {
            return Err(misfit(format!("format {}, where this version reads {WORLD_FORMAT}", frozen.format)));
        }
        let Frozen { applied, tokens, policies, .. } = frozen;
        let mut world = Self { tokens, applied, ..Self::default() };
        for state in policies {
            let (id, live) = (state.birth.event, Live::restore(state)?);
            world.names.insert(live.document().policy().to_owned(), id);
            world.policies.insert(id, Shared::new(live));
        }
        Ok(world)
    }
}
