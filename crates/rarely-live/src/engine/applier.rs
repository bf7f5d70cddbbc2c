//! The thread that applies committed events and publishes new deciders.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use rarely_core::Exploration;
use rarely_store::{EventLog, Hash, LogEntry, Notary, SnapshotFile, StoredSnapshot};
use tokio::sync::watch;

use super::clock::SteadyClock;
use super::{EngineFault, PendingEvent, PolicyHandle, Published, SNAPSHOT_FORMAT};
use crate::engine_state::EngineState;
use crate::event::Event;
use crate::replay::{self, ReplayError};

pub(super) struct Applier {
    state: EngineState,
    handles: HashMap<u64, Arc<PolicyHandle>>,
    published: Arc<Published>,
    log: Arc<dyn EventLog>,
    clock: SteadyClock,
    applied: watch::Sender<u64>,
    /// Tells the reviewer which policies are due.
    calls: Sender<u64>,
    snapshots: SnapshotWriter,
}

/// Writes snapshots, one at a time, while the applier continues.
pub(super) struct SnapshotWriter {
    pub(super) file: SnapshotFile,
    pub(super) every: u64,
    pub(super) last: u64,
    pub(super) seal: SnapshotSeal,
    pub(super) writing: Option<JoinHandle<()>>,
}

/// How snapshots are protected.
#[derive(Clone)]
pub(super) enum SnapshotSeal {
    /// They are not: nobody signs this log.
    None,
    /// They are signed.
    Signed(Arc<Notary>),
    /// They would have to be signed, and there is no key: none is written.
    NoKey,
}

impl Applier {
    pub(super) fn new(
        state: EngineState,
        (published, log, clock): (Arc<Published>, Arc<dyn EventLog>, SteadyClock),
        applied: watch::Sender<u64>,
        calls: Sender<u64>,
        snapshots: SnapshotWriter,
    ) -> Self {
        let policies = published.policies.read().unwrap_or_else(PoisonError::into_inner);
        let handles = policies.values().map(|handle| (handle.id, handle.clone())).collect();
        drop(policies);
        Self { state, handles, published, log, clock, applied, calls, snapshots }
    }

    /// Runs until the writer stops; then writes a last snapshot.
    pub(super) fn run(mut self, batches: &Receiver<Vec<(LogEntry, Option<PendingEvent>)>>) {
        let mut head = None;
        while let Ok(mut batch) = batches.recv() {
            // Batches that arrived in the meantime are published together.
            while let Ok(more) = batches.try_recv() {
                batch.extend(more);
            }
            head = batch.last().map(|(entry, _)| (entry.number, entry.hash)).or(head);
            if let Err(error) = self.apply(batch) {
                // The log is right and the state in memory is not, so no request may be served from it.
                self.published.set_fault(EngineFault::Diverged(Arc::new(error)));
                return;
            }
            self.snapshots.keep(&self.state, head, false);
        }
        self.snapshots.keep(&self.state, head, true);
    }

    fn apply(&mut self, batch: Vec<(LogEntry, Option<PendingEvent>)>) -> Result<(), ReplayError> {
        let mut touched = BTreeMap::new();
        let mut erased = false;
        let head = batch.last().map(|(entry, _)| (entry.number, entry.hash));
        for (entry, pending) in batch {
            let event = if let Some(PendingEvent { event, about, .. }) = pending.filter(|pending| !pending.erases()) {
                let applied = self.state.apply(replay::header(&entry), entry.policy, &event, about.as_deref());
                applied.map_err(|source| ReplayError::Inconsistent { number: entry.number, source })?;
                event
            } else {
                let event = replay::event(self.log.as_ref(), &entry)?;
                self.state.apply_entry(self.log.as_ref(), &entry, &event)?;
                event
            };
            erased |= matches!(event, Event::PersonErased(_) | Event::Archived(_));
            self.note(&entry, &event, &mut touched);
        }
        self.publish(&touched);
        if erased {
            self.snapshots.renew(&self.state, head);
        }
        self.applied.send_replace(self.state.applied());
        Ok(())
    }

    /// Publishes new policies and tokens, and notes which policies learned or changed.
    fn note(&mut self, entry: &LogEntry, event: &Event, touched: &mut BTreeMap<u64, Touch>) {
        if Event::NOTABLE_KINDS.contains(&event.kind()) {
            self.published.notable.write().unwrap_or_else(PoisonError::into_inner).push(entry.number);
        }
        if let Event::PersonErased(_) = event {
            let erased = Arc::new(self.state.erased().clone());
            *self.published.erased.write().unwrap_or_else(PoisonError::into_inner) = erased;
        }
        match event {
            // A decision may end the pilot, and by its time it may end the waiting for earlier outcomes.
            Event::Decided(_) | Event::Observed(_) | Event::Corrected(_) => {
                let Some(live) = self.state.policy(entry.policy).map(|live| live.lock()) else { return };
                let piloting = matches!(event, Event::Decided(_)) && live.is_piloting();
                if piloting || live.has_just_learned() {
                    let touch = touched.entry(entry.policy).or_default();
                    touch.piloting |= piloting;
                    touch.learned |= live.has_just_learned();
                }
            }
            Event::Reviewed(_) | Event::KeyReplaced(_) | Event::ClockCorrected(_) => {}
            note if note.is_note() => {}
            Event::Followed(followed) => {
                self.note(entry, &followed.act, touched);
                *self.published.followed.write().unwrap_or_else(PoisonError::into_inner) = followed.number;
            }
            Event::TokenCreated(_) | Event::TokenRevoked(_) => {
                let tokens = Arc::new(self.state.tokens().clone());
                *self.published.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
            }
            Event::PersonKeyRegistered(_) | Event::PersonKeyRevoked(_) => {
                let people = Arc::new(self.state.people().clone());
                *self.published.people.write().unwrap_or_else(PoisonError::into_inner) = people;
            }
            Event::Notified(_) => {
                let notified = Arc::new(self.state.notified().clone());
                *self.published.notified.write().unwrap_or_else(PoisonError::into_inner) = notified;
            }
            Event::Registered(_) => {
                if let Some(live) = self.state.policy(entry.policy) {
                    let handle = Arc::new(PolicyHandle::new(entry.policy, live.clone(), entry.number));
                    self.handles.insert(entry.policy, handle.clone());
                    self.published.place(handle);
                }
            }
            _ => touched.entry(entry.policy).or_default().changed = true,
        }
    }

    fn publish(&self, touched: &BTreeMap<u64, Touch>) {
        let now_ms = self.clock.now_ms();
        let mut due = BTreeSet::new();
        for (id, touch) in touched {
            let Some(handle) = self.handles.get(id) else { continue };
            let explores = handle.edition().document.change().explore != Exploration::NONE;
            if touch.changed || touch.piloting || (touch.learned && explores) {
                handle.publish(self.state.applied());
            }
            if touch.learned && handle.live.lock().is_review_due(now_ms) {
                due.insert(*id);
            }
        }
        for id in due {
            // An error means that the engine is stopping.
            let _ = self.calls.send(id);
        }
    }
}

/// Whether a start from a snapshot is quicker than a replay: reading the statistics of a policy takes as long as replaying so many
/// events. With few policies neither takes long.
fn is_worth_it(state: &EngineState, number: u64) -> bool {
    const FEW_POLICIES: u64 = 100;
    const EVENTS_PER_POLICY: u64 = 50;
    let policies = state.policies().count() as u64;
    policies < FEW_POLICIES || number >= EVENTS_PER_POLICY * policies
}

/// What a batch did to a policy.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    learned: bool,
    changed: bool,
    piloting: bool,
}

impl SnapshotWriter {
    /// Replaces the snapshot by one without people who were just erased.
    fn renew(&mut self, state: &EngineState, head: Option<(u64, Hash)>) {
        drop(self.writing.take().map(JoinHandle::join));
        // If it cannot be removed now, the next start does it: an event says that somebody was erased since.
        let _ = self.file.remove();
        self.last = 0;
        self.keep(state, head, true);
    }

    /// Writes a snapshot if enough events were applied since the last one, or at the end.
    fn keep(&mut self, state: &EngineState, head: Option<(u64, Hash)>, finally: bool) {
        let Some((number, hash)) = head.filter(|(number, _)| *number == state.applied()) else { return };
        if finally {
            // Only one thread may write the file.
            drop(self.writing.take().map(JoinHandle::join));
        }
        let due = (number >= self.last + self.every || (finally && number > self.last)) && is_worth_it(state, number);
        let idle = self.writing.as_ref().is_none_or(JoinHandle::is_finished);
        if !due || !idle || matches!(self.seal, SnapshotSeal::NoKey) {
            return;
        }
        self.last = number;
        let (body, file, seal) = (state.snapshot(), self.file.clone(), self.seal.clone());
        let write = move || {
            // If this fails, the next start takes longer; nothing is lost.
            if let Ok(body) = serde_json::to_vec(&body) {
                let snapshot = StoredSnapshot { number, hash, body };
                let program = env!("CARGO_PKG_VERSION");
                drop(match seal {
                    SnapshotSeal::Signed(notary) => file.write_signed(SNAPSHOT_FORMAT, program, &snapshot, &notary),
                    _ => file.write(SNAPSHOT_FORMAT, program, &snapshot),
                });
            }
        };
        if finally {
            write();
        } else {
            self.writing = std::thread::Builder::new().name("snapshot-writer".to_owned()).spawn(write).ok();
        }
    }
}
