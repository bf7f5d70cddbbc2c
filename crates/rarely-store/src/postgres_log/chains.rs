//! The chains of a store: how many there are, which policy is in which, and the replicas that share them.

use std::time::Duration;

use super::lease::{Lease, LeaseStatus, PostgresStore};
use super::session::{PATIENCE, Session, SessionError};
use super::{SERVICE, signed};
use crate::error::StoreError;

/// One chain of a store, and who owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStatus {
    /// Its number: 0 is the chain of the service itself.
    pub number: u64,
    /// The id of its log.
    pub id: String,
    /// Who owns it.
    pub lease: LeaseStatus,
}

impl PostgresStore {
    /// All chains of the store, in order of their numbers.
    ///
    /// # Errors
    /// If the database does not answer within `patience`.
    pub fn chains(&self, patience: Duration) -> Result<Vec<ChainStatus>, StoreError> {
        let link = self.link.clone();
        let found = self.worker.run(patience, async move {
            link.kept(|session| async move {
                let statement = "SELECT coalesce(epoch, 0), coalesce(owner, ''), coalesce(address, ''), \
                     coalesce(expires <= clock_timestamp(), true), chain, id \
                     FROM rarely.chains LEFT JOIN rarely.leases USING (chain) ORDER BY chain";
                let rows = session.query(statement, &[]).await?;
                let status = |row: &tokio_postgres::Row| {
                    let number = row.try_get::<_, i64>(4)?.unsigned_abs();
                    Ok(ChainStatus { number, id: row.try_get(5)?, lease: LeaseStatus::of(row)? })
                };
                rows.iter().map(status).collect::<Result<_, SessionError>>()
            })
            .await
        });
        found.map_err(|error| error.of("reading the chains of the store", &self.path))
    }

    /// Adds chains until there are `count` beside the service's own. By the owner of that one.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the lease is over or that of another chain; others if the database does not acknowledge it.
    pub fn add_chains(&self, lease: &Lease, count: u64) -> Result<(), StoreError> {
        let (epoch, count) = (self.epoch_of(lease, SERVICE)?, signed(count).unwrap_or(i64::MAX));
        let link = self.link.clone();
        let added = self.worker.run(PATIENCE, async move {
            // `service_id` and `chain_number` take the ids apart.
            let statement = "WITH fenced AS (SELECT rarely.fence(0, $1)), \
                 chains AS (INSERT INTO rarely.chains(chain, id) SELECT number, service.id || '-' || number \
                 FROM fenced, rarely.chains AS service, generate_series(1, $2::bigint) AS number \
                 WHERE service.chain = 0 ON CONFLICT DO NOTHING) \
                 INSERT INTO rarely.leases(chain, epoch, owner, address, expires) SELECT number, 0, '', '', '-infinity' \
                 FROM fenced, generate_series(1, $2::bigint) AS number ON CONFLICT DO NOTHING";
            link.kept(|session| async move { session.write(statement, &[&epoch, &count]).await.map(drop) }).await
        });
        added.map_err(|error| error.of("adding chains to the store", &self.path))
    }

    /// The chain of a policy. One that has none gets the chain with the fewest policies; the service's own if there is no other.
    /// By the owner of the service's own chain.
    ///
    /// # Errors
    /// As of [`add_chains`](Self::add_chains).
    pub fn place(&self, lease: &Lease, policy: &str) -> Result<u64, StoreError> {
        let (link, epoch, policy) = (self.link.clone(), self.epoch_of(lease, SERVICE)?, policy.to_owned());
        let placed = self.worker.run(PATIENCE, async move {
            let statement = "WITH fenced AS (SELECT rarely.fence(0, $1)), \
                 emptiest AS (SELECT chain FROM rarely.chains LEFT JOIN rarely.placements USING (chain) WHERE chain > 0 \
                 GROUP BY chain ORDER BY count(policy), chain LIMIT 1) \
                 INSERT INTO rarely.placements(policy, chain) \
                 SELECT $2::text, coalesce((SELECT chain FROM emptiest), 0) FROM fenced \
                 ON CONFLICT (policy) DO UPDATE SET chain = placements.chain RETURNING chain";
            link.kept(|session| async move { session.write(statement, &[&epoch, &policy]).await })
                .await?
                .first()
                .map_or(Ok(SERVICE), |row| Ok(row.try_get(0)?))
        });
        let placed: i64 = placed.map_err(|error| error.of(PLACING, &self.path))?;
        Ok(placed.unsigned_abs())
    }

    /// Records that policies are in a chain, unless it is recorded where they are. By the owner of the service's own chain.
    ///
    /// # Errors
    /// As of [`add_chains`](Self::add_chains), and if there is no such chain.
    pub fn place_at(&self, lease: &Lease, policies: &[String], chain: u64) -> Result<(), StoreError> {
        let (epoch, chain) = (self.epoch_of(lease, SERVICE)?, signed(chain).unwrap_or(i64::MAX));
        let (link, policies) = (self.link.clone(), policies.to_vec());
        let placed = self.worker.run(PATIENCE, async move {
            let statement = "WITH fenced AS (SELECT rarely.fence(0, $1)) INSERT INTO rarely.placements(policy, chain) \
                 SELECT policy, $3::bigint FROM fenced, unnest($2::text[]) AS policy ON CONFLICT DO NOTHING";
            link.kept(|session| async move { session.write(statement, &[&epoch, &policies, &chain]).await.map(drop) })
                .await
        });
        placed.map_err(|error| error.of(PLACING, &self.path))
    }

    /// In which chain a policy is, if that is recorded.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn placement(&self, policy: &str) -> Result<Option<u64>, StoreError> {
        let (link, policy) = (self.link.clone(), policy.to_owned());
        let found = self.worker.run(PATIENCE, async move {
            link.kept(|session| async move {
                if !is_divisible(&session).await? {
                    return Ok(None);
                }
                let statement = "SELECT chain FROM rarely.placements WHERE policy = $1";
                let rows = session.query(statement, &[&policy]).await?;
                Ok(rows.first().map(|row| row.try_get::<_, i64>(0)).transpose()?)
            })
            .await
        });
        let found = found.map_err(|error| error.of("reading where a policy is", &self.path))?;
        Ok(found.map(i64::unsigned_abs))
    }

    /// Says for `term` that a replica runs. Returns the ids of all replicas that run, in order.
    ///
    /// # Errors
    /// If the database does not acknowledge it within the term.
    pub fn announce(&self, id: &str, address: &str, term: Duration) -> Result<Vec<String>, StoreError> {
        let (link, announced, address) = (self.link.clone(), id.to_owned(), address.to_owned());
        let found = self.worker.run(term, async move {
            link.kept(|session| async move {
                if !is_divisible(&session).await? {
                    return Ok(Vec::new());
                }
                // Replicas that do this at the same time do not wait for each other.
                let statement = "WITH gone AS (DELETE FROM rarely.replicas WHERE id IN (SELECT id FROM rarely.replicas \
                     WHERE expires <= clock_timestamp() AND id <> $1 FOR UPDATE SKIP LOCKED)), \
                     renewed AS (INSERT INTO rarely.replicas(id, address, expires) \
                     VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3)) \
                     ON CONFLICT (id) DO UPDATE SET address = excluded.address, expires = excluded.expires) \
                     SELECT id FROM rarely.replicas WHERE expires > clock_timestamp() AND id <> $1";
                let rows = session.write(statement, &[&announced, &address, &term.as_secs_f64()]).await?;
                rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<Vec<String>, SessionError>>()
            })
            .await
        });
        let mut ids = found.map_err(|error| error.of(ANNOUNCING, &self.path))?;
        ids.push(id.to_owned());
        // Not by the database, whose order depends on its language.
        ids.sort();
        Ok(ids)
    }

    /// Says that a replica ends.
    ///
    /// # Errors
    /// If the database does not acknowledge it.
    pub fn withdraw(&self, id: &str) -> Result<(), StoreError> {
        let (link, id) = (self.link.clone(), id.to_owned());
        let withdrawn = self.worker.run(PATIENCE, async move {
            link.kept(|session| async move {
                if is_divisible(&session).await? {
                    session.write("DELETE FROM rarely.replicas WHERE id = $1", &[&id]).await?;
                }
                Ok(())
            })
            .await
        });
        withdrawn.map_err(|error| error.of(ANNOUNCING, &self.path))
    }
}

const PLACING: &str = "recording where a policy is";
const ANNOUNCING: &str = "recording which replicas run";

/// Whether the tables can have several chains: those of a format before 4, whose owner is of an older version, cannot.
async fn is_divisible(session: &Session) -> Result<bool, SessionError> {
    let rows = session.query("SELECT to_regclass('rarely.replicas') IS NOT NULL", &[]).await?;
    Ok(rows.first().map_or(Ok(false), |row| row.try_get(0))?)
}
