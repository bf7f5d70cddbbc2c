//! Records that were moved into an archive, because they are older than the document wants to keep them.

use rarely_store::{EventLog, Hash, LogEntry, StubChain, stub_body};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::person::{place, private_fields};
use super::{Event, EventError};
use crate::learned::LearnedSums;
use crate::replay::ReplayError;

/// Records of a policy were moved into an archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Archived {
    /// They are from before this time.
    pub before_ms: u64,
    /// The first event that was archived, …
    pub first: u64,
    /// … and the last. Between them every event of the policy with a record was.
    pub last: u64,
    /// Decisions that were archived.
    pub decisions: u64,
    /// Outcomes and corrections that are no evidence without the archive: those of these decisions, and archived ones of decisions made
    /// elsewhere.
    pub outcomes: u64,
    /// Where they are.
    pub file: ArchiveFile,
    /// The id of the person who did it.
    pub person: String,
    /// What stays of the events.
    pub stubs: StubChain,
    /// The sums at this event, with what was learned from these records.
    pub statistics: Box<LearnedSums>,
}

/// A file with archived events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFile {
    /// Its name, without its folder.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: Hash,
    /// How many events the signed checkpoint covers that is beside it; absent if the log is not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
}

/// Fields of decisions, as most have them.
const USUAL: [(&str, &str); 2] = [("reason", "\"policy\""), ("propensity", "1.0")];

impl Event {
    /// Whether events of this kind have records of people or outcomes, which are archived when they are old.
    pub fn has_record(kind: &str) -> bool {
        !private_fields(kind).is_empty()
    }

    /// The event that archived it; `None` if it is whole.
    pub fn archived(&self) -> Option<u64> {
        match self {
            Self::Decided(decided) => decided.archived,
            Self::Observed(observed) => observed.archived,
            Self::Corrected(corrected) => corrected.archived,
            Self::Overridden(overridden) => overridden.archived,
            _ => None,
        }
    }

    /// What stays of an entry that the event `by` archives.
    pub(crate) fn stub(entry: &LogEntry, by: u64) -> Result<String, ReplayError> {
        let mut body = fields(entry)?;
        body.remove("sealed");
        for path in private_fields(&entry.kind) {
            if let Some((outer, field)) = place(&mut body, path) {
                outer.remove(field);
            }
        }
        // What most decisions have is left out.
        for (field, usual) in USUAL.into_iter().filter(|_| entry.kind == "decided") {
            if body.get(field) == Some(&value_of(usual)) {
                body.remove(field);
            }
        }
        Ok(stub_body(by, &Json::Object(body).to_string()))
    }

    /// The event of which this entry is what stays.
    pub(super) fn of_stub(log: &dyn EventLog, entry: &LogEntry, by: u64) -> Result<Self, ReplayError> {
        let mut body = fields(entry)?;
        body.remove("archived");
        for (field, usual) in USUAL.into_iter().filter(|_| entry.kind == "decided") {
            body.entry(field).or_insert_with(|| value_of(usual));
        }
        let mut event =
            Self::emptied(&entry.kind, body).map_err(|source| ReplayError::Event { number: entry.number, source })?;
        if let Some(about) = event.about_person()
            && log.subject_key(&about.tag)?.is_none()
        {
            event.mark_erased();
        }
        match &mut event {
            Self::Decided(decided) => decided.archived = Some(by),
            Self::Observed(observed) => observed.archived = Some(by),
            Self::Corrected(corrected) => corrected.archived = Some(by),
            Self::Overridden(overridden) => overridden.archived = Some(by),
            _ => {}
        }
        Ok(event)
    }
}

fn value_of(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_default()
}

fn fields(entry: &LogEntry) -> Result<Map<String, Json>, ReplayError> {
    serde_json::from_str(&entry.body).map_err(|error| {
        let source = EventError::Body { kind: entry.kind.clone(), problem: error.to_string() };
        ReplayError::Event { number: entry.number, source }
    })
}
