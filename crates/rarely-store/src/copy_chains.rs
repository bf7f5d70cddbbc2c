//! A store of several chains, from files into a database.

use std::path::{Path, PathBuf};

use crate::backup::first_lost;
use crate::copy::{TERM, copy_into};
use crate::entry::Head;
use crate::error::StoreError;
use crate::event_log::EventLog as _;
use crate::postgres_log::{Lease, PostgresLog, PostgresStore};
use crate::sqlite_log::SqliteLog;
use crate::store::{chain_number, service_id};
use crate::verify::verify_chain;

/// The name of the file of a chain in a folder with a copy of a store.
pub fn chain_file(number: u64) -> String {
    if number == 0 { "service.db".to_owned() } else { format!("chain-{number}.db") }
}

/// The files of a folder with a copy of a store, the service's own first.
pub fn chain_files(folder: &Path) -> Vec<PathBuf> {
    let files = (0..).map(|number| folder.join(chain_file(number)));
    // The first is named even if it is missing, so that a message can say so.
    files.enumerate().take_while(|(number, file)| *number == 0 || file.exists()).map(|(_, file)| file).collect()
}

/// The log of a chain in a file, and the policies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainFile {
    /// The file.
    pub path: PathBuf,
    /// The names of the policies.
    pub policies: Vec<String>,
}

/// Whether a database that chains are put into may have events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresentEvents {
    /// No: it is a copy into an empty one.
    Refuse,
    /// Those that the files have, too: later ones are added.
    Complete,
}

/// Puts the chains of a store, from a file each, into a database, and records which policies are in them. Each log is verified. What was
/// interrupted can be repeated, and the store cannot be used before.
///
/// # Errors
/// If the files are not the chains 0, 1, 2 … of one store, in this order; if the database has an owner, more chains, or events that it must
/// not have; or if it cannot be written.
pub fn chains_to_postgres(
    from: &[ChainFile],
    store: &PostgresStore,
    present: PresentEvents,
    mut progress: impl FnMut(u64),
) -> Result<Vec<Head>, StoreError> {
    let sources = verified(from)?;
    let mut targets = vec![Target::take(store.chain(0))?];
    let there = store.chains(TERM)?;
    if there.len() > sources.len() {
        let (chains, files) = (there.len() as u64, sources.len() as u64);
        return Err(StoreError::MoreChains { path: store.address().path(), chains, files });
    }
    for chain in there.iter().skip(1) {
        targets.push(Target::take(store.chain(chain.number))?);
    }
    targets.iter().zip(&sources).try_for_each(|(target, source)| target.check(source, present))?;
    let service = |targets: &[Target], id| targets[0].store.set_copying(&targets[0].lease, Some(id));
    service(&targets, sources[0].id())?;
    store.add_chains(&targets[0].lease, sources.len() as u64 - 1)?;
    for number in targets.len()..sources.len() {
        targets.push(Target::take(store.chain(number as u64))?);
    }
    let mut heads = Vec::new();
    // The service's own comes last: until then the store is marked as incomplete.
    for (number, ((source, target), file)) in sources.iter().zip(&targets).zip(from).enumerate().rev() {
        store.place_at(&targets[0].lease, &file.policies, number as u64)?;
        heads.push(copy_into(source, &target.store, &target.lease, &target.log, &mut progress)?);
    }
    heads.reverse();
    Ok(heads)
}

/// The logs in files, which are intact, and chains of one store.
fn verified(from: &[ChainFile]) -> Result<Vec<SqliteLog>, StoreError> {
    let mut logs: Vec<SqliteLog> = Vec::new();
    for (expected, file) in (0..).zip(from) {
        let log = SqliteLog::open_read_only(&file.path)?;
        let service = logs.first().map_or(service_id(log.id()), |first| first.id());
        if chain_number(log.id()) != expected || service_id(log.id()) != service {
            return Err(StoreError::OtherChain { path: file.path.clone(), found: log.id().to_owned(), expected });
        }
        verify_chain(&log, |_| ())?;
        logs.push(log);
    }
    if logs.is_empty() {
        return Err(StoreError::Missing { path: chain_file(0).into() });
    }
    Ok(logs)
}

/// A chain that is written. Its lease is given back at the end.
struct Target {
    store: PostgresStore,
    lease: Lease,
    log: PostgresLog,
}

impl Target {
    fn take(store: PostgresStore) -> Result<Self, StoreError> {
        let lease = store.reserve("restore", TERM)?;
        let log = store.open(&lease)?;
        Ok(Self { store, lease, log })
    }

    fn check(&self, source: &SqliteLog, present: PresentEvents) -> Result<(), StoreError> {
        let Some((last, _)) = self.log.head()? else { return Ok(()) };
        let path = self.store.address().path();
        match present {
            PresentEvents::Refuse => Err(StoreError::NotEmpty { path, events: last }),
            PresentEvents::Complete => match first_lost(&self.log, source)? {
                Some(first) => Err(StoreError::WouldLose { path, first, last }),
                None => Ok(()),
            },
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.lease.release();
    }
}
