//! The tables: creation, migrations and checks.

use std::path::Path;

use rand_core::{OsRng, RngCore as _};

use super::session::{Session, SessionError};
use super::{CHAIN, POSTGRES_FORMAT};
use crate::error::StoreError;
use crate::hex::Hex;

/// Migrations run one at a time: the number of the lock is "rare" in ASCII.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1918989925)";

/// Migration *n* makes format *n* of format *n* − 1.
const MIGRATIONS: [&str; 2] = [include_str!("format_1.sql"), include_str!("format_2.sql")];

const BEGINNING: &str = "CREATE TABLE rarely.meta(name text PRIMARY KEY, value text NOT NULL); \
     INSERT INTO rarely.meta VALUES ('format', '0')";

/// What the database says about the log.
pub(super) struct Described {
    /// The log's id.
    pub(super) id: String,
    /// What replicas show each other.
    pub(super) secret: String,
    /// Whether a copy into this database was not finished.
    pub(super) copying: bool,
}

/// Creates the tables or brings them to the present format, one program at a time. Refuses a newer format.
pub(super) async fn migrate(session: &Session, path: &Path) -> Result<(), SessionError> {
    let client = session.client();
    client.batch_execute("BEGIN").await?;
    client.batch_execute(LOCK).await?;
    let migrated = migrate_locked(session, path).await;
    client.batch_execute(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    migrated
}

async fn migrate_locked(session: &Session, path: &Path) -> Result<(), SessionError> {
    let client = session.client();
    let mut found = format(session).await?;
    if found.is_none() {
        let rows = client.query("SELECT to_regnamespace('rarely') IS NULL", &[]).await?;
        if rows.first().map_or(Ok(false), |row| row.try_get(0))? {
            client.batch_execute("CREATE SCHEMA rarely").await?;
        }
        client.batch_execute(BEGINNING).await?;
        found = Some(0);
    }
    let found = found.unwrap_or_default();
    if found > POSTGRES_FORMAT {
        let path = path.to_owned();
        return Err(SessionError::Store(StoreError::NewerFormat { path, found, known: POSTGRES_FORMAT }));
    }
    let done = usize::try_from(found).unwrap_or(MIGRATIONS.len());
    for (number, migration) in (1_u64..).zip(MIGRATIONS).skip(done) {
        client.batch_execute(migration).await?;
        client.batch_execute(&format!("UPDATE rarely.meta SET value = '{number}' WHERE name = 'format'")).await?;
    }
    client
        .execute("INSERT INTO rarely.chains(chain, id) VALUES ($1, $2) ON CONFLICT DO NOTHING", &[&CHAIN, &random(16)])
        .await?;
    client
        .execute(
            "INSERT INTO rarely.leases(chain, epoch, owner, address, expires) VALUES ($1, 0, '', '', '-infinity') \
             ON CONFLICT DO NOTHING",
            &[&CHAIN],
        )
        .await?;
    client
        .execute("INSERT INTO rarely.meta VALUES ('replica secret', $1) ON CONFLICT DO NOTHING", &[&random(32)])
        .await?;
    client
        .execute("INSERT INTO rarely.meta VALUES ('subject secret', $1) ON CONFLICT DO NOTHING", &[&random(32)])
        .await?;
    Ok(())
}

/// Checks that there is a log of a known format.
pub(super) async fn describe(session: &Session, path: &Path) -> Result<Described, SessionError> {
    match format(session).await? {
        Some(found) if found > POSTGRES_FORMAT => {
            let path = path.to_owned();
            return Err(SessionError::Store(StoreError::NewerFormat { path, found, known: POSTGRES_FORMAT }));
        }
        Some(1..) => {}
        _ => return Err(SessionError::Store(StoreError::Missing { path: path.to_owned() })),
    }
    let rows = session
        .query(
            "SELECT id, copying, (SELECT value FROM rarely.meta WHERE name = 'replica secret') FROM rarely.chains WHERE chain = $1",
            &[&CHAIN],
        )
        .await?;
    let Some(row) = rows.first() else {
        return Err(SessionError::Store(StoreError::Missing { path: path.to_owned() }));
    };
    Ok(Described { id: row.try_get(0)?, copying: row.try_get(1)?, secret: row.try_get(2)? })
}

/// The format of the tables; `None` if there are none.
async fn format(session: &Session) -> Result<Option<u64>, SessionError> {
    let there = session.query("SELECT to_regclass('rarely.meta') IS NOT NULL", &[]).await?;
    if !there.first().map_or(Ok(false), |row| row.try_get(0))? {
        return Ok(None);
    }
    let rows = session.query("SELECT value FROM rarely.meta WHERE name = 'format'", &[]).await?;
    let value: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(value.and_then(|value| value.parse().ok()))
}

fn random(bytes: usize) -> String {
    let mut drawn = vec![0; bytes];
    OsRng.fill_bytes(&mut drawn);
    Hex(&drawn).to_string()
}
