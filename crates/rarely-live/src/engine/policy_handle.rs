//! A policy as callers of the engine use it.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rarely_policy::PolicyDocument;

use crate::decider::Decider;
use crate::engine_state::SharedPolicy;
use crate::record::RecordReader;

/// A policy as callers of the engine use it. The decider is separate from the policy's state, so that decisions do not wait for
/// learning.
#[derive(Debug)]
pub struct PolicyHandle {
    /// The number of the event that registered the policy.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The document. Options and features never change; for the rule in force see `live`.
    pub document: PolicyDocument,
    /// Reads records for the document.
    pub reader: Arc<RecordReader>,
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
        let (document, reader, decider) = {
            let live = live.lock();
            (live.document().clone(), live.reader().clone(), Arc::new(live.decider(basis)))
        };
        Self {
            id,
            name: document.policy().to_owned(),
            document,
            reader,
            live,
            decider: RwLock::new(decider),
            control: Mutex::default(),
            review: Mutex::default(),
        }
    }

    /// The current decider.
    pub fn decider(&self) -> Arc<Decider> {
        self.decider.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes a new decider.
    pub(super) fn publish(&self, basis: u64) {
        let decider = Arc::new(self.live.lock().decider(basis));
        *self.decider.write().unwrap_or_else(PoisonError::into_inner) = decider;
    }
}
