//! Off-policy evaluation: what any policy is worth on a log that another policy made, with propensities (mathematics §19).
//!
//! A policy is its probabilities `π(a|s)` at the rows of the log, the log's own are `p(a|s)`, and a row weighs
//! `w = π(A|s)/p(A|s)`. `weights` says how far the weights can be trusted, `terms` turns rows into estimators, `reward_model` makes
//! predictions from other rows, and `interval` says how sure an estimate is and what that rests on. Rows are taken as independent, or
//! in time order where the log chose its arms by earlier outcomes.

mod interval;
mod reward_model;
mod terms;
mod weights;

pub use interval::{CertainValue, ValueInterval, interval_rests_on};
pub use reward_model::{Folds, RewardModel};
pub use terms::{Estimator, ValueTerms};
pub use weights::{
    ArmWeights, MIN_EFFECTIVE_ROWS, MeanWeight, WeightDiagnostics, WeightProblem, does_not_fit, effective_rows,
};

use crate::arm::Arm;
use crate::error::{EvaluateError, MAX_REWARD, ObserveError, ScoreError, SettingsError};
use crate::scores::check_probabilities;

/// The propensities of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogPropensities<'a> {
    /// One number for each row: the probability of the arm that was given.
    Given(&'a [f64]),
    /// A number for each row and arm, row by row.
    Every(&'a [f64]),
}

/// Logged cases with propensities: the arm that each got, its reward, and how probable that was.
///
/// ```
/// use rarely_core::*;
/// let arms = [0, 1, 1, 0].map(Arm::new);
/// let log = PropensityLog::new(2, &arms, &[0.0, 1.0, 1.0, 0.0], LogPropensities::Given(&[0.5; 4]))?;
/// let always_one = PolicyProbabilities::new(&log, &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])?;
/// let terms = ValueTerms::new(Estimator::InversePropensity, &log, always_one, None, f64::INFINITY)?;
/// assert_eq!(terms.estimate()?, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PropensityLog<'a> {
    arm_count: usize,
    arms: &'a [Arm],
    rewards: &'a [f64],
    propensities: LogPropensities<'a>,
}

impl<'a> PropensityLog<'a> {
    /// Checks the rows without copying them.
    ///
    /// # Errors
    /// [`EvaluateError`] names the row and the problem.
    pub fn new(
        arm_count: usize,
        arms: &'a [Arm],
        rewards: &'a [f64],
        propensities: LogPropensities<'a>,
    ) -> Result<Self, EvaluateError> {
        if arm_count < 2 {
            return Err(SettingsError::Arms { arms: arm_count }.into());
        }
        let rows = arms.len();
        if rows < 2 {
            return Err(EvaluateError::TooFewRows { rows });
        }
        let (expected, found) = match propensities {
            LogPropensities::Given(given) => (rows, given.len()),
            LogPropensities::Every(every) => (rows * arm_count, every.len()),
        };
        length("propensities", rows, expected, found)?;
        length("rewards", rows, rows, rewards.len())?;
        let log = Self { arm_count, arms, rewards, propensities };
        for row in 0..rows {
            log.check_row(row)?;
        }
        Ok(log)
    }

    fn check_row(&self, row: usize) -> Result<(), EvaluateError> {
        let (arm, reward) = (self.arms[row].index(), self.rewards[row]);
        if arm >= self.arm_count {
            return Err(in_row(row)(ScoreError::UnknownArm { arm, arms: self.arm_count }));
        }
        if !(reward.abs() <= MAX_REWARD) {
            return Err(ObserveError::in_row(ObserveError::Reward { reward }, row).into());
        }
        if let LogPropensities::Every(every) = self.propensities {
            let probabilities = &every[row * self.arm_count..][..self.arm_count];
            check_probabilities(probabilities, self.arm_count, "propensities").map_err(in_row(row))?;
        }
        let propensity = self.given(row);
        if propensity > 0.0 && propensity <= 1.0 { Ok(()) } else { Err(EvaluateError::Propensity { row, propensity }) }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.arms.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.arms.is_empty()
    }

    /// `k`.
    pub fn arm_count(&self) -> usize {
        self.arm_count
    }

    /// The arm that a row got.
    pub fn arm(&self, row: usize) -> usize {
        self.arms[row].index()
    }

    /// The reward of a row.
    pub fn reward(&self, row: usize) -> f64 {
        self.rewards[row]
    }

    /// `p(A|s)` of a row.
    pub fn given(&self, row: usize) -> f64 {
        match self.propensities {
            LogPropensities::Given(given) => given[row],
            LogPropensities::Every(every) => every[row * self.arm_count + self.arm(row)],
        }
    }

    /// `p(a|s)` of a row, where it is known: logged, or the rest to 1 of two arms.
    pub fn propensity(&self, row: usize, arm: usize) -> Option<f64> {
        match self.propensities {
            LogPropensities::Every(every) => Some(every[row * self.arm_count + arm]),
            LogPropensities::Given(given) if arm == self.arm(row) => Some(given[row]),
            LogPropensities::Given(given) => (self.arm_count == 2).then(|| 1.0 - given[row]),
        }
    }

    /// Whether the probability of every arm is known.
    pub fn knows_every_arm(&self) -> bool {
        matches!(self.propensities, LogPropensities::Every(_)) || self.arm_count == 2
    }
}

/// What a policy would have done at the rows of a log: `π(a|s)`, row by row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolicyProbabilities<'a> {
    values: &'a [f64],
    arm_count: usize,
}

impl<'a> PolicyProbabilities<'a> {
    /// Checks that every row holds probabilities.
    ///
    /// # Errors
    /// [`EvaluateError`] names the row and the problem.
    pub fn new(log: &PropensityLog<'_>, values: &'a [f64]) -> Result<Self, EvaluateError> {
        let arm_count = log.arm_count();
        length("probabilities of the policy", log.len(), log.len() * arm_count, values.len())?;
        for (row, probabilities) in values.chunks_exact(arm_count).enumerate() {
            check_probabilities(probabilities, arm_count, "probabilities of the policy").map_err(in_row(row))?;
        }
        Ok(Self { values, arm_count })
    }

    /// `π(·|s)` of a row.
    pub fn row(&self, row: usize) -> &'a [f64] {
        &self.values[row * self.arm_count..][..self.arm_count]
    }

    /// Whether the policy never draws at random.
    pub fn is_deterministic(&self) -> bool {
        self.values.iter().all(|&probability| probability == 0.0 || probability == 1.0)
    }
}

fn in_row(row: usize) -> impl Fn(ScoreError) -> EvaluateError {
    move |source| EvaluateError::Row { row, source }
}

pub(crate) fn length(name: &'static str, rows: usize, expected: usize, found: usize) -> Result<(), EvaluateError> {
    if found == expected { Ok(()) } else { Err(EvaluateError::Length { name, rows, expected, found }) }
}
