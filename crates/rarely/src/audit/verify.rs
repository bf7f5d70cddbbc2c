//! `rarely audit verify`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::ProgressBar;
use rarely_error::Explain;
use rarely_live::audit::{AuditFault, AuditSummary, verify};
use rarely_live::engine::SNAPSHOT_FORMAT;
use rarely_live::replay::ReplayError;
use rarely_store::{
    ChainFault, EventLog as _, Head, HeadWitness, SnapshotFault, SnapshotFile, SqliteLog, StoreError, StoreLock,
    StoredSnapshot, backup,
};
use serde_json::json;

use crate::failure::{Failure, OrFail as _, worded};
use crate::output::{OutputFormat, print, print_json, say};

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

pub(super) fn run(store: &Path, recorded: Option<Head>, format: OutputFormat) -> Result<ExitCode, Failure> {
    match check(store, recorded)? {
        Ok((findings, witnessed)) => {
            match format {
                OutputFormat::Table => print(&table(&findings, witnessed))?,
                OutputFormat::Json => print_json(&answer(&findings, witnessed))?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Inconsistency { event, what, help }) => {
            if let Some(help) = help {
                say(&format!("help: {help}"));
            }
            match format {
                OutputFormat::Table => print(&format!("{}: the log is not consistent: {what}\n", store.display()))?,
                OutputFormat::Json => print_json(&json!({ "fits": false, "event": event, "problem": what }))?,
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

type Checked = Result<(AuditSummary, Option<u64>), Inconsistency>;

/// The audit's result; an error if the audit could not run.
fn check(store: &Path, recorded: Option<Head>) -> Result<Checked, Failure> {
    if !store.exists() {
        return Err(StoreError::Missing { path: store.to_owned() }.into());
    }
    // Read witness and snapshot before the log: it only grows, so it must contain what they name.
    let witness = HeadWitness::path(store).exists().then(|| HeadWitness::open(store)).transpose()?;
    let snapshot_file = SnapshotFile::beside(store);
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
    if let Some(Head { number, hash }) = recorded {
        match log.entry(number)? {
            Some(entry) if entry.hash == hash => {}
            Some(entry) => {
                return Ok(Err(Inconsistency::of_recorded_head(
                    number,
                    format!("event {number} has the hash {}, but {hash} was recorded elsewhere", entry.hash),
                )));
            }
            None => {
                return Ok(Err(Inconsistency::of_recorded_head(
                    number,
                    format!("event {number} was recorded elsewhere, but is not in the log"),
                )));
            }
        }
    }
    let snapshot = match read(&snapshot_file, &log)? {
        Ok(snapshot) => snapshot,
        Err(inconsistency) => return Ok(Err(inconsistency)),
    };
    let bar = ProgressBar::new(log.head()?.map_or(0, |(number, _)| number));
    bar.enable_steady_tick(Duration::from_millis(200));
    let verified = verify(&log, snapshot.as_ref(), |number| bar.set_position(number));
    bar.finish_and_clear();
    let witnessed = witness.and_then(|witness| witness.seen()).map(|seen| seen.number);
    match verified {
        Ok(findings) => Ok(Ok((findings, witnessed))),
        Err(AuditFault::Replay(ReplayError::Store(error))) => unreadable(error),
        Err(fault) => Ok(Err(Inconsistency::new(fault.event(), &fault))),
    }
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

fn read(file: &SnapshotFile, log: &SqliteLog) -> Result<Result<Option<StoredSnapshot>, Inconsistency>, Failure> {
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

fn table(findings: &AuditSummary, witnessed: Option<u64>) -> String {
    let AuditSummary { head, policies, decisions, outcomes, reviews, proposals, versions, snapshot } = findings;
    let snapshot = snapshot.map_or_else(
        || "there is no snapshot to compare".to_owned(),
        |number| format!("the snapshot of event {number} equals the log's state, bit for bit"),
    );
    let witness = witnessed.map_or_else(
        || "there is no witness of the last acknowledged event".to_owned(),
        |number| format!("event {number}, the last acknowledged, is in the log"),
    );
    format!(
        "the log is consistent\n  {} events, each chained to the one before\n  {decisions} decisions drawn again, with the same result\n  \
         {outcomes} outcomes and corrections\n  {reviews} reviews computed again\n  {proposals} proposals computed again\n  \
         {versions} versions of {policies} policies, each explained by an event\n  {snapshot}\n  {witness}\n  head {}:{}\n",
        head.number, head.number, head.hash
    )
}

fn answer(findings: &AuditSummary, witnessed: Option<u64>) -> serde_json::Value {
    json!({
        "fits": true,
        "head": { "number": findings.head.number, "hash": findings.head.hash },
        "policies": findings.policies,
        "decisions": findings.decisions,
        "outcomes": findings.outcomes,
        "reviews": findings.reviews,
        "proposals": findings.proposals,
        "versions": findings.versions,
        "snapshot": findings.snapshot,
        "witnessed": witnessed,
    })
}
