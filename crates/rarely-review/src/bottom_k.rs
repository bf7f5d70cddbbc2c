//! Which rows of a stream a uniform sample of bounded size keeps.

/// The rows with the smallest priorities, up to a limit: bottom-k sampling [cohen-2007]. It keeps priorities by slot; the owner keeps the
/// rows by slot.
///
/// Half as many again as the limit may be kept for a while: choosing the smallest of them now and then costs less than keeping them in order.
#[derive(Debug, Clone)]
pub(crate) struct BottomK {
    limit: usize,
    /// The priority of each row, by slot.
    kept: Vec<u64>,
    /// Rows are kept only below this priority, once there were more than the limit.
    below: Option<u64>,
}

impl BottomK {
    /// Nothing kept yet.
    pub(crate) fn new(limit: usize) -> Self {
        Self::of(limit, [])
    }

    /// The rows with these priorities, at most as many as the limit, in slots 0, 1, …
    pub(crate) fn of(limit: usize, priorities: impl IntoIterator<Item = u64>) -> Self {
        Self { limit, kept: priorities.into_iter().collect(), below: None }
    }

    /// Rows kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len().min(self.limit)
    }

    /// The slot that a row of this priority takes, the first that is free; `None` if the row is not kept. Where rows are dropped before,
    /// `move_row` is called with the old and the new slot of those that stay; the new one is never larger.
    #[inline]
    pub(crate) fn place(&mut self, priority: u64, move_row: impl FnMut(usize, usize)) -> Option<usize> {
        if self.below.is_some_and(|below| priority >= below) {
            return None;
        }
        if self.kept.len() >= self.limit + self.limit / 2 {
            self.drop_largest(move_row);
        }
        self.kept.push(priority);
        Some(self.kept.len() - 1)
    }

    #[cold]
    fn drop_largest(&mut self, mut move_row: impl FnMut(usize, usize)) {
        let mut order = self.kept.clone();
        let (smaller, &mut largest, _) = order.select_nth_unstable(self.limit - 1);
        let mut as_large = self.limit - smaller.iter().filter(|priority| **priority < largest).count();
        let mut slots = 0;
        for slot in 0..self.kept.len() {
            let priority = self.kept[slot];
            if priority < largest || priority == largest && as_large > 0 {
                as_large -= usize::from(priority == largest);
                self.kept[slots] = priority;
                move_row(slot, slots);
                slots += 1;
            }
        }
        self.kept.truncate(slots);
        self.below = Some(largest);
    }

    /// Priorities and slots in no order, possibly of a few rows more than the limit.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        self.kept.iter().copied().zip(0..)
    }

    /// Priorities and slots, in the order of priorities.
    pub(crate) fn in_order(&self) -> Vec<(u64, usize)> {
        let mut kept: Vec<_> = self.kept().collect();
        // Rows with the same priority are equal.
        kept.sort_unstable();
        kept.truncate(self.limit);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_are_kept_with_their_rows() {
        let (mut sample, mut rows) = (BottomK::new(10), Vec::new());
        // Every priority comes twice; a row is its priority and a number.
        let priorities = (0..500_u64).map(|row| row * 7919 % 250);
        for (priority, number) in priorities.clone().zip(0..) {
            let slot = sample.place(priority, |from, to| rows[to] = rows[from]);
            if let Some(slot) = slot {
                rows.truncate(slot);
                rows.push((priority, number));
            }
            assert!(sample.kept().all(|(priority, slot)| rows[slot].0 == priority));
        }
        let mut expected: Vec<u64> = priorities.collect();
        expected.sort_unstable();
        expected.truncate(10);
        let found: Vec<u64> = sample.in_order().into_iter().map(|(priority, _)| priority).collect();
        assert_eq!((found, sample.len()), (expected, 10));
    }
}
