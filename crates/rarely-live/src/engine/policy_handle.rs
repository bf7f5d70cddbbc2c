//! A policy as callers of the engine use it.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::decider::Decider;
use crate::document_edition::DocumentEdition;
use crate::engine_state::SharedPolicy;
use crate::objection::Objection;

/// A policy as callers of the engine use it. The decider is separate from the policy's state, so that decisions do not wait for
/// learning.
#[derive(Debug)]
pub struct PolicyHandle {
    /// The number of the event that registered the policy.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The policy's state.
    pub live: SharedPolicy,
    decider: RwLock<Arc<Decider>>,
    /// Held during changes, so that signatures, reviews and stops run one at a time.
    pub(super) control: Mutex<()>,
    /// Held during a review, taken before `control`, so that each review sees at least as much as the previous one.
    pub(super) review: Mutex<()>,
}

impl PolicyHandle {
    pub(super) fn new(id: u64, live: SharedPolicy, basis: u64) -> Self {
        let (name, decider) = {
            let live = live.lock();
            (live.document().policy().to_owned(), Arc::new(live.decider(basis)))
        };
        Self { id, name, live, decider: RwLock::new(decider), control: Mutex::default(), review: Mutex::default() }
    }

    /// The current decider.
    pub fn decider(&self) -> Arc<Decider> {
        self.decider.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The document under which the current decider decides, for reading records. For the rule in force see `live`.
    pub fn edition(&self) -> Arc<DocumentEdition> {
        self.decider().edition.clone()
    }

    /// The rule of a version, for requests that name it.
    ///
    /// # Errors
    /// [`Objection`] if there is no such version, or it must not decide now.
    pub fn pinned(&self, version: u64) -> Result<Arc<Decider>, Objection> {
        let live = self.live.lock();
        live.may_pin(version)?;
        live.decider_of(version, 0).map(Arc::new)
    }

    /// Publishes a new decider.
    pub(super) fn publish(&self, basis: u64) {
        let decider = Arc::new(self.live.lock().decider(basis));
        *self.decider.write().unwrap_or_else(PoisonError::into_inner) = decider;
    }
}
