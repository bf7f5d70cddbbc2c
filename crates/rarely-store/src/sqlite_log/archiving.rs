//! Bodies that are moved out of the log.

use std::sync::PoisonError;

use rusqlite::{Connection, params};

use super::{FORMAT, SqliteLog, checkpoint, signed};
use crate::error::StoreError;

/// Puts stubs in place of bodies and removes the keys of these entries, in the transaction of the entry that says so. Returns an estimate
/// of the bytes added to the write-ahead log.
pub(super) fn archive(transaction: &Connection, stubs: &[(u64, String)]) -> Result<u64, rusqlite::Error> {
    if stubs.is_empty() {
        return Ok(0);
    }
    let mut bytes = 0;
    transaction.execute_batch("CREATE TEMP TABLE IF NOT EXISTS leaving(number INTEGER PRIMARY KEY)")?;
    transaction.execute("DELETE FROM temp.leaving", [])?;
    {
        let mut change = transaction.prepare_cached("UPDATE events SET body = ?2 WHERE number = ?1")?;
        let mut leave = transaction.prepare_cached("INSERT INTO temp.leaving VALUES (?1)")?;
        for (number, stub) in stubs {
            change.execute(params![signed(*number)?, stub])?;
            leave.execute([signed(*number)?])?;
            bytes += 80 + stub.len() as u64;
        }
    }
    transaction.execute("DELETE FROM marks WHERE number IN (SELECT number FROM temp.leaving)", [])?;
    transaction.execute("DELETE FROM temp.leaving", [])?;
    Ok(bytes)
}

/// Raises the format: a program that does not know archives would take the log for a damaged one.
pub(super) fn refuse_earlier_programs(transaction: &Connection) -> Result<(), rusqlite::Error> {
    transaction.pragma_update(None, "user_version", signed(FORMAT)?)
}

impl SqliteLog {
    /// Rewrites the database without free space. Nothing is written meanwhile.
    pub(super) fn vacuum(&self) -> Result<(), StoreError> {
        const WHAT: &str = "compacting the store";
        let gate = self.writer()?.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = gate.as_ref().ok_or_else(|| self.unopened(WHAT))?;
        let compact = || -> Result<(), rusqlite::Error> {
            checkpoint::truncate(connection)?;
            connection.execute_batch("VACUUM")?;
            // What a reader keeps there now, the next start moves.
            checkpoint::truncate(connection).map(drop)
        };
        compact().map_err(|error| StoreError::database(WHAT, &self.path, error))
    }
}
