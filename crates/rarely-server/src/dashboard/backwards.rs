//! The entries of one policy from the newest to the oldest, read in blocks.

use std::collections::VecDeque;

use rarely_store::{EventLog, LogEntry, StoreError};

/// Entries read at a time.
const BLOCK: usize = 256;

/// The entries of one policy below a number, newest first.
pub(super) struct Backwards<'a> {
    log: &'a dyn EventLog,
    policy: u64,
    /// Entries from here on have been read.
    before: u64,
    block: VecDeque<LogEntry>,
}

impl<'a> Backwards<'a> {
    /// The policy's entries with numbers below `before`.
    pub(super) fn new(log: &'a dyn EventLog, policy: u64, before: u64) -> Self {
        Self { log, policy, before, block: VecDeque::new() }
    }

    /// The next older entry.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<LogEntry>, StoreError> {
        if self.block.is_empty() {
            self.block = self.log.entries_before(self.before, Some(self.policy), BLOCK)?.into();
        }
        let entry = self.block.pop_front();
        if let Some(entry) = &entry {
            self.before = entry.number;
        }
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use rarely_store::{Hash, KeyedEntry, MemoryLog};

    use super::*;

    #[test]
    fn every_entry_comes_once_whatever_lies_between() {
        let log = MemoryLog::default();
        let mut entries: Vec<KeyedEntry> = Vec::new();
        // A policy that is busy, silent, and busy again among others.
        for number in 1..=5000_u64 {
            let own = number == 3 || (100..900).contains(&number) || number == 2500 || number > 4990;
            let policy = if own { 3 } else { 1 };
            let (actor, kind, body) = ("ann".to_owned(), "decided".to_owned(), "{}".to_owned());
            let mut entry =
                LogEntry { number, time_ms: 0, elapsed_ms: None, actor, policy, kind, body, hash: Hash::ZERO };
            entry.hash = entry.expected_hash(&entries.last().map_or(Hash::ZERO, |last| last.entry.hash));
            entries.push(KeyedEntry { entry, key: None, destroys: Vec::new(), archives: Vec::new() });
        }
        log.append(&entries).expect("appended");
        let own: Vec<u64> = entries
            .iter()
            .map(|stamped| &stamped.entry)
            .filter(|entry| entry.policy == 3)
            .map(|entry| entry.number)
            .collect();
        for before in [5001, 4995, 900, 150, 4, 3] {
            let mut backwards = Backwards::new(&log, 3, before);
            let mut found = Vec::new();
            while let Some(entry) = backwards.next().expect("a log") {
                found.push(entry.number);
            }
            let expected: Vec<u64> = own.iter().rev().copied().filter(|number| *number < before).collect();
            assert_eq!(found, expected, "before {before}");
        }
    }
}
