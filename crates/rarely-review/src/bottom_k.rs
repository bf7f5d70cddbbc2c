//! Which rows of a stream a uniform sample of bounded size keeps.

use std::collections::BinaryHeap;

/// The rows with the smallest priorities, up to a limit: bottom-k sampling [cohen-2007]. It keeps priorities and slots; the owner keeps
/// the rows by slot.
#[derive(Debug, Clone)]
pub(crate) struct BottomK {
    limit: usize,
    /// Priority and slot of each row kept, the largest first.
    heap: BinaryHeap<(u64, usize)>,
}

impl BottomK {
    /// Nothing kept yet.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// The rows with these priorities, in slots 0, 1, …
    pub(crate) fn of(limit: usize, priorities: impl IntoIterator<Item = u64>) -> Self {
        let heap = priorities.into_iter().enumerate().map(|(slot, priority)| (priority, slot)).collect();
        Self { limit, heap }
    }

    /// Rows kept.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The slot that a row of this priority takes: the next one while there is room, then that of the row it replaces. `None` if the row
    /// is not kept.
    #[inline]
    pub(crate) fn place(&mut self, priority: u64) -> Option<usize> {
        if self.heap.len() < self.limit {
            let slot = self.heap.len();
            self.heap.push((priority, slot));
            return Some(slot);
        }
        let mut largest = self.heap.peek_mut().filter(|largest| priority < largest.0)?;
        largest.0 = priority;
        Some(largest.1)
    }

    /// Priorities and slots, in no order.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        self.heap.iter().copied()
    }

    /// Priorities and slots, in the order of priorities.
    pub(crate) fn in_order(&self) -> Vec<(u64, usize)> {
        let mut kept: Vec<(u64, usize)> = self.kept().collect();
        // Rows with the same priority are equal.
        kept.sort_unstable();
        kept
    }
}
