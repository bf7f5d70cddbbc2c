//! One row of a log, as statistics take it.

use rarely_core::Arm;

use crate::stretch_sums::proposes;

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
    /// Its cluster, where rows have one.
    pub cluster: Option<u64>,
    /// The probability of the option that was given, where it is known.
    pub propensity: Option<f64>,
    /// The probability of every option; empty where they are not known.
    pub propensities: &'a [f64],
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
    /// A row of weight 1, in no cluster and without propensities.
    pub fn new(number: u64, context: &'a [f64], arm: Arm, reward: f64) -> Self {
        Self {
            number,
            context,
            arm,
            reward,
            weight: 1.0,
            cluster: None,
            propensity: None,
            propensities: &[],
            place: None,
        }
    }

    /// The probability of the option that was given.
    pub(crate) fn given_propensity(&self) -> Option<f64> {
        self.propensities.get(self.arm.index()).copied().or(self.propensity)
    }

    /// Whether it belongs to the part that proposes: with all rows of its cluster, or by itself.
    #[inline]
    pub(crate) fn proposes(&self) -> bool {
        proposes(self.cluster.unwrap_or(self.number))
    }
}
