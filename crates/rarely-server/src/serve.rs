//! The server: sockets, TLS, signals.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use rarely_live::Engine;
use rarely_live::engine::{EngineOptions, StartError};

use crate::app::{App, Settings};
use crate::limits::HEAD_SECONDS;
use crate::router;

/// Seconds that requests get to end when the service stops.
const LAST_SECONDS: u64 = 10;
/// How often latencies are put into their classes.
const TIDY: Duration = Duration::from_secs(5);

/// What to serve, and where.
pub struct ServeOptions {
    /// The store.
    pub store: PathBuf,
    /// The address.
    pub listen: SocketAddr,
    /// Certificate chain and private key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether a public address may be served without TLS.
    pub insecure: bool,
    /// How the engine runs.
    pub engine: EngineOptions,
    /// The version of the program.
    pub version: &'static str,
}

/// A service that takes requests.
pub struct Ready<'a> {
    /// Where.
    pub address: SocketAddr,
    /// Its policies.
    pub engine: &'a Arc<Engine>,
    /// Whether by TLS.
    pub secure: bool,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Tokens would travel in the open.
    #[error(
        "{0} can be reached from other machines, and without TLS tokens and records would travel in the open; give --cert and --key, listen on 127.0.0.1, or say --insecure if something in front of it does TLS"
    )]
    Open(SocketAddr),
    /// The address cannot be used.
    #[error("{address}: {source}; stop what uses this address, or choose another with --listen")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The certificate or the key cannot be used.
    #[error("{}, {}: {source}; give a certificate chain and its private key as PEM files", certificate.display(), key.display())]
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
    /// Who is told of the start does not want it.
    #[error("{0}")]
    Refused(String),
    /// The server failed.
    #[error("the server failed: {0}")]
    Server(std::io::Error),
}

/// Serves until it is told to stop by SIGTERM or Ctrl-C. `ready` is told when requests are taken.
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
    // The address comes first: a port that is taken is found out before a long log is read.
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
    let app = Arc::new(App::new(engine.clone(), Settings { secure, version }));
    let served = run(listener, tls, signals, app).await;
    // A thread of its own, because it waits for the disk; that it panics has been said.
    drop(tokio::task::spawn_blocking(move || engine.stop()).await);
    served.map_err(ServeError::Server)
}

async fn run(listener: TcpListener, tls: Option<RustlsConfig>, signals: Signals, app: Arc<App>) -> std::io::Result<()> {
    let handle = Handle::new();
    let stopping = tokio::spawn(stop_on_signal(signals, handle.clone(), app.clone()));
    let tidying = tokio::spawn(tidy(app.clone()));
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
    tidying.abort();
    served
}

async fn stop_on_signal(mut signals: Signals, handle: Handle<SocketAddr>, app: Arc<App>) {
    signals.wait().await;
    app.close();
    handle.graceful_shutdown(Some(Duration::from_secs(LAST_SECONDS)));
}

/// What tells the service to stop. It is listened for before anybody hears that the service is there.
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

/// What tells the service to stop.
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

async fn tidy(app: Arc<App>) {
    loop {
        tokio::time::sleep(TIDY).await;
        app.measures.tidy();
    }
}

async fn certificate((certificate, key): (PathBuf, PathBuf)) -> Result<RustlsConfig, ServeError> {
    // Another part of the process may have chosen already, which is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let config = RustlsConfig::from_pem_file(&certificate, &key).await;
    config.map_err(|source| ServeError::Certificate { certificate, key, source })
}
