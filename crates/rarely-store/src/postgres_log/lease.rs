//! Who writes: one owner at a time holds the lease of a chain.
//!
//! The lease is a row with an epoch, which grows with every owner. Every write checks the epoch in its own transaction, so that a
//! former owner cannot write, whatever it believes. The time limit decides only when another replica may take over: it is
//! compared with the database's clock. The owner stops earlier, by its own monotonic clock.

use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as AsyncMutex;
use tokio::task::AbortHandle;
use tokio_postgres::Row;

use super::pool::ReadPool;
use super::session::{PATIENCE, Session, SessionError, Worker};
use super::sessions::SessionTable;
use super::{POSTGRES_FORMAT, PostgresLog, ReadSessions, SERVICE, Writer, schema, signed};
use crate::error::StoreError;
use crate::event_log::EventLog as _;
use crate::postgres_address::PostgresAddress;
use crate::sqlite_log::Durability;

/// One chain of a store in PostgreSQL, as a replica of the service sees it: who owns it, and the right to own it.
#[derive(Clone)]
pub struct PostgresStore {
    pub(super) worker: Arc<Worker>,
    pub(super) address: Arc<PostgresAddress>,
    pub(super) path: PathBuf,
    pub(super) chain: i64,
    durability: Durability,
    /// The latest edition of events that this program reads; `u64::MAX` if it does not interpret them.
    edition: u64,
    secret: String,
    pub(super) link: Arc<StoreLink>,
    /// Of all chains.
    pool: Arc<ReadPool>,
}

/// Who owns a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseStatus {
    /// How many owners there have been.
    pub epoch: u64,
    /// The id of the owner; empty if there is none.
    pub owner: String,
    /// The address at which the owner takes requests.
    pub address: String,
    /// Whether its time is over, by the database's clock.
    pub expired: bool,
}

/// The right to write to a chain. It is renewed until it is dropped; the owner must stop when it is no longer
/// [valid](Lease::is_valid).
pub struct Lease {
    pub(super) chain: i64,
    pub(super) epoch: i64,
    term: Duration,
    valid_until: Arc<Mutex<Instant>>,
    renewing: AbortHandle,
    worker: Arc<Worker>,
    link: Arc<StoreLink>,
}

impl PostgresStore {
    /// Connects to the chain of the service itself, and creates the tables if there are none. Tables of an older format are brought to the present one when this program
    /// takes the lease, because the owner may be of the older version.
    ///
    /// # Errors
    /// If the database cannot be reached, has a newer format, or has settings under which acknowledged events can be lost.
    pub fn connect(address: PostgresAddress, durability: Durability) -> Result<Self, StoreError> {
        let store = Self::connect_incomplete(address, durability)?;
        if store.describe()?.copying {
            return Err(StoreError::CopyInterrupted { path: store.path });
        }
        Ok(store)
    }

    /// As [`connect`](Self::connect), also where a copy or a restore was interrupted, to complete it.
    ///
    /// # Errors
    /// As of [`connect`](Self::connect).
    pub fn connect_incomplete(address: PostgresAddress, durability: Durability) -> Result<Self, StoreError> {
        let (worker, path) = (Worker::start()?, address.path());
        let address = Arc::new(address);
        let link = Arc::new(StoreLink::new(&address, "rarely lease", durability));
        let (used, place) = (link.clone(), path.clone());
        let described = worker.run(PATIENCE, async move {
            let session = used.session().await?;
            schema::create(&session).await?;
            schema::describe(&session, &place, SERVICE).await
        });
        let secret = described.map_err(|error| error.of("opening the store", &path))?.secret;
        let (chain, edition, pool) = (SERVICE, u64::MAX, Arc::default());
        Ok(Self { worker, address, path, chain, durability, edition, secret, link, pool })
    }

    /// Another chain of the same store. All share their connections for leases and for reading.
    #[must_use]
    pub fn chain(&self, number: u64) -> Self {
        Self { chain: signed(number).unwrap_or(i64::MAX), ..self.clone() }
    }

    /// The number of the chain: 0 is that of the service itself.
    pub fn number(&self) -> u64 {
        self.chain.unsigned_abs()
    }

    /// Says that this program interprets events, and up to which edition. It then does not take the lease of a log that a program of a
    /// later edition has owned.
    ///
    /// # Errors
    /// [`StoreError::NewerEvents`] if such a program has owned the log.
    pub fn reading(mut self, edition: u64) -> Result<Self, StoreError> {
        self.edition = edition;
        self.versions()?;
        Ok(self)
    }

    fn versions(&self) -> Result<schema::StoreVersions, StoreError> {
        let (link, path, edition) = (self.link.clone(), self.path.clone(), self.edition);
        let versions = self.worker.run(PATIENCE, async move {
            link.kept(|session| async move { schema::versions(&session, &path, edition).await }).await
        });
        versions.map_err(|error| error.of("reading the format of the store", &self.path))
    }

    /// Brings the tables to the present format, if nobody owns a chain.
    fn upgrade(&self) -> Result<(), StoreError> {
        let (address, durability) = (self.address.clone(), self.durability);
        let upgraded = self.worker.run(PATIENCE * 10, async move {
            let session = Session::to_write(&address, "rarely migration", durability, PATIENCE).await?;
            schema::upgrade(&session, &schema::MIGRATIONS).await
        });
        upgraded.map_err(|error| error.of("bringing the tables to the present format", &self.path))
    }

    fn describe(&self) -> Result<schema::Described, StoreError> {
        let (link, path, chain) = (self.link.clone(), self.path.clone(), self.chain);
        let described =
            self.worker.run(PATIENCE, async move { schema::describe(&*link.session().await?, &path, chain).await });
        described.map_err(|error| error.of("opening the store", &self.path))
    }

    /// What the replicas of this store show each other. It is drawn when the tables are created.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The address without its password.
    pub fn address(&self) -> &PostgresAddress {
        &self.address
    }

    /// The sessions of people who are signed in, on a connection of their own: pages must not hold up the lease.
    pub fn sessions(&self) -> SessionTable {
        let link = StoreLink::new(&self.address, "rarely sessions", self.durability);
        SessionTable::new(self.worker.clone(), link, self.path.clone())
    }

    /// Who owns the chain.
    ///
    /// # Errors
    /// If the database does not answer within `patience`.
    pub fn lease(&self, patience: Duration) -> Result<LeaseStatus, StoreError> {
        let (link, chain) = (self.link.clone(), self.chain);
        let status = self.worker.run(patience, async move { link.kept(|session| status(session, chain)).await });
        status.map_err(|error| error.of("reading the lease", &self.path))
    }

    /// Takes the lease for `term`, if nobody has it, and keeps it renewed. `None` if somebody has it.
    ///
    /// # Errors
    /// [`StoreError::NewerFormat`] or [`StoreError::NewerEvents`] if only newer programs can own the log; others if the database does not
    /// answer, or does not acknowledge it.
    pub fn acquire(&self, owner: &str, address: &str, term: Duration) -> Result<Option<Lease>, StoreError> {
        if self.versions()?.format < POSTGRES_FORMAT {
            self.upgrade()?;
        }
        let link = self.link.clone();
        let edition = if self.edition == u64::MAX { 0 } else { self.edition };
        let chain = self.chain;
        let claim = LeaseClaim { chain, owner: owner.to_owned(), address: address.to_owned(), term, edition };
        let asked = Instant::now();
        let taken = self.worker.run(term / 2, async move {
            let result = link.kept(|session| acquire(session, claim)).await;
            if result.as_ref().is_err_and(SessionError::is_lock_timeout) {
                // A former owner was stopped in the middle of a transaction.
                link.kept(|session| end_former_writer(session, chain)).await?;
            }
            result
        });
        let Some(epoch) = taken.map_err(|error| error.of("taking the lease", &self.path))? else { return Ok(None) };
        let valid_until = Arc::new(Mutex::new(asked + usable(term)));
        let ownership = Ownership { chain, epoch, term };
        let renewing = renew_until_lost(self.link.clone(), ownership, valid_until.clone());
        let renewing = self.worker.handle().spawn(renewing).abort_handle();
        let (worker, link) = (self.worker.clone(), self.link.clone());
        Ok(Some(Lease { chain, epoch, term, valid_until, renewing, worker, link }))
    }

    /// Takes the lease for a command, which takes no requests, and keeps it renewed.
    ///
    /// # Errors
    /// [`StoreError::Owned`] if somebody has it; others as of [`acquire`](Self::acquire).
    pub fn reserve(&self, command: &str, term: Duration) -> Result<Lease, StoreError> {
        match self.acquire(command, "", term)? {
            Some(lease) => Ok(lease),
            None => Err(StoreError::Owned { path: self.path.clone(), address: self.lease(term)?.address }),
        }
    }

    /// The log, for the owner of the lease.
    ///
    /// # Errors
    /// If it cannot be opened, or the lease is over or that of another chain.
    pub fn open(&self, lease: &Lease) -> Result<PostgresLog, StoreError> {
        let epoch = self.epoch_of(lease, self.chain)?;
        let writer = Writer {
            epoch,
            durability: self.durability,
            patience: lease.term,
            session: Mutex::new(None),
            acknowledged: AtomicI64::new(0),
        };
        let log = self.log(Some(writer))?;
        log.reopen()?;
        Ok(log)
    }

    /// The log for reading as it grows, without a lease: each read sees the present state.
    ///
    /// # Errors
    /// If there is no such chain, or the database cannot be reached.
    pub fn read(&self) -> Result<PostgresLog, StoreError> {
        self.log(None)
    }

    fn log(&self, writer: Option<Writer>) -> Result<PostgresLog, StoreError> {
        let (id, reading) = (self.describe()?.id, ReadSessions::Pool(self.pool.clone()));
        let (worker, address, path) = (self.worker.clone(), self.address.clone(), self.path.clone());
        Ok(PostgresLog { worker, address, path, chain: self.chain, id, reading, writer })
    }

    /// The epoch of a lease, which must be of this chain: epochs of two chains may be equal.
    pub(super) fn epoch_of(&self, lease: &Lease, chain: i64) -> Result<i64, StoreError> {
        if lease.chain == chain { Ok(lease.epoch) } else { Err(StoreError::Fenced { path: self.path.clone() }) }
    }

    /// Says that the log is not complete, and which id it will have; or that it is complete.
    pub(crate) fn set_copying(&self, lease: &Lease, id: Option<&str>) -> Result<(), StoreError> {
        let (link, id, chain) = (self.link.clone(), id.map(str::to_owned), self.chain);
        let epoch = self.epoch_of(lease, chain)?;
        let set = self.worker.run(PATIENCE, async move {
            let session = link.session().await?;
            let statement = "WITH fenced AS (SELECT rarely.fence($1, $3)) \
                 UPDATE rarely.chains SET copying = $2::text IS NOT NULL, id = coalesce($2::text, id) FROM fenced WHERE chain = $1";
            session.write(statement, &[&chain, &id, &epoch]).await.map(drop)
        });
        set.map_err(|error| error.of("copying the store", &self.path))
    }
}

impl Lease {
    /// Whether the owner may still act as one: it has renewed the lease in time, by its own clock.
    pub fn is_valid(&self) -> bool {
        Instant::now() < *self.valid_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of this ownership.
    pub fn epoch(&self) -> u64 {
        self.epoch.unsigned_abs()
    }

    /// Gives the lease back, so that another replica need not wait until it expires.
    pub fn release(&self) {
        self.renewing.abort();
        *self.valid_until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let (link, chain, epoch) = (self.link.clone(), self.chain, self.epoch);
        let released = self.worker.run(self.term, async move {
            let session = link.session().await?;
            let statement =
                "UPDATE rarely.leases SET owner = '', address = '', expires = '-infinity' WHERE chain = $1 AND epoch = $2";
            session.write(statement, &[&chain, &epoch]).await
        });
        // If this fails, the lease expires.
        drop(released);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

/// A connection for one purpose, opened again when it is lost.
pub(super) struct StoreLink {
    address: Arc<PostgresAddress>,
    /// The name by which the server's administrator knows it.
    name: &'static str,
    durability: Durability,
    session: AsyncMutex<Option<Arc<Session>>>,
}

impl StoreLink {
    fn new(address: &Arc<PostgresAddress>, name: &'static str, durability: Durability) -> Self {
        Self { address: address.clone(), name, durability, session: AsyncMutex::default() }
    }

    pub(super) async fn session(&self) -> Result<Arc<Session>, SessionError> {
        let mut kept = self.session.lock().await;
        if let Some(session) = kept.as_ref().filter(|session| !session.is_closed()) {
            return Ok(session.clone());
        }
        let lock_timeout = Duration::from_secs(1);
        let session = Session::to_write(&self.address, self.name, self.durability, lock_timeout).await?;
        let session = Arc::new(session);
        *kept = Some(session.clone());
        Ok(session)
    }

    /// Runs `work`; if the connection was lost, the next call opens another.
    pub(super) async fn kept<R, F: Future<Output = Result<R, SessionError>>>(
        &self,
        work: impl FnOnce(Arc<Session>) -> F,
    ) -> Result<R, SessionError> {
        let session = self.session().await?;
        let result = work(session).await;
        if result.as_ref().is_err_and(SessionError::is_connection_lost) {
            *self.session.lock().await = None;
        }
        result
    }
}

/// How long an owner acts as one after it has asked for the lease. The rest of the term is a margin for clocks that do not run
/// equally fast, and for work that has begun.
fn usable(term: Duration) -> Duration {
    term * 3 / 4
}

pub(super) async fn status(session: Arc<Session>, chain: i64) -> Result<LeaseStatus, SessionError> {
    let statement = "SELECT epoch, owner, address, expires <= clock_timestamp() FROM rarely.leases WHERE chain = $1";
    let rows = session.query(statement, &[&chain]).await?;
    let none = || Ok(LeaseStatus { epoch: 0, owner: String::new(), address: String::new(), expired: true });
    rows.first().map_or_else(none, LeaseStatus::of)
}

impl LeaseStatus {
    /// Of the columns epoch, owner, address, and whether it has expired.
    pub(super) fn of(row: &Row) -> Result<Self, SessionError> {
        Ok(Self {
            epoch: row.try_get::<_, i64>(0)?.unsigned_abs(),
            owner: row.try_get(1)?,
            address: row.try_get(2)?,
            expired: row.try_get(3)?,
        })
    }
}

/// Who wants the lease.
struct LeaseClaim {
    chain: i64,
    owner: String,
    address: String,
    term: Duration,
    /// The edition of the events that it may write.
    edition: u64,
}

async fn acquire(session: Arc<Session>, claim: LeaseClaim) -> Result<Option<i64>, SessionError> {
    // The clock is read when the row is locked, not when the transaction began. The format is compared once more, and the edition
    // recorded with the lease: whoever takes it next knows what the log may contain.
    let statement = "WITH taken AS (UPDATE rarely.leases SET epoch = epoch + 1, owner = $2, address = $3, \
         expires = clock_timestamp() + make_interval(secs => $4) WHERE chain = $1 AND expires <= clock_timestamp() \
         AND (SELECT value FROM rarely.meta WHERE name = 'format') = $5 RETURNING epoch), \
         recorded AS (INSERT INTO rarely.meta SELECT 'edition', $6 FROM taken ON CONFLICT (name) DO UPDATE \
         SET value = excluded.value WHERE meta.value::bigint < excluded.value::bigint) \
         SELECT epoch FROM taken";
    let LeaseClaim { chain, owner, address, term, edition } = &claim;
    let (format, edition) = (POSTGRES_FORMAT.to_string(), edition.to_string());
    let rows = session.write(statement, &[chain, owner, address, &term.as_secs_f64(), &format, &edition]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

/// Ends the writing connections of an owner whose lease has expired.
async fn end_former_writer(session: Arc<Session>, chain: i64) -> Result<(), SessionError> {
    let statement = "SELECT pg_terminate_backend(activity.pid) FROM rarely.leases AS lease, pg_stat_activity AS activity \
         WHERE lease.chain = $1 AND lease.expires <= clock_timestamp() \
         AND activity.datname = current_database() \
         AND activity.application_name = 'rarely writer ' || lease.chain || ' ' || lease.epoch";
    session.query(statement, &[&chain]).await?;
    Ok(())
}

/// What is renewed.
#[derive(Clone, Copy)]
struct Ownership {
    chain: i64,
    epoch: i64,
    term: Duration,
}

/// Renews the lease five times per term, until it is lost: another replica has it, or it was not renewed in time.
async fn renew_until_lost(link: Arc<StoreLink>, ownership: Ownership, valid_until: Arc<Mutex<Instant>>) {
    let term = ownership.term;
    let set = |until: Instant| *valid_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    let mut until = Instant::now() + usable(term);
    let mut pause = term / 5;
    loop {
        tokio::time::sleep(pause).await;
        let asked = Instant::now();
        if asked >= until {
            return;
        }
        let renewed = tokio::time::timeout_at(until.into(), link.kept(|session| renew(session, ownership))).await;
        match renewed {
            Ok(Ok(true)) => {
                until = asked + usable(term);
                pause = term / 5;
                set(until);
            }
            Ok(Ok(false)) => {
                set(asked);
                return;
            }
            // The database may answer again before the time is over.
            Ok(Err(_)) => pause = term / 20,
            Err(_) => return,
        }
    }
}

/// Whether the lease was still ours.
async fn renew(session: Arc<Session>, ownership: Ownership) -> Result<bool, SessionError> {
    let Ownership { chain, epoch, term } = ownership;
    let statement = "UPDATE rarely.leases SET expires = clock_timestamp() + make_interval(secs => $3) \
         WHERE chain = $1 AND epoch = $2 RETURNING epoch";
    Ok(!session.write(statement, &[&chain, &epoch, &term.as_secs_f64()]).await?.is_empty())
}
