//! Copies of a log from one kind of store to the other: the same entries, chain, keys, checkpoints and id.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::backup::{EventLoss, Restored, first_lost, put_in_place};
use crate::copy_chains::chain_file;
use crate::entry::{Head, KeyedEntry, LookupKey};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::lock::StoreLock;
use crate::postgres_address::PostgresAddress;
use crate::postgres_log::{Lease, PostgresLog, PostgresStore};
use crate::sqlite_log::{Durability, SqliteLog, with_suffix};
use crate::store::{chain_number, is_service_log};
use crate::subject::SubjectTag;
use crate::verify::verify_chain;
use crate::witness::HeadWitness;

/// Entries copied at once.
const BLOCK: usize = 1_000;
/// How long the target is reserved, unless the copy goes on.
pub(crate) const TERM: Duration = Duration::from_secs(30);

/// Copies the store at `from`, which no server uses, into an empty database, and verifies the copy. `progress` gets the number of
/// the last copied entry.
///
/// # Errors
/// If the store is in use or damaged, if the database has events or an owner, or if it cannot be written. A copy that was
/// interrupted cannot be used by mistake ([`StoreError::CopyInterrupted`]).
pub fn copy_to_postgres(
    from: &Path,
    to: PostgresAddress,
    durability: Durability,
    progress: impl FnMut(u64),
) -> Result<Head, StoreError> {
    let _lock = StoreLock::take(from)?;
    let source = SqliteLog::open_read_only(from)?;
    verify_chain(&source, |_| ())?;
    if !is_service_log(source.id()) {
        return Err(StoreError::OtherChain { path: from.to_owned(), found: source.id().to_owned(), expected: 0 });
    }
    let store = PostgresStore::connect_incomplete(to, durability)?;
    let lease = store.reserve("copy", TERM)?;
    let target = store.open(&lease)?;
    let copied = match target.head()? {
        Some((events, _)) => Err(StoreError::NotEmpty { path: store.address().path(), events }),
        None => copy_into(&source, &store, &lease, &target, progress),
    };
    lease.release();
    copied
}

/// Puts a backup, which is a file, in place of the log of a database: events that the log lacks are added to it. If the log has events that
/// the backup lacks, and `loss` accepts that, the whole log is replaced. The restored log is verified. A restore that was interrupted
/// can be repeated, and the store cannot be used before.
///
/// # Errors
/// If the store has events that the backup lacks, if the backup's log is broken, or if the database cannot be written.
pub fn restore_to_postgres(
    backup: &Path,
    store: &PostgresStore,
    lease: &Lease,
    loss: EventLoss,
    progress: impl FnMut(u64),
) -> Result<Restored, StoreError> {
    let source = SqliteLog::open_read_only(backup)?;
    verify_chain(&source, |_| ())?;
    let target = store.open(lease)?;
    let before = target.head()?.map(|(number, hash)| Head { number, hash });
    if let Some(first) = first_lost(&target, &source)? {
        if loss == EventLoss::Refuse {
            let last = before.map_or(0, |before| before.number);
            return Err(StoreError::WouldLose { path: store.address().path(), first, last });
        }
        store.set_copying(lease, Some(source.id()))?;
        target.forget_everything()?;
    }
    let head = copy_into(&source, store, lease, &target, progress)?;
    Ok(Restored { head, before })
}

/// Copies what the target lacks. Until it is complete, the target cannot be used as a store.
pub(crate) fn copy_into(
    source: &SqliteLog,
    store: &PostgresStore,
    lease: &Lease,
    target: &PostgresLog,
    progress: impl FnMut(u64),
) -> Result<Head, StoreError> {
    store.set_copying(lease, Some(source.id()))?;
    let head = copy_entries(source, target, progress)?;
    compare(head, verify_chain(target, |_| ())?, &store.address().path())?;
    store.set_copying(lease, None)?;
    Ok(head)
}

/// Copies the log in a database, in use or not, to the new file `to`: everything committed when the copy starts. The copy is
/// verified.
///
/// # Errors
/// [`StoreError::Divided`] if the store has several chains. If `to` exists, or the log is damaged or cannot be read. The file `to`
/// appears only when it is complete.
pub fn copy_from_postgres(from: PostgresAddress, to: &Path, progress: impl FnMut(u64)) -> Result<Head, StoreError> {
    refuse_existing(to)?;
    match &PostgresLog::open_chains_read_only(from)?[..] {
        [source] => copy_log(source, to, progress),
        logs => {
            let path = logs.first().map_or_else(PathBuf::new, |log| log.path().to_owned());
            Err(StoreError::Divided { path, chains: logs.len() as u64 })
        }
    }
}

/// Copies all chains of a database, in use or not, to new files in the folder `to`, named by [`chain_file`]: everything committed when the
/// copy starts. Each is verified. Returns their ends, the service's own first.
///
/// # Errors
/// If a file exists, or a log is damaged or cannot be read. The file of the service's own chain appears last.
pub fn copy_chains_from_postgres(
    from: PostgresAddress,
    to: &Path,
    mut progress: impl FnMut(u64),
) -> Result<Vec<Head>, StoreError> {
    let logs = PostgresLog::open_chains_read_only(from)?;
    std::fs::create_dir_all(to).map_err(|error| StoreError::io("creating the folder", to, error))?;
    let files: Vec<PathBuf> = logs.iter().map(|log| to.join(chain_file(chain_number(log.id())))).collect();
    files.iter().try_for_each(|file| refuse_existing(file))?;
    let copied = logs.iter().zip(&files).rev().map(|(log, file)| copy_log(log, file, &mut progress));
    let mut heads = copied.collect::<Result<Vec<Head>, StoreError>>()?;
    heads.reverse();
    Ok(heads)
}

fn refuse_existing(file: &Path) -> Result<(), StoreError> {
    if file.exists() { Err(StoreError::AlreadyExists { path: file.to_owned() }) } else { Ok(()) }
}

fn copy_log(source: &PostgresLog, to: &Path, progress: impl FnMut(u64)) -> Result<Head, StoreError> {
    verify_chain(source, |_| ())?;
    let partial = with_suffix(to, ".partial");
    for suffix in ["", "-wal", "-shm", ".lock"] {
        // What an earlier attempt left.
        let _ = std::fs::remove_file(with_suffix(&partial, suffix));
    }
    let mut target = SqliteLog::open(&partial, Durability::Full)?;
    target.set_id(source.id())?;
    let head = copy_entries(source, &target, progress)?;
    compare(head, verify_chain(&target, |_| ())?, to)?;
    drop(target);
    for suffix in ["-wal", "-shm", ".lock"] {
        let _ = std::fs::remove_file(with_suffix(&partial, suffix));
    }
    put_in_place(&partial, to)?;
    HeadWitness::open(to)?.accept_loss(&SqliteLog::open_read_only(to)?)?;
    Ok(head)
}

/// Copies the entries that the target lacks with their keys, then the keys of people, roots and checkpoints. Returns the head of the source.
fn copy_entries(from: &dyn EventLog, to: &dyn EventLog, mut progress: impl FnMut(u64)) -> Result<Head, StoreError> {
    // A key leads to the latest entry that carries it, and no entry has two.
    let mut keys: HashMap<u64, LookupKey> = HashMap::new();
    from.lookup_keys(&mut |key, number| drop(keys.insert(number, key.clone())))?;
    // Who has no key in the source was erased by an event that the target lacks.
    let known: BTreeSet<SubjectTag> = from.subjects()?.into_iter().map(|subject| subject.tag).collect();
    let mut destroys: Vec<SubjectTag> = to.subjects()?.into_iter().map(|subject| subject.tag).collect();
    destroys.retain(|tag| !known.contains(tag));
    let mut head = to.head()?.map_or(Head::EMPTY, |(number, hash)| Head { number, hash });
    let mut archives = archived_since(from, to, head.number)?;
    loop {
        let block = from.entries(head.number, None, BLOCK)?;
        let Some(last) = block.last() else { break };
        head = Head { number: last.number, hash: last.hash };
        let keyed: Vec<KeyedEntry> = block
            .into_iter()
            .map(|entry| {
                let key = keys.remove(&entry.number);
                let (destroys, archives) = (std::mem::take(&mut destroys), std::mem::take(&mut archives));
                KeyedEntry { entry, key, destroys, archives }
            })
            .collect();
        to.append(&keyed)?;
        progress(head.number);
    }
    copy_subjects(from, to)?;
    let blocks = from.tree_blocks()?;
    for checkpoint in from.checkpoints(None)? {
        to.keep_checkpoint(&checkpoint, 0, &[])?;
    }
    if let Some(last) = from.last_checkpoint()? {
        to.keep_checkpoint(&last, 0, &blocks)?;
    }
    Ok(head)
}

/// The entries up to a number whose bodies the source does not have any more, and the target does.
fn archived_since(from: &dyn EventLog, to: &dyn EventLog, until: u64) -> Result<Vec<(u64, String)>, StoreError> {
    let (mut archived, mut after) = (Vec::new(), 0);
    while after < until {
        let block = from.entries(after, None, BLOCK)?;
        let theirs = to.entries(after, None, BLOCK)?;
        let Some(last) = block.last() else { break };
        after = last.number;
        let pairs = block.into_iter().zip(theirs).filter(|(entry, _)| entry.number <= until);
        archived
            .extend(pairs.filter(|(ours, theirs)| ours.body != theirs.body).map(|(ours, _)| (ours.number, ours.body)));
    }
    Ok(archived)
}

/// Copies the keys of people. Those that were destroyed are not there any more.
fn copy_subjects(from: &dyn EventLog, to: &dyn EventLog) -> Result<(), StoreError> {
    let Some(secret) = from.subject_secret()? else { return Ok(()) };
    to.keep_subject_secret(&secret)?;
    to.keep_subjects(&from.subjects()?)
}

fn compare(expected: Head, found: Head, path: &Path) -> Result<(), StoreError> {
    if expected == found {
        return Ok(());
    }
    Err(StoreError::Damaged {
        what: "copying the store",
        path: path.to_owned(),
        found: format!("the copy ends at event {} with another hash", found.number),
    })
}
