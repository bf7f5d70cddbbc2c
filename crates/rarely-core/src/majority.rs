//! How rare the rarer outcomes of an arm are, in one pass and three numbers.

/// Counts outcomes, and how far the most frequent one is ahead of all others together [boyer-1991].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Majority {
    count: u64,
    candidate: f64,
    lead: u64,
}

impl Majority {
    pub(crate) fn add(&mut self, outcome: f64) {
        self.count += 1;
        if self.lead == 0 {
            (self.candidate, self.lead) = (outcome, 1);
        } else if outcome == self.candidate {
            self.lead += 1;
        } else {
            self.lead -= 1;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// A lower bound of the number of outcomes that differ from the most frequent one: `(n − lead)/2`, since each of them can cancel
    /// one of the most frequent. For a binary outcome it is exact: the count of the rarer class.
    pub(crate) fn rarer(&self) -> u64 {
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
    fn numbers_that_all_differ_are_not_rare() {
        assert_eq!(rarer((0..101).map(f64::from)), 50);
        assert_eq!(rarer([0.0; 50]), 0);
    }
}
