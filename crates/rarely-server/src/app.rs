//! What every request has at hand.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use rarely_live::{Engine, Role, TokenGrant};
use tokio::sync::{Semaphore, watch};

use crate::failures::Failures;
use crate::limits::{IN_FLIGHT, SIMULATIONS, STREAMS};
use crate::measure::Measures;
use crate::problem::Problem;

/// How the service is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether it is reached by TLS: cookies are then sent by TLS only.
    pub secure: bool,
    /// The version of the program.
    pub version: &'static str,
}

/// What every request has at hand.
pub struct App {
    /// The policies.
    pub engine: Arc<Engine>,
    /// How the service is run.
    pub settings: Settings,
    failures: Failures,
    pub(crate) measures: Measures,
    /// The document that describes the API, as it is sent.
    pub(crate) openapi: Vec<u8>,
    in_flight: AtomicUsize,
    /// Streams of events that are still to be given.
    pub(crate) streams: Arc<Semaphore>,
    /// Simulations that may run at a time, so that readers cannot keep every thread busy.
    pub(crate) simulations: Semaphore,
    closing: watch::Sender<bool>,
}

/// A request that is being worked on.
pub(crate) struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl App {
    /// For an engine that runs.
    pub fn new(engine: Arc<Engine>, settings: Settings) -> Self {
        let openapi = serde_json::to_vec(&crate::openapi::document(settings.version)).unwrap_or_default();
        Self {
            engine,
            settings,
            failures: Failures::default(),
            measures: Measures::new(),
            openapi,
            in_flight: AtomicUsize::new(0),
            streams: Arc::new(Semaphore::new(STREAMS)),
            simulations: Semaphore::new(SIMULATIONS),
            closing: watch::Sender::new(false),
        }
    }

    /// A place for a request, if there is one.
    pub(crate) fn enter(&self) -> Option<Place<'_>> {
        let before = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let place = Place(&self.in_flight);
        (before < IN_FLIGHT).then_some(place)
    }

    /// Ends every stream: the service stops.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether the service stops.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Whose token this is. Who shows too many wrong ones is asked to wait, and each wrong one is written down.
    ///
    /// # Errors
    /// 401 if it lets nobody in, 429 if there were too many wrong ones from there.
    pub fn admit(&self, token: &str, address: IpAddr) -> Result<TokenGrant, Problem> {
        let now_ms = self.engine.now_ms();
        if let Some(seconds) = self.failures.wait(address, now_ms) {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many wrong tokens were shown from this address",
            )
            .remedy(format!("wait {seconds} seconds, then use a right one"))
            .retry_after(seconds));
        }
        match self.engine.tokens().check(token, now_ms) {
            Ok(grant) => Ok(grant.clone()),
            Err(denied) => {
                self.failures.note(address, now_ms);
                let (engine, problem) = (self.engine.clone(), denied.to_string());
                // Written down beside the answer: whoever guesses tokens need not be kept waiting for the disk.
                tokio::task::spawn_blocking(move || engine.sign_in_failed(address.to_string(), problem));
                Err(Problem::new(StatusCode::UNAUTHORIZED, denied.to_string()))
            }
        }
    }

    /// Whether a grant is for a role on a policy, or, without one, on everything.
    ///
    /// # Errors
    /// 403 says which role is missing.
    pub fn require(&self, grant: &TokenGrant, role: Role, policy: Option<&str>) -> Result<(), Problem> {
        if grant.allows(role, policy) {
            return Ok(());
        }
        let whom = policy.map_or_else(String::new, |policy| format!(" on the policy {policy:?}"));
        Err(Problem::new(StatusCode::FORBIDDEN, format!("this token has not the role {role}{whom}"))
            .remedy("use another token, or ask the service's administrator for the role"))
    }
}
