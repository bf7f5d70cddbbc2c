//! Runs live policies over a store: requests in, responses out, each on disk before it is sent.
//!
//! Five threads work besides the callers' threads. The store's *writer* commits events, many at a time. The *applier* applies
//! committed events and publishes new deciders. The *reviewer* reviews rules when they are due. The *snapshot writer* writes
//! snapshots. The *notary* signs checkpoints. A decision is drawn under the lock that assigns numbers, from a published decider, so that it waits neither
//! for the applier nor for the reviewer.

mod applier;
mod archiving;
mod beside;
mod block_on;
mod checkpointing;
mod clock;
mod control;
mod deciding;
mod erasing;
mod error;
mod following;
mod noting;
mod observing;
mod policy_handle;
mod reviewing;
mod subjects;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use rarely_review::{EvidenceBase, Review};
use rarely_store::{
    CommitStatistics, EntryDraft, EventLog, LogWriter, LookupKey, Notary, PolicyRef, Receipt, SnapshotFault,
    SnapshotFile, Store, StoreError, SubjectTag, Turn,
};
use tokio::sync::watch;

use crate::engine_state::{EngineSnapshot, EngineState};
use crate::event::{AboutPerson, Drawing, Event};
use crate::live_policy::DecisionRef;
use crate::person_key::PersonKeys;
use crate::replay::ReplayError;
use crate::token::Tokens;
use applier::{Applier, SnapshotSeal, SnapshotWriter};
use block_on::block_on;
use checkpointing::NotaryClerk;
use clock::SteadyClock;
use reviewing::Reviewer;
use subjects::{OpenSubject, Subjects};

pub use crate::event::ArchiveFile;
pub use archiving::{Archival, DueArchive};
pub use checkpointing::{CHECKPOINT_EVERY, CheckpointOptions, PublishCheckpoint};
pub use clock::Clock;
pub use deciding::{DecisionError, DecisionRequest, DecisionResponse};
pub use erasing::{ErasedStatistics, Erasure};
pub use error::{ChangeError, EngineFault, StartError};
pub use following::has_followed;
pub use observing::{NewOutcome, OutcomeError, RecordedOutcome};
pub use policy_handle::PolicyHandle;
pub use rarely_store::Durability;
pub use reviewing::RecordedReview;

/// The snapshot format of this version.
pub const SNAPSHOT_FORMAT: &str = "rarely world 4";
/// The default number of events between two snapshots.
pub const SNAPSHOT_EVERY: u64 = 100_000;

/// Draws the pictures of a proposal.
pub type DrawProposal = Arc<dyn Fn(&EvidenceBase<'_>, &Review) -> Vec<Drawing> + Send + Sync>;

/// The options of an engine.
#[derive(Clone)]
pub struct EngineOptions {
    /// Which failures an acknowledged event survives.
    pub durability: Durability,
    /// The clock.
    pub clock: Clock,
    /// Draws the pictures of proposals.
    pub draw: DrawProposal,
    /// Events between two snapshots.
    pub snapshot_every: u64,
    /// How checkpoints of the log are signed; `None` if they are not.
    pub checkpoints: Option<CheckpointOptions>,
}

/// Runs live policies over a store.
pub struct Engine {
    store_id: String,
    writer: LogWriter<PendingEvent>,
    notary: Option<Arc<Notary>>,
    published: Arc<Published>,
    options: EngineOptions,
    clock: SteadyClock,
    applied: watch::Receiver<u64>,
    /// Held while a policy is registered, a token or a key is created or revoked, or a signature is checked and recorded.
    registry: Mutex<()>,
    /// The people that requests are about.
    subjects: Subjects,
    /// Held by whoever appends events, together with others; an erasure holds it alone.
    appending: RwLock<()>,
    /// How often records were archived since the start.
    archivings: AtomicU64,
    /// Tells the reviewer which policies are due.
    calls: Mutex<Option<Sender<u64>>>,
    /// Dropping it ends the notary's thread.
    running: Mutex<Option<Sender<()>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What the applier publishes to all callers.
pub(crate) struct Published {
    policies: RwLock<HashMap<String, Arc<PolicyHandle>>>,
    tokens: RwLock<Arc<Tokens>>,
    people: RwLock<Arc<PersonKeys>>,
    notified: RwLock<Arc<BTreeMap<String, u64>>>,
    erased: RwLock<Arc<BTreeMap<SubjectTag, u64>>>,
    followed: RwLock<u64>,
    /// Events since the start about which somebody outside may want to be told, in order. They are few.
    notable: RwLock<Vec<u64>>,
    fault: Mutex<Option<EngineFault>>,
}

/// An event that is not yet on disk, with the decision that it refers to.
#[derive(Debug)]
pub struct PendingEvent {
    event: Event,
    about: Option<Arc<DecisionRef>>,
    /// The person with whose key its content is encrypted.
    person: Option<Arc<OpenSubject>>,
}

impl Engine {
    /// Opens or creates a store and replays its log. `progress` gets the number of each replayed event.
    ///
    /// # Errors
    /// [`StartError`] if the store is in use or damaged, or its log cannot be replayed.
    pub fn start(path: &Path, options: EngineOptions, progress: impl FnMut(u64)) -> Result<Arc<Self>, StartError> {
        Self::start_on(Store::open(path, options.durability)?, options, progress)
    }

    /// As [`start`](Self::start), on a store that is open.
    ///
    /// # Errors
    /// [`StartError`] if its log cannot be replayed.
    pub fn start_on(
        mut store: Store,
        options: EngineOptions,
        progress: impl FnMut(u64),
    ) -> Result<Arc<Self>, StartError> {
        let (log, file, store_id) = (store.log().clone(), store.snapshot(), store.id().to_owned());
        let steady = SteadyClock::after(log.last_time_ms()?, options.clock.clone());
        let signing = options.checkpoints.clone();
        let mut notary = signing.as_ref().map(|signing| checkpointing::open(&mut store, signing)).transpose()?;
        let seal = match &notary {
            Some(notary) => SnapshotSeal::Signed(notary.clone()),
            None if checkpointing::is_signed(&store)? => SnapshotSeal::NoKey,
            None => SnapshotSeal::None,
        };
        let mut state = from_snapshot(&file, log.as_ref(), &seal)?;
        let last = state.applied();
        state.catch_up(log.as_ref(), progress)?;
        let complete = state.check_keys_of_people();
        complete.map_err(|source| ReplayError::Inconsistent { number: state.applied(), source })?;
        let last = if state.erased_since(last) {
            // It still has people who were erased after it was written.
            file.remove()?;
            0
        } else {
            last
        };
        if let (Some(signing), Some(opened)) = (&signing, notary.take()) {
            notary = Some(checkpointing::settle(&mut store, signing, opened, &state)?);
        }
        let seal = notary.clone().map_or(seal, SnapshotSeal::Signed);
        let published = Arc::new(Published::new(&state));
        let (batches, inbox) = mpsc::channel();
        let clock = steady.clone();
        let writer = store.start(move || clock.stamp(), move |batch| drop(batches.send(batch)))?;
        let (publish, applied) = watch::channel(state.applied());
        let (calls, called) = mpsc::channel();
        let snapshots = SnapshotWriter { file, every: options.snapshot_every, last, seal, writing: None };
        let shared = (published.clone(), log, steady.clone());
        let applier = Applier::new(state, shared, publish, calls.clone(), snapshots);
        let (running, stopped) = mpsc::channel();
        let engine = Arc::new(Self {
            store_id,
            writer,
            notary,
            published,
            options,
            clock: steady,
            applied,
            registry: Mutex::new(()),
            subjects: Subjects::default(),
            appending: RwLock::default(),
            archivings: AtomicU64::new(0),
            calls: Mutex::new(Some(calls)),
            running: Mutex::new(Some(running)),
            threads: Mutex::new(Vec::new()),
        });
        engine.spawn("applier", move || applier.run(&inbox))?;
        let reviewer = Reviewer::new(&engine);
        engine.spawn("reviewer", move || reviewer.run(&called))?;
        if let (Some(notary), Some(signing)) = (engine.notary.clone(), signing) {
            let clerk = NotaryClerk::new(&engine, notary, signing);
            engine.spawn("notary", move || clerk.run(&stopped))?;
        }
        Ok(engine)
    }

    fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StartError> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(StartError::Thread)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// The policy with this name.
    pub fn policy(&self, name: &str) -> Option<Arc<PolicyHandle>> {
        self.published.policies.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All policies, ordered by name.
    pub fn policies(&self) -> Vec<Arc<PolicyHandle>> {
        let policies = self.published.policies.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<PolicyHandle>> = policies.values().cloned().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// All tokens.
    pub fn tokens(&self) -> Arc<Tokens> {
        self.published.tokens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The keys of all people.
    pub fn people(&self) -> Arc<PersonKeys> {
        self.published.people.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last event about which a channel need not be told any more; `None` if it was never told anything.
    pub fn notified(&self, channel: &str) -> Option<u64> {
        self.published.notified.read().unwrap_or_else(PoisonError::into_inner).get(channel).copied()
    }

    /// When the person that an event is about was erased; `None` if the person was not.
    pub fn erased_ms(&self, about: Option<AboutPerson>) -> Option<u64> {
        let erased = self.published.erased.read().unwrap_or_else(PoisonError::into_inner);
        about.and_then(|about| erased.get(&about.tag).copied())
    }

    /// Events after a number, since the start, about which somebody outside may want to be told: proposals, their expiry, and stops.
    pub fn notable_after(&self, number: u64) -> Vec<u64> {
        let notable = self.published.notable.read().unwrap_or_else(PoisonError::into_inner);
        notable[notable.partition_point(|known| *known <= number)..].to_vec()
    }

    /// The store's id, which its copies have too.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// The log.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        self.writer.log()
    }

    /// The time, never before the last event's time.
    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Which failures an acknowledged event survives.
    pub fn durability(&self) -> Durability {
        self.options.durability
    }

    /// Whether events can be written. After a failed write this tries a write of its own.
    ///
    /// # Errors
    /// Why the disk cannot be written to.
    pub fn check_writable(&self) -> Result<(), Arc<StoreError>> {
        self.writer.check_writable()
    }

    /// What is counted about commits to the store.
    pub fn commit_statistics(&self) -> &CommitStatistics {
        self.writer.statistics()
    }

    /// How many events wait for the next commit.
    pub fn queue_depth(&self) -> usize {
        self.writer.queue_depth()
    }

    /// The last event that is on disk.
    pub fn committed(&self) -> u64 {
        self.writer.committed()
    }

    /// Watches the number of the last applied event.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.applied.clone()
    }

    /// The fault after which the engine no longer works, if there is one. Requests must then be refused.
    pub fn fault(&self) -> Option<EngineFault> {
        self.published.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Appends one event, and waits until it is on disk and applied.
    fn record(&self, actor: &str, policy: PolicyRef, event: Event) -> Result<u64, ChangeError> {
        let push = |turn: &mut Turn<'_, PendingEvent>| {
            turn.push_deferred(draft(actor, policy, &event, None), PendingEvent::of(event))
        };
        self.append_and_apply(push)
    }

    /// Appends what `make` pushes, and waits until the event whose number it returns, the last one, is on disk and applied.
    fn append_and_apply(&self, make: impl FnOnce(&mut Turn<'_, PendingEvent>) -> u64) -> Result<u64, ChangeError> {
        let (last, receipt) = self.append(make);
        receipt.wait_blocking().map_err(|error| {
            // The event may be on disk nevertheless, and is then applied. A repeated request must find it.
            drop(self.wait_applied(self.writer.committed()));
            ChangeError::Store(error)
        })?;
        self.wait_applied(last)?;
        Ok(last)
    }

    /// Appends what `make` pushes, unless a person is erased at this moment.
    fn append<R>(&self, make: impl FnOnce(&mut Turn<'_, PendingEvent>) -> R) -> (R, Receipt) {
        let _beside_others = self.appending.read().unwrap_or_else(PoisonError::into_inner);
        self.writer.append(make)
    }

    /// Waits until an event is applied.
    fn wait_applied(&self, number: u64) -> Result<(), ChangeError> {
        let mut applied = self.applied.clone();
        if block_on(applied.wait_for(|applied| *applied >= number)).is_ok() {
            return Ok(());
        }
        // The applier has ended, by a fault or by panic.
        Err(self.fault().unwrap_or(EngineFault::ApplierEnded).into())
    }

    /// Commits pending events, writes a snapshot, signs a last checkpoint and ends all threads. Later requests are refused.
    pub fn stop(&self) {
        self.writer.close();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).take();
        let first = self.running.lock().unwrap_or_else(PoisonError::into_inner).take().is_some();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // If a thread panicked, the log still has everything that was acknowledged.
            drop(thread.join());
        }
        if first {
            self.sign_checkpoint();
        }
    }
}

impl Published {
    fn new(state: &EngineState) -> Self {
        let published = Self {
            policies: RwLock::default(),
            tokens: RwLock::new(Arc::new(state.tokens().clone())),
            people: RwLock::new(Arc::new(state.people().clone())),
            notified: RwLock::new(Arc::new(state.notified().clone())),
            erased: RwLock::new(Arc::new(state.erased().clone())),
            followed: RwLock::new(state.followed()),
            notable: RwLock::default(),
            fault: Mutex::new(None),
        };
        for (id, live) in state.policies() {
            published.place(Arc::new(PolicyHandle::new(id, live.clone(), state.applied())));
        }
        published
    }

    fn place(&self, handle: Arc<PolicyHandle>) {
        let mut policies = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        policies.insert(handle.name.clone(), handle);
    }

    fn set_fault(&self, fault: EngineFault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

impl PendingEvent {
    fn of(event: Event) -> Self {
        Self { event, about: None, person: None }
    }

    /// Whether it removes something from the log: what follows is then read from there.
    fn erases(&self) -> bool {
        matches!(self.event, Event::PersonErased(_) | Event::Archived(_))
    }

    fn body(&self) -> String {
        match &self.person {
            Some(person) => self.event.sealed_body(&person.subject.key),
            None => self.event.body(),
        }
    }
}

/// The log entry of an event. Its body is serialised later, outside the lock that assigns numbers.
fn draft(
    actor: &str,
    policy: PolicyRef,
    event: &Event,
    key: Option<LookupKey>,
) -> EntryDraft<fn(&PendingEvent) -> String> {
    EntryDraft { actor: actor.to_owned(), policy, kind: event.kind(), body: PendingEvent::body, key }
}

/// The state of the last snapshot if it has this version's format and belongs to this log; otherwise an empty state. In a log
/// that somebody signs, the snapshot must be signed too.
fn from_snapshot(file: &SnapshotFile, log: &dyn EventLog, seal: &SnapshotSeal) -> Result<EngineState, StartError> {
    let read = match seal {
        SnapshotSeal::None => file.read(SNAPSHOT_FORMAT, log),
        SnapshotSeal::NoKey => return Ok(EngineState::default()),
        SnapshotSeal::Signed(notary) => {
            let key = notary.key().clone();
            file.read_signed(SNAPSHOT_FORMAT, log, &[key], |number| notary.root(number))
        }
    };
    let snapshot = match read {
        Ok(Some(snapshot)) => snapshot,
        Err(forged @ SnapshotFault::Forged { .. }) => return Err(StartError::Snapshot(forged)),
        Err(SnapshotFault::Unsigned { .. }) => {
            // Of an older version. It is of no use any more, and must not look like a forged one.
            file.remove()?;
            return Ok(EngineState::default());
        }
        _ => return Ok(EngineState::default()),
    };
    let body = serde_json::from_slice::<EngineSnapshot>(&snapshot.body).ok();
    let state = body.and_then(|body| EngineState::restore(body).ok());
    Ok(state.filter(|state| state.applied() == snapshot.number).unwrap_or_default())
}
