//! The tables: creation, migrations and checks.

use std::future::Future;
use std::path::Path;

use rand_core::{OsRng, RngCore as _};

use super::session::{Session, SessionError};
use super::{POSTGRES_FORMAT, SERVICE};
use crate::error::StoreError;
use crate::hex::Hex;

/// Migrations run one at a time: the number of the lock is "rare" in ASCII.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1918989925)";

/// Migration *n* makes format *n* of format *n* − 1. The tables `meta` and `leases` keep their columns in every format, so that a replica of an
/// older version still sees who owns the log.
pub(super) const MIGRATIONS: [&str; 4] = [
    include_str!("format_1.sql"),
    include_str!("format_2.sql"),
    include_str!("format_3.sql"),
    include_str!("format_4.sql"),
];

const BEGINNING: &str = "CREATE TABLE rarely.meta(name text PRIMARY KEY, value text NOT NULL); \
     INSERT INTO rarely.meta VALUES ('format', '0')";

/// Which programs can use the log.
pub(super) struct StoreVersions {
    /// The format of the tables.
    pub(super) format: u64,
    /// The latest edition of events that a program that has owned the log may have written.
    pub(super) edition: u64,
}

/// What the database says about a chain.
pub(super) struct Described {
    /// The chain's id.
    pub(super) id: String,
    /// What replicas show each other.
    pub(super) secret: String,
    /// Whether a copy into this database, into any of its chains, was not finished.
    pub(super) copying: bool,
}

/// Creates the tables if there are none, one program at a time.
pub(super) async fn create(session: &Session) -> Result<(), SessionError> {
    in_turn(session, async {
        let client = session.client();
        if format(session).await?.is_none() {
            let rows = client.query("SELECT to_regnamespace('rarely') IS NULL", &[]).await?;
            if rows.first().map_or(Ok(false), |row| row.try_get(0))? {
                client.batch_execute("CREATE SCHEMA rarely").await?;
            }
            client.batch_execute(BEGINNING).await?;
            migrate(session, &MIGRATIONS, 0).await?;
            let values = format!(
                "INSERT INTO rarely.chains(chain, id) VALUES ({SERVICE}, '{}'); \
                 INSERT INTO rarely.leases(chain, epoch, owner, address, expires) VALUES ({SERVICE}, 0, '', '', '-infinity'); \
                 INSERT INTO rarely.meta VALUES ('replica secret', '{}')",
                random(16),
                random(32)
            );
            client.batch_execute(&values).await?;
        }
        Ok(())
    })
    .await
}

/// Brings the tables to the format of these migrations, unless somebody owns a chain: its program knows only the earlier format.
pub(super) async fn upgrade(session: &Session, migrations: &[&str]) -> Result<(), SessionError> {
    in_turn(session, async {
        let free = "SELECT expires <= clock_timestamp() FROM rarely.leases ORDER BY chain FOR UPDATE";
        for lease in &session.query(free, &[]).await? {
            if !lease.try_get::<_, bool>(0)? {
                return Ok(());
            }
        }
        let found = format(session).await?.unwrap_or_default();
        migrate(session, migrations, found).await
    })
    .await
}

async fn migrate(session: &Session, migrations: &[&str], found: u64) -> Result<(), SessionError> {
    let done = usize::try_from(found).unwrap_or(migrations.len());
    for (number, migration) in (1_u64..).zip(migrations).skip(done) {
        session.client().batch_execute(migration).await?;
        let reached = format!("UPDATE rarely.meta SET value = '{number}' WHERE name = 'format'");
        session.client().batch_execute(&reached).await?;
    }
    // Under it names of people are digested, from format 2 on.
    let secret = format!("INSERT INTO rarely.meta VALUES ('subject secret', '{}') ON CONFLICT DO NOTHING", random(32));
    session.client().batch_execute(&secret).await?;
    Ok(())
}

/// Does something in a transaction, one program at a time.
async fn in_turn(session: &Session, work: impl Future<Output = Result<(), SessionError>>) -> Result<(), SessionError> {
    let client = session.client();
    client.batch_execute("BEGIN").await?;
    client.batch_execute(LOCK).await?;
    let done = work.await;
    client.batch_execute(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    done
}

/// What programs must know to own the log. Refuses those that are newer than `edition`, or than the tables that this program knows.
pub(super) async fn versions(session: &Session, path: &Path, edition: u64) -> Result<StoreVersions, SessionError> {
    let refused = |error: StoreError| Err(SessionError::Store(error));
    let rows = session.query("SELECT name, value FROM rarely.meta WHERE name IN ('format', 'edition')", &[]).await?;
    let mut versions = StoreVersions { format: 0, edition: 0 };
    for row in &rows {
        let value = row.try_get::<_, &str>(1)?.parse().unwrap_or(u64::MAX);
        match row.try_get(0)? {
            "format" => versions.format = value,
            _ => versions.edition = value,
        }
    }
    let path = || path.to_owned();
    if versions.format > POSTGRES_FORMAT {
        return refused(StoreError::NewerFormat { path: path(), found: versions.format, known: POSTGRES_FORMAT });
    }
    if versions.edition > edition {
        return refused(StoreError::NewerEvents { path: path(), found: versions.edition, known: edition });
    }
    Ok(versions)
}

/// Checks that there is such a chain, in tables of a known format.
pub(super) async fn describe(session: &Session, path: &Path, chain: i64) -> Result<Described, SessionError> {
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
            "SELECT id, (SELECT bool_or(copying) FROM rarely.chains), \
             (SELECT value FROM rarely.meta WHERE name = 'replica secret') FROM rarely.chains WHERE chain = $1",
            &[&chain],
        )
        .await?;
    let Some(row) = rows.first() else {
        return Err(SessionError::Store(StoreError::Missing { path: path.to_owned() }));
    };
    Ok(Described { id: row.try_get(0)?, copying: row.try_get(1)?, secret: row.try_get(2)? })
}

/// The numbers and ids of all chains, in order.
pub(super) async fn chains(session: &Session) -> Result<Vec<(i64, String)>, SessionError> {
    let rows = session.query("SELECT chain, id FROM rarely.chains ORDER BY chain", &[]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Removes the whole log of a chain; with the service's own, also who is signed in: a token may be valid again that was revoked.
pub(super) fn forget_everything(chain: i64, epoch: i64) -> String {
    let tables = ["events", "marks", "tree", "checkpoints", "snapshots", "subjects"];
    let deletions = tables.map(|table| format!("DELETE FROM rarely.{table} WHERE chain = {chain}; ")).concat();
    // What the next log contains, its first owner says. The edition is that of all chains: it goes with the service's own, which a
    // restore replaces last.
    let service = "DELETE FROM rarely.sessions; DELETE FROM rarely.meta WHERE name = 'edition'; ";
    let shared = if chain == SERVICE { service } else { "" };
    // The fence comes last, because this may take long and the owner cannot renew its lease while the lock is held.
    format!("{deletions}{shared}SELECT rarely.fence({chain}, {epoch})")
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

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::postgres_address::PostgresAddress;
    use crate::postgres_log::session::Worker;
    use crate::postgres_server::PostgresServer;
    use crate::sqlite_log::Durability;

    /// An owner of the older version goes on with the tables that it knows, whichever chain is its; they are migrated when it has ended.
    #[test]
    fn tables_are_migrated_when_nobody_owns_a_chain() {
        const NEXT: &str = "ALTER TABLE rarely.chains ADD COLUMN next text";
        const PATIENCE: Duration = Duration::from_secs(60);
        let server = PostgresServer::start();
        let worker = Worker::start().expect("a thread");
        let run = |migrations: &'static [&'static str]| {
            let address = PostgresAddress::parse(&server.address()).expect("an address");
            let done = worker.run(PATIENCE, async move {
                let session = Session::to_write(&address, "test", Durability::Full, PATIENCE).await?;
                create(&session).await?;
                upgrade(&session, migrations).await
            });
            done.map_err(|error| error.of("migrating", Path::new("the database")))
        };
        let format = || server.query("SELECT value FROM rarely.meta WHERE name = 'format'");
        run(&MIGRATIONS).expect("new tables");
        assert_eq!(format(), POSTGRES_FORMAT.to_string());
        server.query("INSERT INTO rarely.chains VALUES (1, 'x-1')");
        server.query("INSERT INTO rarely.leases VALUES (1, 4, 'an older one', '', 'infinity')");
        run(&[MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], NEXT]).expect("it waits");
        assert_eq!(format(), POSTGRES_FORMAT.to_string(), "somebody owns a chain");
        server.query("UPDATE rarely.leases SET expires = clock_timestamp()");
        // One that cannot be completed leaves nothing behind.
        run(&[
            MIGRATIONS[0],
            MIGRATIONS[1],
            MIGRATIONS[2],
            MIGRATIONS[3],
            "ALTER TABLE rarely.chains ADD COLUMN next text; SELECT nonsense",
        ])
        .expect_err("nonsense");
        assert_eq!(format(), POSTGRES_FORMAT.to_string());
        run(&[MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], NEXT]).expect("it is free");
        assert_eq!(format(), (POSTGRES_FORMAT + 1).to_string());
        run(&[MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], NEXT]).expect("once is enough");
    }
}
