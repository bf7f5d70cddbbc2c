//! Importance weights, and how far they can be trusted.
//!
//! `w = π(A|s)/p(A|s)` has the mean 1 if the propensities are true and every arm that the policy gives could have been given; the mean
//! over all rows of `1{A = a}/p(a|s)` is 1 for every such arm [horvitz-1952]. Rows of unequal weight count as `(Σw)²/Σw²` rows of equal
//! weight [kish-1965, §11.7].

use std::fmt;

use rarely_error::{Explain, Remedy, Topic};
use thiserror::Error;

use super::{PolicyProbabilities, PropensityLog};
use crate::sequence::RunningMean;

/// Effective rows below which approximate intervals are not to be trusted.
pub const MIN_EFFECTIVE_ROWS: f64 = 30.0;
/// A mean weight is wrong if it is more than this number of standard errors, …
const WRONG_ERRORS: f64 = 5.0;
/// … and more than this share, from what it should be.
const WRONG_BY: f64 = 0.05;

/// Rows of equal weight that rows with these sums of weights and of their squares count as [kish-1965, §11.7].
///
/// ```
/// assert_eq!(rarely_core::effective_rows(10.0, 10.0), 10.0);
/// ```
pub fn effective_rows(weights: f64, squares: f64) -> f64 {
    if squares > 0.0 { weights * weights / squares } else { 0.0 }
}

/// Whether a mean weight is clearly not what it should be: by more than five standard errors and a twentieth.
pub fn does_not_fit(mean: f64, standard_error: f64, expected: f64) -> bool {
    let off = (mean - expected).abs();
    off > WRONG_ERRORS * standard_error && off > WRONG_BY * expected
}

/// The weights of a policy on a log.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightDiagnostics {
    /// Rows.
    pub rows: u64,
    /// Rows with a weight above 0.
    pub weighted_rows: u64,
    /// Rows of equal weight that they count as.
    pub effective_rows: f64,
    /// The largest weight.
    pub largest_weight: f64,
    /// The mean weight: about 1 if the propensities are true.
    pub mean_weight: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Rows in which the policy gives an arm that could not have been given.
    pub out_of_reach: u64,
    /// Rows whose arm was drawn at random.
    pub randomised: u64,
    /// The inverse propensities of every arm.
    pub arms: Vec<ArmWeights>,
}

/// The inverse propensities of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmWeights {
    /// Rows that got it.
    pub rows: u64,
    /// The mean over all rows of `1{A = a}/p(a|s)`, …
    pub mean_inverse: f64,
    /// … its standard error, …
    pub standard_error: f64,
    /// … and what it should be: the share of the rows in which the arm could have been given, as far as that is known.
    pub expected: f64,
    /// Rows of equal weight that the arm's rows count as.
    pub effective_rows: f64,
    /// The largest `1/p`.
    pub largest: f64,
}

/// Why weights may not be of use.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum WeightProblem {
    /// Nothing was randomised.
    #[error(
        "the log is deterministic: every arm was certain (propensity 1), so that no weight can stand for another arm"
    )]
    Deterministic,
    /// The policy gives arms that could not have been given.
    #[error("in {out_of_reach} of {rows} rows the policy gives an arm that could not have been given (propensity 0)")]
    OutOfReach {
        /// Rows in which it does.
        out_of_reach: u64,
        /// All rows.
        rows: u64,
    },
    /// A mean weight is not what it should be.
    #[error("the propensities do not fit the arms that were given: {what} is {mean:.3} instead of {expected:.3}")]
    DoesNotFit {
        /// Which mean.
        what: MeanWeight,
        /// The mean.
        mean: f64,
        /// What it should be.
        expected: f64,
    },
    /// The rows that have weight count as too few.
    #[error("the rows count as {effective_rows:.1} rows of equal weight, fewer than 30")]
    FewEffectiveRows {
        /// Kish's effective sample size.
        effective_rows: f64,
    },
}

/// A mean that is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeanWeight {
    /// Of the policy's weights.
    Policy,
    /// Of an arm's inverse propensities.
    Arm(usize),
}

impl fmt::Display for MeanWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy => f.write_str("the mean weight"),
            Self::Arm(arm) => write!(f, "the mean inverse propensity of arm {arm}"),
        }
    }
}

impl Explain for WeightProblem {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Deterministic => Remedy::new("let the logging policy explore").see(Topic::Exploration),
            Self::OutOfReach { .. } => Remedy::new("evaluate a policy that gives only arms that could have been given"),
            Self::DoesNotFit { .. } => Remedy::new(
                "check that the propensities are those of the arms that were given, in the same order of arms",
            ),
            Self::FewEffectiveRows { .. } => {
                Remedy::new("wait for more rows, evaluate a policy nearer to the log's, or use a certain interval")
            }
        })
    }
}

impl WeightDiagnostics {
    /// The weights of a policy on a log. O(n·k).
    pub fn new(log: &PropensityLog<'_>, policy: PolicyProbabilities<'_>) -> Self {
        let mut sums = WeightSums::default();
        let mut arms = vec![(WeightSums::default(), 0_u64); log.arm_count()];
        let (mut out_of_reach, mut randomised) = (0, 0);
        for row in 0..log.len() {
            let (given, propensity) = (log.arm(row), log.given(row));
            let wanted = policy.row(row);
            sums.add(wanted[given] / propensity);
            randomised += u64::from(propensity < 1.0);
            let impossible = |arm: usize| log.propensity(row, arm).map_or(propensity >= 1.0, |known| known <= 0.0);
            out_of_reach += u64::from((0..log.arm_count()).any(|arm| wanted[arm] > 0.0 && impossible(arm)));
            for (arm, (inverse, possible)) in arms.iter_mut().enumerate() {
                inverse.add(if arm == given { 1.0 / propensity } else { 0.0 });
                *possible += u64::from(!impossible(arm));
            }
        }
        let rows = log.len() as u64;
        let arm = |(inverse, possible): (WeightSums, u64)| ArmWeights {
            rows: inverse.positive,
            mean_inverse: inverse.mean.mean(),
            standard_error: inverse.mean.standard_error(),
            expected: possible as f64 / rows as f64,
            effective_rows: inverse.effective_rows(),
            largest: inverse.largest,
        };
        Self {
            rows,
            weighted_rows: sums.positive,
            effective_rows: sums.effective_rows(),
            largest_weight: sums.largest,
            mean_weight: sums.mean.mean(),
            standard_error: sums.mean.standard_error(),
            out_of_reach,
            randomised,
            arms: arms.into_iter().map(arm).collect(),
        }
    }

    /// What is wrong with the weights; the last kind only concerns intervals that are approximate.
    pub fn problems(&self) -> Vec<WeightProblem> {
        let mut problems = Vec::new();
        if self.randomised == 0 {
            return vec![WeightProblem::Deterministic];
        }
        if self.out_of_reach > 0 {
            problems.push(WeightProblem::OutOfReach { out_of_reach: self.out_of_reach, rows: self.rows });
        } else if does_not_fit(self.mean_weight, self.standard_error, 1.0) {
            problems.push(WeightProblem::DoesNotFit {
                what: MeanWeight::Policy,
                mean: self.mean_weight,
                expected: 1.0,
            });
        }
        let wrong = |arm: &&(usize, &ArmWeights)| {
            arm.1.rows > 0 && does_not_fit(arm.1.mean_inverse, arm.1.standard_error, arm.1.expected)
        };
        let numbered: Vec<(usize, &ArmWeights)> = self.arms.iter().enumerate().collect();
        problems.extend(numbered.iter().filter(wrong).map(|(at, arm)| WeightProblem::DoesNotFit {
            what: MeanWeight::Arm(*at),
            mean: arm.mean_inverse,
            expected: arm.expected,
        }));
        if self.effective_rows < MIN_EFFECTIVE_ROWS {
            problems.push(WeightProblem::FewEffectiveRows { effective_rows: self.effective_rows });
        }
        problems
    }
}

/// The sums of some weights.
#[derive(Debug, Clone, Copy, Default)]
struct WeightSums {
    mean: RunningMean,
    positive: u64,
    sum: f64,
    squares: f64,
    largest: f64,
}

impl WeightSums {
    fn add(&mut self, weight: f64) {
        self.mean.update(weight);
        self.positive += u64::from(weight > 0.0);
        self.sum += weight;
        self.squares += weight * weight;
        self.largest = self.largest.max(weight);
    }

    fn effective_rows(&self) -> f64 {
        effective_rows(self.sum, self.squares)
    }
}
