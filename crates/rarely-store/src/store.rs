//! A store as a server uses it: lock, log, witness and writer.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::entry::{Head, LogEntry, Stamp};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::lock::StoreLock;
use crate::log_writer::{Guards, LogWriter};
use crate::notary::Notary;
use crate::note::NoteSigner;
use crate::postgres_log::{Lease, PostgresStore};
use crate::signing_key::SigningKeyFile;
use crate::snapshot::SnapshotFile;
use crate::sqlite_log::{Durability, SqliteLog};
use crate::witness::HeadWitness;

/// A store that is open for writing. The lock is held, and the log contains everything that was acknowledged. Replay the
/// log, then [`start`](Self::start) the writer.
///
/// ```
/// use rarely_store::{EntryDraft, Durability, LogWriter, EventLog, Store, PolicyRef, now_ms};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(&folder.path().join("rarely.db"), Durability::Full)?;
/// let writer: LogWriter<&str> = store.start(now_ms, |committed| {
///     for (entry, payload) in committed {
///         println!("{} {} {payload:?}", entry.number, entry.kind);
///     }
/// })?;
/// let (number, receipt) = writer.append(|turn| {
///     let draft = EntryDraft { actor: "ann".into(), policy: PolicyRef::OwnNumber, kind: "registered", body: "{}".into(), key: None };
///     turn.push(draft, "my typed event")
/// });
/// receipt.wait_blocking()?;
/// assert_eq!(writer.log().entry(number)?.unwrap().policy, 1);
/// writer.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    id: String,
    log: Arc<dyn EventLog>,
    snapshot: SnapshotFile,
    /// Of a file. Databases have none: what is acknowledged is replicated.
    witness: Option<HeadWitness>,
    notary: Option<Arc<Notary>>,
}

impl Store {
    /// Opens the store at `path`, or creates one there.
    ///
    /// # Errors
    /// If another process uses it, if it cannot be opened, or if acknowledged entries are missing.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let lock = StoreLock::take(path)?;
        let witness = HeadWitness::open(path)?;
        if let Some(seen) = witness.seen().filter(|seen| seen.number > 0 && !path.exists()) {
            // Checked before an empty store is created in its place.
            return Err(StoreError::Lost { path: path.to_owned(), log_ends: 0, witnessed: seen.number });
        }
        let log = Arc::new(SqliteLog::open_held(path, durability, Some(lock))?);
        witness.check(&*log)?;
        let (id, snapshot) = (log.id().to_owned(), SnapshotFile::beside(path));
        Ok(Self { id, log, snapshot, witness: Some(witness), notary: None })
    }

    /// Opens a chain of a store in PostgreSQL, for the owner of its lease.
    ///
    /// # Errors
    /// If it cannot be opened, or the lease is over.
    pub fn open_postgres(store: &PostgresStore, lease: &Lease) -> Result<Self, StoreError> {
        let log = Arc::new(store.open(lease)?);
        let (id, snapshot) = (log.id().to_owned(), SnapshotFile::in_database(log.clone()));
        Ok(Self { id, log, snapshot, witness: None, notary: None })
    }

    /// The id of the log, which its copies have too.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The log, for reading.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    /// The snapshot of the store: the file beside it, or a row of the database.
    pub fn snapshot(&self) -> SnapshotFile {
        self.snapshot.clone()
    }

    /// The name of this log in checkpoints, and of its signing key.
    pub fn origin(&self) -> String {
        origin(&self.id)
    }

    /// The private key of this log from its file, which has the key of the service. The first time a key is created there, for the
    /// service's own log.
    ///
    /// # Errors
    /// [`StoreError::KeyMissing`] if there is no key although one has signed, or this is another chain than the service's own; others
    /// as of [`SigningKeyFile::read_or_create`].
    pub fn signer(&self, file: &SigningKeyFile) -> Result<NoteSigner, StoreError> {
        match file.read()? {
            Some(signer) => Ok(self.own_key(signer)),
            None if !is_service_log(&self.id) || self.log.last_checkpoint()?.is_some() => {
                Err(StoreError::KeyMissing { path: file.path().to_owned() })
            }
            None => file.read_or_create(&self.origin()),
        }
    }

    /// A key of the service under the name of this log; another key as it is.
    #[must_use]
    pub fn own_key(&self, signer: NoteSigner) -> NoteSigner {
        let is_shared = !is_service_log(&self.id) && signer.key().name() == origin(service_id(&self.id));
        if is_shared { signer.named(&self.origin()) } else { signer }
    }

    /// Signs checkpoints of this log with its key, or with that of the service under the name of this log, from now on.
    ///
    /// # Errors
    /// [`StoreError::OtherKey`] if the key has another log's name, [`StoreError::Tree`] if the log is not the one that was
    /// signed last; other errors if the log cannot be read.
    pub fn sign_with(&mut self, signer: NoteSigner) -> Result<Arc<Notary>, StoreError> {
        let signer = self.own_key(signer);
        if signer.key().name() != self.origin() {
            let expected = format!("its keys are named {}", origin(service_id(&self.id)));
            return Err(StoreError::OtherKey { found: signer.key().to_string(), expected });
        }
        let notary = Arc::new(Notary::open(self.log.clone(), signer)?);
        self.notary = Some(notary.clone());
        Ok(notary)
    }

    /// Starts the writer, as [`LogWriter::start`]. The lock is held until the writer and every other owner of the log are
    /// dropped.
    ///
    /// # Errors
    /// As [`LogWriter::start`].
    pub fn start<P: Send + 'static, T: Into<Stamp>>(
        self,
        clock: impl Fn() -> T + Send + Sync + 'static,
        on_commit: impl FnMut(Vec<(LogEntry, Option<P>)>) + Send + 'static,
    ) -> Result<LogWriter<P>, StoreError> {
        let guards = Guards { witness: self.witness, notary: self.notary };
        LogWriter::start_with(self.log, guards, clock, on_commit)
    }

    /// Gives up events that were acknowledged but are no longer in the store at `path`, so that it opens again. The store's
    /// own checkpoints of these events are removed; those kept elsewhere still show that they existed. Returns
    /// where the log ends now, and where it ended according to the witness.
    ///
    /// # Errors
    /// If another process uses the store, or it cannot be opened.
    pub fn accept_loss(path: &Path) -> Result<(Head, Option<Head>), StoreError> {
        if !path.exists() && !HeadWitness::path(path).exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let log = SqliteLog::open(path, Durability::Full)?;
        let mut witness = HeadWitness::open(path)?;
        let seen = witness.seen();
        let head = witness.accept_loss(&log)?;
        log.forget_checkpoints(head.number)?;
        Ok((head, seen))
    }
}

/// The name of the log with this id, in checkpoints and keys.
pub fn origin(id: &str) -> String {
    format!("rarely/{id}")
}

/// The id of the service's own log, from the id of any of its chains.
pub fn service_id(id: &str) -> &str {
    id.split_once('-').map_or(id, |(service, _)| service)
}

/// The number of the chain with this id: 0 is the service's own.
pub fn chain_number(id: &str) -> u64 {
    id.split_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or_default()
}

/// Whether this is the id of the service's own log.
pub fn is_service_log(id: &str) -> bool {
    service_id(id) == id
}

/// The system's clock: milliseconds since 1970 UTC, 0 before that.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
