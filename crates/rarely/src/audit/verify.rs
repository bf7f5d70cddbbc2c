//! `rarely audit verify`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use rarely_error::Explain;
use rarely_live::audit::{ArchivedCounts, AuditFault, AuditSummary, ErasedCounts, SignatureCounts, verify};
use rarely_live::engine::SNAPSHOT_FORMAT;
use rarely_live::event::{Event, KeyReplaced};
use rarely_live::replay::{self, ReplayError};
use rarely_store::{
    ARCHIVED, ChainFault, EventLog, Head, HeadWitness, NoteKey, PostgresAddress, PostgresLog, RestoredLog,
    SnapshotFault, SnapshotFile, SqliteLog, StoreError, StoreLock, StoredSnapshot, TreeFault, TreeSummary, backup,
    chain_number, is_service_log, tree_root, verify_tree,
};
use serde_json::{Value as Json, json};

use super::held::Held;
use crate::archive_file::bodies;
use crate::failure::{Failure, OrFail as _, worded};
use crate::offline::{chain_heading, policies_in};
use crate::output::{OutputFormat, print, print_json, say};
use crate::postgres::{store_address, without_password};

/// What is not consistent, the event it is about, and what to do.
struct Inconsistency {
    event: Option<u64>,
    what: String,
    help: Option<String>,
}

impl Inconsistency {
    fn new(event: Option<u64>, what: &impl Explain) -> Self {
        Self { event, what: what.to_string(), help: what.remedy().map(|remedy| worded(&remedy)) }
    }

    /// The log does not contain a head that was recorded elsewhere.
    fn of_recorded_head(event: u64, what: String) -> Self {
        Self { event: Some(event), what, help: None }
    }
}

pub(super) fn run(store: &Path, held: &Held, format: OutputFormat) -> Result<ExitCode, Failure> {
    let checked = check(store, held)?;
    let fits = checked.iter().all(|(_, checked)| checked.is_ok());
    match format {
        OutputFormat::Table => {
            let store = without_password(&store.display().to_string());
            for (number, of_log) in &checked {
                let heading = chain_heading(*number, checked.len());
                match of_log {
                    Ok(verified) => print(&format!("{heading}{}", table(verified)))?,
                    Err(Inconsistency { what, .. }) => {
                        print(&format!("{store}: {heading}the log is not consistent: {what}\n"))?;
                    }
                }
            }
        }
        OutputFormat::Json => print_json(&match &checked[..] {
            [(_, of_log)] => answer(of_log),
            chains => {
                let chains: Vec<Json> = chains
                    .iter()
                    .map(|(number, of_log)| {
                        let mut chain = answer(of_log);
                        chain["chain"] = (*number).into();
                        chain
                    })
                    .collect();
                json!({ "fits": fits, "chains": chains })
            }
        })?,
    }
    for (number, of_log) in &checked {
        if let Err(Inconsistency { help: Some(help), .. }) = of_log {
            say(&format!("{}help: {help}", chain_heading(*number, checked.len())));
        }
    }
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Everything that was checked.
struct Verified {
    findings: AuditSummary,
    /// The last acknowledged event.
    witnessed: Option<u64>,
    /// What the checkpoints show; `None` without a key.
    tree: Option<(NoteKey, TreeSummary)>,
    /// Checkpoints in the store.
    checkpoints: usize,
}

type Checked = Result<Verified, Inconsistency>;

/// The audit's result for each log of a store, with its number; an error if the audit could not run.
fn check(store: &Path, held: &Held) -> Result<Vec<(u64, Checked)>, Failure> {
    match store_address(store)? {
        Some(address) => check_database(address, held),
        None => Ok(vec![(0, check_file(store, held)?)]),
    }
}

fn check_file(store: &Path, held: &Held) -> Result<Checked, Failure> {
    if !store.exists() {
        return Err(StoreError::Missing { path: store.to_owned() }.into());
    }
    // Read witness and snapshot before the log: it only grows, so it must contain what they name.
    let witness = HeadWitness::open_read_only(store)?;
    let snapshot_file = SnapshotFile::beside(store);
    // Without a witness beside it, a file that is no store is another file, not a damaged store.
    let unreadable = |error| match error {
        StoreError::NotAStore { .. } if witness.is_none() => Err(error.into()),
        error => unreadable(error),
    };
    let (place, _held) = match unchanging(store) {
        Ok(place) => place,
        Err(StoreError::Chain(fault)) => return Ok(Err(chain(&fault))),
        Err(error) => return unreadable(error),
    };
    let log = match SqliteLog::open_read_only(place.path()) {
        Ok(log) => log,
        Err(error) => return unreadable(error),
    };
    if let Some(error) = witness.as_ref().and_then(|witness| witness.check(&log).err()) {
        return match error {
            StoreError::Lost { log_ends, .. } => Ok(Err(Inconsistency::new(Some(log_ends + 1), &error))),
            StoreError::Replaced { number, .. } => Ok(Err(Inconsistency::new(Some(number), &error))),
            other => unreadable(other),
        };
    }
    let witnessed = witness.and_then(|witness| witness.seen()).map(|seen| seen.number);
    let held = held.about(log.id(), &[], &[]);
    check_log((&log, log.id()), &snapshot_file, &held, witnessed)
}

/// Checks all logs in a database as they are now: everything is read in one transaction, so that no server has to stop.
fn check_database(address: PostgresAddress, held: &Held) -> Result<Vec<(u64, Checked)>, Failure> {
    let logs: Vec<Arc<PostgresLog>> = match PostgresLog::open_chains_read_only(address) {
        Ok(logs) => logs.into_iter().map(Arc::new).collect(),
        Err(error) => return Ok(vec![(0, unreadable(error)?)]),
    };
    let ids: Vec<&str> = logs.iter().map(|log| log.id()).collect();
    // The auditor has not said in which log the event is. If it is in none, the service's own says so.
    let mut with_head = 0;
    if let Some(head) = held.head {
        for (at, log) in logs.iter().enumerate().rev() {
            with_head = if recorded_head(&**log, head)?.is_none() { at } else { with_head };
        }
    }
    let mut trusted = Vec::new();
    let (mut checked, mut registered) = (Vec::new(), BTreeMap::new());
    for (at, log) in logs.iter().enumerate() {
        let number = chain_number(log.id());
        let held = held.about(log.id(), &ids, &trusted);
        let held = Held { head: held.head.filter(|_| at == with_head), ..held };
        let mut of_log = check_log((&**log, log.id()), &SnapshotFile::in_database(log.clone()), &held, None)?;
        if let Ok(verified) = &of_log {
            if let Some(key) = held.key.as_ref().filter(|_| number == 0) {
                trusted = KeyReplaced::trusted(key, &verified.findings.key_replacements);
            }
            let before = policies_in(&**log)?
                .into_iter()
                .find_map(|policy| registered.insert(policy.clone(), number).map(|before| (policy, before)));
            if let Some((policy, before)) = before {
                let what = format!("the policy {policy} is registered in chain {before} and in chain {number}");
                of_log = Err(Inconsistency { event: None, what, help: None });
            }
        }
        checked.push((number, of_log));
    }
    Ok(checked)
}

/// Checks a log that does not change, and has this id.
fn check_log(
    (log, id): (&dyn EventLog, &str),
    snapshot_file: &SnapshotFile,
    held: &Held,
    witnessed: Option<u64>,
) -> Result<Checked, Failure> {
    if let Some(inconsistency) = held.head.map(|head| recorded_head(log, head)).transpose()?.flatten() {
        return Ok(Err(inconsistency));
    }
    let snapshot = match read(snapshot_file, log)? {
        Ok(snapshot) => snapshot,
        Err(inconsistency) => return Ok(Err(inconsistency)),
    };
    let restored;
    let log: &dyn EventLog = match held.archive.as_deref().map(|folder| archived_bodies(log, folder)).transpose()? {
        Some(bodies) => match RestoredLog::new(log, bodies) {
            Ok(log) => {
                restored = log;
                &restored
            }
            Err(error) => return unreadable(error),
        },
        None => log,
    };
    let bar = ProgressBar::new(log.head()?.map_or(0, |(number, _)| number));
    bar.enable_steady_tick(Duration::from_millis(200));
    let verified = verify(log, snapshot.as_ref(), |number| bar.set_position(number));
    bar.finish_and_clear();
    let findings = match verified {
        Ok(findings) => findings,
        Err(AuditFault::Replay(ReplayError::Store(error))) => return unreadable(error),
        Err(fault) => return Ok(Err(Inconsistency::new(fault.event(), &fault))),
    };
    let checkpoints = log.checkpoints(None)?.len();
    let tree = match signed((log, id), snapshot_file, held, &findings) {
        Ok(tree) => tree,
        Err(SnapshotFault::Log(StoreError::Tree(fault))) => {
            return Ok(Err(Inconsistency::new(Some(fault.number()), &fault)));
        }
        Err(SnapshotFault::Log(error)) => return unreadable(error),
        Err(fault) => return Ok(Err(Inconsistency::new(None, &fault))),
    };
    Ok(Ok(Verified { findings, witnessed, tree, checkpoints }))
}

/// The bodies in the files of a folder that the log names.
fn archived_bodies(log: &dyn EventLog, folder: &Path) -> Result<HashMap<u64, String>, Failure> {
    let (mut named, mut all) = (Vec::new(), HashMap::new());
    replay::for_each_entry::<StoreError>(log, 0, None, |entry| {
        if entry.kind == ARCHIVED {
            named.extend(replay::event(log, &entry).ok());
        }
        Ok(())
    })?;
    for event in named {
        let Event::Archived(archived) = event else { continue };
        let file = folder.join(&archived.file.name);
        bodies(&file, &archived.file.sha256, &mut all)?;
    }
    Ok(all)
}

/// Compares the log with an event's hash that was recorded elsewhere.
fn recorded_head(log: &dyn EventLog, Head { number, hash }: Head) -> Result<Option<Inconsistency>, Failure> {
    let what = match log.entry(number)? {
        Some(entry) if entry.hash == hash => return Ok(None),
        Some(entry) => format!("event {number} has the hash {}, but {hash} was recorded elsewhere", entry.hash),
        None => format!("event {number} was recorded elsewhere, but is not in the log"),
    };
    Ok(Some(Inconsistency::of_recorded_head(number, what)))
}

/// Compares the log and its snapshot with what was signed; `None` without a key.
fn signed(
    (log, id): (&dyn EventLog, &str),
    snapshot: &SnapshotFile,
    held: &Held,
    findings: &AuditSummary,
) -> Result<Option<(NoteKey, TreeSummary)>, SnapshotFault> {
    let Some(key) = &held.key else { return Ok(None) };
    let mut trusted = KeyReplaced::trusted(key, &findings.key_replacements);
    trusted.extend(held.trusted.iter().filter(|key| !trusted.contains(key)).cloned().collect::<Vec<_>>());
    let tree = verify_tree(log, &held.checkpoints, &trusted)?;
    // A chain that nobody has used yet has no checkpoint.
    let is_unused = findings.head.number == 0 && !is_service_log(id);
    if tree.checkpoints == held.checkpoints.len() as u64 && held.key_named && !is_unused {
        return Err(StoreError::from(TreeFault::NoCheckpoint { key: key.clone() }).into());
    }
    if tree.checkpoints > 0 && findings.snapshot.is_some() {
        let read = snapshot.read_signed(SNAPSHOT_FORMAT, log, &trusted, |number| tree_root(log, number));
        // A running server may have replaced it since it was compared.
        if let Err(fault @ (SnapshotFault::Forged { .. } | SnapshotFault::Unsigned { .. })) = read {
            return Err(fault);
        }
    }
    Ok(Some((key.clone(), tree)))
}

/// A damaged file is a finding; a file that the system does not let us read is an error.
fn unreadable(error: StoreError) -> Result<Checked, Failure> {
    match error {
        StoreError::Damaged { .. } | StoreError::NotAStore { .. } => Ok(Err(Inconsistency::new(None, &error))),
        other => Err(other.into()),
    }
}

fn chain(fault: &ChainFault) -> Inconsistency {
    Inconsistency::new(Some(fault.number()), fault)
}

fn read(file: &SnapshotFile, log: &dyn EventLog) -> Result<Result<Option<StoredSnapshot>, Inconsistency>, Failure> {
    Ok(match file.read(SNAPSHOT_FORMAT, log) {
        Ok(snapshot) => Ok(snapshot),
        Err(SnapshotFault::Log(error)) => return Err(error.into()),
        Err(SnapshotFault::Io { source, .. }) => return Err(source).or_fail(),
        // A snapshot of another version is not wrong, and a running server may have written one that is newer than the copy.
        Err(fault @ (SnapshotFault::OtherFormat { .. } | SnapshotFault::BeyondTheLog { .. })) => {
            say(&fault.to_string());
            Ok(None)
        }
        Err(fault) => Err(Inconsistency::new(None, &fault)),
    })
}

/// The store itself if no server uses it; otherwise a copy, which is removed afterwards.
enum AuditedStore {
    Itself(PathBuf),
    Copy(PathBuf),
}

impl AuditedStore {
    fn path(&self) -> &Path {
        match self {
            Self::Itself(path) | Self::Copy(path) => path,
        }
    }
}

impl Drop for AuditedStore {
    fn drop(&mut self) {
        let Self::Copy(path) = self else { return };
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            drop(std::fs::remove_file(PathBuf::from(name)));
        }
    }
}

/// A log that does not change while it is checked.
fn unchanging(store: &Path) -> Result<(AuditedStore, Option<StoreLock>), StoreError> {
    match StoreLock::take(store) {
        Ok(lock) => Ok((AuditedStore::Itself(store.to_owned()), Some(lock))),
        Err(StoreError::Locked { .. }) => {
            let mut name = store.as_os_str().to_owned();
            name.push(format!(".audit-{}", std::process::id()));
            let copy = PathBuf::from(name);
            say("a server uses this store: checking a copy, which is removed afterwards");
            backup(store, &copy)?;
            Ok((AuditedStore::Copy(copy), None))
        }
        // Where the lock cannot be written, no server can write either.
        Err(_) => Ok((AuditedStore::Itself(store.to_owned()), None)),
    }
}

fn table(verified: &Verified) -> String {
    let Verified { findings, witnessed, .. } = verified;
    let SignatureCounts { by_key, by_token } = findings.signatures;
    let AuditSummary { head, policies, decisions, outcomes, reviews, proposals, versions, snapshot, .. } = findings;
    let erased = erased(findings) + &archived(findings);
    let snapshot = snapshot.map_or_else(
        || "there is no snapshot to compare".to_owned(),
        |number| format!("the snapshot of event {number} equals the log's state, bit for bit"),
    );
    let witness = witnessed.map_or_else(
        || "there is no witness of the last acknowledged event".to_owned(),
        |number| format!("event {number}, the last acknowledged, is in the log"),
    );
    format!(
        "the log is consistent\n  {} events, each chained to the one before\n  {}\n  {decisions} decisions drawn again, with the same result\n  \
         {outcomes} outcomes and corrections\n  {reviews} reviews computed again\n  {proposals} proposals computed again\n  \
         {by_key} signatures of people with keys, checked again; {by_token} with tokens\n  \
         {versions} versions of {policies} policies, each explained by an event\n{erased}  {snapshot}\n  {witness}\n  head {}:{}\n",
        head.number,
        signatures(verified),
        head.number,
        head.hash
    )
}

/// What cannot be verified because people were erased, as a line; empty if nobody was.
fn erased(findings: &AuditSummary) -> String {
    let ErasedCounts { people, decisions, reviews, proposals } = findings.erased;
    if people == 0 {
        return String::new();
    }
    format!(
        "  {people} people were erased: {decisions} decisions cannot be drawn again, {reviews} reviews and {proposals} proposals cannot be computed again\n"
    )
}

/// What was not verified because records are archived, as a line; empty if none are.
fn archived(findings: &AuditSummary) -> String {
    let ArchivedCounts { events, decisions, reviews, proposals } = findings.archived;
    if events == 0 {
        return String::new();
    }
    format!(
        "  {events} events are archived, and were not read: {decisions} decisions were not drawn again, {reviews} reviews and {proposals} proposals \
         not computed again; name the directory of their files with --archive\n"
    )
}

/// What the checkpoints show, in a sentence.
fn signatures(verified: &Verified) -> String {
    match &verified.tree {
        None if verified.checkpoints == 0 => "no checkpoint was ever signed".to_owned(),
        None => format!("{} signed checkpoints, not checked: give their public key with --key", verified.checkpoints),
        Some(_) if verified.checkpoints == 0 => {
            "no checkpoint yet: a service signs one a minute after new events, and when it stops".to_owned()
        }
        Some((key, TreeSummary { checkpoints: 0, .. })) => format!("no checkpoint is signed with the key {key}"),
        Some((_, tree)) => {
            let TreeSummary { size, checkpoints, by_other_keys, covered, .. } = *tree;
            let others = match by_other_keys {
                0 => String::new(),
                more => format!("; {more} more by other keys"),
            };
            let rest = match size - covered {
                0 => "all events".to_owned(),
                more => format!("events 1 to {covered}; {more} later events are not signed yet"),
            };
            format!("{checkpoints} signed checkpoints{others}; they cover {rest}")
        }
    }
}

fn answer(checked: &Checked) -> Json {
    let verified = match checked {
        Ok(verified) => verified,
        Err(Inconsistency { event, what, .. }) => return json!({ "fits": false, "event": event, "problem": what }),
    };
    let findings = &verified.findings;
    let tree = verified.tree.as_ref().map(|(key, tree)| {
        json!({
            "key": key,
            "size": tree.size,
            "root": tree.root,
            "checkpoints": tree.checkpoints,
            "by_other_keys": tree.by_other_keys,
            "covered": tree.covered,
        })
    });
    json!({
        "fits": true,
        "head": { "number": findings.head.number, "hash": findings.head.hash },
        "policies": findings.policies,
        "decisions": findings.decisions,
        "outcomes": findings.outcomes,
        "reviews": findings.reviews,
        "proposals": findings.proposals,
        "signatures": { "key": findings.signatures.by_key, "token": findings.signatures.by_token },
        "versions": findings.versions,
        "erased": {
            "people": findings.erased.people,
            "decisions": findings.erased.decisions,
            "reviews": findings.erased.reviews,
            "proposals": findings.erased.proposals,
        },
        "archived": {
            "events": findings.archived.events,
            "decisions": findings.archived.decisions,
            "reviews": findings.archived.reviews,
            "proposals": findings.archived.proposals,
        },
        "snapshot": findings.snapshot,
        "witnessed": verified.witnessed,
        "checkpoints": verified.checkpoints,
        "signed": tree,
    })
}
