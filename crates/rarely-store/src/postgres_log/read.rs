//! The queries.

use tokio_postgres::{Error as PostgresError, Row};

use super::session::{Session, SessionError};
use super::signed;
use crate::entry::{LogEntry, LookupKey};
use crate::error::StoreError;
use crate::hash::Hash;

macro_rules! select_events {
    ($rest:literal) => {
        concat!(
            "SELECT number, time_ms, actor, policy, kind, body, hash, elapsed_ms FROM rarely.events WHERE chain = $1 ",
            $rest
        )
    };
}

pub(super) async fn head(session: &Session, chain: i64) -> Result<Option<(u64, Hash)>, SessionError> {
    let last = "SELECT number, hash FROM rarely.events WHERE chain = $1 ORDER BY number DESC LIMIT 1";
    let rows = session.query(last, &[&chain]).await?;
    rows.first().map(|row| Ok((unsigned(row, 0)?, hash(row, 1)?))).transpose()
}

pub(super) async fn entry(session: &Session, chain: i64, number: u64) -> Result<Option<LogEntry>, SessionError> {
    let Some(number) = signed(number) else { return Ok(None) };
    let rows = session.query(select_events!("AND number = $2"), &[&chain, &number]).await?;
    rows.first().map(whole).transpose()
}

pub(super) async fn entries(
    session: &Session,
    chain: i64,
    after: u64,
    policy: Option<u64>,
    limit: usize,
) -> Result<Vec<LogEntry>, SessionError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (Some(after), Some(policy)) = (signed(after), policy.map_or(Some(None), |policy| signed(policy).map(Some)))
    else {
        return Ok(Vec::new());
    };
    let rows = match policy {
        None => {
            session.query(select_events!("AND number > $2 ORDER BY number LIMIT $3"), &[&chain, &after, &limit]).await?
        }
        Some(policy) => {
            session
                .query(
                    select_events!("AND policy = $2 AND number > $3 ORDER BY number LIMIT $4"),
                    &[&chain, &policy, &after, &limit],
                )
                .await?
        }
    };
    rows.iter().map(whole).collect()
}

pub(super) async fn entries_before(
    session: &Session,
    chain: i64,
    before: u64,
    policy: Option<u64>,
    limit: usize,
) -> Result<Vec<LogEntry>, SessionError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let before = signed(before).unwrap_or(i64::MAX);
    let Some(policy) = policy.map_or(Some(None), |policy| signed(policy).map(Some)) else { return Ok(Vec::new()) };
    let rows = match policy {
        None => {
            session
                .query(select_events!("AND number < $2 ORDER BY number DESC LIMIT $3"), &[&chain, &before, &limit])
                .await?
        }
        Some(policy) => {
            session
                .query(
                    select_events!("AND policy = $2 AND number < $3 ORDER BY number DESC LIMIT $4"),
                    &[&chain, &policy, &before, &limit],
                )
                .await?
        }
    };
    rows.iter().map(whole).collect()
}

/// The entry of a key, unless it is beyond the last acknowledged one.
pub(super) async fn find(
    session: &Session,
    chain: i64,
    key: &[u8],
    acknowledged: i64,
) -> Result<Option<u64>, SessionError> {
    let found = "SELECT number FROM rarely.marks WHERE chain = $1 AND mark = $2 AND number <= $3";
    let rows = session.query(found, &[&chain, &key, &acknowledged]).await?;
    rows.first().map(|row| unsigned(row, 0)).transpose()
}

/// The entries of these numbers, in any order.
pub(super) async fn entries_of(session: &Session, chain: i64, numbers: &[i64]) -> Result<Vec<LogEntry>, SessionError> {
    // Not `number = ANY($2)`: for a table that is small when the plan is made, PostgreSQL finds it cheapest to read all rows of the chain,
    // and keeps that plan while the table grows.
    let found = "SELECT event.* FROM unnest($2::bigint[]) AS asked(number) CROSS JOIN LATERAL \
         (SELECT number, time_ms, actor, policy, kind, body, hash, elapsed_ms FROM rarely.events \
         WHERE chain = $1 AND number = asked.number LIMIT 1) AS event";
    let rows = session.query(found, &[&chain, &numbers]).await?;
    rows.iter().map(whole).collect()
}

/// Those of these keys that are known, unless they are beyond the last acknowledged entry.
pub(super) async fn find_all(
    session: &Session,
    chain: i64,
    keys: &[Vec<u8>],
    acknowledged: i64,
) -> Result<Vec<(Vec<u8>, u64)>, SessionError> {
    // As above.
    let found = "SELECT known.* FROM unnest($2::bytea[]) AS asked(mark) CROSS JOIN LATERAL \
         (SELECT mark, number FROM rarely.marks WHERE chain = $1 AND mark = asked.mark AND number <= $3 LIMIT 1) AS known";
    let rows = session.query(found, &[&chain, &keys, &acknowledged]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, unsigned(row, 1)?))).collect()
}

pub(super) async fn hashes(session: &Session, chain: i64, after: u64, limit: usize) -> Result<Vec<Hash>, SessionError> {
    let Some(after) = signed(after) else { return Ok(Vec::new()) };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = "SELECT hash FROM rarely.events WHERE chain = $1 AND number > $2 ORDER BY number LIMIT $3";
    session.query(found, &[&chain, &after, &limit]).await?.iter().map(|row| hash(row, 0)).collect()
}

pub(super) async fn tree_blocks(session: &Session, chain: i64) -> Result<Vec<Hash>, SessionError> {
    let rows = session.query("SELECT block, root FROM rarely.tree WHERE chain = $1 ORDER BY block", &[&chain]).await?;
    let mut blocks = Vec::new();
    for row in &rows {
        // What follows a gap is not used.
        if unsigned(row, 0)? != blocks.len() as u64 {
            break;
        }
        blocks.push(hash(row, 1)?);
    }
    Ok(blocks)
}

/// The notes of checkpoints of sizes above `after`; with `last`, only the greatest.
pub(super) async fn checkpoints(
    session: &Session,
    chain: i64,
    after: Option<u64>,
    last: bool,
) -> Result<Vec<String>, SessionError> {
    let Some(after) = after.map_or(Some(-1), signed) else { return Ok(Vec::new()) };
    let found = if last {
        "SELECT note FROM rarely.checkpoints WHERE chain = $1 AND size > $2 ORDER BY size DESC LIMIT 1"
    } else {
        "SELECT note FROM rarely.checkpoints WHERE chain = $1 AND size > $2 ORDER BY size"
    };
    let rows = session.query(found, &[&chain, &after]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, PostgresError>>()?)
}

/// Keys after this one, each with its number and checksum.
pub(super) async fn marks_after(
    session: &Session,
    chain: i64,
    after: &[u8],
    limit: i64,
) -> Result<Vec<(LookupKey, u64, i64)>, SessionError> {
    let found = "SELECT mark, number, seal FROM rarely.marks WHERE chain = $1 AND mark > $2 ORDER BY mark LIMIT $3";
    let rows = session.query(found, &[&chain, &after, &limit]).await?;
    rows.iter()
        .map(|row| Ok((LookupKey::from_stored(row.try_get::<_, &[u8]>(0)?), unsigned(row, 1)?, row.try_get(2)?)))
        .collect()
}

/// Policies and numbers after this pair, as the policy index has them.
pub(super) async fn policies_after(
    session: &Session,
    chain: i64,
    after: (i64, i64),
    limit: i64,
) -> Result<Vec<(u64, u64)>, SessionError> {
    let found = "SELECT policy, number FROM rarely.events WHERE chain = $1 AND (policy, number) > ($2, $3) \
         ORDER BY policy, number LIMIT $4";
    let rows = session.query(found, &[&chain, &after.0, &after.1, &limit]).await?;
    rows.iter().map(|row| Ok((unsigned(row, 0)?, unsigned(row, 1)?))).collect()
}

pub(super) async fn snapshot(session: &Session, chain: i64) -> Result<Option<Vec<u8>>, SessionError> {
    let rows = session.query("SELECT header, body FROM rarely.snapshots WHERE chain = $1", &[&chain]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let mut bytes = row.try_get::<_, String>(0)?.into_bytes();
    bytes.push(b'\n');
    bytes.extend_from_slice(row.try_get::<_, &[u8]>(1)?);
    Ok(Some(bytes))
}

fn whole(row: &Row) -> Result<LogEntry, SessionError> {
    Ok(LogEntry {
        number: unsigned(row, 0)?,
        time_ms: unsigned(row, 1)?,
        actor: row.try_get(2)?,
        policy: unsigned(row, 3)?,
        kind: row.try_get(4)?,
        body: row.try_get(5)?,
        hash: hash(row, 6)?,
        elapsed_ms: row.try_get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
    })
}

fn unsigned(row: &Row, column: usize) -> Result<u64, SessionError> {
    let number: i64 = row.try_get(column)?;
    u64::try_from(number).map_err(|_| damaged(format!("the number {number} is negative")))
}

fn hash(row: &Row, column: usize) -> Result<Hash, SessionError> {
    let bytes: &[u8] = row.try_get(column)?;
    let length = bytes.len();
    bytes.try_into().map(Hash).map_err(|_| damaged(format!("a hash has {length} bytes")))
}

/// The content is invalid. Whoever reports it knows where.
fn damaged(found: String) -> SessionError {
    SessionError::Store(StoreError::Damaged { what: "reading the store", path: "the database".into(), found })
}
