//! A log in memory, for tests, with fault injection.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::{KeyedEntry, LogEntry, LookupKey};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::signed_checkpoint::SignedCheckpoint;
use crate::subject::SubjectKeys;

/// A fault that a test injects into a [`MemoryLog`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The call succeeds.
    None,
    /// The call fails and writes nothing.
    Fail,
    /// The call reports a failure, but everything is written.
    FailAfterWriting,
}

/// A log in memory, for tests. Nothing in it survives the process. Tests can inject faults.
#[derive(Default)]
pub struct MemoryLog {
    contents: Mutex<Contents>,
}

impl MemoryLog {
    /// An empty log without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Injects faults into the next appends, one per append; later appends succeed.
    pub fn stage(&self, appends: impl IntoIterator<Item = InjectedFault>) {
        self.contents().appends.extend(appends);
    }

    /// Injects faults into the next reopenings, one per call; later calls succeed.
    pub fn inject_reopen_faults(&self, reopenings: impl IntoIterator<Item = InjectedFault>) {
        self.contents().reopenings.extend(reopenings);
    }

    /// The number of calls to `append`, successful or not.
    pub fn appends(&self) -> usize {
        self.contents().appended
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Contents {
    entries: Vec<LogEntry>,
    keys: HashMap<LookupKey, u64>,
    appends: VecDeque<InjectedFault>,
    reopenings: VecDeque<InjectedFault>,
    appended: usize,
    checkpoints: BTreeMap<u64, SignedCheckpoint>,
    blocks: BTreeMap<u64, Hash>,
}

impl Contents {
    /// The entries with numbers above `number`. Entry n is at index n − 1.
    fn after(&self, number: u64) -> &[LogEntry] {
        let skip = usize::try_from(number).unwrap_or(usize::MAX).min(self.entries.len());
        &self.entries[skip..]
    }
}

impl SubjectKeys for MemoryLog {}

impl EventLog for MemoryLog {
    fn append(&self, entries: &[KeyedEntry]) -> Result<(), StoreError> {
        let contents = &mut *self.contents();
        contents.appended += 1;
        let fault = contents.appends.pop_front().unwrap_or(InjectedFault::None);
        if fault == InjectedFault::Fail {
            return Err(StoreError::Injected);
        }
        let next = contents.entries.len() as u64 + 1;
        for (expected, KeyedEntry { entry, .. }) in (next..).zip(entries) {
            if entry.number != expected {
                return Err(StoreError::OutOfOrder { expected, found: entry.number });
            }
        }
        for KeyedEntry { entry, key, archives, .. } in entries {
            for (number, stub) in archives {
                let at = usize::try_from(*number).unwrap_or_default();
                contents.entries[at - 1].body.clone_from(stub);
                contents.keys.retain(|_, found| found != number);
            }
            contents.entries.push(entry.clone());
            if let Some(key) = key {
                contents.keys.insert(key.clone(), entry.number);
            }
        }
        if fault == InjectedFault::None { Ok(()) } else { Err(StoreError::Injected) }
    }

    fn reopen(&self) -> Result<(), StoreError> {
        match self.contents().reopenings.pop_front() {
            None | Some(InjectedFault::None) => Ok(()),
            Some(_) => Err(StoreError::Injected),
        }
    }

    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        Ok(self.contents().entries.last().map(|entry| (entry.number, entry.hash)))
    }

    fn entry(&self, number: u64) -> Result<Option<LogEntry>, StoreError> {
        let Some(before) = number.checked_sub(1) else { return Ok(None) };
        Ok(self.contents().after(before).first().cloned())
    }

    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let contents = self.contents();
        let wanted = contents.after(after).iter().filter(|entry| policy.is_none_or(|policy| entry.policy == policy));
        Ok(wanted.take(limit).cloned().collect())
    }

    fn entries_before(&self, before: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let contents = self.contents();
        let wanted = contents.entries.iter().rev().filter(|entry| entry.number < before);
        let wanted = wanted.filter(|entry| policy.is_none_or(|policy| entry.policy == policy));
        Ok(wanted.take(limit).cloned().collect())
    }

    fn find(&self, key: &LookupKey) -> Result<Option<u64>, StoreError> {
        Ok(self.contents().keys.get(key).copied())
    }

    fn keep_checkpoint(&self, checkpoint: &SignedCheckpoint, first: u64, blocks: &[Hash]) -> Result<(), StoreError> {
        let contents = &mut *self.contents();
        contents.checkpoints.insert(checkpoint.size(), checkpoint.clone());
        contents.blocks.extend((first..).zip(blocks.iter().copied()));
        Ok(())
    }

    fn checkpoints(&self, after: Option<u64>) -> Result<Vec<SignedCheckpoint>, StoreError> {
        let contents = self.contents();
        let wanted = contents.checkpoints.values().filter(|kept| after.is_none_or(|after| kept.size() > after));
        Ok(wanted.cloned().collect())
    }

    fn tree_blocks(&self) -> Result<Vec<Hash>, StoreError> {
        Ok(self.contents().blocks.values().copied().collect())
    }

    fn lookup_keys(&self, visit: &mut dyn FnMut(&LookupKey, u64)) -> Result<(), StoreError> {
        self.contents().keys.iter().for_each(|(key, number)| visit(key, *number));
        Ok(())
    }

    fn policy_index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.contents().entries.iter().for_each(|entry| visit(entry.policy, entry.number));
        Ok(())
    }
}
