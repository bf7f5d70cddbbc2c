//! How many decisions of each option are still without an outcome, and for how many of them it is overdue.
//!
//! Decisions are counted in slots of time, a few hundred to a window, so that memory does not grow with their number. A decision
//! counts as unanswered once its whole slot is older than the window: up to a 256th of the window late.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Slots in a window.
const SLOTS: u64 = 256;

/// Decisions without an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    window_ms: u64,
    /// Those still in their window, by the number of their slot, by option.
    open: BTreeMap<u64, Vec<u64>>,
    /// Those beyond it, by option.
    overdue: Vec<u64>,
    /// Slots below this one are among the overdue.
    closed: u64,
}

impl Waiting {
    /// None yet.
    pub(crate) fn new(window_ms: u64, options: usize) -> Self {
        Self { window_ms, open: BTreeMap::new(), overdue: vec![0; options], closed: 0 }
    }

    fn slot(&self, time_ms: u64) -> u64 {
        time_ms / (self.window_ms / SLOTS).max(1)
    }

    /// The first slot that is not wholly older than the window.
    fn first_open(&self, now_ms: u64) -> u64 {
        now_ms.checked_sub(self.window_ms).map_or(0, |oldest| self.slot(oldest))
    }

    /// Somebody was given an option.
    pub(crate) fn decided(&mut self, time_ms: u64, option: usize) {
        self.close(time_ms);
        let (slot, options) = (self.slot(time_ms), self.overdue.len());
        self.open.entry(slot).or_insert_with(|| vec![0; options])[option] += 1;
    }

    /// The outcome of a decision of that time became known.
    pub(crate) fn answered(&mut self, decided_ms: u64, option: usize) {
        let slot = self.slot(decided_ms);
        let count = match self.open.get_mut(&slot) {
            Some(counts) => &mut counts[option],
            None => &mut self.overdue[option],
        };
        *count = count.saturating_sub(1);
    }

    fn close(&mut self, now_ms: u64) {
        let first = self.first_open(now_ms);
        if first <= self.closed {
            return;
        }
        self.closed = first;
        let still_open = self.open.split_off(&first);
        for counts in std::mem::replace(&mut self.open, still_open).into_values() {
            self.overdue.iter_mut().zip(counts).for_each(|(overdue, count)| *overdue += count);
        }
    }

    /// Decisions whose window is over, by option.
    pub fn unanswered(&self, now_ms: u64) -> Vec<u64> {
        let mut unanswered = self.overdue.clone();
        for counts in self.open.range(..self.first_open(now_ms)).map(|(_, counts)| counts) {
            unanswered.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        unanswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_never_and_in_time() {
        let mut waiting = Waiting::new(2560, 2);
        for time in [0, 5, 1000, 2000] {
            waiting.decided(time, 1);
        }
        assert_eq!(waiting.unanswered(2000), [0, 0]);
        assert_eq!(waiting.unanswered(2570), [0, 2], "the slot of 0 to 9 is wholly older than the window");
        waiting.answered(1000, 1);
        waiting.decided(10_000, 0);
        assert_eq!(waiting.unanswered(10_000), [0, 3]);
        waiting.answered(5, 1);
        assert_eq!(waiting.unanswered(10_000), [0, 2], "a late outcome still counts");
        assert_eq!(waiting.unanswered(20_000), [1, 2]);
        assert_eq!(waiting.open.len(), 1, "memory does not grow");
    }
}
