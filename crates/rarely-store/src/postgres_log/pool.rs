//! Connections for reading, which all chains of a store share.

use std::sync::{Arc, Mutex, PoisonError};

use super::session::Session;

/// Idle connections that are kept open.
const KEPT: usize = 8;

/// Idle connections for reading.
#[derive(Default)]
pub(super) struct ReadPool(Mutex<Vec<Arc<Session>>>);

impl ReadPool {
    /// One that is open, if there is one.
    pub(super) fn take(&self) -> Option<Arc<Session>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pop().filter(|session| !session.is_closed())
    }

    /// Keeps one for later, or drops it.
    pub(super) fn keep(&self, session: Arc<Session>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push(session);
        }
    }
}
