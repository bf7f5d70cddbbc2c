//! One of several replicas of the service, which share a store in PostgreSQL. Each chain of the store is owned by one of them, which does the
//! work of its policies; the others pass requests on to it, and take over when it ends.
//!
//! | module | what it is about |
//! |---|---|
//! | `target` | which chain a request is about |
//! | `links`, `forward` | who owns which chain; passing requests on, and asking other owners |
//! | `ownership`, `balance` | taking a chain and working for it; how chains are shared out |
//! | `chains` | the other chains, as the owner of one sees them |

mod balance;
mod chains;
mod forward;
mod links;
mod ownership;
mod target;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, Uri};
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
use crate::division::{ChainRequest, answer};
use crate::health::Health;
use crate::limits::{BODY_BYTES, IN_FLIGHT};
use crate::middleware::{self, set_headers};
use crate::network_settings::SharedNetworkSettings;
use crate::openid::{OpenIdOptions, OpenIdProvider};
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::reload::{Hangups, Reloader};
use crate::serve::{
    Front, Ready, SHUTDOWN_SECONDS, ServeError, ServeOptions, Signals, certificate, relying_party, start_traces,
};
use balance::Balance;
use chains::SERVICE;
use forward::{Forwarder, OwnerChange};
use links::Links;
use ownership::{Ownership, OwnershipThreads};
use target::Target;

pub(crate) use chains::Chains;

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
    /// Over how many chains policies are spread, beside the service's own. There may be more already.
    pub chains: u64,
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
    links: Arc<Links>,
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
    let store = Arc::new(store);
    let links = Arc::new(Links::new(forwarder, store.clone()));
    let shared = Arc::new(Replica {
        links: links.clone(),
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
    let sessions = Some(store.sessions());
    let ownership = Ownership {
        store: store.chain(SERVICE),
        links: links.clone(),
        balance: Arc::new(Balance::new(replica_id()?)),
        chains: replica.chains,
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
            sessions,
        },
        door,
        notifications,
        provider,
        address,
        publish: watch::Sender::new(Arc::new(LogOwner::Nobody("this replica is starting".to_owned()))),
        stopping: stopping.clone(),
        runtime: tokio::runtime::Handle::current(),
    };
    let ended = handle.clone();
    let owning = tokio::task::spawn_blocking(move || {
        let owned = OwnershipThreads::run(ownership, progress, ready);
        // If it cannot go on, the service ends too, and says why.
        ended.graceful_shutdown(Some(Duration::from_secs(1)));
        owned
    });
    let stopper = tokio::spawn(async move {
        signals.wait().await;
        links.close();
        handle.graceful_shutdown(Some(Duration::from_secs(SHUTDOWN_SECONDS)));
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

/// The random id of this replica.
fn replica_id() -> Result<String, ServeError> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| ServeError::Server(std::io::Error::other(error.to_string())))?;
    Ok(format!("{:032x}", u128::from_be_bytes(id)))
}

/// Does a request here, or passes it on.
async fn dispatch(State(replica): State<Arc<Replica>>, mut request: Request) -> Response {
    let from_replica = replica.take_forwarded(&mut request);
    let chain = if replica.links.is_divided() {
        match replica.chain_of(&mut request, from_replica).await {
            Ok(chain) => chain,
            Err(response) => return *response,
        }
    } else {
        SERVICE
    };
    let Some(log_owner) = replica.links.owner(chain) else { return no_chain(chain) };
    let owner_now = log_owner.borrow().clone();
    match &*owner_now {
        LogOwner::Own { router, lease, .. } if lease.is_valid() => {
            if let Some(Below(uri)) = request.extensions_mut().remove::<Below>() {
                *request.uri_mut() = uri;
            }
            let Ok(response) = router.clone().oneshot(request).await;
            response
        }
        _ if request.uri().path() == "/healthz" => with_headers(json(StatusCode::OK, &Health::new(replica.version, 0))),
        LogOwner::Other(owner) if !from_replica => {
            let Ok(_permit) = replica.passing.try_acquire() else {
                return with_headers(ProblemDetails::busy().into_response());
            };
            let (started, method) = (Instant::now(), request.method().clone());
            let origin = request.extensions_mut().remove().unwrap_or_else(|| replica.origin(&request));
            let change = OwnerChange { log_owner: log_owner.clone(), owner: owner.clone() };
            let passed = replica.links.forwarder.pass_on(request, owner, &origin, change).await;
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

/// The address of a request below the path of its chain, as the owner's router knows it.
#[derive(Clone)]
struct Below(Uri);

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

    /// The chain that a request is about; or the response, if no router has one.
    async fn chain_of(&self, request: &mut Request, from_replica: bool) -> Result<u64, Box<Response>> {
        let told = request.extensions().get::<ClientOrigin>().cloned();
        let origin = told.unwrap_or_else(|| self.origin(request));
        let problem = |problem: ProblemDetails| Box::new(with_headers(problem.into_response()));
        let chain = match Target::of(request.method(), request.uri(), &origin.base_path) {
            Target::Service => SERVICE,
            Target::Policy(name) => self.links.placement(&name).await.map_err(problem)?,
            Target::Asked(chain) if from_replica => return Err(Box::new(self.answer(chain, request).await)),
            Target::Chain { number, .. } if self.links.owner(number).is_none() => {
                return Err(Box::new(no_chain(number)));
            }
            Target::Chain { number, below } => {
                let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
                let uri = Uri::try_from(format!("{below}{query}")).map_err(|_| problem(ProblemDetails::internal()))?;
                request.extensions_mut().insert(Below(uri));
                number
            }
            Target::Asked(_) | Target::Nothing => {
                let problem =
                    ProblemDetails::new(StatusCode::NOT_FOUND, "below the path of a chain there is only its log");
                return Err(Box::new(with_headers(
                    problem.with_remedy("leave `/chains/…` out to change something").into_response(),
                )));
            }
        };
        request.extensions_mut().insert(origin);
        Ok(chain)
    }

    /// Answers the owner of another chain.
    async fn answer(&self, chain: u64, request: &mut Request) -> Response {
        let asked = async {
            let body = to_bytes(std::mem::take(request.body_mut()), BODY_BYTES).await;
            let body = body.map_err(|_| ProblemDetails::internal())?;
            let asked: ChainRequest = serde_json::from_slice(&body).map_err(|error| {
                ProblemDetails::new(
                    StatusCode::BAD_REQUEST,
                    format!("another replica asks what this version does not know: {error}"),
                )
            })?;
            let log_owner = self.links.owner(chain).map(|owner| owner.borrow().clone());
            match log_owner.as_deref() {
                Some(LogOwner::Own { app, lease, .. }) if lease.is_valid() => answer(app, asked).await,
                _ => Err(unowned("another replica owns the log now")),
            }
        };
        with_headers(match asked.await {
            Ok(answer) => json(StatusCode::OK, &answer),
            Err(problem) => problem.into_response(),
        })
    }

    fn origin(&self, request: &Request) -> ClientOrigin {
        let trusted = &self.network.get().trusted_proxies;
        ClientOrigin::of(request.extensions(), request.headers(), trusted, self.secure, &self.base_path)
    }
}

fn no_owner(reason: &str) -> Response {
    with_headers(unowned(reason).into_response())
}

fn unowned(reason: &str) -> ProblemDetails {
    let problem = ProblemDetails::new(
        StatusCode::SERVICE_UNAVAILABLE,
        format!("no replica of the service owns the log at the moment: {reason}"),
    );
    problem.with_remedy("send the request again; a request with a key is done once").with_retry_after(1)
}

fn no_chain(chain: u64) -> Response {
    with_headers(ProblemDetails::new(StatusCode::NOT_FOUND, format!("there is no chain {chain}")).into_response())
}

fn with_headers(mut response: Response) -> Response {
    set_headers(response.headers_mut());
    response
}
