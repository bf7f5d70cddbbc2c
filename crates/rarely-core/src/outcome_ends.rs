//! How rare the rarer outcomes of an arm are, in one pass, whatever the order.

/// Counts outcomes, and those at the lowest, at the highest and at 0: where outcomes pile up, they do so there.
///
/// ```
/// let mut outcomes = rarely_core::OutcomeEnds::default();
/// [0.0, 1.0, 0.0, 0.0].into_iter().for_each(|outcome| outcomes.add(outcome));
/// assert_eq!((outcomes.count(), outcomes.rarer()), (4, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OutcomeEnds {
    count: u64,
    zeros: u64,
    lowest: End,
    highest: End,
}

/// An end, and the outcomes at it; any number before the first outcome.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct End {
    outcome: f64,
    count: u64,
}

impl End {
    #[inline]
    fn add(&mut self, other: Self, is_beyond: bool) {
        if self.count == 0 || is_beyond {
            *self = other;
        } else if self.outcome == other.outcome {
            self.count += other.count;
        }
    }
}

impl OutcomeEnds {
    /// So many outcomes, with those that are 0, and the lowest and the highest outcome with those that are as low and as high: counted
    /// elsewhere, where these two may be the ends of more outcomes than were counted. `None` if that is not possible.
    pub fn counted(count: u64, zeros: u64, lowest: (f64, u64), highest: (f64, u64)) -> Option<Self> {
        let end = |(outcome, count): (f64, u64)| End { outcome, count };
        let possible = zeros.max(lowest.1).max(highest.1) <= count && lowest.0 <= highest.0;
        possible.then(|| Self { count, zeros, lowest: end(lowest), highest: end(highest) })
    }

    /// Adds an outcome.
    #[inline]
    pub fn add(&mut self, outcome: f64) {
        self.count += 1;
        self.zeros += u64::from(outcome == 0.0);
        let one = End { outcome, count: 1 };
        self.lowest.add(one, outcome < self.lowest.outcome);
        self.highest.add(one, outcome > self.highest.outcome);
    }

    /// Adds the outcomes that another one counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count > 0 {
            self.count += other.count;
            self.zeros += other.zeros;
            self.lowest.add(other.lowest, other.lowest.outcome < self.lowest.outcome);
            self.highest.add(other.highest, other.highest.outcome > self.highest.outcome);
        }
    }

    /// Outcomes so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The outcomes that differ from the most frequent of the lowest, the highest and 0. For a binary outcome: the count of the rarer class.
    pub fn rarer(&self) -> u64 {
        self.count - self.zeros.max(self.lowest.count).max(self.highest.count)
    }

    /// As [`OutcomeEnds::rarer`], where the lowest and the highest are those of these outcomes and of others together.
    ///
    /// ```
    /// use rarely_core::OutcomeEnds;
    /// let ends = |outcomes: &[f64]| {
    ///     let mut ends = OutcomeEnds::default();
    ///     outcomes.iter().for_each(|&outcome| ends.add(outcome));
    ///     ends
    /// };
    /// let (some, others) = (ends(&[3.0, 3.0, 4.0]), ends(&[2.0, 4.0]));
    /// assert_eq!((some.rarer(), some.rarer_among(&others)), (1, 2));
    /// ```
    pub fn rarer_among(&self, others: &Self) -> u64 {
        let mut all = *self;
        all.merge(others);
        let at = |mine: End, end: End| if mine.outcome == end.outcome { mine.count } else { 0 };
        self.count - self.zeros.max(at(self.lowest, all.lowest)).max(at(self.highest, all.highest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(outcomes: impl IntoIterator<Item = f64>) -> OutcomeEnds {
        let mut ends = OutcomeEnds::default();
        outcomes.into_iter().for_each(|outcome| ends.add(outcome));
        ends
    }

    #[test]
    fn two_counts_merge_into_the_count_of_both_in_any_order() {
        // 37 in 200 have the rarer outcome, whatever the two are.
        for (rare, usual) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (5.0, 3.0)] {
            let outcome = |at: u32| if at * 7 % 200 < 37 { rare } else { usual };
            let whole = counted((0..200).map(outcome));
            assert_eq!((whole.count(), whole.rarer()), (200, 37));
            for split in 0..=200 {
                let (mut both, first) = (counted((split..200).map(outcome)), counted((0..split).map(outcome)));
                both.merge(&first);
                assert_eq!(both, whole, "{split}");
            }
        }
    }

    #[test]
    fn outcomes_that_pile_up_at_zero_are_found_there() {
        assert_eq!(counted((0..100).map(|at| if at < 90 { 0.0 } else { f64::from(at) - 95.0 })).rarer(), 9);
        assert_eq!(counted((0..101).map(f64::from)).rarer(), 100, "numbers that all differ are not rare");
        assert_eq!(counted([0.5; 50]).rarer(), 0);
        assert_eq!(counted([]).rarer(), 0);
    }
}
