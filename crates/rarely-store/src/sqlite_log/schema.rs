//! The tables: creation and checks.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::{FORMAT, WHOLE};
use crate::error::StoreError;

/// The application id in the file's header: "rare" in ASCII.
const APPLICATION: i64 = 0x7261_7265;

pub(super) const INSERT_EVENT: &str = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
pub(super) const UPSERT_KEY: &str = "INSERT INTO marks(mark, number, seal) VALUES (?1, ?2, ?3) \
     ON CONFLICT(mark) DO UPDATE SET number = excluded.number, seal = excluded.seal";

pub(super) const UPSERT_CHECKPOINT: &str = "INSERT INTO checkpoints(size, note) VALUES (?1, ?2) \
     ON CONFLICT(size) DO UPDATE SET note = excluded.note";
pub(super) const UPSERT_BLOCK: &str = "INSERT INTO tree(block, root) VALUES (?1, ?2) \
     ON CONFLICT(block) DO UPDATE SET root = excluded.root";

// The index contains the row's number anyway, and in that order. Naming it would store it twice, and only one of the two
// would be checked.
const TABLES: &str = "
CREATE TABLE events(
  number  INTEGER PRIMARY KEY,
  time_ms INTEGER NOT NULL,
  actor   TEXT NOT NULL,
  policy  INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  body    TEXT NOT NULL,
  hash    BLOB NOT NULL,
  elapsed_ms INTEGER
) STRICT;
CREATE INDEX events_by_policy ON events(policy);
CREATE TABLE marks(
  mark   BLOB PRIMARY KEY,
  number INTEGER NOT NULL,
  seal   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta(
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('id', lower(hex(randomblob(16))));
";

// Later than the others. A program that does not know them leaves them alone, and what is missing is computed again.
const TREE_TABLES: &str = "
CREATE TABLE IF NOT EXISTS tree(
  block INTEGER PRIMARY KEY,
  root  BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS checkpoints(
  size INTEGER PRIMARY KEY,
  note TEXT NOT NULL
) STRICT;
";

// Later still. Numbers rise, so that rows stay where they are and leave no copies of keys behind.
const SUBJECT_TABLE: &str = "
CREATE TABLE IF NOT EXISTS subjects(
  number INTEGER PRIMARY KEY,
  tag  BLOB NOT NULL UNIQUE,
  name BLOB NOT NULL UNIQUE,
  key  BLOB NOT NULL
) STRICT;
INSERT OR IGNORE INTO meta VALUES ('subject secret', lower(hex(randomblob(32))));
";

/// Creates the tables in an empty database, or checks an existing one. Returns the store's id.
pub(super) fn prepare(connection: &Connection, path: &Path) -> Result<String, StoreError> {
    let wrap = |error| StoreError::database("opening the store", path, error);
    if is_empty(connection).map_err(wrap)? {
        create(connection).map_err(wrap)?;
    }
    let id = check(connection, path)?;
    upgrade(connection).map_err(wrap)?;
    // WAL mode is set at creation; another program may have changed it.
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(wrap)?;
    if mode.eq_ignore_ascii_case("wal") {
        if !has_tree(connection).map_err(wrap)? {
            connection.execute_batch(TREE_TABLES).map_err(wrap)?;
        }
        if !has_subjects(connection).map_err(wrap)? {
            connection.execute_batch(SUBJECT_TABLE).map_err(wrap)?;
        }
        return Ok(id);
    }
    Err(StoreError::Io {
        what: "SQLite cannot use a write-ahead log here, perhaps because this is a network disk",
        path: path.to_owned(),
        source: std::io::ErrorKind::Unsupported.into(),
    })
}

/// Checks that this is a store with a supported format. Returns its id.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<String, StoreError> {
    let wrap = |error| StoreError::database("opening the store", path, error);
    let not_a_store = |found: &str| StoreError::NotAStore { path: path.to_owned(), found: found.to_owned() };
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(wrap)?;
    if application != APPLICATION {
        let empty = is_empty(connection).map_err(wrap)?;
        return Err(not_a_store(if empty { "an empty database" } else { "another program's SQLite database" }));
    }
    let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(wrap)?;
    match u64::try_from(format) {
        Ok(found) if found > FORMAT => {
            return Err(StoreError::NewerFormat { path: path.to_owned(), found, known: FORMAT });
        }
        Ok(1..) => {}
        _ => return Err(not_a_store(&format!("format {format}"))),
    }
    let id = connection.query_row("SELECT value FROM meta WHERE name = 'id'", [], |row| row.get(0)).optional();
    id.map_err(wrap)?.ok_or_else(|| StoreError::Damaged {
        what: "opening the store",
        path: path.to_owned(),
        found: "it has no id".to_owned(),
    })
}

/// Brings an older format to the present one. Programs that do not know it refuse the store from then on.
fn upgrade(connection: &Connection) -> Result<(), rusqlite::Error> {
    let format =
        |connection: &Connection| connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    if format(connection)? >= 2 {
        return Ok(());
    }
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if format(&transaction)? < 2 {
        transaction.execute_batch("ALTER TABLE events ADD COLUMN elapsed_ms INTEGER")?;
        transaction.pragma_update(None, "user_version", 2)?;
    }
    transaction.commit()
}

/// Whether the tables of the tree exist. A store that only older versions have written lacks them.
pub(super) fn has_tree(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let found = "SELECT count(*) = 2 FROM sqlite_schema WHERE type = 'table' AND name IN ('tree', 'checkpoints')";
    connection.query_row(found, [], |row| row.get(0))
}

/// Whether the table of people's keys exists.
pub(super) fn has_subjects(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let found = "SELECT count(*) = 1 FROM sqlite_schema WHERE type = 'table' AND name = 'subjects'";
    connection.query_row(found, [], |row| row.get(0))
}

fn is_empty(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Creates the tables, all or none. If this is interrupted, the database is empty and the next start creates them.
fn create(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have created them while we waited for the transaction.
    if is_empty(&transaction)? {
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(TREE_TABLES)?;
        transaction.execute_batch(SUBJECT_TABLE)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", i64::try_from(WHOLE).unwrap_or(i64::MAX))?;
    }
    transaction.commit()
}
