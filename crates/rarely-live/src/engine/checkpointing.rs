//! Signed checkpoints: when they are made, and who is told.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rarely_store::{
    Notary, NoteSigner, NoteVerdict, SignedCheckpoint, SigningKeyFile, Store, StoreError, is_service_log, origin,
};

use super::{ChangeError, Engine, StartError};
use crate::engine_state::EngineState;
use crate::event::{Event, KeyReplaced};

/// The default number of events between two checkpoints.
pub const CHECKPOINT_EVERY: u64 = 10_000;
/// The longest time that an event waits for a checkpoint.
const INTERVAL: Duration = Duration::from_secs(60);
/// How often the notary looks at the log.
const TICK: Duration = Duration::from_secs(1);

/// Passes a checkpoint on.
pub type PublishCheckpoint = Arc<dyn Fn(&Arc<Notary>, &SignedCheckpoint) + Send + Sync>;

/// How checkpoints of the log are signed and published.
#[derive(Clone)]
pub struct CheckpointOptions {
    /// The file of the private key. The first time a key is created there.
    pub key_file: SigningKeyFile,
    /// Events between two checkpoints. A checkpoint is also made after a minute with new events, at a start and at a stop.
    pub every: u64,
    /// Gets every checkpoint once it is stored. It runs on the notary's thread.
    pub publish: PublishCheckpoint,
}

/// Opens the notary of a store with the key in its file.
pub(super) fn open(store: &mut Store, options: &CheckpointOptions) -> Result<Arc<Notary>, StoreError> {
    let signer = store.signer(&options.key_file)?;
    store.sign_with(signer)
}

/// Checks that the notary has the key that the log names, and completes an interrupted replacement of it.
pub(super) fn settle(
    store: &mut Store,
    options: &CheckpointOptions,
    notary: Arc<Notary>,
    state: &EngineState,
) -> Result<Arc<Notary>, StoreError> {
    let Some(named) = state.signing_key() else {
        // The key was never replaced, so it has signed the last checkpoint.
        let other = notary.latest().filter(|latest| latest.verdict(notary.key()) != NoteVerdict::Signed);
        return match other {
            None => Ok(notary),
            Some(latest) => Err(other_key(&notary, format!("another key has signed its {} events", latest.size()))),
        };
    };
    if named == notary.key() {
        return Ok(notary);
    }
    let next = options.key_file.next();
    match next.read()?.map(|signer| store.own_key(signer)) {
        Some(signer) if signer.key() == named => {
            // The service's own log is the last one that names the new key.
            if is_service_log(store.id()) {
                options.key_file.replace_with(&next)?;
            }
            store.sign_with(signer)
        }
        _ => Err(other_key(&notary, format!("it was replaced by {named}"))),
    }
}

fn other_key(notary: &Notary, expected: String) -> StoreError {
    StoreError::OtherKey { found: notary.key().to_string(), expected }
}

/// The thread that signs checkpoints.
pub(super) struct NotaryClerk {
    engine: Weak<Engine>,
    notary: Arc<Notary>,
    options: CheckpointOptions,
}

impl NotaryClerk {
    pub(super) fn new(engine: &Arc<Engine>, notary: Arc<Notary>, options: CheckpointOptions) -> Self {
        Self { engine: Arc::downgrade(engine), notary, options }
    }

    /// Runs until the engine stops. [`Engine::stop`] makes the last checkpoint.
    pub(super) fn run(self, stopped: &Receiver<()>) {
        let mut last = Instant::now();
        self.sign();
        while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if self.engine.strong_count() == 0 {
                return;
            }
            let covered = self.notary.latest().map_or(0, |latest| latest.size());
            let new = self.notary.size().saturating_sub(covered);
            if new >= self.options.every || (new > 0 && last.elapsed() >= INTERVAL) {
                self.sign();
                last = Instant::now();
            }
        }
    }

    fn sign(&self) {
        // If it cannot be stored now, the next tick tries again.
        if let Ok(Some(checkpoint)) = self.notary.sign_checkpoint() {
            (self.options.publish)(&self.notary, &checkpoint);
        }
    }
}

impl Engine {
    /// Who signs checkpoints of this log, if somebody does.
    pub fn notary(&self) -> Option<&Arc<Notary>> {
        self.notary.as_ref()
    }

    /// Signs a checkpoint of everything on disk, if somebody signs this log, and publishes it.
    pub fn sign_checkpoint(&self) {
        let (Some(notary), Some(options)) = (&self.notary, &self.options.checkpoints) else { return };
        // If it cannot be stored, the next start signs one.
        if let Ok(Some(checkpoint)) = notary.sign_checkpoint() {
            (options.publish)(notary, &checkpoint);
        }
    }

    /// Records that another key signs checkpoints from the next start on. The new key is written beside `file`, under the name of the
    /// service's own log. It is put in place when that log has the event, so that log is the last one. If the engine has no notary, the
    /// old key is lost, and the new one signs alone.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn replace_signing_key(&self, actor: &str, file: &SigningKeyFile, name: &str) -> Result<u64, ChangeError> {
        let store = |error| ChangeError::Store(Arc::new(error));
        let next = file.next();
        // A key that was left by an interrupted replacement was never used.
        let new = match next.read().map_err(store)? {
            Some(signer) => signer,
            None => next.read_or_create(name).map_err(store)?,
        };
        let is_service = is_service_log(&self.store_id);
        let new = if is_service { new } else { new.named(&origin(&self.store_id)) };
        let old: Option<&NoteSigner> = self.notary.as_deref().map(Notary::signer);
        let replaced = KeyReplaced::sign(old, &new);
        let event = self.record(actor, rarely_store::PolicyRef::None, Event::KeyReplaced(replaced))?;
        self.sign_checkpoint();
        if is_service {
            file.replace_with(&next).map_err(store)?;
        }
        Ok(event)
    }
}

/// Whether checkpoints of this store exist.
pub(super) fn is_signed(store: &Store) -> Result<bool, StartError> {
    Ok(store.log().last_checkpoint()?.is_some())
}
