//! Reading: a pool of connections, and the queries.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{CachedStatement, Connection, OpenFlags, OptionalExtension, Params, Row};

use super::{BUSY_TIMEOUT, schema, signed};
use crate::entry::{LogEntry, LookupKey};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::hex::Hex;

/// A pool of read connections, opened when needed.
pub(super) struct Readers {
    path: PathBuf,
    /// Whether the file is opened as one that never changes.
    immutable: bool,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    /// Incremented by each renewal. A connection of an earlier generation is not taken back.
    generation: u64,
}

impl Readers {
    /// The number of idle connections that are kept open.
    const KEPT: usize = 8;

    pub(super) fn new(path: &Path, immutable: bool) -> Self {
        Self { path: path.to_owned(), immutable, idle: Mutex::default() }
    }

    /// Runs `read` with a connection of the pool.
    pub(super) fn with<R>(
        &self,
        what: &'static str,
        read: impl FnOnce(&Connection) -> Result<R, rusqlite::Error>,
    ) -> Result<R, StoreError> {
        let wrap = |error| StoreError::database(what, &self.path, error);
        let (kept, generation) = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            (idle.connections.pop(), idle.generation)
        };
        let connection = match kept {
            Some(connection) => connection,
            None => self.connect().map_err(wrap)?,
        };
        // After an error the connection is dropped, and the next reader opens a new one.
        let answer = read(&connection).map_err(wrap)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.generation == generation && idle.connections.len() < Self::KEPT {
            idle.connections.push(connection);
        }
        Ok(answer)
    }

    /// Closes all connections; the next reader opens a new one.
    pub(super) fn renew(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.generation += 1;
        idle.connections.clear();
    }

    fn connect(&self) -> Result<Connection, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if self.immutable {
            Connection::open_with_flags(immutable_uri(&self.path), flags | OpenFlags::SQLITE_OPEN_URI)?
        } else {
            Connection::open_with_flags(&self.path, flags)?
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        // Detect a damaged page when it is read.
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(connection)
    }
}

pub(super) fn head(connection: &Connection) -> Result<Option<(u64, Hash)>, rusqlite::Error> {
    let mut last = connection.prepare_cached("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1")?;
    last.query_row([], |row| Ok((unsigned(row, 0)?, hash(row, 1)?))).optional()
}

pub(super) fn entry(connection: &Connection, number: u64) -> Result<Option<LogEntry>, rusqlite::Error> {
    let Ok(number) = signed(number) else { return Ok(None) };
    let mut one = connection.prepare_cached("SELECT * FROM events WHERE number = ?1")?;
    one.query_row([number], whole).optional()
}

pub(super) fn entries(
    connection: &Connection,
    after: u64,
    policy: Option<u64>,
    limit: usize,
) -> Result<Vec<LogEntry>, rusqlite::Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (Ok(after), Ok(policy)) = (signed(after), policy.map(signed).transpose()) else { return Ok(Vec::new()) };
    match policy {
        None => collect(
            connection.prepare_cached(
                "SELECT * FROM events \
                 WHERE number > ?1 ORDER BY number LIMIT ?2",
            )?,
            [after, limit],
        ),
        Some(policy) => collect(
            connection.prepare_cached(
                "SELECT * FROM events INDEXED BY events_by_policy \
                 WHERE policy = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
            )?,
            [policy, after, limit],
        ),
    }
}

pub(super) fn entries_before(
    connection: &Connection,
    before: u64,
    policy: Option<u64>,
    limit: usize,
) -> Result<Vec<LogEntry>, rusqlite::Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let Ok(policy) = policy.map(signed).transpose() else { return Ok(Vec::new()) };
    match policy {
        None => collect(
            connection.prepare_cached(
                "SELECT * FROM events \
                 WHERE number < ?1 ORDER BY number DESC LIMIT ?2",
            )?,
            [before, limit],
        ),
        Some(policy) => collect(
            connection.prepare_cached(
                "SELECT * FROM events INDEXED BY events_by_policy \
                 WHERE policy = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3",
            )?,
            [policy, before, limit],
        ),
    }
}

pub(super) fn find(connection: &Connection, key: &LookupKey) -> Result<Option<u64>, rusqlite::Error> {
    let mut found = connection.prepare_cached("SELECT number FROM marks WHERE mark = ?1")?;
    found.query_row([key.as_bytes()], |row| unsigned(row, 0)).optional()
}

pub(super) fn hashes(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Hash>, rusqlite::Error> {
    let Ok(after) = signed(after) else { return Ok(Vec::new()) };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = connection.prepare_cached("SELECT hash FROM events WHERE number > ?1 ORDER BY number LIMIT ?2")?;
    found.query_map([after, limit], |row| hash(row, 0))?.collect()
}

pub(super) fn tree_blocks(connection: &Connection) -> Result<Vec<Hash>, rusqlite::Error> {
    if !schema::has_tree(connection)? {
        return Ok(Vec::new());
    }
    let mut found = connection.prepare_cached("SELECT block, root FROM tree ORDER BY block")?;
    let mut rows = found.query([])?;
    let mut blocks = Vec::new();
    while let Some(row) = rows.next()? {
        // What follows a gap is not used.
        if unsigned(row, 0)? != blocks.len() as u64 {
            break;
        }
        blocks.push(hash(row, 1)?);
    }
    Ok(blocks)
}

/// The notes of checkpoints of sizes above `after`; with `last`, only the greatest.
pub(super) fn checkpoints(
    connection: &Connection,
    after: Option<u64>,
    last: bool,
) -> Result<Vec<String>, rusqlite::Error> {
    if !schema::has_tree(connection)? {
        return Ok(Vec::new());
    }
    let after = after.map_or(Ok(-1), signed)?;
    let mut found = connection.prepare_cached(if last {
        "SELECT note FROM checkpoints WHERE size > ?1 ORDER BY size DESC LIMIT 1"
    } else {
        "SELECT note FROM checkpoints WHERE size > ?1 ORDER BY size"
    })?;
    found.query_map([after], |row| row.get(0))?.collect()
}

/// Visits every key. Returns the first one whose checksum does not match.
pub(super) fn lookup_keys(
    connection: &Connection,
    visit: &mut dyn FnMut(&LookupKey, u64),
) -> Result<Option<LookupKey>, rusqlite::Error> {
    let mut all = connection.prepare("SELECT mark, number, seal FROM marks")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let key = LookupKey::from_stored(row.get_ref(0)?.as_blob()?);
        let number = unsigned(row, 1)?;
        if row.get::<_, i64>(2)? != seal(&key, number) {
            return Ok(Some(key));
        }
        visit(&key, number);
    }
    Ok(None)
}

pub(super) fn policy_index(connection: &Connection, visit: &mut dyn FnMut(u64, u64)) -> Result<(), rusqlite::Error> {
    let mut all =
        connection.prepare("SELECT policy, number FROM events INDEXED BY events_by_policy ORDER BY policy, number")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        visit(unsigned(row, 0)?, unsigned(row, 1)?);
    }
    Ok(())
}

/// The first problem that SQLite finds in its pages.
pub(super) fn structure(connection: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((found != "ok").then_some(found))
}

/// Eight bytes of SHA-256 over number and key. Lookup keys are not part of the hash chain; this checksum detects a damaged
/// one.
pub(crate) fn seal(key: &LookupKey, number: u64) -> i64 {
    let mut sealed = Vec::with_capacity(key.as_bytes().len() + 8);
    sealed.extend_from_slice(&number.to_be_bytes());
    sealed.extend_from_slice(key.as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = Hash::of(&sealed).0;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn collect(mut statement: CachedStatement<'_>, params: impl Params) -> Result<Vec<LogEntry>, rusqlite::Error> {
    statement.query_map(params, whole)?.collect()
}

fn whole(row: &Row<'_>) -> Result<LogEntry, rusqlite::Error> {
    Ok(LogEntry {
        number: unsigned(row, 0)?,
        time_ms: unsigned(row, 1)?,
        actor: row.get(2)?,
        policy: unsigned(row, 3)?,
        kind: row.get(4)?,
        body: row.get(5)?,
        hash: hash(row, 6)?,
        // A store that only earlier versions have written lacks the column.
        elapsed_ms: if row.as_ref().column_count() > 7 {
            row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs)
        } else {
            None
        },
    })
}

fn unsigned(row: &Row<'_>, column: usize) -> Result<u64, rusqlite::Error> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn hash(row: &Row<'_>, column: usize) -> Result<Hash, rusqlite::Error> {
    row.get(column).map(Hash)
}

/// A URI that tells SQLite that the file never changes.
fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(byte)),
            _ => {
                uri.push('%');
                uri.push_str(&Hex(&[byte]).to_string());
            }
        }
    }
    uri.push_str("?immutable=1");
    uri
}
