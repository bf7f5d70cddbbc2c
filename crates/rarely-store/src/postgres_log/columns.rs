//! What one append writes.

use std::collections::BTreeMap;

use tokio_postgres::types::ToSql;

use super::session::{Session, SessionError};
use super::signed;
use crate::entry::{KeyedEntry, LookupKey};
use crate::sqlite_log::seal;

/// Entries as the columns that one statement writes.
#[derive(Default)]
pub(super) struct EntryColumns {
    numbers: Vec<i64>,
    times: Vec<i64>,
    actors: Vec<String>,
    policies: Vec<i64>,
    kinds: Vec<String>,
    bodies: Vec<String>,
    hashes: Vec<Vec<u8>>,
    elapsed: Vec<Option<i64>>,
    /// Of equal keys the latest entry.
    keys: BTreeMap<LookupKey, u64>,
    /// The people whose keys are destroyed.
    destroyed: Vec<Vec<u8>>,
    /// The entries whose bodies are moved out of the log, …
    archived: Vec<i64>,
    /// … and what stays of them.
    stubs: Vec<String>,
}

impl EntryColumns {
    /// `None` if a number is 2⁶³ or more.
    pub(super) fn of(entries: &[KeyedEntry]) -> Option<Self> {
        let mut columns = Self::default();
        for KeyedEntry { entry, key, destroys, archives } in entries {
            columns.numbers.push(signed(entry.number)?);
            columns.times.push(signed(entry.time_ms)?);
            columns.actors.push(entry.actor.clone());
            columns.policies.push(signed(entry.policy)?);
            columns.kinds.push(entry.kind.clone());
            columns.bodies.push(entry.body.clone());
            columns.hashes.push(entry.hash.0.to_vec());
            columns.elapsed.push(match entry.elapsed_ms {
                Some(elapsed_ms) => Some(signed(elapsed_ms)?),
                None => None,
            });
            columns.keys.extend(key.clone().map(|key| (key, entry.number)));
            for (number, stub) in archives {
                columns.archived.push(signed(*number)?);
                columns.stubs.push(stub.clone());
            }
            columns.destroyed.extend(destroys.iter().map(|tag| tag.0.to_vec()));
        }
        Some(columns)
    }

    pub(super) async fn append(self, session: &Session, chain: i64, epoch: i64) -> Result<(), SessionError> {
        let marks: Vec<&[u8]> = self.keys.keys().map(LookupKey::as_bytes).collect();
        let numbers: Vec<i64> = self.keys.values().filter_map(|number| signed(*number)).collect();
        let seals: Vec<i64> = self.keys.iter().map(|(key, number)| seal(key, *number)).collect();
        let statement = "SELECT rarely.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
        let Self { numbers: events, times, actors, policies, kinds, bodies, hashes, elapsed, .. } = &self;
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![
            &chain, &epoch, events, times, actors, policies, kinds, bodies, hashes, elapsed, &marks, &numbers, &seals,
        ];
        if self.destroyed.is_empty() && self.archived.is_empty() {
            return session.write(statement, &values).await.map(drop);
        }
        // One statement, and so one transaction.
        let statement = "SELECT rarely.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13), rarely.destroy_subjects($1, $2, $14), rarely.archive($1, $2, $15, $16)";
        values.extend([&self.destroyed as &(dyn ToSql + Sync), &self.archived, &self.stubs]);
        session.write(statement, &values).await.map(drop)
    }
}
