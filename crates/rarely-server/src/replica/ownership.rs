//! The threads that take the leases of chains when they are free, and do the work while they have them: one for each chain.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rarely_live::Engine;
use rarely_live::engine::{EngineOptions, StartError};
use rarely_live::event::{CoveredChain, EventError};
use rarely_live::replay::ReplayError;
use rarely_store::{Lease, PostgresStore, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::LogOwner;
use super::balance::Balance;
use super::chains::{Chains, SERVICE};
use super::links::Links;
use crate::app::{App, ServiceSettings};
use crate::connections::Door;
use crate::notifications::NotificationOptions;
use crate::openid::OpenIdProvider;
use crate::serve::{Ready, ServeError, notify, upkeep};

/// How often an owner checks whether it still is one.
const TICK: Duration = Duration::from_millis(20);
/// How often a chain looks whether the service did something, if a term is not shorter than ten of these. It is also told.
const FOLLOW: Duration = Duration::from_millis(500);
/// The service's own chain covers the others once in so many terms.
const TERMS_PER_COVER: u32 = 6;

/// What a replica needs to own a chain.
pub(super) struct Ownership {
    /// The chain.
    pub(super) store: PostgresStore,
    pub(super) links: Arc<Links>,
    pub(super) balance: Arc<Balance>,
    /// How many chains are wanted beside the service's own.
    pub(super) chains: u64,
    pub(super) advertised: String,
    pub(super) term: Duration,
    pub(super) engine: EngineOptions,
    pub(super) settings: ServiceSettings,
    pub(super) door: Arc<Door>,
    pub(super) notifications: Option<NotificationOptions>,
    pub(super) provider: Option<Arc<OpenIdProvider>>,
    pub(super) address: SocketAddr,
    pub(super) publish: watch::Sender<Arc<LogOwner>>,
    pub(super) stopping: Arc<AtomicBool>,
    pub(super) runtime: Handle,
}

/// The threads of all chains of a replica.
pub(super) struct OwnershipThreads {
    threads: Vec<JoinHandle<Result<(), ServeError>>>,
}

impl OwnershipThreads {
    /// Runs until the service stops, or a chain cannot be owned for a reason that does not pass.
    pub(super) fn run(
        service: Ownership,
        progress: impl FnMut(u64) + Send + 'static,
        ready: impl FnMut(&Ready<'_>) -> Result<(), String> + Send + 'static,
    ) -> Result<(), ServeError> {
        let plan = service.like(SERVICE);
        let mut threads = Self { threads: Vec::new() };
        threads.spawn(service, progress, ready)?;
        let mut failed = None;
        while !plan.is_stopping() && failed.is_none() {
            threads.look_around(&plan)?;
            std::thread::sleep((plan.term / 5).min(Duration::from_secs(1)));
            failed = threads.threads.iter().position(JoinHandle::is_finished);
        }
        plan.stopping.store(true, Ordering::SeqCst);
        // If it cannot be taken away, it expires.
        drop(plan.store.withdraw(&plan.balance.id));
        let ended = threads.threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(ServeError::Server(std::io::Error::other("a thread panicked"))))
        });
        ended.collect::<Vec<_>>().into_iter().collect()
    }

    fn spawn(
        &mut self,
        ownership: Ownership,
        progress: impl FnMut(u64) + Send + 'static,
        ready: impl FnMut(&Ready<'_>) -> Result<(), String> + Send + 'static,
    ) -> Result<(), ServeError> {
        let chain = ownership.store.number();
        ownership.links.add(chain, ownership.publish.subscribe());
        let thread = std::thread::Builder::new().name(format!("owner-{chain}"));
        self.threads.push(thread.spawn(move || ownership.run(progress, ready)).map_err(ServeError::Server)?);
        Ok(())
    }

    /// Says that this replica is alive, counts the chains of all replicas, and takes part in chains that are new.
    fn look_around(&mut self, plan: &Ownership) -> Result<(), ServeError> {
        let (store, balance) = (&plan.store, &plan.balance);
        let alive = if balance.is_fit() {
            // For half a term: a replica that has died must be forgotten before its chains are free, or others hand chains over to it.
            store.announce(&balance.id, &plan.advertised, plan.term / 2)
        } else {
            store.withdraw(&balance.id).map(|()| Vec::new())
        };
        // If the database does not answer, or has the tables of an older version, everything stays as it is.
        let (Ok(alive), Ok(chains)) = (alive, store.chains(plan.term)) else { return Ok(()) };
        balance.count(&alive, &chains);
        for chain in chains.iter().filter(|chain| plan.links.owner(chain.number).is_none()) {
            self.spawn(plan.like(chain.number), |_| {}, |_| Ok(()))?;
        }
        Ok(())
    }
}

impl Ownership {
    /// The same for another chain.
    fn like(&self, chain: u64) -> Self {
        Self {
            store: self.store.chain(chain),
            links: self.links.clone(),
            balance: self.balance.clone(),
            chains: self.chains,
            advertised: self.advertised.clone(),
            term: self.term,
            engine: self.engine.clone(),
            settings: self.settings.clone(),
            door: self.door.clone(),
            notifications: self.notifications.clone(),
            provider: self.provider.clone(),
            address: self.address,
            publish: watch::Sender::new(Arc::new(LogOwner::Nobody("this replica is starting".to_owned()))),
            stopping: self.stopping.clone(),
            runtime: self.runtime.clone(),
        }
    }

    /// Runs until the service stops, or this replica cannot do the work for a reason that does not pass.
    fn run(
        self,
        mut progress: impl FnMut(u64),
        mut ready: impl FnMut(&Ready<'_>) -> Result<(), String>,
    ) -> Result<(), ServeError> {
        // Why this program cannot own this log, as far as it was said. It goes on to pass requests on.
        let mut told = String::new();
        let mut unreadable: Option<String> = None;
        let mut free_since: Option<Instant> = None;
        let pause = (self.term / 10).clamp(Duration::from_millis(50), Duration::from_secs(1));
        while !self.is_stopping() {
            let status = self.store.lease(self.term);
            let is_free = status.as_ref().is_ok_and(|status| status.expired);
            free_since = free_since.filter(|_| is_free).or_else(|| is_free.then(Instant::now));
            match status {
                Ok(status)
                    if status.expired
                        && free_since.is_some_and(|since| since.elapsed() < self.balance.patience(pause)) =>
                {
                    self.nobody("a replica with fewer chains takes over".to_owned());
                }
                Ok(status) if status.expired => match self.take(unreadable.as_deref()) {
                    Ok(Some(lease)) => {
                        self.balance.took_one();
                        let owned = self.own(lease, &mut progress, &mut ready);
                        self.balance.lost_one();
                        unreadable = owned?;
                        self.balance.set_fit(unreadable.is_none());
                        free_since = None;
                        // Another replica may take what this one handed over.
                        std::thread::sleep(pause);
                        continue;
                    }
                    // Another replica was quicker; the next round sees it.
                    Ok(None) => {}
                    Err(NotTaken::Passes(reason)) => self.nobody(reason),
                    Err(NotTaken::Unfit(reason)) => {
                        self.balance.set_fit(false);
                        if told != reason {
                            tracing::warn!("this replica does not take the store over: {reason}");
                            told.clone_from(&reason);
                        }
                        self.nobody(reason);
                    }
                },
                Ok(status) if status.address.is_empty() => self.nobody("a command uses the store".to_owned()),
                Ok(status) => self.other(status.address),
                // The owner may still have its connection, so that requests are passed on as before.
                Err(_) if self.publish.borrow().other().is_some() => {}
                Err(error) => self.nobody(error.to_string()),
            }
            std::thread::sleep(pause);
        }
        Ok(())
    }

    /// Takes the lease, unless this program cannot read the log.
    fn take(&self, unreadable: Option<&str>) -> Result<Option<Lease>, NotTaken> {
        if let Some(reason) = unreadable {
            return Err(NotTaken::Unfit(reason.to_owned()));
        }
        self.store.acquire(&self.balance.id, &self.advertised, self.term).map_err(|error| match error {
            StoreError::NewerFormat { .. } | StoreError::NewerEvents { .. } => NotTaken::Unfit(unfit(&error)),
            error => NotTaken::Passes(format!("the lease cannot be taken: {error}")),
        })
    }

    /// Does the work while the lease is valid. Returns why the log cannot be read, if a newer program has written it.
    fn own(
        &self,
        lease: Lease,
        progress: &mut impl FnMut(u64),
        ready: &mut impl FnMut(&Ready<'_>) -> Result<(), String>,
    ) -> Result<Option<String>, ServeError> {
        self.nobody("this replica has taken over and reads the log".to_owned());
        let started = Store::open_postgres(&self.store, &lease)
            .map_err(StartError::from)
            .and_then(|store| Engine::start_on(store, self.engine.clone(), progress));
        let engine = match started {
            Ok(engine) => engine,
            Err(error) => {
                lease.release();
                return match &error {
                    StartError::Replay(ReplayError::Event { source: EventError::Kind(_), .. }) => {
                        Ok(Some(unfit(&error)))
                    }
                    error if passes(error) => {
                        self.failed(error);
                        Ok(None)
                    }
                    _ => Err(error.into()),
                };
            }
        };
        let told = Ready { address: self.address, engine: Some(&engine), secure: self.settings.secure };
        if let Err(refused) = ready(&told) {
            engine.stop();
            lease.release();
            return Err(ServeError::Refused(refused));
        }
        let lease = Arc::new(lease);
        let begun = engine.service_started(self.settings.version).map_err(Into::into);
        let chains = match begun.and_then(|_| self.join(&engine, &lease)) {
            Ok(chains) => chains,
            Err(error) => {
                engine.stop();
                lease.release();
                self.failed(error.as_ref());
                return Ok(None);
            }
        };
        // From now on a replica with another key is refused.
        engine.sign_checkpoint();
        let keeping = self.keep_together(&engine, &chains)?;
        let app = App::new(engine, self.settings.clone()).behind(self.door.clone());
        let app = Arc::new(app.with_shared_openid(self.provider.clone()).among(Some(chains.clone())));
        let router = crate::router(app.clone());
        self.publish.send_replace(Arc::new(LogOwner::Own { router, app: app.clone(), lease: lease.clone() }));
        tracing::info!(chain = self.store.number(), epoch = lease.epoch(), "this replica owns the store");
        let upkeep = self.runtime.spawn(upkeep(app.clone()));
        let notifying = notify(&app, self.notifications.as_ref());
        let mut handing_over = false;
        let fails = || app.engine.fault().is_some() || chains.is_behind();
        while lease.is_valid() && !self.is_stopping() && !fails() && !handing_over {
            std::thread::sleep(TICK);
            handing_over = self.balance.hands_one_over(self.term);
        }
        upkeep.abort();
        let stopping = (self.is_stopping() || handing_over) && lease.is_valid();
        self.nobody(match stopping {
            true if handing_over => "another replica takes these policies over".to_owned(),
            true => "the service is stopping".to_owned(),
            false => "this replica has given its lease up".to_owned(),
        });
        keeping.end();
        app.close();
        if !stopping {
            let why = match app.engine.fault() {
                Some(fault) => fault.to_string(),
                None if chains.is_behind() => "what the service did could not be copied in time".to_owned(),
                None => "it was not renewed in time, or another replica has it".to_owned(),
            };
            let chain = self.store.number();
            tracing::warn!(chain, "this replica has given up the lease of the store (epoch {}): {why}", lease.epoch());
            lease.release();
            // It may wait for the database, and the next owner is not to wait for it. Whatever it still writes is refused.
            std::thread::spawn(move || {
                drop(notifying);
                app.engine.stop();
            });
            return Ok(None);
        }
        drop(notifying);
        app.record_failed_sign_ins();
        // If it cannot be written, the next start shows that the stop is missing.
        drop(app.engine.service_stopped(self.settings.version));
        app.engine.stop();
        lease.release();
        Ok(None)
    }

    /// Makes the chain one of the service: what the service did holds in it, and the service knows where its policies are.
    fn join(&self, engine: &Engine, lease: &Arc<Lease>) -> Result<Arc<Chains>, Box<dyn std::error::Error>> {
        let chains = Chains::new(&self.store, lease.clone(), self.term, self.links.clone())?;
        chains.divide(self.chains, engine)?;
        chains.follow(engine)?;
        Ok(Arc::new(chains))
    }

    /// Goes on to follow the service; the service's own chain covers the others.
    fn keep_together(&self, engine: &Arc<Engine>, chains: &Arc<Chains>) -> Result<Regularly, ServeError> {
        let (engine, chains) = (engine.clone(), chains.clone());
        if chains.number() != SERVICE {
            return Regularly::start("follower", FOLLOW.min(self.term / 10), move || {
                if let Err(error) = chains.follow(&engine) {
                    tracing::warn!(chain = chains.number(), %error, "what the service did cannot be copied; it is tried again");
                }
            });
        }
        let mut covered = Vec::new();
        Regularly::start("cover", self.term * TERMS_PER_COVER, move || {
            let ends = chains.ends_beyond(&covered).unwrap_or_default();
            if !ends.is_empty() && engine.cover(ends.clone()).is_ok() {
                covered.retain(|known: &CoveredChain| ends.iter().all(|end| end.chain != known.chain));
                covered.extend(ends);
            }
        })
    }

    /// Says why this replica did not begin to work. It tries again.
    fn failed(&self, error: &dyn std::error::Error) {
        tracing::warn!("this replica took the store over and could not begin: {error}");
        self.nobody(error.to_string());
        std::thread::sleep(self.term / 10);
    }

    fn nobody(&self, reason: String) {
        self.publish.send_replace(Arc::new(LogOwner::Nobody(reason)));
    }

    fn other(&self, address: String) {
        if self.publish.borrow().other().is_none_or(|known| **known != *address) {
            self.publish.send_replace(Arc::new(LogOwner::Other(address.into())));
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

/// Why the lease was not taken.
enum NotTaken {
    /// Another attempt may succeed.
    Passes(String),
    /// Only a newer program can own this log.
    Unfit(String),
}

/// What a replica of an older version says.
fn unfit(error: &dyn std::fmt::Display) -> String {
    format!("{error}. This replica only passes requests on: replace it with the newer version")
}

/// Whether another attempt may succeed: the database was away or full, or another replica was quicker.
fn passes(error: &StartError) -> bool {
    let (StartError::Store(store) | StartError::Replay(ReplayError::Store(store))) = error else { return false };
    matches!(
        store,
        StoreError::Postgres { .. }
            | StoreError::DiskFull { .. }
            | StoreError::Fenced { .. }
            | StoreError::Unreplicated { .. }
            | StoreError::Closed
    )
}

/// A thread that does something again and again.
struct Regularly {
    thread: JoinHandle<()>,
    running: Sender<()>,
}

impl Regularly {
    fn start(name: &str, pause: Duration, mut work: impl FnMut() + Send + 'static) -> Result<Self, ServeError> {
        let (running, ended) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                work();
            }
        });
        Ok(Self { thread: thread.map_err(ServeError::Server)?, running })
    }

    /// Lets it end, without waiting for the database.
    fn end(self) {
        drop(self.running);
        drop(self.thread);
    }
}
