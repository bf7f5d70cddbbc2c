//! The server: sockets, TLS, signals.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use rarely_error::{Action, Explain, Remedy};
use rarely_live::Engine;
use rarely_live::engine::{EngineOptions, StartError};

use crate::app::{App, ServiceSettings};
use crate::limits::HEAD_SECONDS;
use crate::router;

/// Seconds that open requests get to finish when the service shuts down.
const SHUTDOWN_SECONDS: u64 = 10;
/// How often recorded latencies are sorted into buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// What to serve, and where.
pub struct ServeOptions {
    /// The path of the store.
    pub store: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// PEM files of the certificate chain and the private key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether to serve an address that other machines can reach without TLS.
    pub insecure: bool,
    /// How the engine runs.
    pub engine: EngineOptions,
    /// The version of the program.
    pub version: &'static str,
}

/// A service that accepts requests.
pub struct Ready<'a> {
    /// The address it listens on.
    pub address: SocketAddr,
    /// Its policies.
    pub engine: &'a Arc<Engine>,
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
    /// The engine does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The `ready` callback returned an error.
    #[error("{0}")]
    Refused(String),
    /// The server failed.
    #[error("the server failed: {0}")]
    Server(std::io::Error),
}

impl Explain for ServeError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Open(_) => Some(Remedy::with(
                "configure TLS, listen on 127.0.0.1, or {action} if a proxy in front of the service provides TLS",
                Action::AllowPlainHttp,
            )),
            Self::Address { .. } => {
                Some(Remedy::with("stop the program that uses this address, or {action}", Action::ChooseListenAddress))
            }
            Self::Certificate { .. } => Some(Remedy::new("use a certificate chain and its private key as PEM files")),
            Self::Start(error) => error.remedy(),
            Self::Refused(_) | Self::Server(_) => None,
        }
    }
}

/// Serves until SIGTERM or Ctrl-C. Calls `ready` once requests are accepted.
///
/// # Errors
/// [`ServeError`] says why it did not start or ended early.
pub async fn serve(
    options: ServeOptions,
    progress: impl FnMut(u64) + Send + 'static,
    ready: impl FnOnce(&Ready<'_>) -> Result<(), String> + Send + 'static,
) -> Result<(), ServeError> {
    let ServeOptions { store, listen, tls, insecure, engine, version } = options;
    if tls.is_none() && !insecure && !listen.ip().is_loopback() {
        return Err(ServeError::Open(listen));
    }
    let tls = match tls {
        Some(files) => Some(certificate(files).await?),
        None => None,
    };
    let signals = Signals::listen().map_err(ServeError::Server)?;
    // Bind first, so that a port in use is reported before a long log is read.
    let unusable = |source| ServeError::Address { address: listen, source };
    let listener = TcpListener::bind(listen).map_err(unusable)?;
    listener.set_nonblocking(true).map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    let secure = tls.is_some();
    let started = tokio::task::spawn_blocking(move || {
        let engine = Engine::start(&store, engine, progress)?;
        if let Err(refused) = ready(&Ready { address, engine: &engine, secure }) {
            engine.stop();
            return Err(ServeError::Refused(refused));
        }
        Ok(engine)
    });
    let engine = started.await.map_err(|error| ServeError::Server(std::io::Error::other(error)))??;
    let app = Arc::new(App::new(engine.clone(), ServiceSettings { secure, version }));
    let served = run(listener, tls, signals, app).await;
    // Stopping waits for the disk. A panic has been reported by its thread.
    drop(tokio::task::spawn_blocking(move || engine.stop()).await);
    served.map_err(ServeError::Server)
}

async fn run(listener: TcpListener, tls: Option<RustlsConfig>, signals: Signals, app: Arc<App>) -> std::io::Result<()> {
    let handle = Handle::new();
    let stopping = tokio::spawn(stop_on_signal(signals, handle.clone(), app.clone()));
    let upkeep = tokio::spawn(upkeep(app.clone()));
    let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let mut server = axum_server::from_tcp(listener)?.handle(handle);
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(HEAD_SECONDS));
    let served = match tls {
        None => server.acceptor(NoDelayAcceptor).serve(service).await,
        Some(config) => {
            let acceptor = RustlsAcceptor::new(config).handshake_timeout(Duration::from_secs(HEAD_SECONDS));
            server.acceptor(acceptor.acceptor(NoDelayAcceptor)).serve(service).await
        }
    };
    stopping.abort();
    upkeep.abort();
    served
}

async fn stop_on_signal(mut signals: Signals, handle: Handle<SocketAddr>, app: Arc<App>) {
    signals.wait().await;
    app.close();
    handle.graceful_shutdown(Some(Duration::from_secs(SHUTDOWN_SECONDS)));
}

/// The signals that stop the service. They are registered before `ready` is called.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The signals that stop the service.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn wait(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

async fn upkeep(app: Arc<App>) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        app.metrics.run_upkeep();
    }
}

async fn certificate((certificate, key): (PathBuf, PathBuf)) -> Result<RustlsConfig, ServeError> {
    // Fails if the process has chosen a provider already, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let config = RustlsConfig::from_pem_file(&certificate, &key).await;
    config.map_err(|source| ServeError::Certificate { certificate, key, source })
}
