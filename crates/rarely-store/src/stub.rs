//! Entries whose bodies were moved into an archive: what stays of them, and what shows that it was not changed since.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::entry::LogEntry;
use crate::hash::Hash;

/// The kind of the entries that say which bodies were moved into an archive.
pub const ARCHIVED: &str = "archived";

/// How the text begins that stays in place of a body. No body begins like this otherwise.
const BEGINNING: &str = "{\"archived\":";

/// The text that stays in place of a body: the number of the entry that says so, and the fields of `kept`, a JSON object.
///
/// ```
/// use rarely_store::stub_body;
/// assert_eq!(stub_body(9, r#"{"option":"treat"}"#), r#"{"archived":9,"option":"treat"}"#);
/// assert_eq!(stub_body(9, "{}"), r#"{"archived":9}"#);
/// ```
pub fn stub_body(by: u64, kept: &str) -> String {
    let fields = kept.strip_prefix('{').unwrap_or("}");
    let comma = if fields.starts_with('}') { "" } else { "," };
    format!("{BEGINNING}{by}{comma}{fields}")
}

/// What stays of archived entries, each chained to the one before by a hash: the entry that archives them has it, so that no stub can be
/// changed unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StubChain {
    /// How many entries.
    pub entries: u64,
    /// The hash of the last, which covers all.
    pub hash: Hash,
}

impl Default for StubChain {
    fn default() -> Self {
        Self { entries: 0, hash: Hash::ZERO }
    }
}

impl StubChain {
    /// Adds the next entry, with the stub as its body: SHA-256 of its frame after the hash so far ‖ the hash that it has in the log.
    pub fn push(&mut self, entry: &LogEntry) {
        let frame = entry.expected_hash(&self.hash);
        self.hash = Hash::of(&[frame.0, entry.hash.0].concat());
        self.entries += 1;
    }
}

impl LogEntry {
    /// The entry that says that this one's body was moved into an archive; `None` if the body is whole.
    pub fn archived_by(&self) -> Option<u64> {
        let rest = self.body.strip_prefix(BEGINNING)?;
        let end = rest.find([',', '}'])?;
        rest[..end].parse().ok().filter(|by| *by > self.number)
    }
}

/// The stubs that a verification has met and not yet found explained.
#[derive(Debug, Default)]
pub(crate) struct StubCheck {
    open: BTreeMap<u64, StubChain>,
}

/// The part of an archiving entry that this crate knows.
#[derive(Deserialize)]
struct Said {
    stubs: StubChain,
}

impl StubCheck {
    /// Notes an entry. Returns whether its body is whole.
    pub(crate) fn is_whole(&mut self, entry: &LogEntry) -> bool {
        let by = entry.archived_by();
        if let Some(by) = by {
            self.open.entry(by).or_default().push(entry);
        }
        by.is_none()
    }

    /// Whether an archiving entry is about exactly the stubs that name it; true for entries of other kinds, unless stubs name them.
    pub(crate) fn is_explained(&mut self, entry: &LogEntry) -> bool {
        let met = self.open.remove(&entry.number);
        if entry.kind != ARCHIVED {
            return met.is_none();
        }
        serde_json::from_str::<Said>(&entry.body).is_ok_and(|said| said.stubs == met.unwrap_or_default())
    }

    /// The first entry that stubs name and that was not met.
    pub(crate) fn unexplained(&self) -> Option<u64> {
        self.open.keys().next().copied()
    }
}
