//! The entries of one policy from the newest to the oldest. The log is read forwards, so it is walked stretch by stretch.

use rarely_store::{Entry, Log, StoreError};

/// Entries that are read at a time.
const BLOCK: usize = 256;

/// The entries of one policy below a number, newest first.
pub(super) struct Backwards<'a> {
    log: &'a dyn Log,
    /// The policy, which is the number of its first entry.
    policy: u64,
    /// Entries from here on have been read.
    read: u64,
    /// Numbers to look at next: many where the policy's entries are few among others.
    stretch: u64,
    block: Vec<Entry>,
}

impl<'a> Backwards<'a> {
    /// Those before an entry.
    pub(super) fn new(log: &'a dyn Log, policy: u64, before: u64) -> Self {
        Self { log, policy, read: before, stretch: BLOCK as u64, block: Vec::new() }
    }

    /// The next older one.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        while self.block.is_empty() {
            if self.read <= self.policy {
                return Ok(None);
            }
            let from = self.read.saturating_sub(self.stretch).max(self.policy);
            let mut block = self.log.entries(from - 1, Some(self.policy), BLOCK)?;
            if block.len() == BLOCK && self.read - from > BLOCK as u64 {
                // There may be more in this stretch than were read: a shorter one.
                self.stretch = (self.stretch / 4).max(BLOCK as u64);
                continue;
            }
            block.retain(|entry| entry.number < self.read);
            if block.len() < BLOCK / 4 {
                self.stretch = self.stretch.saturating_mul(2);
            }
            self.read = from;
            self.block = block;
        }
        Ok(self.block.pop())
    }
}

#[cfg(test)]
mod tests {
    use rarely_store::{Hash, MemoryLog, Stamped};

    use super::*;

    #[test]
    fn every_entry_comes_once_whatever_lies_between() {
        let log = MemoryLog::default();
        let mut entries: Vec<Stamped> = Vec::new();
        // A policy that is busy, silent, and busy again among others.
        for number in 1..=5000_u64 {
            let own = number == 3 || (100..900).contains(&number) || number == 2500 || number > 4990;
            let policy = if own { 3 } else { 1 };
            let (actor, kind, body) = ("ann".to_owned(), "decided".to_owned(), "{}".to_owned());
            let mut entry = Entry { number, time_ms: 0, actor, policy, kind, body, hash: Hash::ZERO };
            entry.hash = entry.expected_hash(&entries.last().map_or(Hash::ZERO, |last| last.entry.hash));
            entries.push(Stamped { entry, mark: None });
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
