//! The server: sockets, TLS, signals.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_live::engine::{ChangeError, EngineOptions, StartError};
use rarely_live::{Engine, PublicUrlError, RelyingParty};
use tokio::task::JoinHandle;

use crate::app::{App, ServiceSettings};
use crate::base_path::BasePath;
use crate::connections::{Door, Doorkeeper};
use crate::limits::HEAD_SECONDS;
use crate::network_settings::{NetworkSettings, SharedNetworkSettings};
use crate::notifications::{NotificationOptions, Notifications};
use crate::openid::{OpenIdError, OpenIdOptions, OpenIdProvider};
use crate::reload::{Hangups, Reload, Reloader};
use crate::replica::{self, ReplicaOptions};
use crate::router;
use crate::starting::{self, Reading};
use crate::traces::{TraceOptions, Traces};

/// Seconds that open requests get to finish when the service shuts down.
pub(crate) const SHUTDOWN_SECONDS: u64 = 10;
/// How often recorded latencies are sorted into buckets.
const UPKEEP: Duration = Duration::from_secs(5);
/// Failed sign-ins are recorded after so many rounds of upkeep: every minute.
const UPKEEPS_PER_SUMMARY: u64 = 12;

/// Where the store of a service is.
#[derive(Debug, Clone)]
pub enum ServedStore {
    /// A file, of which one process is the owner.
    File(PathBuf),
    /// A database, which several replicas of the service share.
    Database(Box<ReplicaOptions>),
}

/// What to serve, and where.
pub struct ServeOptions {
    /// The store.
    pub store: ServedStore,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// PEM files of the certificate chain and the private key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether to serve an address that other machines can reach without TLS.
    pub insecure: bool,
    /// Who is believed about where a request comes from, and which web sites may call the API.
    pub network: NetworkSettings,
    /// The path below which browsers see the service.
    pub base_path: BasePath,
    /// Who is told what happens, if somebody is.
    pub notifications: Option<NotificationOptions>,
    /// Reads the settings again that can change while the service runs, at SIGHUP.
    pub reload: Option<Reload>,
    /// The address at which browsers reach the service, for passkeys; without it, localhost if it listens on a loopback address.
    pub public_url: Option<String>,
    /// How the engine runs.
    pub engine: EngineOptions,
    /// The version of the program.
    pub version: &'static str,
    /// The identity provider with which people may sign in to the dashboard.
    pub openid: Option<OpenIdOptions>,
    /// Where spans of requests go, if they go anywhere.
    pub traces: Option<TraceOptions>,
}

/// A service that accepts requests.
pub struct Ready<'a> {
    /// The address it listens on.
    pub address: SocketAddr,
    /// Its policies; `None` for a replica that does not own the store, or not yet.
    pub engine: Option<&'a Arc<Engine>>,
    /// Whether it uses TLS.
    pub secure: bool,
}

/// Why the service could not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Tokens would be sent unencrypted.
    #[error("other machines can reach {0}, and without TLS tokens and records are sent unencrypted")]
    Open(SocketAddr),
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The certificate or the key cannot be used.
    #[error("cannot use the certificate {} with the key {}: {source}", certificate.display(), key.display())]
    Certificate {
        /// The certificate chain.
        certificate: PathBuf,
        /// The private key.
        key: PathBuf,
        /// What is wrong.
        source: std::io::Error,
    },
    /// Other replicas cannot reach this address.
    #[error("other replicas cannot reach this one at {0}")]
    Advertised(String),
    /// The certificates of the authorities cannot be used.
    #[error("{}: the certificates of the authorities cannot be used: {problem}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Browsers offer no passkeys at the public address.
    #[error(transparent)]
    PublicUrl(#[from] PublicUrlError),
    /// The engine does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The `ready` callback returned an error.
    #[error("{0}")]
    Refused(String),
    /// The identity provider cannot be used.
    #[error(transparent)]
    OpenId(#[from] OpenIdError),
    /// The start cannot be recorded.
    #[error("the start of the service cannot be recorded: {0}")]
    Record(ChangeError),
    /// The server failed.
    #[error("the server failed: {0}")]
    Server(std::io::Error),
}

impl Explain for ServeError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Open(_) => Some(
                Remedy::with(
                    "configure TLS, listen on 127.0.0.1, or {action} if a proxy in front of the service provides TLS",
                    Action::AllowPlainHttp,
                )
                .see(Topic::Hardening),
            ),
            Self::Address { .. } => {
                Some(Remedy::with("stop the program that uses this address, or {action}", Action::ChooseListenAddress))
            }
            Self::Certificate { .. } => Some(Remedy::new("use a certificate chain and its private key as PEM files")),
            Self::Advertised(_) => Some(Remedy::with("{action}", Action::NameReplicaAddress)),
            Self::Authorities { .. } => Some(Remedy::new("use a PEM file with certificates")),
            Self::PublicUrl(error) => error.remedy(),
            Self::Start(error) => error.remedy(),
            Self::Record(error) => error.remedy(),
            Self::OpenId(error) => error.remedy(),
            Self::Refused(_) | Self::Server(_) => None,
        }
    }
}

/// Serves until SIGTERM or Ctrl-C. Calls `ready` once requests are accepted; in a replica, also each time it becomes the owner of the
/// store.
///
/// # Errors
/// [`ServeError`] says why it did not start or ended early.
pub async fn serve(
    options: ServeOptions,
    mut progress: impl FnMut(u64) + Send + 'static,
    mut ready: impl FnMut(&Ready<'_>) -> Result<(), String> + Send + 'static,
) -> Result<(), ServeError> {
    if options.tls.is_none() && !options.insecure && !options.listen.ip().is_loopback() {
        return Err(ServeError::Open(options.listen));
    }
    let store = match options.store.clone() {
        ServedStore::File(store) => store,
        ServedStore::Database(replica) => return replica::serve(options, *replica, progress, ready).await,
    };
    // A store that is not there yet has no canonical path, and a bare name has no parent.
    let place = store.canonicalize().or_else(|_| std::path::absolute(&store)).unwrap_or_else(|_| store.clone());
    let store_directory = place.parent().map(PathBuf::from);
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
    let network = SharedNetworkSettings::from(network);
    let tls = match tls {
        Some(files) => Some(certificate(files).await?),
        None => None,
    };
    let (signals, hangups) =
        (Signals::listen().map_err(ServeError::Server)?, Hangups::listen().map_err(ServeError::Server)?);
    let provider = tokio::task::spawn_blocking(move || openid.map(OpenIdProvider::discover).transpose());
    let provider = provider.await.map_err(|error| ServeError::Server(std::io::Error::other(error)))??;
    // Bind first, so that a port in use is reported before a long log is read.
    let unusable = |source| ServeError::Address { address: listen, source };
    let listener = TcpListener::bind(listen).map_err(unusable)?;
    listener.set_nonblocking(true).map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    let secure = tls.is_some();
    let relying_party = relying_party(public_url.as_deref(), address, secure)?;
    let (door, reading) = (Arc::new(Door::open(network.clone())), Reading::default());
    let waiting = Front::open(listener.try_clone().map_err(unusable)?, tls.clone(), door.clone());
    let waiting = waiting.map_err(ServeError::Server)?.answer_meanwhile(starting::router(version, &reading));
    let started = tokio::task::spawn_blocking(move || {
        let told = |number| {
            reading.store(number, Ordering::Relaxed);
            progress(number);
        };
        Engine::start(&store, engine, told)
    });
    let started = started.await;
    waiting.end().await;
    let broken = |error| ServeError::Server(std::io::Error::other(error));
    let engine = started.map_err(broken)??;
    let told = engine.clone();
    let told = tokio::task::spawn_blocking(move || {
        let refused = ready(&Ready { address, engine: Some(&told), secure }).map_err(ServeError::Refused);
        let begun = refused.and_then(|()| told.service_started(version).map_err(ServeError::Record));
        begun.map(drop).inspect_err(|_| told.stop())
    });
    told.await.map_err(broken)??;
    // Where browsers come by https, a proxy may do TLS.
    let secure = secure || relying_party.as_ref().is_some_and(|known| known.origin.starts_with("https:"));
    let base_path = Arc::new(base_path);
    let reloader = Reloader { reload, tls: tls.clone(), network: network.clone() };
    let sessions = None;
    let settings =
        ServiceSettings { secure, relying_party, version, base_path, network, store_directory, traces, sessions };
    let app = Arc::new(App::new(engine.clone(), settings).behind(door.clone()).with_openid(provider));
    let notifying = notify(&app, notifications.as_ref());
    let served = match Front::open(listener, tls, door) {
        Ok(front) => {
            let reloading = tokio::spawn(reloader.run(hangups));
            let served = run(front, signals, app.clone()).await;
            reloading.abort();
            served
        }
        Err(error) => Err(error),
    };
    // Stopping waits for the disk. A panic has been reported by its thread.
    let stop = move || {
        drop(notifying);
        app.record_failed_sign_ins();
        // If it cannot be written, the next start shows that the stop is missing.
        drop(engine.service_stopped(version));
        engine.stop();
    };
    drop(tokio::task::spawn_blocking(stop).await);
    served.map_err(ServeError::Server)
}

/// Starts to pass spans on, if they go anywhere.
pub(crate) fn start_traces(
    options: Option<TraceOptions>,
    version: &'static str,
) -> std::io::Result<Option<Arc<Traces>>> {
    Ok(options.map(|options| Traces::start(options, version)).transpose()?.map(Arc::new))
}

/// Starts to tell people what happens, if somebody wants to know.
pub(crate) fn notify(app: &Arc<App>, options: Option<&NotificationOptions>) -> Option<Notifications> {
    let started = Notifications::start(app, options?);
    started.inspect_err(|error| tracing::error!(%error, "nobody is told what happens: a thread cannot be started")).ok()
}

/// The service as browsers know it. Without a public address, this machine knows it as localhost.
pub(crate) fn relying_party(
    public_url: Option<&str>,
    address: SocketAddr,
    tls: bool,
) -> Result<Option<RelyingParty>, PublicUrlError> {
    let scheme = if tls { "https" } else { "http" };
    match public_url {
        Some(url) => RelyingParty::at(url).map(Some),
        None if address.ip().is_loopback() => {
            RelyingParty::at(&format!("{scheme}://localhost:{}", address.port())).map(Some)
        }
        None => Ok(None),
    }
}

async fn run(front: Front, signals: Signals, app: Arc<App>) -> std::io::Result<()> {
    let stopping = tokio::spawn(stop_on_signal(signals, front.handle.clone(), app.clone()));
    let upkeep = tokio::spawn(upkeep(app.clone()));
    let served = front.serve(router(app)).await;
    stopping.abort();
    upkeep.abort();
    served
}

/// A socket that answers by a router.
pub(crate) struct Front {
    server: axum_server::Server<SocketAddr>,
    pub(crate) handle: Handle<SocketAddr>,
    tls: Option<RustlsConfig>,
    door: Arc<Door>,
}

impl Front {
    fn open(listener: TcpListener, tls: Option<RustlsConfig>, door: Arc<Door>) -> std::io::Result<Self> {
        let handle = Handle::new();
        let mut server = axum_server::from_tcp(listener)?.handle(handle.clone());
        server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(HEAD_SECONDS));
        Ok(Self { server, handle, tls, door })
    }

    /// Listens on an address. Returns also the address, whose port may have been chosen by the system, and the door.
    pub(crate) fn bind(
        listen: SocketAddr,
        tls: Option<RustlsConfig>,
        network: SharedNetworkSettings,
    ) -> Result<(Self, SocketAddr, Arc<Door>), ServeError> {
        let unusable = |source| ServeError::Address { address: listen, source };
        let listener = TcpListener::bind(listen).map_err(unusable)?;
        listener.set_nonblocking(true).map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let door = Arc::new(Door::open(network));
        let front = Self::open(listener, tls, door.clone()).map_err(ServeError::Server)?;
        Ok((front, address, door))
    }

    pub(crate) async fn serve(self, router: Router) -> std::io::Result<()> {
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let keeper = Doorkeeper(self.door);
        match self.tls {
            None => self.server.acceptor(keeper).serve(service).await,
            Some(config) => {
                let acceptor = RustlsAcceptor::new(config).handshake_timeout(Duration::from_secs(HEAD_SECONDS));
                self.server.acceptor(acceptor.acceptor(keeper)).serve(service).await
            }
        }
    }

    /// Answers until [`Meanwhile::end`] is called.
    fn answer_meanwhile(self, router: Router) -> Meanwhile {
        Meanwhile { handle: self.handle.clone(), task: tokio::spawn(self.serve(router)) }
    }
}

/// A [`Front`] that answers for the time being.
struct Meanwhile {
    handle: Handle<SocketAddr>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Meanwhile {
    /// Closes it and its connections, once they have their answers. The socket stays open: whoever connects now is answered by the
    /// next front.
    async fn end(self) {
        self.handle.graceful_shutdown(Some(Duration::from_secs(1)));
        drop(self.task.await);
    }
}

async fn stop_on_signal(mut signals: Signals, handle: Handle<SocketAddr>, app: Arc<App>) {
    signals.wait().await;
    app.close();
    handle.graceful_shutdown(Some(Duration::from_secs(SHUTDOWN_SECONDS)));
}

/// The signals that stop the service. They are registered before `ready` is called.
#[cfg(unix)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The signals that stop the service.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn wait(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

pub(crate) async fn upkeep(app: Arc<App>) {
    for round in 1_u64.. {
        tokio::time::sleep(UPKEEP).await;
        app.metrics.run_upkeep();
        let engine = app.engine.clone();
        if let Ok(Ok(Some(offset_ms))) = tokio::task::spawn_blocking(move || engine.watch_clock()).await {
            say_clock(offset_ms, app.engine.now_ms());
        }
        if round.is_multiple_of(UPKEEPS_PER_SUMMARY) {
            let app = app.clone();
            drop(tokio::task::spawn_blocking(move || app.record_failed_sign_ins()).await);
        }
    }
}

fn say_clock(offset_ms: i64, now_ms: u64) {
    if offset_ms == 0 {
        tracing::warn!("the system's clock is right again");
        return;
    }
    tracing::error!(
        "the system's clock jumped by {offset_ms} ms and is not believed: events are recorded as of {}; set it right, or stop the \
         service and see `rarely store clock`",
        rarely_output::utc(now_ms)
    );
}

pub(crate) async fn certificate((certificate, key): (PathBuf, PathBuf)) -> Result<RustlsConfig, ServeError> {
    // Fails if the process has chosen a provider already, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let config = RustlsConfig::from_pem_file(&certificate, &key).await;
    config.map_err(|source| ServeError::Certificate { certificate, key, source })
}
