//! The state that every request shares, and who may do what.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use rarely_error::Topic;
use rarely_live::engine::PolicyHandle;
use rarely_live::{Engine, RelyingParty, Role, TokenGrant};
use rarely_store::SessionTable;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, watch};

use crate::base_path::BasePath;
use crate::connections::Door;
use crate::failed_sign_ins::FailedSignIns;
use crate::limits::{BATCHES, BODIES_KIB, IN_FLIGHT, SIMULATIONS, STREAMS};
use crate::login_throttle::LoginThrottle;
use crate::metrics::Metrics;
use crate::network_settings::SharedNetworkSettings;
use crate::notifications::NotificationCounts;
use crate::openid::OpenIdProvider;
use crate::problem::ProblemDetails;
use crate::replica::Chains;
use crate::traces::Traces;

/// How the service runs.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// Whether clients connect by TLS. Cookies are then sent over TLS only.
    pub secure: bool,
    /// The service as browsers know it; without it there are no passkeys.
    pub relying_party: Option<RelyingParty>,
    /// The version of the program.
    pub version: &'static str,
    /// The path below which browsers see the service, if no proxy says otherwise.
    pub base_path: Arc<BasePath>,
    /// Who is believed about where a request comes from, and which web sites may call the API.
    pub network: SharedNetworkSettings,
    /// The directory whose free space matters: that of the store.
    pub store_directory: Option<PathBuf>,
    /// Where spans of requests go, if they go anywhere.
    pub traces: Option<Arc<Traces>>,
    /// Where replicas share the sessions of the dashboard; without it they are in memory.
    pub sessions: Option<SessionTable>,
}

impl ServiceSettings {
    /// A service of this version on a site of its own, without TLS.
    pub fn plain(version: &'static str) -> Self {
        Self {
            secure: false,
            relying_party: None,
            version,
            base_path: Arc::default(),
            network: SharedNetworkSettings::default(),
            store_directory: None,
            traces: None,
            sessions: None,
        }
    }
}

/// The state that every request shares.
pub struct App {
    /// The policies.
    pub engine: Arc<Engine>,
    /// How the service runs.
    pub settings: ServiceSettings,
    login_throttle: LoginThrottle,
    pub(crate) failed_sign_ins: FailedSignIns,
    /// Who may connect, if the service has sockets.
    pub(crate) door: Option<Arc<Door>>,
    pub(crate) metrics: Metrics,
    pub(crate) notifications: NotificationCounts,
    /// The OpenAPI document, serialized.
    pub(crate) openapi: Vec<u8>,
    in_flight: AtomicUsize,
    /// Room for bodies, in kibibytes.
    bodies: Arc<Semaphore>,
    /// Permits for batches.
    batches: Semaphore,
    /// Permits for event streams.
    pub(crate) streams: Arc<Semaphore>,
    /// Permits for simulations, so that readers cannot occupy every thread.
    pub(crate) simulations: Semaphore,
    closing: watch::Sender<bool>,
    openid: Option<Arc<OpenIdProvider>>,
    /// The other chains, if policies are spread over several.
    pub(crate) chains: Option<Arc<Chains>>,
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
        let mut openapi = crate::openapi::document(settings.version);
        if !settings.base_path.as_str().is_empty() {
            openapi["servers"] = serde_json::json!([{ "url": settings.base_path.as_str() }]);
        }
        let openapi = serde_json::to_vec(&openapi).unwrap_or_default();
        Self {
            engine,
            settings,
            login_throttle: LoginThrottle::default(),
            failed_sign_ins: FailedSignIns::default(),
            door: None,
            metrics: Metrics::new(),
            notifications: NotificationCounts::default(),
            openapi,
            in_flight: AtomicUsize::new(0),
            bodies: Arc::new(Semaphore::new(BODIES_KIB as usize)),
            batches: Semaphore::new(BATCHES),
            streams: Arc::new(Semaphore::new(STREAMS)),
            simulations: Semaphore::new(SIMULATIONS),
            closing: watch::Sender::new(false),
            openid: None,
            chains: None,
        }
    }

    /// The owner of one of several chains.
    pub(crate) fn among(self, chains: Option<Arc<Chains>>) -> Self {
        Self { chains, ..self }
    }

    /// The same behind a door, whose connections it counts.
    pub(crate) fn behind(self, door: Arc<Door>) -> Self {
        Self { door: Some(door), ..self }
    }

    /// Lets people sign in to the dashboard with an identity provider.
    #[must_use]
    pub fn with_openid(self, provider: Option<OpenIdProvider>) -> Self {
        self.with_shared_openid(provider.map(Arc::new))
    }

    pub(crate) fn with_shared_openid(self, openid: Option<Arc<OpenIdProvider>>) -> Self {
        Self { openid, ..self }
    }

    pub(crate) fn openid(&self) -> Option<&Arc<OpenIdProvider>> {
        self.openid.as_ref()
    }

    /// A permit for a request, unless too many are in flight.
    pub(crate) fn enter(&self) -> Option<InFlight<'_>> {
        let before = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let permit = InFlight(&self.in_flight);
        (before < IN_FLIGHT).then_some(permit)
    }

    /// Waits until there is room for a body of so many bytes.
    pub(crate) async fn room_for(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).min(BODIES_KIB);
        // The semaphore is never closed.
        self.bodies.clone().acquire_many_owned(kib).await.ok()
    }

    /// Waits for the turn of a batch, so that a few at a time work and none holds up single requests.
    pub(crate) async fn batch_turn(&self) -> Option<SemaphorePermit<'_>> {
        self.batches.acquire().await.ok()
    }

    /// Records the failed sign-ins since the last call as one event. Blocks until it is on disk.
    pub fn record_failed_sign_ins(&self) {
        if let Some(failed) = self.failed_sign_ins.take() {
            tracing::warn!(count = failed.count, addresses = ?failed.addresses, "sign-ins failed");
            // If it cannot be stored, it is in the metrics nevertheless.
            drop(self.engine.sign_ins_failed(failed));
        }
    }

    /// Ends every event stream, because the service is shutting down.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether the service is shutting down.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Checks a token and returns what it grants. Failed attempts are counted, and too many from one address are throttled; whoever
    /// has a valid token never waits for those who have none.
    ///
    /// # Errors
    /// 401 if the token is not valid, 429 after too many failed attempts.
    pub fn authenticate(&self, token: &str, address: IpAddr) -> Result<TokenGrant, ProblemDetails> {
        let now_ms = self.engine.now_ms();
        let error = match self.engine.tokens().check(token, now_ms) {
            Ok(grant) => return Ok(grant.clone()),
            Err(error) => error,
        };
        self.failed_sign_ins.count(address, now_ms);
        let Some(seconds) = self.login_throttle.record_failure(address) else { return Err(error.into()) };
        let detail = "too many invalid tokens were sent from this address";
        Err(ProblemDetails::new(StatusCode::TOO_MANY_REQUESTS, detail)
            .with_remedy(format!("use a valid token; an invalid one can be tried again in {seconds} seconds"))
            .with_retry_after(seconds))
    }

    /// Counts a failed sign-in with an identity provider.
    pub(crate) fn count_failed_sign_in(&self, address: IpAddr) {
        self.failed_sign_ins.count(address, self.engine.now_ms());
    }

    /// How long a token is valid without being looked at again, at most `most`; `None` if it is not valid any more.
    pub(crate) fn valid_for(&self, id: &str, most: Duration) -> Option<Duration> {
        let now_ms = self.engine.now_ms();
        let expires_ms = self.engine.tokens().valid(id, now_ms)?.expires_ms;
        Some(expires_ms.map_or(most, |expires_ms| most.min(Duration::from_millis(expires_ms - now_ms))))
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
        .with_topic(Topic::Roles)
}
