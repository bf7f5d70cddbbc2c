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
use crate::output::{print, print_json, say};
use crate::review::Format;

/// What does not fit, the event it is about, and what to do.
struct Misfit {
    event: Option<u64>,
    what: String,
    help: Option<String>,
}

impl Misfit {
    fn new(event: Option<u64>, what: &impl Explain) -> Self {
        Self { event, what: what.to_string(), help: what.remedy().map(|remedy| worded(&remedy)) }
    }

    /// A head that was noted down elsewhere is not in the log.
    fn of_noted_head(event: u64, what: String) -> Self {
        Self { event: Some(event), what, help: None }
    }
}

pub(super) fn run(store: &Path, noted: Option<Head>, format: Format) -> Result<ExitCode, Failure> {
    match check(store, noted)? {
        Ok((findings, witnessed)) => {
            match format {
                Format::Table => print(&table(&findings, witnessed))?,
                Format::Json => print_json(&answer(&findings, witnessed))?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Misfit { event, what, help }) => {
            if let Some(help) = help {
                say(&format!("help: {help}"));
            }
            match format {
                Format::Table => print(&format!("{}: something does not fit: {what}\n", store.display()))?,
                Format::Json => print_json(&json!({ "fits": false, "event": event, "problem": what }))?,
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

type Checked = Result<(AuditSummary, Option<u64>), Misfit>;

/// What was found; an error if it could not be looked for.
fn check(store: &Path, noted: Option<Head>) -> Result<Checked, Failure> {
    if !store.exists() {
        return Err(StoreError::Missing { path: store.to_owned() }.into());
    }
    // Witness and snapshot before the log, which only grows: what they name must be in it.
    let witness = HeadWitness::path(store).exists().then(|| HeadWitness::open(store)).transpose()?;
    let snapshot_file = SnapshotFile::beside(store);
    let (place, _held) = match still(store) {
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
            StoreError::Lost { log_ends, .. } => Ok(Err(Misfit::new(Some(log_ends + 1), &error))),
            StoreError::Replaced { number, .. } => Ok(Err(Misfit::new(Some(number), &error))),
            other => unreadable(other),
        };
    }
    if let Some(Head { number, hash }) = noted {
        match log.entry(number)? {
            Some(entry) if entry.hash == hash => {}
            Some(entry) => {
                return Ok(Err(Misfit::of_noted_head(
                    number,
                    format!("event {number} has the hash {}, where {hash} was noted", entry.hash),
                )));
            }
            None => {
                return Ok(Err(Misfit::of_noted_head(
                    number,
                    format!("event {number} was noted, but is not in the log"),
                )));
            }
        }
    }
    let snapshot = match read(&snapshot_file, &log)? {
        Ok(snapshot) => snapshot,
        Err(misfit) => return Ok(Err(misfit)),
    };
    let bar = ProgressBar::new(log.head()?.map_or(0, |(number, _)| number));
    bar.enable_steady_tick(Duration::from_millis(200));
    let verified = verify(&log, snapshot.as_ref(), |number| bar.set_position(number));
    bar.finish_and_clear();
    let witnessed = witness.and_then(|witness| witness.seen()).map(|seen| seen.number);
    match verified {
        Ok(findings) => Ok(Ok((findings, witnessed))),
        Err(AuditFault::Replay(ReplayError::Store(error))) => unreadable(error),
        Err(fault) => Ok(Err(Misfit::new(fault.event(), &fault))),
    }
}

/// A damaged file does not fit; one that the system does not let us read was not looked at.
fn unreadable(error: StoreError) -> Result<Checked, Failure> {
    match error {
        StoreError::Damaged { .. } | StoreError::NotAStore { .. } => Ok(Err(Misfit::new(None, &error))),
        other => Err(other.into()),
    }
}

fn chain(fault: &ChainFault) -> Misfit {
    Misfit::new(Some(fault.number()), fault)
}

fn read(file: &SnapshotFile, log: &SqliteLog) -> Result<Result<Option<StoredSnapshot>, Misfit>, Failure> {
    Ok(match file.read(SNAPSHOT_FORMAT, log) {
        Ok(snapshot) => Ok(snapshot),
        Err(SnapshotFault::Log(error)) => return Err(error.into()),
        Err(SnapshotFault::Io { source, .. }) => return Err(source).or_fail(),
        // Another version's is not wrong, and a running server may have written a newer one than the log that is looked at.
        Err(fault @ (SnapshotFault::OtherFormat { .. } | SnapshotFault::BeyondTheLog { .. })) => {
            say(&fault.to_string());
            Ok(None)
        }
        Err(fault) => Err(Misfit::new(None, &fault)),
    })
}

/// The store itself if nobody writes to it, else a copy of it that is removed afterwards.
enum Place {
    Itself(PathBuf),
    Copy(PathBuf),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Itself(path) | Self::Copy(path) => path,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Self::Copy(path) = self else { return };
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            drop(std::fs::remove_file(PathBuf::from(name)));
        }
    }
}

/// A log that stands still while it is looked at.
fn still(store: &Path) -> Result<(Place, Option<StoreLock>), StoreError> {
    match StoreLock::take(store) {
        Ok(lock) => Ok((Place::Itself(store.to_owned()), Some(lock))),
        Err(StoreError::Locked { .. }) => {
            let mut name = store.as_os_str().to_owned();
            name.push(format!(".audit-{}", std::process::id()));
            let copy = PathBuf::from(name);
            say("a server uses the store: a copy of it is checked, and removed afterwards");
            backup(store, &copy)?;
            Ok((Place::Copy(copy), None))
        }
        // Where nothing can be written nobody writes.
        Err(_) => Ok((Place::Itself(store.to_owned()), None)),
    }
}

fn table(findings: &AuditSummary, witnessed: Option<u64>) -> String {
    let AuditSummary { head, policies, decisions, outcomes, reviews, proposals, versions, snapshot } = findings;
    let snapshot = snapshot.map_or_else(
        || "there is no snapshot to compare".to_owned(),
        |number| format!("the snapshot of event {number} is what the log adds up to, bit for bit"),
    );
    let witness = witnessed.map_or_else(
        || "there is no witness of what was acknowledged".to_owned(),
        |number| format!("event {number}, acknowledged last, is there"),
    );
    format!(
        "all fits\n  {} events, each chained to the one before\n  {decisions} decisions drawn again, with the same result\n  \
         {outcomes} outcomes and corrections\n  {reviews} reviews added up again\n  {proposals} proposals worked out again\n  \
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
