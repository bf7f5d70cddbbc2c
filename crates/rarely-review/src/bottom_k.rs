//! Which rows of a stream a uniform sample of bounded size keeps.

/// The rows with the smallest priorities, up to a limit: bottom-k sampling [cohen-2007]. It keeps priorities and slots; the owner keeps
/// the rows by slot.
///
/// A quarter more than the limit may be kept for a while: choosing the smallest of them now and then costs less than keeping them in order.
#[derive(Debug, Clone)]
pub(crate) struct BottomK {
    limit: usize,
    /// Priority and slot of each row.
    kept: Vec<(u64, usize)>,
    /// Slots whose rows were dropped.
    free: Vec<usize>,
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
        let kept = priorities.into_iter().enumerate().map(|(slot, priority)| (priority, slot)).collect();
        Self { limit, kept, free: Vec::new(), below: None }
    }

    /// Rows kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len().min(self.limit)
    }

    /// The slot that a row of this priority takes: that of a row that was dropped, or the next one. `None` if the row is not kept.
    #[inline]
    pub(crate) fn place(&mut self, priority: u64) -> Option<usize> {
        if self.below.is_some_and(|below| priority >= below) {
            return None;
        }
        let slot = self.free.pop().unwrap_or(self.kept.len());
        self.kept.push((priority, slot));
        if self.kept.len() > self.limit + self.limit / 4 {
            self.drop_largest();
        }
        Some(slot)
    }

    #[cold]
    fn drop_largest(&mut self) {
        let (_, largest, _) = self.kept.select_nth_unstable(self.limit - 1);
        self.below = Some(largest.0);
        self.free.extend(self.kept.drain(self.limit..).map(|(_, slot)| slot));
    }

    /// Priorities and slots in no order, possibly of a few rows more than the limit.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        self.kept.iter().copied()
    }

    /// Priorities and slots, in the order of priorities.
    pub(crate) fn in_order(&self) -> Vec<(u64, usize)> {
        let mut kept = self.kept.clone();
        // Rows with the same priority are equal.
        kept.sort_unstable();
        kept.truncate(self.limit);
        kept
    }
}
