//! Live policies over a store: asks in, answers out, each on disk before it is given.
//!
//! Four threads beside the callers'. The store's *writer* commits what callers ask for, many at a time. The *folder* takes in
//! what was committed and publishes what decides next. The *reviewer* holds rules against the evidence when that is due. The
//! *keeper* writes snapshots. A decision is drawn under the lock that gives numbers, from a published value, so that it waits
//! neither for the folder nor for the reviewer.

mod control;
mod deciding;
mod folding;
mod observing;
mod reviewing;
mod slot;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use rarely_review::{Ground, Review};
use rarely_store::{Draft, Journal, Log, Mark, SnapshotFile, Store, StoreError, Subject, Turn};
use tokio::sync::watch;

use crate::event::{Drawing, Event};
use crate::live::About;
use crate::objection::Objection;
use crate::replay::ReplayError;
use crate::token::Tokens;
use crate::world::{Frozen, World};
use folding::{Folder, Keeper};
use reviewing::Reviewer;

pub use deciding::{Answer, Ask, AskError};
pub use observing::{OutcomeError, Report, Reported};
pub use rarely_store::Durability;
pub use reviewing::Outcome;
pub use slot::Slot;

/// What snapshots of this version are called.
pub const SNAPSHOT_FORMAT: &str = "rarely world 1";
/// Events between two snapshots, unless told otherwise.
pub const SNAPSHOT_EVERY: u64 = 100_000;

/// Milliseconds since 1970 UTC.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;
/// Draws what a review found.
pub type Draw = Arc<dyn Fn(&Ground<'_>, &Review) -> Vec<Drawing> + Send + Sync>;

/// How an engine runs.
#[derive(Clone)]
pub struct Options {
    /// Whether an answer waits for the disk.
    pub durability: Durability,
    /// The time.
    pub clock: Clock,
    /// Draws proposals.
    pub draw: Draw,
    /// Events between two snapshots.
    pub snapshot_every: u64,
}

/// Live policies over a store.
pub struct Engine {
    journal: Journal<Happened>,
    shelf: Arc<Shelf>,
    options: Options,
    applied: watch::Receiver<u64>,
    /// Held while policies or tokens are made.
    registry: Mutex<()>,
    calls: Mutex<Option<Sender<u64>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What is known now, for everybody.
pub(crate) struct Shelf {
    policies: RwLock<HashMap<String, Arc<Slot>>>,
    tokens: RwLock<Arc<Tokens>>,
    fault: Mutex<Option<String>>,
}

/// An event on its way to the disk, with the decision it is about.
#[derive(Debug)]
pub struct Happened {
    event: Event,
    about: Option<Arc<About>>,
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is in it.
    #[error(
        "the log does not add up: {0}; `rarely audit verify` says more, and a backup can be restored with `rarely store restore`"
    )]
    Replay(#[from] ReplayError),
    /// The operating system.
    #[error("no thread could be started: {0}; let the system have more, or stop other programs")]
    Thread(std::io::Error),
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The policy objects.
    #[error(transparent)]
    Objection(#[from] Objection),
    /// The document is wrong.
    #[error(transparent)]
    Document(#[from] rarely_policy::DocumentError),
    /// There is another policy of this name.
    #[error("there is a policy {0:?} with another document; give this one another name")]
    NameTaken(String),
    /// There is no such token.
    #[error("there is no token {0} to revoke")]
    NoToken(String),
    /// The evidence cannot be looked at.
    #[error(transparent)]
    Review(#[from] rarely_review::ReviewError),
    /// It could not be stored.
    #[error("it could not be stored, and nothing was changed: {0}")]
    Store(Arc<StoreError>),
    /// It is stored, but does not show.
    #[error("{0}")]
    Fault(String),
}

impl Engine {
    /// Opens a store, or makes one, and begins where it ended. `progress` is told of events that are taken in again.
    ///
    /// # Errors
    /// [`StartError`] if the store is in use, damaged, or does not add up.
    pub fn start(path: &Path, mut options: Options, progress: impl FnMut(u64)) -> Result<Arc<Self>, StartError> {
        let store = Store::open(path, options.durability)?;
        let (log, file) = (store.log().clone(), store.snapshot());
        options.clock = never_back(options.clock, log.last_time_ms()?);
        let mut world = from_snapshot(&file, log.as_ref());
        let last = world.applied();
        world.catch_up(log.as_ref(), progress)?;
        let shelf = Arc::new(Shelf::new(&world));
        let (batches, inbox) = mpsc::channel();
        let clock = options.clock.clone();
        let journal = store.start(move || clock(), move |batch| drop(batches.send(batch)))?;
        let (published, applied) = watch::channel(world.applied());
        let (calls, called) = mpsc::channel();
        let keeper = Keeper { file, every: options.snapshot_every, last, writing: None };
        let shared = (shelf.clone(), log as Arc<dyn Log>, options.clock.clone());
        let folder = Folder::new(world, shared, published, calls.clone(), keeper);
        let engine = Arc::new(Self {
            journal,
            shelf,
            options,
            applied,
            registry: Mutex::new(()),
            calls: Mutex::new(Some(calls)),
            threads: Mutex::new(Vec::new()),
        });
        let reviewer = Reviewer::new(&engine);
        let folding = std::thread::Builder::new().name("folder".to_owned()).spawn(move || folder.run(&inbox));
        let reviewing = std::thread::Builder::new().name("reviewer".to_owned()).spawn(move || reviewer.run(&called));
        for thread in [folding, reviewing] {
            engine.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread.map_err(StartError::Thread)?);
        }
        Ok(engine)
    }

    /// The policy of a name.
    pub fn policy(&self, name: &str) -> Option<Arc<Slot>> {
        self.shelf.policies.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All policies, in the order of their names.
    pub fn policies(&self) -> Vec<Arc<Slot>> {
        let policies = self.shelf.policies.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Slot>> = policies.values().cloned().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// All tokens.
    pub fn tokens(&self) -> Arc<Tokens> {
        self.shelf.tokens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The log.
    pub fn log(&self) -> &Arc<dyn Log> {
        self.journal.log()
    }

    /// The time, never before the last event's.
    pub fn now_ms(&self) -> u64 {
        (self.options.clock)()
    }

    /// Whether an answer waits for the disk.
    pub fn durability(&self) -> Durability {
        self.options.durability
    }

    /// The last event that is on disk.
    pub fn committed(&self) -> u64 {
        self.journal.committed()
    }

    /// Tells of the last event that was taken in.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.applied.clone()
    }

    /// What went wrong with what is known, if anything did: then the log and the memory disagree, and nothing is answered.
    pub fn fault(&self) -> Option<String> {
        self.shelf.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Appends one event, and waits until it is on disk and taken in.
    fn record(&self, actor: &str, subject: Subject, event: Event) -> Result<u64, ChangeError> {
        let push = |turn: &mut Turn<'_, Happened>| turn.push(draft(actor, subject, &event, None), Happened::of(event));
        self.carry_out(push)
    }

    /// Appends what `make` pushes, and waits until the event whose number it gives, the last, is on disk and taken in.
    fn carry_out(&self, make: impl FnOnce(&mut Turn<'_, Happened>) -> u64) -> Result<u64, ChangeError> {
        let (last, receipt) = self.journal.append(make);
        receipt.wait_blocking().map_err(|error| {
            // It may be on disk all the same, and is then taken in like any other: whoever asks again must find it.
            drop(self.wait_applied(self.journal.committed()));
            ChangeError::Store(error)
        })?;
        self.wait_applied(last)?;
        Ok(last)
    }

    /// Waits until an event is taken in.
    fn wait_applied(&self, number: u64) -> Result<(), ChangeError> {
        while *self.applied.borrow() < number {
            if let Some(fault) = self.fault() {
                return Err(ChangeError::Fault(fault));
            }
            if self.applied.has_changed().is_err() && *self.applied.borrow() < number {
                // The folder is gone, and not because it found a fault.
                return Err(ChangeError::Fault(
                    "it is stored, but the service no longer takes in what happens".to_owned(),
                ));
            }
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        Ok(())
    }

    /// Commits what was asked for, writes a snapshot and ends all threads. What is asked for afterwards is refused.
    pub fn stop(&self) {
        self.journal.close();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).take();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // One that panicked has said so; the log holds everything that was acknowledged.
            drop(thread.join());
        }
    }
}

impl Shelf {
    fn new(world: &World) -> Self {
        let shelf = Self {
            policies: RwLock::default(),
            tokens: RwLock::new(Arc::new(world.tokens().clone())),
            fault: Mutex::new(None),
        };
        for (id, live) in world.policies() {
            shelf.place(Arc::new(Slot::new(id, live.clone(), world.applied())));
        }
        shelf
    }

    fn place(&self, slot: Arc<Slot>) {
        let mut policies = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        policies.insert(slot.name.clone(), slot);
    }

    fn set_fault(&self, fault: String) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

impl Happened {
    fn of(event: Event) -> Self {
        Self { event, about: None }
    }
}

/// An event as the store takes it.
/// A clock that is never before what it said, nor before `last_ms`. What is planned by the time (when a proposal expires) is held
/// against the times of events, which do not run back either.
fn never_back(clock: Clock, last_ms: u64) -> Clock {
    let last = AtomicU64::new(last_ms);
    Arc::new(move || {
        let now = clock();
        last.fetch_max(now, Ordering::Relaxed).max(now)
    })
}

fn draft(actor: &str, subject: Subject, event: &Event, mark: Option<Mark>) -> Draft {
    Draft { actor: actor.to_owned(), subject, kind: event.kind(), body: event.body(), mark }
}

/// The world of the last snapshot, if that is of this version and of this log; else an empty one.
fn from_snapshot(file: &SnapshotFile, log: &dyn Log) -> World {
    let Ok(Some(snapshot)) = file.read(SNAPSHOT_FORMAT, log) else { return World::default() };
    let frozen = serde_json::from_slice::<Frozen>(&snapshot.body).ok();
    let world = frozen.and_then(|frozen| World::restore(frozen).ok());
    world.filter(|world| world.applied() == snapshot.number).unwrap_or_default()
}
