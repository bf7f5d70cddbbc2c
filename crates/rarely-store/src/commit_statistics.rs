//! What a writer counts about its commits, for those who watch it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of commit durations, in microseconds: 0.1 ms to 10 s.
const DURATIONS: [u64; 13] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 2_500_000, 10_000_000];
/// Upper bounds of the number of entries in a commit.
const SIZES: [u64; 8] = [1, 2, 5, 10, 50, 100, 1_000, 10_000];

/// Counts since the writer started.
#[derive(Debug)]
pub struct CommitStatistics {
    /// How long commits took, in microseconds.
    pub duration_us: Distribution,
    /// How many entries they had.
    pub entries: Distribution,
    failures: AtomicU64,
}

impl CommitStatistics {
    pub(crate) fn new() -> Self {
        Self {
            duration_us: Distribution::new(&DURATIONS),
            entries: Distribution::new(&SIZES),
            failures: AtomicU64::new(0),
        }
    }

    /// Commits that failed. Some of their entries may be on disk nevertheless.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(crate) fn succeeded(&self, entries: usize, took: Duration) {
        self.duration_us.record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        self.entries.record(entries as u64);
    }

    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whole numbers, counted by upper bounds.
#[derive(Debug)]
pub struct Distribution {
    bounds: &'static [u64],
    /// One more than there are bounds: the last counts what is above all of them.
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

impl Distribution {
    fn new(bounds: &'static [u64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    fn record(&self, value: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// Each bound with how many values are at most as large; then `None` with how many there are.
    pub fn cumulative(&self) -> Vec<(Option<u64>, u64)> {
        let bounds = self.bounds.iter().copied().map(Some).chain([None]);
        let running = self.counts.iter().scan(0, |sum, count| {
            *sum += count.load(Ordering::Relaxed);
            Some(*sum)
        });
        bounds.zip(running).collect()
    }

    /// The sum of all values.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_at_its_own_bound_and_above() {
        let sizes = Distribution::new(&SIZES);
        for size in [1, 2, 3, 10_001] {
            sizes.record(size);
        }
        let counted = sizes.cumulative();
        assert_eq!(counted[..3], [(Some(1), 1), (Some(2), 2), (Some(5), 3)]);
        assert_eq!(counted[SIZES.len() - 1..], [(Some(10_000), 3), (None, 4)]);
        assert_eq!(sizes.sum(), 10_007);
    }
}
