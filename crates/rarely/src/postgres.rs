//! A log in PostgreSQL: its sums are computed there, in one read-only transaction, so that both readings see the same rows.

mod password;
mod tls;

use std::path::Path;
use std::str::FromStr as _;

use rarely_review::SumsRow;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config};

use self::tls::{TlsConnector, TrustedCertificates};
use crate::failure::{Failure, OrFail as _};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// A transaction that is open.
pub(crate) struct ReadOnlyTransaction {
    runtime: Runtime,
    client: Client,
}

/// Whether a path is the address of a database.
pub(crate) fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|path| SCHEMES.iter().any(|scheme| path.starts_with(scheme)))
}

/// An address without its password.
pub(crate) fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => authority.to_owned(),
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("password=")).collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{authority}{path}{query}")
}

impl ReadOnlyTransaction {
    /// Connects, and begins.
    pub(crate) fn begin(address: &str) -> Result<Self, Failure> {
        let (mut config, certificates) = configuration(address)?;
        if config.get_password().is_none()
            && let Some(password) = password::find(&config)
        {
            config.password(password);
        }
        let place = without_password(address);
        let runtime = Builder::new_current_thread().enable_all().build().or_fail()?;
        let connected = runtime.block_on(async {
            let connector = TlsConnector::new(certificates)?;
            let (client, connection) = config.connect(connector).await.map_err(|error| {
                failed(&place, "cannot be connected to", &error)
                    .help("check the address; the password comes from PGPASSWORD, ~/.pgpass or the address")
            })?;
            // It ends with the client.
            tokio::spawn(connection);
            Ok::<Client, Failure>(client)
        });
        let transaction = Self { runtime, client: connected? };
        transaction.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        // Numbers with all their digits, whatever the server's default.
        transaction.execute("SET LOCAL extra_float_digits = 1")?;
        Ok(transaction)
    }

    fn execute(&self, statement: &str) -> Result<(), Failure> {
        let done = self.runtime.block_on(self.client.batch_execute(statement));
        done.map_err(|error| failed("PostgreSQL", &format!("cannot execute {statement:?}"), &error))
    }

    /// The result of a statement.
    pub(crate) fn rows(&self, statement: &str) -> Result<Vec<SumsRow>, Failure> {
        let typed = format!(
            "SELECT CAST(kind AS text), CAST(option AS bigint), CAST(part AS bigint), CAST(position AS bigint), \
             CAST(numbers AS text) FROM (\n{statement}) AS result"
        );
        let rows = self.runtime.block_on(self.client.query(&typed, &[])).map_err(|error| {
            failed("PostgreSQL", "cannot compute the sums", &error)
                .help("the table needs the columns of the policy document; numbers and times must have such types")
        })?;
        let row = |row: &tokio_postgres::Row| {
            Ok(SumsRow {
                kind: row.try_get(0)?,
                option: row.try_get(1)?,
                part: row.try_get(2)?,
                position: row.try_get(3)?,
                numbers: row.try_get(4)?,
            })
        };
        let rows: Result<Vec<SumsRow>, tokio_postgres::Error> = rows.iter().map(row).collect();
        rows.map_err(|error| failed("PostgreSQL", "sent a result that cannot be read", &error))
    }
}

/// An error with what the server says.
fn failed(place: &str, what: &str, error: &tokio_postgres::Error) -> Failure {
    let failure = Failure::new(format!("{place}: {what}"));
    match error.as_db_error() {
        Some(said) => failure.caused_by(said),
        None => failure.caused_by(error),
    }
}

/// The settings of an address, and how certificates are checked. `sslmode` is libpq's: `verify-full` and `verify-ca` check the server's
/// certificate, `require` only encrypts, `prefer` does so if the server can.
fn configuration(address: &str) -> Result<(Config, TrustedCertificates), Failure> {
    let invalid = |problem: &str| {
        Failure::new(format!("{}: {problem}", without_password(address))).help(
            "write postgres://USER@HOST/DATABASE, with ?sslmode=disable, prefer, require or verify-full if you like",
        )
    };
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
        Some("require" | "verify-ca" | "verify-full") => (SslMode::Require, TrustedCertificates::of(root.as_deref())?),
        Some(_) => return Err(invalid("has an unknown sslmode")),
    };
    config.ssl_mode(mode).application_name("rarely");
    Ok((config, certificates))
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
            assert_eq!(without_password(address), shown);
            assert!(
                !configuration(&format!("{address}&sslmode=wrong"))
                    .map_or_else(|error| error.to_string(), |_| String::new())
                    .contains("secret")
            );
        }
    }

    #[test]
    fn the_mode_of_encryption_is_libpq_s() {
        let mode = |query: &str| {
            let (config, certificates) = configuration(&format!("postgres://me@host/logs{query}")).expect("an address");
            (config.get_ssl_mode(), matches!(certificates, TrustedCertificates::Any))
        };
        assert_eq!(mode(""), (SslMode::Prefer, true));
        assert_eq!(mode("?sslmode=disable"), (SslMode::Disable, true));
        assert_eq!(mode("?connect_timeout=3&sslmode=require"), (SslMode::Require, true));
        assert_eq!(mode("?sslmode=verify-full"), (SslMode::Require, false));
        assert!(configuration("postgres://me@host/logs?sslmode=maybe").is_err());
    }
}
