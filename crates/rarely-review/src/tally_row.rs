//! One row of a log, as statistics take it.

use rarely_core::Arm;
use rarely_policy::UnitHash;

use crate::people_sample::{content_priority, mix};

/// One row of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TallyRow<'a> {
    /// Its number in its file.
    pub number: u64,
    /// Its context.
    pub context: &'a [f64],
    /// The option that was given.
    pub arm: Arm,
    /// The reward.
    pub reward: f64,
    /// Its weight; 1 where rows have none.
    pub weight: f64,
    /// The hash of its key, where rows have one.
    pub key: Option<UnitHash>,
    /// Its time in whole seconds since the beginning of 1970, if it is known.
    pub seconds: Option<i64>,
    /// Its cluster, where rows have one.
    pub cluster: Option<u64>,
    /// The probability of the option that was given, where it is known.
    pub propensity: Option<f64>,
    /// The probability of every option; empty where they are not known.
    pub propensities: &'a [f64],
    /// The values of the document's guard-rails, in the good direction; empty where it has none.
    pub guardrails: &'a [f64],
    /// The value of each fairness column; empty where the document has none.
    pub levels: &'a [String],
    /// Where it stands in the reading, if several share it; otherwise it follows the row that was added before.
    pub place: Option<RowPlace>,
}

/// Where a row stands in a reading of several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// Its file, from 0.
    pub file: usize,
    /// The rows before it, in all files.
    pub position: u64,
}

impl<'a> TallyRow<'a> {
    /// A row of weight 1, without a key, a time, a cluster or propensities.
    pub fn new(number: u64, context: &'a [f64], arm: Arm, reward: f64) -> Self {
        Self {
            number,
            context,
            arm,
            reward,
            weight: 1.0,
            key: None,
            seconds: None,
            cluster: None,
            propensity: None,
            propensities: &[],
            guardrails: &[],
            levels: &[],
            place: None,
        }
    }

    /// The probability of the option that was given.
    pub(crate) fn given_propensity(&self) -> Option<f64> {
        self.propensities.get(self.arm.index()).copied().or(self.propensity)
    }

    /// Whether it belongs to the third of the rows that proposes: by a hash of its cluster, of its key, or of its number in its file; never
    /// of its content, which the outcome is a part of.
    #[inline]
    pub(crate) fn proposes(&self) -> bool {
        let by_number = |unit: u64| mix(unit ^ 0x5bd1_e995_9d1c_3f6b).is_multiple_of(3);
        match (self.cluster, self.key) {
            (None, Some(key)) => key.is_in_first_third(),
            (cluster, _) => by_number(cluster.unwrap_or(self.number)),
        }
    }

    /// Its priority in a sample: the rows with the smallest are kept. A row without a key has a hash of its number and its content.
    #[inline]
    pub(crate) fn priority(&self) -> u64 {
        self.key.map_or_else(|| content_priority(self.number, self.context, self.reward), |key| key.second)
    }
}
