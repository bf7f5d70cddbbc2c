//! The thread that takes the lease when it is free, and does the work while it has it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rarely_live::Engine;
use rarely_live::engine::{EngineOptions, StartError};
use rarely_live::event::EventError;
use rarely_live::replay::ReplayError;
use rarely_store::{Lease, PostgresStore, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::LogOwner;
use crate::app::{App, ServiceSettings};
use crate::connections::Door;
use crate::notifications::NotificationOptions;
use crate::openid::OpenIdProvider;
use crate::serve::{Ready, ServeError, notify, upkeep};

/// How often an owner checks whether it still is one.
const TICK: Duration = Duration::from_millis(20);

pub(super) struct Ownership {
    pub(super) store: PostgresStore,
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

impl Ownership {
    /// Runs until the service stops, or this replica cannot do the work for a reason that does not pass.
    pub(super) fn run(
        self,
        mut progress: impl FnMut(u64),
        mut ready: impl FnMut(&Ready<'_>) -> Result<(), String>,
    ) -> Result<(), ServeError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| ServeError::Server(std::io::Error::other(error.to_string())))?;
        let id = format!("{:032x}", u128::from_be_bytes(id));
        // Why this program cannot own this log, as far as it was said. It goes on to pass requests on.
        let mut told = String::new();
        let mut unreadable: Option<String> = None;
        while !self.is_stopping() {
            match self.store.lease(self.term) {
                Ok(status) if status.expired => match self.take(&id, unreadable.as_deref()) {
                    Ok(Some(lease)) => {
                        unreadable = self.own(lease, &mut progress, &mut ready)?;
                        continue;
                    }
                    // Another replica was quicker; the next round sees it.
                    Ok(None) => {}
                    Err(NotTaken::Passes(reason)) => self.nobody(reason),
                    Err(NotTaken::Unfit(reason)) => {
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
            std::thread::sleep((self.term / 10).clamp(Duration::from_millis(50), Duration::from_secs(1)));
        }
        Ok(())
    }

    /// Takes the lease, unless this program cannot read the log.
    fn take(&self, id: &str, unreadable: Option<&str>) -> Result<Option<Lease>, NotTaken> {
        if let Some(reason) = unreadable {
            return Err(NotTaken::Unfit(reason.to_owned()));
        }
        self.store.acquire(id, &self.advertised, self.term).map_err(|error| match error {
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
        if let Err(error) = engine.service_started(self.settings.version) {
            engine.stop();
            lease.release();
            self.failed(&error);
            return Ok(None);
        }
        // From now on a replica with another key is refused.
        engine.sign_checkpoint();
        let app = App::new(engine, self.settings.clone()).behind(self.door.clone());
        let app = Arc::new(app.with_shared_openid(self.provider.clone()));
        let lease = Arc::new(lease);
        let router = crate::router(app.clone());
        self.publish.send_replace(Arc::new(LogOwner::Own { router, app: app.clone(), lease: lease.clone() }));
        tracing::info!(epoch = lease.epoch(), "this replica owns the store");
        let upkeep = self.runtime.spawn(upkeep(app.clone()));
        let notifying = notify(&app, self.notifications.as_ref());
        while lease.is_valid() && !self.is_stopping() && app.engine.fault().is_none() {
            std::thread::sleep(TICK);
        }
        upkeep.abort();
        let stopping = self.is_stopping() && lease.is_valid();
        self.nobody(
            if stopping { "the service is stopping" } else { "this replica has given its lease up" }.to_owned(),
        );
        app.close();
        if !stopping {
            let why = match app.engine.fault() {
                Some(fault) => fault.to_string(),
                None => "it was not renewed in time, or another replica has it".to_owned(),
            };
            tracing::warn!("this replica has given up the lease of the store (epoch {}): {why}", lease.epoch());
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
