//! A policy as the service holds it.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rarely_policy::PolicyDocument;

use crate::decider::Decider;
use crate::record::Reader;
use crate::world::Shared;

/// A policy as the service holds it: what decides is apart from what learns, so that deciding waits for neither.
#[derive(Debug)]
pub struct Slot {
    /// The number of the event that registered it.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Options and features, which no version changes.
    pub document: PolicyDocument,
    /// Reads its records.
    pub reader: Arc<Reader>,
    /// Everything that happened.
    pub live: Shared,
    decider: RwLock<Arc<Decider>>,
    /// Held by whoever changes something: signatures, reviews and stops come one after another.
    pub(super) control: Mutex<()>,
    /// Held by whoever reviews, before control: a review looks at more than the one before.
    pub(super) review: Mutex<()>,
}

impl Slot {
    pub(super) fn new(id: u64, live: Shared, basis: u64) -> Self {
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

    /// What decides now.
    pub fn decider(&self) -> Arc<Decider> {
        self.decider.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is known has changed.
    pub(super) fn publish(&self, basis: u64) {
        let decider = Arc::new(self.live.lock().decider(basis));
        *self.decider.write().unwrap_or_else(PoisonError::into_inner) = decider;
    }
}
