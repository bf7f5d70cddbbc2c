//! Connections to PostgreSQL, and the thread on which they live.

use std::collections::HashMap;
use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rarely_error::with_causes;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error as PostgresError, Row, Statement};

use super::server_status::DurabilitySettings;
use crate::error::StoreError;
use crate::postgres_address::PostgresAddress;
use crate::sqlite_log::Durability;

/// How long an answer is awaited where nothing else limits it.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A thread with a runtime of its own, so that a log can be used from any thread, also from one of another runtime.
pub(super) struct Worker {
    handle: Handle,
    /// Dropping it ends the thread.
    _running: oneshot::Sender<()>,
}

impl Worker {
    pub(super) fn start() -> Result<Arc<Self>, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(StoreError::Thread)?;
        let (running, stopped) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        let work = move || drop(runtime.block_on(stopped));
        thread::Builder::new().name("store-postgres".to_owned()).spawn(work).map_err(StoreError::Thread)?;
        Ok(Arc::new(Self { handle, _running: running }))
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `work` on the thread and waits for it, at most for `patience`.
    pub(super) fn run<R: Send + 'static>(
        &self,
        patience: Duration,
        work: impl Future<Output = Result<R, SessionError>> + Send + 'static,
    ) -> Result<R, SessionError> {
        let (send, receive) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let result = tokio::time::timeout(patience, work).await;
            // An error means that the caller is gone, which cannot be: it waits.
            let _ = send.send(result.unwrap_or(Err(SessionError::TimedOut(patience))));
        });
        receive.recv().unwrap_or(Err(SessionError::Ended))
    }
}

/// Why the database gave no answer that can be relied on.
#[derive(Debug)]
pub(super) enum SessionError {
    Postgres(PostgresError),
    /// There was no answer in this time.
    TimedOut(Duration),
    /// The transaction is committed, but the server warns that it may not be replicated.
    Unreplicated,
    /// The thread has ended.
    Ended,
    /// Something else, already in words.
    Store(StoreError),
}

impl From<PostgresError> for SessionError {
    fn from(error: PostgresError) -> Self {
        Self::Postgres(error)
    }
}

impl SessionError {
    /// Whether another connection may do better.
    pub(super) fn is_connection_lost(&self) -> bool {
        let Self::Postgres(error) = self else { return false };
        // Of the server's own errors, those of classes 08 and 57P are about the connection.
        error.code().is_none_or(|code| code.code().starts_with("08") || code.code().starts_with("57P"))
    }

    /// Whether a lock could not be had in time.
    pub(super) fn is_lock_timeout(&self) -> bool {
        use tokio_postgres::error::SqlState;
        matches!(self, Self::Postgres(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// The error of an operation on the store at `path`.
    pub(super) fn of(self, what: &'static str, path: &Path) -> StoreError {
        let path = path.to_owned();
        let said = match self {
            Self::Store(error) => return error,
            Self::Unreplicated => return StoreError::Unreplicated { path },
            Self::TimedOut(patience) => format!("no answer within {} seconds", patience.as_secs_f64()),
            Self::Ended => return StoreError::Closed,
            Self::Postgres(error) => match error.code().map(tokio_postgres::error::SqlState::code) {
                Some("53100") => return StoreError::DiskFull { what, path },
                Some(FENCED) => return StoreError::Fenced { path },
                _ => in_words(&error),
            },
        };
        StoreError::Postgres { what, path, said }
    }
}

/// The code with which the functions of the schema refuse a write of an earlier epoch.
const FENCED: &str = "RL001";

/// What the server or the network says.
pub(crate) fn in_words(error: &PostgresError) -> String {
    error.as_db_error().map_or_else(|| with_causes(error), |said| said.message().to_owned())
}

/// A connection.
pub(super) struct Session {
    client: Client,
    warnings: Arc<AtomicU64>,
    statements: Mutex<HashMap<&'static str, Statement>>,
}

impl Session {
    /// For reading what was just written, and so not at a standby.
    pub(super) async fn to_read(address: &PostgresAddress) -> Result<Self, SessionError> {
        Self::connect(address, Some("rarely reader")).await
    }

    /// For reading what is there now: everything happens in one transaction, which does not see what is written meanwhile.
    pub(super) async fn to_audit(address: &PostgresAddress) -> Result<Self, SessionError> {
        let session = Self::connect(address, None).await?;
        session.client.batch_execute("SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0").await?;
        session.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        Ok(session)
    }

    /// For writing, under a name by which the server's administrator knows it. Refuses settings under which a committed
    /// transaction can be lost, unless durability is relaxed.
    pub(super) async fn to_write(
        address: &PostgresAddress,
        name: &str,
        durability: Durability,
        lock_timeout: Duration,
    ) -> Result<Self, SessionError> {
        let session = Self::connect(address, Some(name)).await?;
        let settings = format!(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; SET lock_timeout = {}; \
             SET idle_in_transaction_session_timeout = '10s'; SET statement_timeout = 0",
            lock_timeout.as_millis().max(1)
        );
        session.client.batch_execute(&settings).await?;
        let settings = DurabilitySettings::of(&session).await?;
        settings.check(address, durability).map_err(SessionError::Store)?;
        let commit = settings.synchronous_commit;
        // A change of the server's configuration must not weaken a connection that was checked.
        if ["on", "off", "local", "remote_write", "remote_apply"].contains(&commit.as_str()) {
            session.client.batch_execute(&format!("SET synchronous_commit = {commit}")).await?;
        }
        Ok(session)
    }

    async fn connect(address: &PostgresAddress, writer: Option<&str>) -> Result<Self, SessionError> {
        let warnings = Arc::default();
        let client = address.connect_as(writer, &warnings).await?;
        let session = Self { client, warnings, statements: Mutex::default() };
        // Every query has an index. Where a table is small this is slower by nothing that counts, and a plan is kept while the table grows.
        session.client.batch_execute("SET enable_seqscan = off").await?;
        let encoding = session.query("SELECT current_setting('server_encoding')", &[]).await?;
        let encoding: String = encoding.first().map_or(Ok(String::new()), |row| row.try_get(0))?;
        if encoding != "UTF8" {
            let found = format!("its database has the encoding {encoding}, and UTF8 is required");
            return Err(SessionError::Store(StoreError::NotAStore { path: address.path(), found }));
        }
        Ok(session)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) async fn query(
        &self,
        statement: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, PostgresError> {
        let statement = self.prepared(statement).await?;
        self.client.query(&statement, values).await
    }

    /// Executes a statement that writes, in a transaction of its own. It has succeeded only if the server has no warning: a
    /// commit that does not wait for its standbys any more is one.
    pub(super) async fn write(
        &self,
        statement: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, SessionError> {
        let statement = self.prepared(statement).await?;
        let before = self.warnings.load(Ordering::SeqCst);
        let rows = self.client.query(&statement, values).await?;
        if self.warnings.load(Ordering::SeqCst) == before { Ok(rows) } else { Err(SessionError::Unreplicated) }
    }

    /// Executes several statements in one transaction, as [`write`](Self::write). They are sent at once, so that the server completes
    /// them whatever becomes of this program.
    pub(super) async fn write_transaction(&self, statements: &str) -> Result<(), SessionError> {
        let before = self.warnings.load(Ordering::SeqCst);
        self.client.batch_execute(&format!("BEGIN; {statements}; COMMIT")).await?;
        if self.warnings.load(Ordering::SeqCst) == before { Ok(()) } else { Err(SessionError::Unreplicated) }
    }

    async fn prepared(&self, text: &'static str) -> Result<Statement, PostgresError> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(text).await?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).insert(text, statement.clone());
        Ok(statement)
    }
}
