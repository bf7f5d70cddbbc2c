//! Counts decisions without an outcome, by option, and how many of them are overdue.
//!
//! Decisions are counted in time slots, 256 per window, so that memory does not grow with their number. A decision counts as
//! overdue once its whole slot is older than the window, which is late by at most 1/256 of the window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Slots in a window.
const SLOTS: u64 = 256;

/// Decisions without an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unanswered {
    window_ms: u64,
    /// Decisions within the window, by slot number, then by option.
    open: BTreeMap<u64, Vec<u64>>,
    /// Decisions older than the window, by option.
    overdue: Vec<u64>,
    /// Slots below this one are counted in `overdue`.
    closed: u64,
    /// Earlier decisions are not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    since_ms: u64,
}

impl Unanswered {
    /// No decisions yet.
    pub(crate) fn new(window_ms: u64, options: usize) -> Self {
        Self::since(window_ms, options, 0)
    }

    /// No decisions yet, and earlier ones do not count.
    pub(crate) fn since(window_ms: u64, options: usize, since_ms: u64) -> Self {
        Self { window_ms, open: BTreeMap::new(), overdue: vec![0; options], closed: 0, since_ms }
    }

    fn slot(&self, time_ms: u64) -> u64 {
        time_ms / (self.window_ms / SLOTS).max(1)
    }

    /// The first slot that is not entirely older than the window.
    fn first_open(&self, now_ms: u64) -> u64 {
        now_ms.checked_sub(self.window_ms).map_or(0, |oldest| self.slot(oldest))
    }

    /// Counts a decision.
    pub(crate) fn decided(&mut self, time_ms: u64, option: usize) {
        self.close(time_ms);
        let (slot, options) = (self.slot(time_ms), self.overdue.len());
        self.open.entry(slot).or_insert_with(|| vec![0; options])[option] += 1;
    }

    /// Removes a decision whose outcome was reported.
    pub(crate) fn answered(&mut self, decided_ms: u64, option: usize) {
        if decided_ms < self.since_ms {
            return;
        }
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

    /// Decisions without an outcome that are older than the window, by option.
    pub fn overdue(&self, now_ms: u64) -> Vec<u64> {
        let mut overdue = self.overdue.clone();
        for counts in self.open.range(..self.first_open(now_ms)).map(|(_, counts)| counts) {
            overdue.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        overdue
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_become_overdue_and_late_outcomes_count() {
        let mut unanswered = Unanswered::new(2560, 2);
        for time in [0, 5, 1000, 2000] {
            unanswered.decided(time, 1);
        }
        assert_eq!(unanswered.overdue(2000), [0, 0]);
        assert_eq!(unanswered.overdue(2570), [0, 2], "the slot of 0 to 9 is entirely older than the window");
        unanswered.answered(1000, 1);
        unanswered.decided(10_000, 0);
        assert_eq!(unanswered.overdue(10_000), [0, 3]);
        unanswered.answered(5, 1);
        assert_eq!(unanswered.overdue(10_000), [0, 2], "a late outcome still counts");
        assert_eq!(unanswered.overdue(20_000), [1, 2]);
        assert_eq!(unanswered.open.len(), 1, "memory does not grow");
    }
}
