//! What a PostgreSQL server is set to, as far as it matters to a store.

use std::sync::Arc;

use tokio_postgres::Row;

use super::session::{PATIENCE, Session, SessionError, Worker};
use crate::error::StoreError;
use crate::postgres_address::PostgresAddress;
use crate::sqlite_log::Durability;

/// A PostgreSQL server and its settings, as a connection finds them. Reading it changes nothing and needs no store.
#[derive(Debug)]
pub struct ServerStatus {
    /// The server's version.
    pub version: String,
    /// Whether it is a standby, at which nothing can be written.
    pub is_standby: bool,
    /// The server's clock, in milliseconds since 1970.
    pub time_ms: u64,
    /// Connections of all programs to all its databases.
    pub connections: u64,
    /// How many connections there may be, without those that are reserved for superusers.
    pub most_connections: u64,
    /// What decides whether an acknowledged event can be lost.
    pub settings: DurabilitySettings,
}

/// The settings that decide whether an acknowledged transaction can be lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurabilitySettings {
    /// What a commit waits for.
    pub synchronous_commit: String,
    /// The standbys that it waits for; empty if there are none.
    pub synchronous_standby_names: String,
    /// Whether what is written reaches the disk.
    pub fsync: String,
    /// Whether a page that was written half can be mended.
    pub full_page_writes: String,
}

impl ServerStatus {
    /// Connects and asks.
    ///
    /// # Errors
    /// If the database cannot be reached, or has another encoding than UTF8.
    pub fn of(address: PostgresAddress) -> Result<Self, StoreError> {
        let (worker, path) = (Worker::start()?, address.path());
        let address = Arc::new(address);
        let asked = worker.run(PATIENCE, async move { Self::found(&Session::to_audit(&address).await?).await });
        asked.map_err(|error| error.of("reading the settings of the server", &path))
    }

    async fn found(session: &Session) -> Result<Self, SessionError> {
        let statement = "SELECT current_setting('server_version'), pg_is_in_recovery(), \
             (extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
             (SELECT sum(numbackends)::bigint FROM pg_stat_database), \
             current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint";
        let rows = session.query(statement, &[]).await?;
        let settings = DurabilitySettings::of(session).await?;
        let row = rows.first().ok_or(SessionError::Ended)?;
        let count = |column: usize| row.try_get::<_, i64>(column).map(i64::unsigned_abs);
        Ok(Self {
            version: row.try_get(0)?,
            is_standby: row.try_get(1)?,
            time_ms: count(2)?,
            connections: count(3)?,
            most_connections: count(4)?,
            settings,
        })
    }
}

impl DurabilitySettings {
    pub(super) async fn of(session: &Session) -> Result<Self, SessionError> {
        let statement = "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
             current_setting('fsync'), current_setting('full_page_writes')";
        let rows = session.query(statement, &[]).await?;
        let row: &Row = rows.first().ok_or(SessionError::Ended)?;
        Ok(Self {
            synchronous_commit: row.try_get(0)?,
            synchronous_standby_names: row.try_get(1)?,
            fsync: row.try_get(2)?,
            full_page_writes: row.try_get(3)?,
        })
    }

    /// The first setting under which an acknowledged event can be lost, as the error with which a service refuses it.
    ///
    /// # Errors
    /// [`StoreError::WeakSetting`].
    pub fn check(&self, address: &PostgresAddress, durability: Durability) -> Result<(), StoreError> {
        let commit = if self.synchronous_standby_names.trim().is_empty() { "on" } else { "remote_apply" };
        let checks = [
            ("synchronous_commit", &self.synchronous_commit, commit),
            ("fsync", &self.fsync, "on"),
            ("full_page_writes", &self.full_page_writes, "on"),
        ];
        for (setting, found, required) in checks {
            let stronger = setting == "synchronous_commit" && found == "remote_apply";
            if durability == Durability::Full && found != required && !stronger {
                return Err(StoreError::WeakSetting { path: address.path(), setting, found: found.clone(), required });
            }
        }
        Ok(())
    }
}
