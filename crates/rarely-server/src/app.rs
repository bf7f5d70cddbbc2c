//! The state that every request shares, and who may do what.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use rarely_live::engine::PolicyHandle;
use rarely_live::{Engine, Role, TokenGrant};
use tokio::sync::{Semaphore, watch};

use crate::limits::{IN_FLIGHT, SIMULATIONS, STREAMS};
use crate::login_throttle::LoginThrottle;
use crate::metrics::Metrics;
use crate::problem::ProblemDetails;

/// How the service runs.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// Whether clients connect by TLS. Cookies are then sent over TLS only.
    pub secure: bool,
    /// The version of the program.
    pub version: &'static str,
}

/// The state that every request shares.
pub struct App {
    /// The policies.
    pub engine: Arc<Engine>,
    /// How the service runs.
    pub settings: ServiceSettings,
    login_throttle: LoginThrottle,
    pub(crate) metrics: Metrics,
    /// The OpenAPI document, serialized.
    pub(crate) openapi: Vec<u8>,
    in_flight: AtomicUsize,
    /// Permits for event streams.
    pub(crate) streams: Arc<Semaphore>,
    /// Permits for simulations, so that readers cannot occupy every thread.
    pub(crate) simulations: Semaphore,
    closing: watch::Sender<bool>,
}

/// A permit for one request; dropping it returns the permit.
pub(crate) struct InFlight<'a>(&'a AtomicUsize);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl App {
    /// The state for a running engine.
    pub fn new(engine: Arc<Engine>, settings: ServiceSettings) -> Self {
        let openapi = serde_json::to_vec(&crate::openapi::document(settings.version)).unwrap_or_default();
        Self {
            engine,
            settings,
            login_throttle: LoginThrottle::default(),
            metrics: Metrics::new(),
            openapi,
            in_flight: AtomicUsize::new(0),
            streams: Arc::new(Semaphore::new(STREAMS)),
            simulations: Semaphore::new(SIMULATIONS),
            closing: watch::Sender::new(false),
        }
    }

    /// A permit for a request, unless too many are in flight.
    pub(crate) fn enter(&self) -> Option<InFlight<'_>> {
        let before = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let permit = InFlight(&self.in_flight);
        (before < IN_FLIGHT).then_some(permit)
    }

    /// Ends every event stream, because the service is shutting down.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether the service is shutting down.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Checks a token and returns what it grants. Failed attempts are logged, and too many from one address are throttled.
    ///
    /// # Errors
    /// 401 if the token is not valid, 429 after too many failed attempts.
    pub fn authenticate(&self, token: &str, address: IpAddr) -> Result<TokenGrant, ProblemDetails> {
        let now_ms = self.engine.now_ms();
        if let Some(seconds) = self.login_throttle.wait_seconds(address, now_ms) {
            return Err(ProblemDetails::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many invalid tokens were sent from this address",
            )
            .with_remedy(format!("wait {seconds} seconds, then use a valid token"))
            .with_retry_after(seconds));
        }
        match self.engine.tokens().check(token, now_ms) {
            Ok(grant) => Ok(grant.clone()),
            Err(error) => {
                self.login_throttle.record_failure(address, now_ms);
                let (engine, problem) = (self.engine.clone(), error.to_string());
                // The response does not wait for the disk: guessing tokens must not tie up requests.
                tokio::task::spawn_blocking(move || engine.sign_in_failed(address.to_string(), problem));
                Err(error.into())
            }
        }
    }

    /// Checks that a token has a role on a policy, or, if `policy` is `None`, on all policies.
    ///
    /// # Errors
    /// 403 names the role that is required.
    pub fn authorize(&self, grant: &TokenGrant, role: Role, policy: Option<&str>) -> Result<(), ProblemDetails> {
        if grant.allows(role, policy) {
            return Ok(());
        }
        let scope = policy.map_or_else(|| "all policies".to_owned(), |policy| format!("the policy {policy:?}"));
        Err(forbidden(format!("this requires the role `{role}` on {scope}")))
    }

    /// The policy of a name, for a token that has a role on it. A token for other policies does not learn whether it exists.
    ///
    /// # Errors
    /// 403 if the token lacks the role, 404 if there is no such policy.
    pub(crate) fn policy(
        &self,
        grant: &TokenGrant,
        role: Role,
        name: &str,
    ) -> Result<Arc<PolicyHandle>, ProblemDetails> {
        self.authorize(grant, role, Some(name))?;
        self.engine.policy(name).ok_or_else(|| {
            if grant.policies.is_some() {
                return forbidden(format!("this token has no access to the policy {name:?}"));
            }
            ProblemDetails::new(StatusCode::NOT_FOUND, format!("policy {name:?} not found"))
                .with_remedy("check the name in the list of policies, or register the policy")
        })
    }
}

/// 403.
pub(crate) fn forbidden(detail: String) -> ProblemDetails {
    ProblemDetails::new(StatusCode::FORBIDDEN, detail)
        .with_remedy("use another token, or ask the administrator of the service for one")
}
