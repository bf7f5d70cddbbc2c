//! A store that a command works on while no server uses it: a file, or a database whose lease the command holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rarely_live::Engine;
use rarely_live::engine::{CheckpointOptions, Durability, EngineOptions, StartError};
use rarely_live::replay::EVENT_EDITION;
use rarely_store::{
    EventLog, Lease, PostgresAddress, PostgresLog, PostgresStore, SigningKeyFile, SqliteLog, Store, StoreError,
};

use crate::failure::Failure;
use crate::postgres::store_address;
use crate::serve::{engine_options, silent};

/// How long a database stays reserved for a command that was killed.
const TERM: Duration = Duration::from_secs(10);

/// A store that is reserved for this command.
pub(crate) enum OfflineStore {
    /// The engine locks it.
    File(PathBuf),
    /// The lease is given back at the end.
    Database { store: PostgresStore, lease: Lease },
}

impl OfflineStore {
    /// Reserves a store that exists.
    pub(crate) fn reserve(store: &Path) -> Result<Self, StoreError> {
        let Some(address) = store_address(store)? else {
            let missing = StoreError::Missing { path: store.to_owned() };
            return if store.exists() { Ok(Self::File(store.to_owned())) } else { Err(missing) };
        };
        // Connecting for writing would create the tables of a new store.
        drop(PostgresLog::open_read_only(address.clone())?);
        let store = PostgresStore::connect(address, Durability::Full)?.reading(EVENT_EDITION)?;
        let lease = store.reserve("command", TERM)?;
        Ok(Self::Database { store, lease })
    }

    /// Reserves a database to restore it: there may be no store, an incomplete one, or one that only a newer version can read.
    pub(crate) fn reserve_to_restore(address: PostgresAddress) -> Result<Self, StoreError> {
        let store = PostgresStore::connect_incomplete(address, Durability::Full)?;
        let lease = store.reserve("restore", TERM)?;
        Ok(Self::Database { store, lease })
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
            Self::Database { store, lease } => Engine::start_on(Store::open_postgres(store, lease)?, options, |_| {}),
        }
    }
}

impl Drop for OfflineStore {
    fn drop(&mut self) {
        if let Self::Database { lease, .. } = self {
            lease.release();
        }
    }
}

/// The log of a store as it is now, also while a server uses it.
pub(crate) fn log_of(store: &Path) -> Result<Box<dyn EventLog>, StoreError> {
    Ok(match store_address(store)? {
        Some(address) => Box::new(PostgresLog::open_read_only(address)?),
        None => Box::new(SqliteLog::open_read_only(store)?),
    })
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
