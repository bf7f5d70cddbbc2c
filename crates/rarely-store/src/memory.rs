//! A log in memory, for tests, that fails when told to.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::{Entry, Mark, Stamped};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::log::Log;

/// How an append or a reopening of a [`MemoryLog`] goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staging {
    /// Well.
    Fine,
    /// It fails and nothing is written.
    Fails,
    /// It says that it failed, but everything is written.
    FailsButWrites,
}

/// A log in memory. Nothing in it survives the process; it is for tests, which can have it fail on command.
#[derive(Default)]
pub struct MemoryLog {
    contents: Mutex<Contents>,
}

impl MemoryLog {
    /// An empty log that does not fail.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how the next appends go, one after the other; those after them go well.
    pub fn stage(&self, appends: impl IntoIterator<Item = Staging>) {
        self.contents().appends.extend(appends);
    }

    /// Says how the next reopenings go, one after the other; those after them go well.
    pub fn stage_reopenings(&self, reopenings: impl IntoIterator<Item = Staging>) {
        self.contents().reopenings.extend(reopenings);
    }

    /// How often something was appended, well or not.
    pub fn appends(&self) -> usize {
        self.contents().appended
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Contents {
    entries: Vec<Entry>,
    marks: HashMap<Mark, u64>,
    appends: VecDeque<Staging>,
    reopenings: VecDeque<Staging>,
    appended: usize,
}

impl Contents {
    /// Entry n stands at n − 1.
    fn after(&self, number: u64) -> &[Entry] {
        let skip = usize::try_from(number).unwrap_or(usize::MAX).min(self.entries.len());
        &self.entries[skip..]
    }
}

impl Log for MemoryLog {
    fn append(&self, entries: &[Stamped]) -> Result<(), StoreError> {
        let contents = &mut *self.contents();
        contents.appended += 1;
        let staging = contents.appends.pop_front().unwrap_or(Staging::Fine);
        if staging == Staging::Fails {
            return Err(StoreError::Staged);
        }
        let next = contents.entries.len() as u64 + 1;
        for (expected, Stamped { entry, .. }) in (next..).zip(entries) {
            if entry.number != expected {
                return Err(StoreError::OutOfOrder { expected, found: entry.number });
            }
        }
        for Stamped { entry, mark } in entries {
            contents.entries.push(entry.clone());
            if let Some(mark) = mark {
                contents.marks.insert(mark.clone(), entry.number);
            }
        }
        if staging == Staging::Fine { Ok(()) } else { Err(StoreError::Staged) }
    }

    fn reopen(&self) -> Result<(), StoreError> {
        match self.contents().reopenings.pop_front() {
            None | Some(Staging::Fine) => Ok(()),
            Some(_) => Err(StoreError::Staged),
        }
    }

    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError> {
        Ok(self.contents().entries.last().map(|entry| (entry.number, entry.hash)))
    }

    fn entry(&self, number: u64) -> Result<Option<Entry>, StoreError> {
        let Some(before) = number.checked_sub(1) else { return Ok(None) };
        Ok(self.contents().after(before).first().cloned())
    }

    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let contents = self.contents();
        let wanted = contents.after(after).iter().filter(|entry| policy.is_none_or(|policy| entry.policy == policy));
        Ok(wanted.take(limit).cloned().collect())
    }

    fn find(&self, mark: &Mark) -> Result<Option<u64>, StoreError> {
        Ok(self.contents().marks.get(mark).copied())
    }

    fn marks(&self, visit: &mut dyn FnMut(&Mark, u64)) -> Result<(), StoreError> {
        self.contents().marks.iter().for_each(|(mark, number)| visit(mark, *number));
        Ok(())
    }

    fn index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.contents().entries.iter().for_each(|entry| visit(entry.policy, entry.number));
        Ok(())
    }
}
