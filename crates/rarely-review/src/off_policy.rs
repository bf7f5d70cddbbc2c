//! Off-policy values: what a rule would have been worth on a log that another rule made.
//!
//! With the weight `w = 1{π(s) = A}/p(A|s)` of a row: *inverse propensity* is the mean of `w·y` [horvitz-1952]; *self-normalised* is
//! `Σw·y/Σw`, slightly biased and never outside the outcomes that were seen [swaminathan-2015]; *doubly robust* is the mean of
//! `q̂(s,π(s)) + w·(y − q̂(s,A))` [dudik-2014], unbiased because `q̂` is made from other rows. All of them need randomised choices, and are
//! refused where the log has none, where the propensities do not fit, or where the rows count as too few.

use rarely_core::{Arm, Interval, MIN_EFFECTIVE_ROWS, RunningMean, does_not_fit, doubly_robust_term, effective_rows};
use rarely_error::{Action, Explain, Remedy, Topic};
use serde::Serialize;
use thiserror::Error;

/// The quantile of a normal 95 % interval.
const NINETY_FIVE: f64 = 1.959_963_984_540_054;

/// The values of one rule, of the outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OffPolicyValue {
    /// By the model; holds with probability `1−δ`.
    pub direct: Interval,
    /// By the propensities of the log, or why not.
    pub weighted: Result<WeightedValue, NotWeightable>,
}

/// The value of a rule by the propensities of a log, each with a normal 95 % interval within the range of the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeightedValue {
    /// By inverse propensities.
    pub inverse_propensity: Interval,
    /// By inverse propensities that are made to add up to the number of rows.
    pub self_normalised: Interval,
    /// Doubly robust.
    pub doubly_robust: Interval,
    /// Rows.
    pub rows: u64,
    /// Rows that got the rule's option.
    pub matching_rows: u64,
    /// Rows of equal weight that these count as (Kish).
    pub effective_rows: f64,
    /// The mean of the weights over all rows: about 1 if the propensities are true.
    pub mean_weight: f64,
}

/// Why outcomes cannot be weighted by propensities.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum NotWeightable {
    /// Some rows have no propensity.
    #[error("the log has no propensities")]
    NoPropensities,
    /// Nothing was randomised.
    #[error(
        "the log is deterministic: every option was certain (propensity 1), so that no weight can stand for the people who would have got \
         another option"
    )]
    Deterministic,
    /// The rule wants options that could not have been given.
    #[error(
        "in {out_of_reach} of {rows} rows the rule wants an option that could not have been given (propensity 0): the weights leave these \
         people out"
    )]
    OutOfReach {
        /// Rows in which the rule's option was impossible.
        out_of_reach: u64,
        /// All rows.
        rows: u64,
    },
    /// The mean weight is not what it should be.
    #[error(
        "the propensities do not fit the options that were given: the mean weight is {mean_weight:.3} instead of {expected:.3}"
    )]
    DoesNotFit {
        /// The mean weight.
        mean_weight: f64,
        /// What it should be.
        expected: f64,
    },
    /// The rows that got the rule's option count as too few.
    #[error("the rows that got the rule's option count as {effective_rows:.1} rows of equal weight, fewer than 30")]
    FewEffectiveRows {
        /// Kish's effective sample size.
        effective_rows: f64,
    },
    /// An interval lies wholly outside the declared range of the outcome.
    #[error("an interval lies outside the declared range of the outcome: the propensities or the range are not true")]
    OutsideRange,
    /// Rows that depend on each other or do not count alike.
    #[error("the intervals need independent rows that count alike, and the document declares clusters or weights")]
    RowsNotAlike,
    /// The log could not be read twice.
    #[error("weights need the rows in a second reading, which saved statistics and a pipe do not allow")]
    NotReadAgain,
}

impl Explain for NotWeightable {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoPropensities => Some(
                Remedy::with("{action}, or log propensities from now on", Action::NamePropensityColumn)
                    .see(Topic::Exploration),
            ),
            Self::Deterministic => Some(Remedy::new("let the policy explore")),
            Self::DoesNotFit { .. } => {
                Some(Remedy::new("check that the column holds the probability of the option that was given"))
            }
            Self::NotReadAgain => Some(Remedy::new("review the log itself, as a file")),
            Self::OutOfReach { .. } | Self::FewEffectiveRows { .. } | Self::OutsideRange | Self::RowsNotAlike => None,
        }
    }
}

/// A row as the value of a rule takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeighedRow {
    /// The rule's option, …
    pub(crate) choice: Arm,
    /// … the one that was given, …
    pub(crate) logged: Arm,
    /// … and its reward.
    pub(crate) reward: f64,
    /// `q̂` of the rule's option, from other rows.
    pub(crate) prediction: f64,
    /// The probability of the option that was given.
    pub(crate) propensity: Option<f64>,
    /// Whether the rule's option could have been given, as far as that is known.
    pub(crate) possible: bool,
}

/// The sums behind a rule's value.
#[derive(Debug, Clone)]
pub(crate) struct WeightedSums {
    /// The range of rewards, where one is declared.
    range: Option<(f64, f64)>,
    rows: u64,
    randomised: u64,
    out_of_reach: u64,
    matching: u64,
    weights: RunningMean,
    weighted: RunningMean,
    doubly: RunningMean,
    /// Rewards are summed from the first one that has a weight, so that a large common part rounds nothing away.
    origin: Option<f64>,
    /// `Σw`, `Σw²`, `Σw·y`, `Σw²·y` and `Σw²·y²`.
    moments: [f64; 5],
}

impl WeightedSums {
    pub(crate) fn new(range: Option<(f64, f64)>) -> Self {
        Self {
            range,
            rows: 0,
            randomised: 0,
            out_of_reach: 0,
            matching: 0,
            weights: RunningMean::default(),
            weighted: RunningMean::default(),
            doubly: RunningMean::default(),
            origin: None,
            moments: [0.0; 5],
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: &WeighedRow) {
        self.rows += 1;
        let Some(propensity) = row.propensity else { return };
        let matches = row.choice == row.logged;
        self.randomised += u64::from(propensity < 1.0);
        self.out_of_reach += u64::from(!matches && (propensity >= 1.0 || !row.possible));
        let weight = if matches { 1.0 / propensity } else { 0.0 };
        let prediction = self.range.map_or(row.prediction, |(low, high)| row.prediction.clamp(low, high));
        self.weights.update(weight);
        self.weighted.update(weight * row.reward);
        // The rule's option is the one that was given wherever the weight is not 0.
        self.doubly.update(doubly_robust_term(prediction, weight, row.reward - prediction));
        if matches {
            self.matching += 1;
            let reward = row.reward - *self.origin.get_or_insert(row.reward);
            let square = weight * weight;
            let terms = [weight, square, weight * reward, square * reward, square * reward * reward];
            self.moments.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
    }

    /// The value as one of the outcome, or why there is none.
    pub(crate) fn value(&self, sign: f64) -> Result<WeightedValue, NotWeightable> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let within = |interval: Interval| Ok(signed(self.within_range(interval)?, sign));
        Ok(WeightedValue {
            inverse_propensity: within(normal_interval(&self.weighted))?,
            self_normalised: within(self.self_normalised())?,
            doubly_robust: within(normal_interval(&self.doubly))?,
            rows: self.rows,
            matching_rows: self.matching,
            effective_rows: self.effective_rows(),
            mean_weight: self.mean_weight(),
        })
    }

    fn effective_rows(&self) -> f64 {
        effective_rows(self.moments[0], self.moments[1])
    }

    fn mean_weight(&self) -> f64 {
        self.moments[0] / self.rows as f64
    }

    /// `v = Σw·y/Σw`; its variance is that of the mean of `w·(y − v)/w̄` (the delta method).
    fn self_normalised(&self) -> Interval {
        let [total, squares, weighted, weighted_squares, square_sum] = self.moments;
        let rows = self.rows as f64;
        let value = weighted / total;
        let residuals = square_sum - 2.0 * value * weighted_squares + value * value * squares;
        let variance = residuals.max(0.0) / (total * total) * rows / (rows - 1.0);
        Interval::around(value + self.origin.unwrap_or(0.0), NINETY_FIVE * variance.sqrt())
    }

    /// The value is in the range for certain: what an interval has outside can be cut off.
    fn within_range(&self, interval: Interval) -> Result<Interval, NotWeightable> {
        let Some((low, high)) = self.range else { return Ok(interval) };
        if interval.lower > high || interval.upper < low {
            return Err(NotWeightable::OutsideRange);
        }
        Ok(Interval {
            estimate: interval.estimate.clamp(low, high),
            lower: interval.lower.max(low),
            upper: interval.upper.min(high),
        })
    }

    fn refusal(&self) -> Option<NotWeightable> {
        let Self { rows, out_of_reach, .. } = *self;
        let (mean_weight, effective_rows) = (self.mean_weight(), self.effective_rows());
        if self.weights.count() < rows {
            Some(NotWeightable::NoPropensities)
        } else if self.randomised == 0 {
            Some(NotWeightable::Deterministic)
        } else if out_of_reach > 0 {
            Some(NotWeightable::OutOfReach { out_of_reach, rows })
        } else if effective_rows < MIN_EFFECTIVE_ROWS {
            Some(NotWeightable::FewEffectiveRows { effective_rows })
        } else if does_not_fit(mean_weight, self.weights.standard_error(), 1.0) {
            Some(NotWeightable::DoesNotFit { mean_weight, expected: 1.0 })
        } else {
            None
        }
    }
}

/// A mean with a normal 95 % interval; of a single number, that number.
pub(crate) fn normal_interval(mean: &RunningMean) -> Interval {
    let error = if mean.count() < 2 { 0.0 } else { mean.standard_error() };
    Interval::around(mean.mean(), NINETY_FIVE * error)
}

/// An interval of rewards as one of outcomes.
pub(crate) fn signed(interval: Interval, sign: f64) -> Interval {
    let ends = [sign * interval.lower, sign * interval.upper];
    Interval { estimate: sign * interval.estimate, lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
}
