//! The address of a PostgreSQL database, and connections to it.

mod tls;

use std::fmt;
use std::future::poll_fn;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Error as PostgresError};

use crate::error::StoreError;
use tls::{TlsConnector, TrustedCertificates};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// How long a connection may take to be opened, unless the address says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long data that was sent may stay without an acknowledgement of the network.
const UNANSWERED: Duration = Duration::from_secs(10);

/// The address of a PostgreSQL database. Printing it never shows a password.
///
/// ```
/// use rarely_store::PostgresAddress;
/// let address = PostgresAddress::parse("postgres://me:secret@host/logs?sslmode=require")?;
/// assert_eq!(address.to_string(), "postgres://me@host/logs?sslmode=require");
/// # Ok::<(), rarely_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct PostgresAddress {
    shown: String,
    config: Config,
    tls: TlsConnector,
}

impl PostgresAddress {
    /// Whether a text is the address of a PostgreSQL database.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// An address without its password.
    pub fn without_password(address: &str) -> String {
        let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let authority = match authority.rsplit_once('@') {
            Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
            None => authority.to_owned(),
        };
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let kept: Vec<&str> =
            query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("password=")).collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        format!("{scheme}://{authority}{path}{query}")
    }

    /// Reads an address. `sslmode` is libpq's: `verify-full` and `verify-ca` check the server's certificate, `require` only
    /// encrypts, `prefer` does so if the server can.
    ///
    /// # Errors
    /// [`StoreError::Address`] if it is not an address, [`StoreError::Io`] if its certificates cannot be read.
    pub fn parse(address: &str) -> Result<Self, StoreError> {
        let shown = Self::without_password(address);
        let invalid = |problem: &'static str| StoreError::Address { address: shown.clone(), problem };
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut mode, mut root, mut kept) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => root = Some(value.replace("%2F", "/")),
                _ => kept.push(pair),
            }
        }
        let plain = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        // The parser's own message may show a part of the address.
        let mut config = Config::from_str(&plain).map_err(|_| invalid("is not an address of a database"))?;
        let (mode, certificates) = match mode {
            None | Some("prefer") => (SslMode::Prefer, TrustedCertificates::Any),
            Some("disable") => (SslMode::Disable, TrustedCertificates::Any),
            Some("require") if root.is_none() => (SslMode::Require, TrustedCertificates::Any),
            Some("require" | "verify-ca" | "verify-full") => {
                (SslMode::Require, TrustedCertificates::of(root.as_deref())?)
            }
            Some(_) => return Err(invalid("has an unknown sslmode")),
        };
        config.ssl_mode(mode).application_name("rarely");
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNANSWERED);
        }
        let tls = TlsConnector::new(certificates).map_err(|_| invalid("cannot be used with TLS"))?;
        Ok(Self { shown, config, tls })
    }

    /// Whether the address has no password.
    pub fn lacks_password(&self) -> bool {
        self.config.get_password().is_none()
    }

    /// Sets the password.
    pub fn set_password(&mut self, password: &str) {
        self.config.password(password);
    }

    /// Host, port, database and user, by which a password is looked up.
    pub fn login(&self) -> [String; 4] {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            _ => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432).to_string();
        let user = self.config.get_user().unwrap_or_default().to_owned();
        let database = self.config.get_dbname().map_or_else(|| user.clone(), str::to_owned);
        [host, port, database, user]
    }

    /// Connects on the runtime of the caller. The connection ends with the client.
    ///
    /// # Errors
    /// What the server or the network says.
    pub async fn connect(&self) -> Result<Client, PostgresError> {
        self.connect_as(None, &Arc::default()).await
    }

    /// Connects to a server that can be written to, under a name; counts the server's warnings.
    pub(crate) async fn connect_as(
        &self,
        writer: Option<&str>,
        warnings: &Arc<AtomicU64>,
    ) -> Result<Client, PostgresError> {
        let mut config = self.config.clone();
        if let Some(name) = writer {
            config.application_name(name).target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let (client, mut connection) = config.connect(self.tls.clone()).await?;
        let warnings = Arc::clone(warnings);
        tokio::spawn(async move {
            // A warning is counted before the answer that follows it is delivered.
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notice(notice) = message
                    && notice.parsed_severity() == Some(Severity::Warning)
                {
                    warnings.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        Ok(client)
    }

    /// The address for error messages, which have a path.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(&self.shown)
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresAddress({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_shows_a_password() {
        for (address, shown) in [
            ("postgres://me:secret@host:5433/logs?sslmode=require", "postgres://me@host:5433/logs?sslmode=require"),
            ("postgres://me@host/logs", "postgres://me@host/logs"),
            ("postgresql:///logs?host=/run/x&password=secret", "postgresql:///logs?host=/run/x"),
            ("postgres://me:p%40ss@host", "postgres://me@host"),
        ] {
            assert_eq!(PostgresAddress::without_password(address), shown);
            let parsed = PostgresAddress::parse(address).expect("an address");
            assert_eq!(parsed.to_string(), shown);
            assert!(!format!("{parsed:?}").contains("secret"));
            let wrong = PostgresAddress::parse(&format!("{address}&sslmode=wrong"));
            assert!(!wrong.map_or_else(|error| error.to_string(), |_| String::new()).contains("secret"));
        }
    }

    #[test]
    fn the_mode_of_encryption_is_libpq_s() {
        let mode = |query: &str| {
            let address = PostgresAddress::parse(&format!("postgres://me@host/logs{query}")).expect("an address");
            address.config.get_ssl_mode()
        };
        assert_eq!(mode(""), SslMode::Prefer);
        assert_eq!(mode("?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("?connect_timeout=3&sslmode=require"), SslMode::Require);
        assert_eq!(mode("?sslmode=verify-full"), SslMode::Require);
        assert!(PostgresAddress::parse("postgres://me@host/logs?sslmode=maybe").is_err());
    }
}
