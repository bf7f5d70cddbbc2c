//! A store that a command works on while no server uses it: a file, or a database whose leases the command holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rarely_live::Engine;
use rarely_live::engine::{CheckpointOptions, Durability, EngineOptions, StartError};
use rarely_live::event::Event;
use rarely_live::replay::{self, EVENT_EDITION, ReplayError};
use rarely_policy::PolicyDocument;
use rarely_store::{
    EventLog, Lease, PostgresAddress, PostgresLog, PostgresStore, SigningKeyFile, SqliteLog, Store, StoreError,
    chain_number,
};

use crate::failure::Failure;
use crate::postgres::store_address;
use crate::serve::{engine_options, silent};

/// How long a database stays reserved for a command that was killed.
const TERM: Duration = Duration::from_secs(10);

/// The logs of a store that is reserved for this command, the service's own first.
pub(crate) struct OfflineStore(Vec<OfflineLog>);

/// One of them.
pub(crate) enum OfflineLog {
    /// The engine locks it.
    File(PathBuf),
    /// The lease is given back at the end.
    Chain { store: PostgresStore, lease: Lease },
}

impl OfflineStore {
    /// Reserves a store that exists.
    pub(crate) fn reserve(store: &Path) -> Result<Self, StoreError> {
        let Some(address) = store_address(store)? else {
            let missing = StoreError::Missing { path: store.to_owned() };
            return if store.exists() { Ok(Self(vec![OfflineLog::File(store.to_owned())])) } else { Err(missing) };
        };
        // Connecting for writing would create the tables of a new store.
        drop(PostgresLog::open_read_only(address.clone())?);
        let store = PostgresStore::connect(address, Durability::Full)?.reading(EVENT_EDITION)?;
        let mut reserved = Self(vec![OfflineLog::reserve(&store, "command")?]);
        for chain in store.chains(TERM)?.iter().skip(1) {
            reserved.0.push(OfflineLog::reserve(&store.chain(chain.number), "command")?);
        }
        Ok(reserved)
    }

    /// Reserves a database to restore it from a file: there may be no store, an incomplete one, or one that only a newer version can read.
    pub(crate) fn reserve_to_restore(address: PostgresAddress) -> Result<Self, StoreError> {
        let store = PostgresStore::connect_incomplete(address, Durability::Full)?;
        let reserved = Self(vec![OfflineLog::reserve(&store, "restore")?]);
        match store.chains(TERM)?.len() {
            0 | 1 => Ok(reserved),
            several => Err(StoreError::Divided { path: store.address().to_string().into(), chains: several as u64 }),
        }
    }

    /// All logs, the service's own first.
    pub(crate) fn logs(&self) -> &[OfflineLog] {
        &self.0
    }

    /// The service's own log: tokens and people.
    pub(crate) fn service(&self) -> &OfflineLog {
        &self.0[0]
    }
}

impl OfflineLog {
    fn reserve(store: &PostgresStore, command: &str) -> Result<Self, StoreError> {
        Ok(Self::Chain { store: store.clone(), lease: store.reserve(command, TERM)? })
    }

    /// The number of the chain.
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::File(_) => 0,
            Self::Chain { store, .. } => store.number(),
        }
    }

    /// The log, for reading.
    pub(crate) fn read(&self) -> Result<Box<dyn EventLog>, StoreError> {
        Ok(match self {
            Self::File(path) => Box::new(SqliteLog::open_read_only(path)?),
            Self::Chain { store, .. } => Box::new(store.read()?),
        })
    }

    /// Runs the engine on it, and stops it afterwards.
    pub(crate) fn with_engine<R>(
        &self,
        checkpoints: Option<CheckpointOptions>,
        act: impl FnOnce(&Engine) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let engine = self.start(checkpoints)?;
        let done = act(&engine);
        engine.stop();
        done
    }

    /// Starts the engine on it; the caller stops it.
    pub(crate) fn start(&self, checkpoints: Option<CheckpointOptions>) -> Result<Arc<Engine>, StartError> {
        let options = EngineOptions { checkpoints, ..engine_options(Durability::Full) };
        match self {
            Self::File(path) => Engine::start(path, options, |_| {}),
            Self::Chain { store, lease } => Engine::start_on(Store::open_postgres(store, lease)?, options, |_| {}),
        }
    }
}

impl Drop for OfflineLog {
    fn drop(&mut self) {
        if let Self::Chain { lease, .. } = self {
            lease.release();
        }
    }
}

/// A log for reading, with the number of its chain.
type NumberedLog = (u64, Box<dyn EventLog>);

/// The logs of a store as they are now, also while a server uses it; the service's own first.
pub(crate) fn logs_of(store: &Path) -> Result<Vec<NumberedLog>, StoreError> {
    let Some(address) = store_address(store)? else {
        return Ok(vec![(0, Box::new(SqliteLog::open_read_only(store)?))]);
    };
    let logs = PostgresLog::open_chains_read_only(address)?.into_iter();
    Ok(logs.map(|log| (chain_number(log.id()), Box::new(log) as Box<dyn EventLog>)).collect())
}

/// The names of the policies that are registered in a log.
pub(crate) fn policies_in(log: &dyn EventLog) -> Result<Vec<String>, ReplayError> {
    let (mut registrations, mut names) = (Vec::new(), Vec::new());
    // A policy has the number of its registration.
    log.policy_index(&mut |policy, number| registrations.extend((policy == number).then_some(number)))?;
    for entry in log.entry_each(&registrations)?.into_iter().flatten() {
        if let Event::Registered(registered) = replay::event(log, &entry)? {
            names.extend(
                PolicyDocument::parse(&registered.document, "document")
                    .ok()
                    .map(|document| document.policy().to_owned()),
            );
        }
    }
    Ok(names)
}

/// What a message about a log of a store begins with; empty if the store has one.
pub(crate) fn chain_heading(number: u64, logs: usize) -> String {
    if logs > 1 { format!("chain {number}: ") } else { String::new() }
}

/// The file of the private key of a store: the named one, or the one beside a file.
pub(crate) fn private_key(store: &Path, named: Option<&Path>) -> Result<SigningKeyFile, Failure> {
    match (named, store_address(store)?) {
        (Some(named), _) => Ok(SigningKeyFile::at(named)),
        (None, None) => Ok(SigningKeyFile::beside(store)),
        (None, Some(address)) => Err(Failure::new(format!("{address}: no file of the private key is named"))
            .help("name it with --signing-key FILE; each replica of the service has a copy")),
    }
}

/// Signs with the key beside a file, if it is there, or with the named one. Without a key a later start signs what was written.
pub(crate) fn signing_if_possible(store: &Path, named: Option<&Path>) -> Option<CheckpointOptions> {
    let file = private_key(store, named).ok()?;
    (named.is_some() || file.path().exists()).then(|| silent(file))
}
