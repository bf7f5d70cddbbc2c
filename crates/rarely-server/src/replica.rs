//! One of several replicas of the service, which share a store in PostgreSQL. One of them owns the store and does the work; the
//! others pass requests on to it, and take over when it ends.

mod forward;
mod ownership;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use rarely_live::engine::EngineOptions;
use rarely_live::replay::EVENT_EDITION;
use rarely_store::{Lease, PostgresAddress, PostgresLog, PostgresStore, StoreError};
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

use crate::app::{App, ServiceSettings};
use crate::base_path::BasePath;
use crate::client_origin::ClientOrigin;
use crate::health::Health;
use crate::limits::IN_FLIGHT;
use crate::middleware::{self, set_headers};
use crate::network_settings::SharedNetworkSettings;
use crate::openid::{OpenIdOptions, OpenIdProvider};
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::reload::{Hangups, Reloader};
use crate::serve::{
    Front, Ready, SHUTDOWN_SECONDS, ServeError, ServeOptions, Signals, certificate, relying_party, start_traces,
};
use forward::{Forwarder, OwnerChange};
use ownership::Ownership;

/// The header by which replicas know each other: the secret in the database, and how the request came. A request that has it
/// is not passed on again.
const FORWARDED: HeaderName = HeaderName::from_static("rarely-forwarded");

/// A replica of the service.
#[derive(Debug, Clone)]
pub struct ReplicaOptions {
    /// The database.
    pub database: PostgresAddress,
    /// The address at which the other replicas reach this one; without it, the address on which it listens.
    pub advertise: Option<String>,
    /// How long an owner that is not heard of keeps the store.
    pub term: Duration,
    /// PEM file of the authorities that sign the certificates of replicas; without it, those that browsers trust.
    pub authorities: Option<PathBuf>,
}

/// Who does the work.
pub(crate) enum LogOwner {
    /// Nobody, and why.
    Nobody(String),
    /// The replica at this address.
    Other(Arc<str>),
    /// This one.
    Own { router: Router, app: Arc<App>, lease: Arc<Lease> },
}

impl LogOwner {
    /// The address of the owner, if it is another replica.
    fn other(&self) -> Option<&Arc<str>> {
        match self {
            Self::Other(address) => Some(address),
            _ => None,
        }
    }
}

/// What every request of a replica shares.
struct Replica {
    log_owner: watch::Receiver<Arc<LogOwner>>,
    forwarder: Forwarder,
    secret: String,
    version: &'static str,
    network: SharedNetworkSettings,
    /// Whether clients connect by TLS.
    secure: bool,
    base_path: Arc<BasePath>,
    /// Permits for requests that are passed on.
    passing: Semaphore,
}

/// Serves as a replica until SIGTERM or Ctrl-C.
pub(crate) async fn serve(
    options: ServeOptions,
    replica: ReplicaOptions,
    progress: impl FnMut(u64) + Send + 'static,
    mut ready: impl FnMut(&Ready<'_>) -> Result<(), String> + Send + 'static,
) -> Result<(), ServeError> {
    let ServeOptions {
        listen,
        tls,
        network,
        base_path,
        notifications,
        reload,
        public_url,
        engine,
        version,
        openid,
        traces,
        ..
    } = options;
    let traces = start_traces(traces, version).map_err(ServeError::Server)?;
    let (network, base_path) = (SharedNetworkSettings::from(network), Arc::new(base_path));
    let tls = match tls {
        Some(files) => Some(certificate(files).await?),
        None => None,
    };
    let mut signals = Signals::listen().map_err(ServeError::Server)?;
    let hangups = Hangups::listen().map_err(ServeError::Server)?;
    let broken = |error| ServeError::Server(std::io::Error::other(error));
    let (database, used) = (replica.database.clone(), engine.clone());
    let opened = tokio::task::spawn_blocking(move || open(database, &used, openid));
    let (provider, store) = opened.await.map_err(broken)??;
    let (front, address, door) = Front::bind(listen, tls.clone(), network.clone())?;
    let secure = tls.is_some();
    let relying_party = relying_party(public_url.as_deref(), address, secure)?;
    // Where browsers come by https, a proxy may do TLS.
    let with_tls = secure || relying_party.as_ref().is_some_and(|known| known.origin.starts_with("https:"));
    let advertised = advertised(replica.advertise, address, secure)?;
    let forwarder = Forwarder::new(store.secret(), replica.authorities.as_deref())?;
    let (publish, log_owner) = watch::channel(Arc::new(LogOwner::Nobody("this replica is starting".to_owned())));
    let shared = Arc::new(Replica {
        log_owner: log_owner.clone(),
        forwarder,
        secret: store.secret().to_owned(),
        version,
        network: network.clone(),
        secure: with_tls,
        base_path: base_path.clone(),
        passing: Semaphore::new(IN_FLIGHT),
    });
    let told = tokio::task::spawn_blocking(move || {
        ready(&Ready { address, engine: None, secure }).map_err(ServeError::Refused).map(|()| ready)
    });
    let ready = told.await.map_err(broken)??;
    let stopping = Arc::new(AtomicBool::new(false));
    let handle = front.handle.clone();
    let ownership = Ownership {
        store,
        advertised,
        term: replica.term,
        engine,
        settings: ServiceSettings {
            secure: with_tls,
            relying_party,
            version,
            base_path,
            network: network.clone(),
            store_directory: None,
            traces,
        },
        door,
        notifications,
        provider,
        address,
        publish,
        stopping: stopping.clone(),
        runtime: tokio::runtime::Handle::current(),
    };
    let ended = handle.clone();
    let owning = tokio::task::spawn_blocking(move || {
        let owned = ownership.run(progress, ready);
        // If it cannot go on, the service ends too, and says why.
        ended.graceful_shutdown(Some(Duration::from_secs(1)));
        owned
    });
    let (closing, seen) = (handle, log_owner.clone());
    let stopper = tokio::spawn(async move {
        signals.wait().await;
        if let LogOwner::Own { app, .. } = &**seen.borrow() {
            app.close();
        }
        closing.graceful_shutdown(Some(Duration::from_secs(SHUTDOWN_SECONDS)));
    });
    let reloading = tokio::spawn(Reloader { reload, tls, network }.run(hangups));
    let served = front.serve(Router::new().fallback(dispatch).with_state(shared)).await;
    reloading.abort();
    stopper.abort();
    stopping.store(true, Ordering::SeqCst);
    owning.await.map_err(broken)??;
    served.map_err(ServeError::Server)
}

/// Opens the store, and finds the identity provider.
fn open(
    database: PostgresAddress,
    engine: &EngineOptions,
    openid: Option<OpenIdOptions>,
) -> Result<(Option<Arc<OpenIdProvider>>, PostgresStore), ServeError> {
    let provider = openid.map(OpenIdProvider::discover).transpose()?;
    let store =
        PostgresStore::connect(database.clone(), engine.durability).and_then(|store| store.reading(EVENT_EDITION));
    let store = store.map_err(unopened)?;
    // In this order: the first owner creates the key before it signs.
    if let Some(signing) = &engine.checkpoints
        && signed(database).map_err(unopened)?
        && signing.key_file.read().map_err(unopened)?.is_none()
    {
        // Found out now, and not when this replica has to take over.
        return Err(unopened(StoreError::KeyMissing { path: signing.key_file.path().to_owned() }));
    }
    Ok((provider.map(Arc::new), store))
}

fn unopened(error: StoreError) -> ServeError {
    ServeError::Start(error.into())
}

/// Whether checkpoints of the log exist.
fn signed(database: PostgresAddress) -> Result<bool, StoreError> {
    use rarely_store::EventLog as _;
    Ok(PostgresLog::open_read_only(database)?.last_checkpoint()?.is_some())
}

/// The address that the others get.
fn advertised(named: Option<String>, address: SocketAddr, secure: bool) -> Result<String, ServeError> {
    let scheme = if secure { "https" } else { "http" };
    match named {
        Some(url) => {
            let url = url.trim_end_matches('/').to_owned();
            let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
            match host {
                Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@']) => Ok(url),
                _ => Err(ServeError::Advertised(url)),
            }
        }
        None if address.ip().is_unspecified() => Err(ServeError::Advertised(format!("{scheme}://{address}"))),
        None => Ok(format!("{scheme}://{address}")),
    }
}

/// Does a request here, or passes it on.
async fn dispatch(State(replica): State<Arc<Replica>>, mut request: Request) -> Response {
    let from_replica = replica.take_forwarded(&mut request);
    let log_owner = replica.log_owner.borrow().clone();
    match &*log_owner {
        LogOwner::Own { router, lease, .. } if lease.is_valid() => {
            let Ok(response) = router.clone().oneshot(request).await;
            response
        }
        _ if request.uri().path() == "/healthz" => with_headers(json(StatusCode::OK, &Health::new(replica.version, 0))),
        LogOwner::Other(owner) if !from_replica => {
            let Ok(_permit) = replica.passing.try_acquire() else {
                return with_headers(ProblemDetails::busy().into_response());
            };
            let (started, method) = (Instant::now(), request.method().clone());
            let origin = replica.origin(&request);
            let change = OwnerChange { log_owner: replica.log_owner.clone(), owner: owner.clone() };
            let passed = replica.forwarder.pass_on(request, owner, &origin, change).await;
            let response = passed.unwrap_or_else(|problem| with_headers(problem.into_response()));
            // The owner knows the route, and its line has the same id.
            middleware::log(&method, "passed on", response.status(), started.elapsed(), &origin);
            response
        }
        LogOwner::Nobody(reason) => no_owner(reason),
        LogOwner::Other(_) => no_owner("another replica owns the log now"),
        LogOwner::Own { .. } => no_owner("this replica has not renewed its lease in time"),
    }
}

impl Replica {
    /// Whether another replica has passed this request on. It then comes from the client that the replica names.
    fn take_forwarded(&self, request: &mut Request) -> bool {
        let Some(value) = request.headers_mut().remove(FORWARDED) else { return false };
        let known = ClientOrigin::from_header(&value).filter(|(secret, _)| {
            let same: bool = secret.as_bytes().ct_eq(self.secret.as_bytes()).into();
            same
        });
        let Some((_, origin)) = known else { return false };
        request.extensions_mut().insert(origin);
        true
    }

    fn origin(&self, request: &Request) -> ClientOrigin {
        let trusted = &self.network.get().trusted_proxies;
        ClientOrigin::of(request.extensions(), request.headers(), trusted, self.secure, &self.base_path)
    }
}

fn no_owner(reason: &str) -> Response {
    let problem = ProblemDetails::new(
        StatusCode::SERVICE_UNAVAILABLE,
        format!("no replica of the service owns the log at the moment: {reason}"),
    );
    let problem = problem.with_remedy("send the request again; a request with a key is done once").with_retry_after(1);
    with_headers(problem.into_response())
}

fn with_headers(mut response: Response) -> Response {
    set_headers(response.headers_mut());
    response
}
