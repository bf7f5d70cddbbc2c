//! The thread that takes in what was committed, and publishes what decides next.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use rarely_core::Exploration;
use rarely_store::{Entry, Hash, Log, Snapshot, SnapshotFile};
use tokio::sync::watch;

use super::{Clock, Happened, SNAPSHOT_FORMAT, Shelf, Slot};
use crate::event::Event;
use crate::replay::{self, ReplayError};
use crate::world::World;

pub(super) struct Folder {
    world: World,
    slots: HashMap<u64, Arc<Slot>>,
    shelf: Arc<Shelf>,
    log: Arc<dyn Log>,
    clock: Clock,
    applied: watch::Sender<u64>,
    /// Policies that are due for review.
    calls: Sender<u64>,
    snapshots: Keeper,
}

/// Writes snapshots, one at a time, while the folder goes on.
pub(super) struct Keeper {
    pub(super) file: SnapshotFile,
    pub(super) every: u64,
    pub(super) last: u64,
    pub(super) writing: Option<JoinHandle<()>>,
}

impl Folder {
    pub(super) fn new(
        world: World,
        (shelf, log, clock): (Arc<Shelf>, Arc<dyn Log>, Clock),
        applied: watch::Sender<u64>,
        calls: Sender<u64>,
        snapshots: Keeper,
    ) -> Self {
        let policies = shelf.policies.read().unwrap_or_else(PoisonError::into_inner);
        let slots = policies.values().map(|slot| (slot.id, slot.clone())).collect();
        drop(policies);
        Self { world, slots, shelf, log, clock, applied, calls, snapshots }
    }

    /// Until nothing more is committed; then a last snapshot.
    pub(super) fn run(mut self, batches: &Receiver<Vec<(Entry, Option<Happened>)>>) {
        let mut head = None;
        while let Ok(mut batch) = batches.recv() {
            // What came meanwhile is published together.
            while let Ok(more) = batches.try_recv() {
                batch.extend(more);
            }
            head = batch.last().map(|(entry, _)| (entry.number, entry.hash)).or(head);
            if let Err(error) = self.take_in(batch) {
                // The log is right and the memory is not: nothing more may be answered from it.
                self.shelf.set_fault(format!("what is known no longer follows the log: {error}"));
                return;
            }
            self.snapshots.keep(&self.world, head, false);
        }
        self.snapshots.keep(&self.world, head, true);
    }

    fn take_in(&mut self, batch: Vec<(Entry, Option<Happened>)>) -> Result<(), ReplayError> {
        let mut touched = BTreeMap::new();
        for (entry, happened) in batch {
            let event = if let Some(Happened { event, about }) = happened {
                let applied = self.world.apply(replay::stamp(&entry), entry.policy, &event, about.as_deref());
                applied.map_err(|source| ReplayError::Misfit { number: entry.number, source })?;
                event
            } else {
                let event = replay::event(&entry)?;
                self.world.take_in(self.log.as_ref(), &entry, &event)?;
                event
            };
            self.note(&entry, &event, &mut touched);
        }
        self.publish(&touched);
        self.applied.send_replace(self.world.applied());
        Ok(())
    }

    /// What is to be published because of an event: whether its policy learned, or changed.
    fn note(&mut self, entry: &Entry, event: &Event, touched: &mut BTreeMap<u64, Touch>) {
        match event {
            Event::Decided(_) | Event::Reviewed(_) | Event::SignInFailed(_) | Event::Recovered(_) => {}
            Event::TokenCreated(_) | Event::TokenRevoked(_) => {
                let tokens = Arc::new(self.world.tokens().clone());
                *self.shelf.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
            }
            Event::Registered(_) => {
                if let Some(live) = self.world.policy(entry.policy) {
                    let slot = Arc::new(Slot::new(entry.policy, live.clone(), entry.number));
                    self.slots.insert(entry.policy, slot.clone());
                    self.shelf.place(slot);
                }
            }
            Event::Observed(_) | Event::Corrected(_) => touched.entry(entry.policy).or_default().learned = true,
            _ => touched.entry(entry.policy).or_default().changed = true,
        }
    }

    fn publish(&self, touched: &BTreeMap<u64, Touch>) {
        let now_ms = (self.clock)();
        let mut due = BTreeSet::new();
        for (id, touch) in touched {
            let Some(slot) = self.slots.get(id) else { continue };
            let explores = slot.document.change().explore != Exploration::NONE;
            if touch.changed || (touch.learned && explores) {
                slot.publish(self.world.applied());
            }
            if touch.learned && slot.live.lock().is_review_due(now_ms) {
                due.insert(*id);
            }
        }
        for id in due {
            // Nobody reviews any more when the engine stops.
            let _ = self.calls.send(id);
        }
    }
}

/// What happened to a policy in a batch.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    learned: bool,
    changed: bool,
}

impl Keeper {
    /// Writes a snapshot if enough happened since the last, or at the end.
    fn keep(&mut self, world: &World, head: Option<(u64, Hash)>, finally: bool) {
        let Some((number, hash)) = head.filter(|(number, _)| *number == world.applied()) else { return };
        if finally {
            // One file, one writer.
            drop(self.writing.take().map(JoinHandle::join));
        }
        let idle = self.writing.as_ref().is_none_or(JoinHandle::is_finished);
        let due = number >= self.last + self.every || (finally && number > self.last);
        if !due || !idle {
            return;
        }
        self.last = number;
        let (frozen, file) = (world.freeze(), self.file.clone());
        let write = move || {
            // Without it the next start takes longer; nothing is lost.
            if let Ok(body) = serde_json::to_vec(&frozen) {
                let snapshot = Snapshot { number, hash, body };
                drop(file.write(SNAPSHOT_FORMAT, env!("CARGO_PKG_VERSION"), &snapshot));
            }
        };
        if finally {
            write();
        } else {
            self.writing = std::thread::Builder::new().name("keeper".to_owned()).spawn(write).ok();
        }
    }
}
