//! One of several chains: what holds for the whole service is copied from the service's own chain, and that chain covers the others.

use std::sync::{Arc, PoisonError};

use rarely_store::{EventLog, PolicyRef, StoreError};

use super::{ChangeError, Engine, EngineFault, PendingEvent, draft};
use crate::event::{Covered, CoveredChain, Event, Followed};
use crate::live_policy::ENGINE_ACTOR;
use crate::lookup_key;
use crate::replay;

/// Events of the service that are read at a time.
const BLOCK: usize = 1024;

impl Engine {
    /// The last act of the service's own chain that this chain has.
    pub fn followed(&self) -> u64 {
        *self.published.followed.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the acts of the service into this chain that it lacks, after event `after` of the service's own chain, and waits until they hold.
    /// Returns up to which event that chain was read.
    ///
    /// # Errors
    /// [`ChangeError`] if the chain of the service cannot be read, or the copies cannot be stored.
    pub fn follow(&self, service: &dyn EventLog, after: u64) -> Result<u64, ChangeError> {
        let mut read = after.max(self.followed());
        loop {
            // Before the lock, which is held for long while people are erased.
            let entries = service.entries(read, Some(0), BLOCK).map_err(unreadable)?;
            let Some(last) = entries.last() else { return Ok(read) };
            let reached = last.number;
            let _one_at_a_time = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
            let followed = self.followed();
            let mut acts = Vec::new();
            for entry in entries.into_iter().filter(|entry| entry.number > followed) {
                if Event::KINDS_FOR_ALL_CHAINS.contains(&entry.kind.as_str()) {
                    let act = replay::event(service, &entry)
                        .map_err(|error| ChangeError::from(EngineFault::Diverged(Arc::new(error))))?;
                    let (number, hash, time_ms) = (entry.number, entry.hash, entry.time_ms);
                    acts.push(Followed { number, hash, time_ms, actor: entry.actor, act });
                }
            }
            if !acts.is_empty() {
                self.append_and_apply(|turn| {
                    let mut last = 0;
                    for act in acts {
                        let key = lookup_key::of_act(act.number);
                        let event = Event::Followed(Box::new(act));
                        let draft = draft(ENGINE_ACTOR, PolicyRef::None, &event, Some(key));
                        last = turn.push_deferred(draft, PendingEvent::of(event));
                    }
                    last
                })?;
            }
            read = reached;
        }
    }

    /// Records how far other chains have come.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn cover(&self, chains: Vec<CoveredChain>) -> Result<u64, ChangeError> {
        self.record(ENGINE_ACTOR, PolicyRef::None, Event::Covered(Covered { chains }))
    }
}

/// Whether a chain has an act of the service's own chain.
///
/// # Errors
/// If the chain cannot be read.
pub fn has_followed(chain: &dyn EventLog, act: u64) -> Result<bool, StoreError> {
    Ok(chain.find(&lookup_key::of_act(act))?.is_some())
}

fn unreadable(error: StoreError) -> ChangeError {
    ChangeError::Store(Arc::new(error))
}
