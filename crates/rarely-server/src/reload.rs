//! Settings that are read again when the service gets SIGHUP.

use std::path::PathBuf;
use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;

use crate::network_settings::{NetworkSettings, SharedNetworkSettings};

/// Reads the settings again. An error says why they stay as they are.
pub type Reload = Arc<dyn Fn() -> Result<Reloaded, String> + Send + Sync>;

/// The settings that can change while the service runs.
#[derive(Debug, Clone)]
pub struct Reloaded {
    /// PEM files of the certificate chain and the private key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Trusted proxies and allowed web sites.
    pub network: NetworkSettings,
}

/// What a reload changes.
#[derive(Clone)]
pub(crate) struct Reloader {
    pub(crate) reload: Option<Reload>,
    pub(crate) tls: Option<RustlsConfig>,
    pub(crate) network: SharedNetworkSettings,
}

impl Reloader {
    /// Reads the settings again each time the process gets SIGHUP. If something is wrong with them, all stay as they were.
    pub(crate) async fn run(self, mut hangups: Hangups) {
        while hangups.next().await {
            match self.apply().await {
                Ok(()) => tracing::info!("the configuration was read again"),
                Err(problem) => tracing::error!("the configuration stays as it was: {problem}"),
            }
        }
    }

    async fn apply(&self) -> Result<(), String> {
        let Some(reload) = self.reload.clone() else { return Ok(()) };
        let read = tokio::task::spawn_blocking(move || reload()).await;
        let Reloaded { tls, network } = read.map_err(|error| error.to_string())??;
        match (&self.tls, tls) {
            (Some(running), Some((certificate, key))) => {
                let reloaded = running.reload_from_pem_file(&certificate, &key).await;
                reloaded.map_err(|error| {
                    format!(
                        "cannot use the certificate {} with the key {}: {error}",
                        certificate.display(),
                        key.display()
                    )
                })?;
            }
            (None, None) => {}
            _ => tracing::warn!("whether the service uses TLS changes only at a start"),
        }
        self.network.replace(network);
        Ok(())
    }
}

/// The signal SIGHUP. It is registered before the service is ready, so that it never ends it.
#[cfg(unix)]
pub(crate) struct Hangups(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangups {
    pub(crate) fn listen() -> std::io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).map(Self)
    }

    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

/// Where there is no such signal, nothing is read again.
#[cfg(not(unix))]
pub(crate) struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> bool {
        false
    }
}
