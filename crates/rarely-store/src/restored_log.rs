//! A log together with the bodies that were moved out of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::{KeyedEntry, LogEntry, LookupKey};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::signed_checkpoint::SignedCheckpoint;
use crate::subject::{Subject, SubjectKey, SubjectKeys, SubjectTag};

/// A log whose archived entries have their bodies again, for reading.
pub struct RestoredLog<'a> {
    log: &'a dyn EventLog,
    bodies: Arc<HashMap<u64, String>>,
    /// Only bodies that left the log after this entry are restored.
    since: u64,
}

impl<'a> RestoredLog<'a> {
    /// The log with these bodies, by number.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if a body is not the one that the entry had.
    pub fn new(log: &'a dyn EventLog, bodies: HashMap<u64, String>) -> Result<Self, StoreError> {
        let restored = Self { log, bodies: Arc::new(bodies), since: 0 };
        let mut numbers: Vec<u64> = restored.bodies.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let before =
                number.checked_sub(1).filter(|before| *before > 0).map(|before| log.entry(before)).transpose()?;
            let before = before.flatten().map_or(Hash::ZERO, |before| before.hash);
            let is_it = restored.entry(number)?.is_some_and(|entry| entry.expected_hash(&before) == entry.hash);
            if !is_it {
                let found = format!("event {number} is not the one that was archived");
                return Err(StoreError::Damaged { what: "reading the archive", path: "the archive".into(), found });
            }
        }
        Ok(restored)
    }

    /// How many bodies it has.
    pub fn bodies(&self) -> usize {
        self.bodies.len()
    }

    fn whole(&self, mut entry: LogEntry) -> LogEntry {
        let is_restored = entry.archived_by().is_some_and(|by| by > self.since);
        if let Some(body) = self.bodies.get(&entry.number).filter(|_| is_restored) {
            entry.body.clone_from(body);
        }
        entry
    }

    fn each_whole(&self, entries: Vec<LogEntry>) -> Vec<LogEntry> {
        entries.into_iter().map(|entry| self.whole(entry)).collect()
    }
}

impl SubjectKeys for RestoredLog<'_> {
    fn subject_secret(&self) -> Result<Option<Hash>, StoreError> {
        self.log.subject_secret()
    }

    fn subject(&self, name: &Hash) -> Result<Option<Subject>, StoreError> {
        self.log.subject(name)
    }

    fn subject_key(&self, tag: &SubjectTag) -> Result<Option<SubjectKey>, StoreError> {
        self.log.subject_key(tag)
    }

    fn subjects(&self) -> Result<Vec<Subject>, StoreError> {
        self.log.subjects()
    }
}

impl EventLog for RestoredLog<'_> {
    fn append(&self, _entries: &[KeyedEntry]) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }

    fn beneath(&self) -> Option<&dyn EventLog> {
        Some(self.log)
    }

    fn as_archived_at(&self, number: u64) -> Option<Box<dyn EventLog + '_>> {
        Some(Box::new(Self { log: self.log, bodies: Arc::clone(&self.bodies), since: number }))
    }

    fn is_archived(&self, entry: &LogEntry) -> bool {
        self.bodies.contains_key(&entry.number) || self.log.is_archived(entry)
    }

    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        self.log.head()
    }

    fn entry(&self, number: u64) -> Result<Option<LogEntry>, StoreError> {
        Ok(self.log.entry(number)?.map(|entry| self.whole(entry)))
    }

    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        Ok(self.each_whole(self.log.entries(after, policy, limit)?))
    }

    fn entries_before(&self, before: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        Ok(self.each_whole(self.log.entries_before(before, policy, limit)?))
    }

    fn find(&self, key: &LookupKey) -> Result<Option<u64>, StoreError> {
        self.log.find(key)
    }

    fn hashes(&self, after: u64, limit: usize) -> Result<Vec<Hash>, StoreError> {
        self.log.hashes(after, limit)
    }

    fn keep_checkpoint(&self, _: &SignedCheckpoint, _: u64, _: &[Hash]) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }

    fn checkpoints(&self, after: Option<u64>) -> Result<Vec<SignedCheckpoint>, StoreError> {
        self.log.checkpoints(after)
    }

    fn tree_blocks(&self) -> Result<Vec<Hash>, StoreError> {
        self.log.tree_blocks()
    }

    fn lookup_keys(&self, visit: &mut dyn FnMut(&LookupKey, u64)) -> Result<(), StoreError> {
        self.log.lookup_keys(visit)
    }

    fn policy_index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.log.policy_index(visit)
    }

    fn check_structure(&self) -> Result<(), StoreError> {
        self.log.check_structure()
    }
}
