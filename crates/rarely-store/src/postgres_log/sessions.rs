//! Sessions of people who are signed in. All replicas share them: no lease fences them, so any replica opens, reads and ends them.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::lease::StoreLink;
use super::session::{Session, SessionError, Worker};
use crate::error::StoreError;
use crate::hash::Hash;

/// How long the database may take. Somebody waits for a page.
const PATIENCE: Duration = Duration::from_secs(5);

/// The sessions in a store in PostgreSQL: texts under keys, until they end. Clones share a connection, which is not that of the lease.
#[derive(Clone)]
pub struct SessionTable {
    worker: Arc<Worker>,
    link: Arc<StoreLink>,
    path: PathBuf,
}

impl SessionTable {
    pub(super) fn new(worker: Arc<Worker>, link: StoreLink, path: PathBuf) -> Self {
        Self { worker, link: Arc::new(link), path }
    }

    /// Keeps a session for so long. Removes those that have ended, and the oldest while there are more than `most`.
    ///
    /// # Errors
    /// If the database does not answer, or does not acknowledge it.
    pub fn keep(&self, key: &Hash, session: &str, lasting: Duration, most: u64) -> Result<(), StoreError> {
        // While there are few, the inner query has no row, which `greatest` ignores. Rows that another replica is removing are skipped.
        let statement = "WITH ended AS (DELETE FROM rarely.sessions WHERE key IN (SELECT key FROM rarely.sessions \
             WHERE expires <= greatest(clock_timestamp(), (SELECT expires FROM rarely.sessions ORDER BY expires DESC OFFSET $4 LIMIT 1)) \
             FOR UPDATE SKIP LOCKED)) \
             INSERT INTO rarely.sessions(key, session, expires) VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))";
        let (key, session, seconds) = (key.0.to_vec(), session.to_owned(), lasting.as_secs_f64());
        let others = i64::try_from(most.saturating_sub(1)).unwrap_or(i64::MAX);
        self.ask("opening a session", move |connection| async move {
            connection.write(statement, &[&key, &session, &seconds, &others]).await.map(drop)
        })
    }

    /// The session under a key, if it has not ended.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn find(&self, key: &Hash) -> Result<Option<String>, StoreError> {
        let statement = "SELECT session FROM rarely.sessions WHERE key = $1 AND expires > clock_timestamp()";
        let key = key.0.to_vec();
        self.ask("reading a session", move |connection| async move {
            let rows = connection.query(statement, &[&key]).await?;
            Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
        })
    }

    /// Ends the session under a key, if there is one.
    ///
    /// # Errors
    /// If the database does not answer, or does not acknowledge it.
    pub fn end(&self, key: &Hash) -> Result<(), StoreError> {
        let statement = "DELETE FROM rarely.sessions WHERE key = $1";
        let key = key.0.to_vec();
        self.ask(
            "ending a session",
            move |connection| async move { connection.write(statement, &[&key]).await.map(drop) },
        )
    }

    /// How many sessions have not ended.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn count(&self) -> Result<u64, StoreError> {
        let statement = "SELECT count(*) FROM rarely.sessions WHERE expires > clock_timestamp()";
        self.ask("counting the sessions", move |connection| async move {
            let rows = connection.query(statement, &[]).await?;
            let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
            Ok(count.unsigned_abs())
        })
    }

    fn ask<R, F>(
        &self,
        what: &'static str,
        work: impl FnOnce(Arc<Session>) -> F + Send + 'static,
    ) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: Future<Output = Result<R, SessionError>> + Send + 'static,
    {
        let link = self.link.clone();
        let answer = self.worker.run(PATIENCE, async move { link.kept(work).await });
        answer.map_err(|error| error.of(what, &self.path))
    }
}

impl fmt::Debug for SessionTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SessionTable({})", self.path.display())
    }
}
