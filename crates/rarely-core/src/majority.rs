//! How rare the rarer outcomes of an arm are, in one pass and three numbers.

/// Counts outcomes, and how far the most frequent one is ahead of all others together [boyer-1991].
///
/// ```
/// let mut outcomes = rarely_core::Majority::default();
/// [0.0, 1.0, 0.0, 0.0].into_iter().for_each(|outcome| outcomes.add(outcome));
/// assert_eq!((outcomes.count(), outcomes.rarer()), (4, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Majority {
    count: u64,
    candidate: f64,
    lead: u64,
}

impl Majority {
    /// Adds an outcome.
    #[inline]
    pub fn add(&mut self, outcome: f64) {
        self.count += 1;
        if self.lead == 0 {
            (self.candidate, self.lead) = (outcome, 1);
        } else if outcome == self.candidate {
            self.lead += 1;
        } else {
            self.lead -= 1;
        }
    }

    /// Adds the outcomes that another one counted.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        if other.candidate == self.candidate {
            self.lead += other.lead;
        } else if other.lead > self.lead {
            (self.candidate, self.lead) = (other.candidate, other.lead - self.lead);
        } else {
            self.lead -= other.lead;
        }
    }

    /// Outcomes so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A lower bound of the number of outcomes that differ from the most frequent one: `(n − lead)/2`, since each of them can cancel
    /// one of the most frequent. For a binary outcome it is exact: the count of the rarer class.
    pub fn rarer(&self) -> u64 {
        (self.count - self.lead) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rarer(outcomes: impl IntoIterator<Item = f64>) -> u64 {
        let mut majority = Majority::default();
        outcomes.into_iter().for_each(|outcome| majority.add(outcome));
        majority.rarer()
    }

    #[test]
    fn the_rarer_class_of_a_binary_outcome_in_any_order() {
        for order in 1..40_u32 {
            let ones = (0..200_u32).filter(|at| at * order % 200 < 37 && order % 2 == 1 && order % 5 != 0).count();
            let outcomes = (0..200_u32).map(|at| f64::from(u8::from(at * order % 200 < 37)));
            if ones == 37 {
                assert_eq!(rarer(outcomes), 37);
            }
        }
    }

    #[test]
    fn two_counts_merge_into_the_count_of_both() {
        for split in 0..200_u32 {
            let outcome = |at: u32| f64::from(u8::from(at * 7 % 200 < 37));
            let part = |range: std::ops::Range<u32>| {
                let mut majority = Majority::default();
                range.for_each(|at| majority.add(outcome(at)));
                majority
            };
            let mut both = part(0..split);
            both.merge(&part(split..200));
            assert_eq!((both.count(), both.rarer()), (200, 37), "{split}");
        }
    }

    #[test]
    fn numbers_that_all_differ_are_not_rare() {
        assert_eq!(rarer((0..101).map(f64::from)), 50);
        assert_eq!(rarer([0.0; 50]), 0);
    }
}
