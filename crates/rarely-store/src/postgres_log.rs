//! The log in PostgreSQL: the same entries, chain, keys and checkpoints as in SQLite, for a service on several machines.
//!
//! Every write is one statement, which calls a function of the schema: it checks the epoch of the lease, then writes, and the
//! server commits. A program that is stopped at any moment therefore leaves no transaction open.

mod chains;
mod columns;
mod lease;
mod pool;
mod read;
mod schema;
mod server_status;
mod session;
mod sessions;
mod subjects;

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::entry::{KeyedEntry, LogEntry, LookupKey};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::postgres_address::PostgresAddress;
use crate::signed_checkpoint::{CheckpointError, SignedCheckpoint};
use crate::sqlite_log::{Durability, seal};
use columns::EntryColumns;
use pool::ReadPool;
use session::{PATIENCE, Session, SessionError, Worker};

pub use chains::ChainStatus;
pub use lease::{Lease, LeaseStatus, PostgresStore};
pub use server_status::{DurabilitySettings, ServerStatus};
pub use sessions::SessionTable;

/// The newest format of the tables in PostgreSQL that this version reads and writes.
pub const POSTGRES_FORMAT: u64 = schema::MIGRATIONS.len() as u64;

/// The chain of the service itself: tokens, people, and policies that were registered before there were others.
const SERVICE: i64 = 0;

/// Rows read at once where all are visited.
const BLOCK: i64 = 16_384;

/// A chain as a log, in tables of a PostgreSQL database.
pub struct PostgresLog {
    worker: Arc<Worker>,
    address: Arc<PostgresAddress>,
    path: PathBuf,
    chain: i64,
    id: String,
    reading: ReadSessions,
    writer: Option<Writer>,
}

enum ReadSessions {
    /// Any connection will do.
    Pool(Arc<ReadPool>),
    /// One transaction sees everything.
    Transaction(Arc<Session>),
}

struct Writer {
    epoch: i64,
    durability: Durability,
    /// How long a write may take.
    patience: Duration,
    /// `None` after a failure.
    session: Mutex<Option<Arc<Session>>>,
    /// The last entry whose commit was acknowledged. A later one may be visible although it is not yet replicated.
    acknowledged: AtomicI64,
}

impl PostgresLog {
    /// Opens the chain of the service itself for reading, as [`open_chain_read_only`](Self::open_chain_read_only).
    ///
    /// # Errors
    /// As of [`open_chain_read_only`](Self::open_chain_read_only).
    pub fn open_read_only(address: PostgresAddress) -> Result<Self, StoreError> {
        Self::open_chain_read_only(address, 0)
    }

    /// Opens a chain for reading as it is now, also while others write to it: later reads do not see later entries. Works at a
    /// standby, too.
    ///
    /// # Errors
    /// If there is no such chain, or the database cannot be reached or has a newer format.
    pub fn open_chain_read_only(address: PostgresAddress, chain: u64) -> Result<Self, StoreError> {
        let path = address.path();
        let found = Self::open_chains_read_only(address)?.into_iter().find(|log| log.chain.unsigned_abs() == chain);
        found.ok_or(StoreError::Missing { path })
    }

    /// Opens all chains for reading as they are at one moment, in order of their numbers.
    ///
    /// # Errors
    /// As of [`open_chain_read_only`](Self::open_chain_read_only).
    pub fn open_chains_read_only(address: PostgresAddress) -> Result<Vec<Self>, StoreError> {
        let (worker, path, address) = (Worker::start()?, address.path(), Arc::new(address));
        let (connecting, place) = (address.clone(), path.clone());
        let opened = worker.run(PATIENCE, async move {
            let session = Session::to_audit(&connecting).await?;
            let copying = schema::describe(&session, &place, SERVICE).await?.copying;
            let chains = schema::chains(&session).await?;
            Ok((Arc::new(session), copying, chains))
        });
        let (session, copying, chains) = opened.map_err(|error| error.of("opening the store", &path))?;
        if copying {
            return Err(StoreError::CopyInterrupted { path });
        }
        let log = |(chain, id)| Self {
            worker: worker.clone(),
            address: address.clone(),
            path: path.clone(),
            chain,
            id,
            reading: ReadSessions::Transaction(session.clone()),
            writer: None,
        };
        Ok(chains.into_iter().map(log).collect())
    }

    /// The log's id: of the service's own chain 32 random hexadecimal digits, of another that with its number. Copies have the same id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The address, without its password.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who owns the chain.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn lease(&self) -> Result<LeaseStatus, StoreError> {
        self.read("reading the lease", lease::status)
    }

    /// The stored snapshot, as the bytes of a snapshot file.
    pub(crate) fn snapshot(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.read("reading the snapshot", |session, chain| async move { read::snapshot(&session, chain).await })
    }

    /// Replaces the snapshot, or removes it.
    pub(crate) fn keep_snapshot(&self, snapshot: Option<(String, Vec<u8>)>) -> Result<(), StoreError> {
        let (header, body) = snapshot.map_or((None, None), |(header, body)| (Some(header), Some(body)));
        // Not on the connection that appends: a large snapshot would hold it up.
        let (address, path) = (self.address.clone(), self.path.clone());
        let (chain, &Writer { epoch, durability, .. }) = (self.chain, self.writer()?);
        let kept = self.worker.run(PATIENCE * 10, async move {
            let session = Session::to_write(&address, "rarely snapshot", durability, PATIENCE).await?;
            let statement = "SELECT rarely.keep_snapshot($1, $2, $3, $4)";
            session.write(statement, &[&chain, &epoch, &header, &body]).await.map(drop)
        });
        kept.map_err(|error| error.of("writing the snapshot", &path))
    }

    /// Removes all entries, keys, roots and checkpoints, and the snapshot.
    pub(crate) fn forget_everything(&self) -> Result<(), StoreError> {
        let (address, path) = (self.address.clone(), self.path.clone());
        let (chain, &Writer { epoch, durability, .. }) = (self.chain, self.writer()?);
        let forgotten = self.worker.run(PATIENCE * 10, async move {
            let session = Session::to_write(&address, "rarely restore", durability, PATIENCE).await?;
            session.write_transaction(&schema::forget_everything(chain, epoch)).await
        });
        forgotten.map_err(|error| error.of("removing the log that is replaced", &path))?;
        self.reopen()
    }

    fn writer(&self) -> Result<&Writer, StoreError> {
        self.writer.as_ref().ok_or_else(|| StoreError::Io {
            what: "writing to a store opened for reading",
            path: self.path.clone(),
            source: std::io::ErrorKind::PermissionDenied.into(),
        })
    }

    /// Runs a query, on another connection if the first was lost.
    fn read<R, F>(&self, what: &'static str, query: impl Fn(Arc<Session>, i64) -> F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: Future<Output = Result<R, SessionError>> + Send + 'static,
    {
        let fail = |error: SessionError| error.of(what, &self.path);
        let pool = match &self.reading {
            ReadSessions::Transaction(session) => {
                return self.worker.run(PATIENCE, query(session.clone(), self.chain)).map_err(fail);
            }
            ReadSessions::Pool(pool) => pool,
        };
        for attempt in 0.. {
            let session = if let Some(session) = pool.take() {
                session
            } else {
                let address = self.address.clone();
                let connected = self.worker.run(PATIENCE, async move { Session::to_read(&address).await });
                Arc::new(connected.map_err(fail)?)
            };
            match self.worker.run(PATIENCE, query(session.clone(), self.chain)) {
                Ok(result) => {
                    pool.keep(session);
                    return Ok(result);
                }
                // The connection is dropped.
                Err(error) if attempt == 0 && error.is_connection_lost() => {}
                Err(error) => return Err(fail(error)),
            }
        }
        Err(StoreError::Closed)
    }

    /// Runs a statement that writes, on the one connection for that. After a failure that connection is closed.
    fn write<R, F>(&self, what: &'static str, statement: impl FnOnce(Arc<Session>, i64) -> F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: Future<Output = Result<R, SessionError>> + Send + 'static,
    {
        let writer = self.writer()?;
        let mut kept = writer.session.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = kept.as_ref() else {
            let said = "the database could not be reached again after a failure".to_owned();
            return Err(StoreError::Postgres { what, path: self.path.clone(), said });
        };
        let written = self.worker.run(writer.patience, statement(session.clone(), self.chain));
        written.map_err(|error| {
            *kept = None;
            error.of(what, &self.path)
        })
    }

    fn read_checkpoints(&self, after: Option<u64>, last: bool) -> Result<Vec<SignedCheckpoint>, StoreError> {
        const WHAT: &str = "reading the checkpoints";
        let notes = self
            .read(WHAT, move |session, chain| async move { read::checkpoints(&session, chain, after, last).await })?;
        let parsed = notes.iter().map(|note| note.parse());
        parsed.collect::<Result<_, CheckpointError>>().map_err(|error| StoreError::Damaged {
            what: WHAT,
            path: self.path.clone(),
            found: error.to_string(),
        })
    }
}

impl EventLog for PostgresLog {
    fn append(&self, entries: &[KeyedEntry]) -> Result<(), StoreError> {
        let Some(last) = entries.last() else { return Ok(()) };
        let (epoch, last) = (self.writer()?.epoch, last.entry.number);
        let columns = EntryColumns::of(entries).ok_or(StoreError::OutOfOrder { expected: 0, found: last })?;
        self.write("appending events", |session, chain| async move { columns.append(&session, chain, epoch).await })?;
        self.writer()?.acknowledged.store(signed(last).unwrap_or(i64::MAX), Ordering::SeqCst);
        Ok(())
    }

    fn compact(&self) -> Result<(), StoreError> {
        self.vacuum("compacting the store", &["events", "marks"])
    }

    fn reopen(&self) -> Result<(), StoreError> {
        const WHAT: &str = "reopening the store";
        let writer = self.writer()?;
        let mut kept = writer.session.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = None;
        let (address, chain) = (self.address.clone(), self.chain);
        let &Writer { epoch, durability, patience, .. } = writer;
        let opened = self.worker.run(patience, async move {
            let name = format!("rarely writer {chain} {epoch}");
            let session = Session::to_write(&address, &name, durability, patience).await?;
            barrier(&session, chain, epoch).await?;
            // The barrier is acknowledged, so everything before it is replicated, also what was never acknowledged.
            let head = read::head(&session, chain).await?;
            Ok((session, head))
        });
        let (session, head) = opened.map_err(|error| error.of(WHAT, &self.path))?;
        let head = head.map_or(0, |(number, _)| number);
        writer.acknowledged.store(signed(head).unwrap_or(i64::MAX), Ordering::SeqCst);
        *kept = Some(Arc::new(session));
        Ok(())
    }

    fn try_to_write(&self) -> Result<(), StoreError> {
        let epoch = self.writer()?.epoch;
        if self.writer()?.session.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.reopen()?;
        }
        self.write("writing to the database", |session, chain| async move { barrier(&session, chain, epoch).await })
    }

    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        self.read("reading the end of the log", |session, chain| async move { read::head(&session, chain).await })
    }

    fn entry(&self, number: u64) -> Result<Option<LogEntry>, StoreError> {
        self.read("reading an event", move |session, chain| async move { read::entry(&session, chain, number).await })
    }

    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let query = move |session: Arc<Session>, chain| async move {
            read::entries(&session, chain, after, policy, limit).await
        };
        self.read("reading events", query)
    }

    fn entries_before(&self, before: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let query = move |session: Arc<Session>, chain| async move {
            read::entries_before(&session, chain, before, policy, limit).await
        };
        self.read("reading events", query)
    }

    fn find(&self, key: &LookupKey) -> Result<Option<u64>, StoreError> {
        // Read before the query: an entry that is acknowledged meanwhile is found by the caller's own search.
        let acknowledged = self.writer.as_ref().map_or(i64::MAX, |writer| writer.acknowledged.load(Ordering::SeqCst));
        let key: Arc<[u8]> = key.as_bytes().into();
        self.read("looking up a key", move |session, chain| {
            let key = key.clone();
            async move { read::find(&session, chain, &key, acknowledged).await }
        })
    }

    fn entry_each(&self, numbers: &[u64]) -> Result<Vec<Option<LogEntry>>, StoreError> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Arc<[i64]> = numbers.iter().filter_map(|&number| signed(number)).collect();
        let found = self.read("reading events", move |session, chain| {
            let asked = asked.clone();
            async move { read::entries_of(&session, chain, &asked).await }
        })?;
        let found: HashMap<u64, LogEntry> = found.into_iter().map(|entry| (entry.number, entry)).collect();
        Ok(numbers.iter().map(|number| found.get(number).cloned()).collect())
    }

    fn find_each(&self, keys: &[LookupKey]) -> Result<Vec<Option<u64>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        // As in `find`.
        let acknowledged = self.writer.as_ref().map_or(i64::MAX, |writer| writer.acknowledged.load(Ordering::SeqCst));
        let asked: Arc<[Vec<u8>]> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        let found = self.read("looking up keys", move |session, chain| {
            let asked = asked.clone();
            async move { read::find_all(&session, chain, &asked, acknowledged).await }
        })?;
        let found: HashMap<Vec<u8>, u64> = found.into_iter().collect();
        Ok(keys.iter().map(|key| found.get(key.as_bytes()).copied()).collect())
    }

    fn reads_in_groups(&self) -> bool {
        true
    }

    fn hashes(&self, after: u64, limit: usize) -> Result<Vec<Hash>, StoreError> {
        self.read("reading the hashes of events", move |session, chain| async move {
            read::hashes(&session, chain, after, limit).await
        })
    }

    fn keep_checkpoint(&self, checkpoint: &SignedCheckpoint, first: u64, blocks: &[Hash]) -> Result<(), StoreError> {
        const WHAT: &str = "storing a checkpoint";
        let epoch = self.writer()?.epoch;
        let size = signed(checkpoint.size()).unwrap_or(i64::MAX);
        let numbers: Vec<i64> = (first..).zip(blocks).filter_map(|(block, _)| signed(block)).collect();
        let roots: Vec<Vec<u8>> = blocks.iter().map(|root| root.0.to_vec()).collect();
        let note = checkpoint.to_string();
        self.write(WHAT, |session, chain| async move {
            let statement = "SELECT rarely.keep_checkpoint($1, $2, $3, $4, $5, $6)";
            session.write(statement, &[&chain, &epoch, &size, &note, &numbers, &roots]).await.map(drop)
        })
    }

    fn checkpoints(&self, after: Option<u64>) -> Result<Vec<SignedCheckpoint>, StoreError> {
        self.read_checkpoints(after, false)
    }

    fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        Ok(self.read_checkpoints(None, true)?.pop())
    }

    fn tree_blocks(&self) -> Result<Vec<Hash>, StoreError> {
        self.read("reading the tree", |session, chain| async move { read::tree_blocks(&session, chain).await })
    }

    fn lookup_keys(&self, visit: &mut dyn FnMut(&LookupKey, u64)) -> Result<(), StoreError> {
        const WHAT: &str = "reading the lookup keys";
        let mut after: Arc<[u8]> = Arc::default();
        loop {
            let from = after.clone();
            let block = self.read(WHAT, move |session, chain| {
                let from = from.clone();
                async move { read::marks_after(&session, chain, &from, BLOCK).await }
            })?;
            for (key, number, checksum) in &block {
                if *checksum != seal(key, *number) {
                    let found = format!("the checksum of {key:?} does not match");
                    return Err(StoreError::Damaged { what: WHAT, path: self.path.clone(), found });
                }
                visit(key, *number);
            }
            let Some((last, ..)) = block.last() else { return Ok(()) };
            after = last.as_bytes().into();
        }
    }

    fn policy_index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        let mut after = (-1, -1);
        loop {
            let block = self.read("reading the policy index", move |session, chain| async move {
                read::policies_after(&session, chain, after, BLOCK).await
            })?;
            for (policy, number) in &block {
                visit(*policy, *number);
            }
            let Some((policy, number)) = block.last() else { return Ok(()) };
            after = (signed(*policy).unwrap_or(i64::MAX), signed(*number).unwrap_or(i64::MAX));
        }
    }
}

/// A write without an effect. When it is acknowledged, so is everything that was written before it.
async fn barrier(session: &Session, chain: i64, epoch: i64) -> Result<(), SessionError> {
    let statement = "UPDATE rarely.leases SET expires = expires WHERE chain = $1 AND epoch = $2 RETURNING epoch";
    let rows = session.write(statement, &[&chain, &epoch]).await?;
    if rows.is_empty() {
        // As the functions of the schema say it.
        session.query("SELECT rarely.fence($1, $2)", &[&chain, &epoch]).await?;
    }
    Ok(())
}

/// PostgreSQL's integers are signed. `None` for a number of 2⁶³ or more.
fn signed(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}
