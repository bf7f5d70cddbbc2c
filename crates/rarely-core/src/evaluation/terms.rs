//! Estimators of a policy's value, each as one term for every row.
//!
//! With `b = Σ_a π(a|s)q̂(s,a)`, the weight `w = π(A|s)/p(A|s)` and the residual `e = y − q̂(s,A)`:
//!
//! ```text
//! direct                          mean of b
//! inverse propensity              mean of w·y                                  [horvitz-1952]
//! self-normalised                 Σw·y/Σw                                      [swaminathan-2015]
//! doubly robust                   mean of b + w·e                              [dudik-2014]
//! self-normalised doubly robust   mean of b, and Σw·e/Σw
//! switch doubly robust            mean of b + 1{w ≤ τ}·w·e                     [wang-2017, §4]
//! more robust doubly robust       doubly robust, with q̂ fitted to make its variance small [farajtabar-2018]
//! ```

use std::fmt;
use std::str::FromStr;

use super::{PolicyProbabilities, PropensityLog, length};
use crate::error::{EvaluateError, ScoreError};
use crate::scores::doubly_robust_term;
use crate::sequence::RunningMean;

/// An estimator of a policy's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Estimator {
    /// The mean of predictions. Only as good as the model.
    Direct,
    /// Outcomes weighted by inverse propensities.
    InversePropensity,
    /// The same, divided by the sum of the weights.
    SelfNormalised,
    /// Predictions, corrected by weighted residuals.
    DoublyRobust,
    /// The same, with the correction divided by the sum of the weights.
    SelfNormalisedDoublyRobust,
    /// Doubly robust where the weight is at most `τ`, and the prediction alone elsewhere.
    SwitchDoublyRobust,
    /// Doubly robust, with a model that is fitted to make its variance small.
    MoreRobustDoublyRobust,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Direct,
        Self::InversePropensity,
        Self::SelfNormalised,
        Self::DoublyRobust,
        Self::SelfNormalisedDoublyRobust,
        Self::SwitchDoublyRobust,
        Self::MoreRobustDoublyRobust,
    ];

    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "dm",
            Self::InversePropensity => "ips",
            Self::SelfNormalised => "snips",
            Self::DoublyRobust => "dr",
            Self::SelfNormalisedDoublyRobust => "sndr",
            Self::SwitchDoublyRobust => "switch-dr",
            Self::MoreRobustDoublyRobust => "mrdr",
        }
    }

    /// Whether it needs predictions.
    pub fn needs_predictions(self) -> bool {
        !matches!(self, Self::InversePropensity | Self::SelfNormalised)
    }

    /// Whether it weighs rows by propensities.
    pub fn is_weighted(self) -> bool {
        self != Self::Direct
    }

    /// Whether the mean of its terms is the policy's value whatever the model, if the propensities are true.
    pub fn is_unbiased(self) -> bool {
        matches!(self, Self::InversePropensity | Self::DoublyRobust | Self::MoreRobustDoublyRobust)
    }

    fn is_self_normalised(self) -> bool {
        matches!(self, Self::SelfNormalised | Self::SelfNormalisedDoublyRobust)
    }

    /// What an interval of it rests on, in words.
    pub fn rests_on(self) -> &'static str {
        match self {
            Self::Direct => {
                "the reward model is right: a wrong model moves the estimate, and the interval does not show it"
            }
            Self::InversePropensity => "the propensities are true",
            Self::SelfNormalised => "the propensities are true; a bias that falls as 1/n is ignored",
            Self::DoublyRobust | Self::MoreRobustDoublyRobust => {
                "the propensities are true; the reward model comes from other rows, and may be wrong"
            }
            Self::SelfNormalisedDoublyRobust => {
                "the propensities are true; the reward model comes from other rows; a bias that falls as 1/n is ignored"
            }
            Self::SwitchDoublyRobust => {
                "the propensities are true and, where a weight is above the threshold, the reward model is right"
            }
        }
    }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Estimator {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|estimator| estimator.name() == name).ok_or(())
    }
}

/// The terms of an estimator on a log: the value of a policy or, after [`minus`](Self::minus), the difference of two.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueTerms {
    estimator: Estimator,
    /// `b`; 0 without predictions.
    base: Vec<f64>,
    /// `w`, as the estimator uses it.
    weights: Vec<f64>,
    /// `e`; `y` without predictions.
    residuals: Vec<f64>,
    subtracted: Option<Box<Self>>,
}

impl ValueTerms {
    /// The terms of a policy's value. `predictions` are `q̂(s,a)` for every row and arm, from other rows; `switch_threshold` is the `τ` of
    /// [`Estimator::SwitchDoublyRobust`]. O(n·k).
    ///
    /// # Errors
    /// [`EvaluateError`]: predictions that are missing or do not fit, or no weight at all.
    pub fn new(
        estimator: Estimator,
        log: &PropensityLog<'_>,
        policy: PolicyProbabilities<'_>,
        predictions: Option<&[f64]>,
        switch_threshold: f64,
    ) -> Result<Self, EvaluateError> {
        let (rows, arms) = (log.len(), log.arm_count());
        let predictions = match predictions {
            _ if !estimator.needs_predictions() => None,
            None => return Err(EvaluateError::NoPredictions { estimator: estimator.name() }),
            Some(values) => {
                length("predictions", rows, rows * arms, values.len())?;
                if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                    return Err(EvaluateError::Row {
                        row: at / arms,
                        source: ScoreError::Prediction { arm: at % arms },
                    });
                }
                Some(values)
            }
        };
        let mut terms = Self {
            estimator,
            base: Vec::with_capacity(rows),
            weights: Vec::with_capacity(rows),
            residuals: Vec::with_capacity(rows),
            subtracted: None,
        };
        for row in 0..rows {
            let (given, wanted) = (log.arm(row), policy.row(row));
            let weight = wanted[given] / log.given(row);
            let used = match estimator {
                Estimator::Direct => 0.0,
                Estimator::SwitchDoublyRobust if weight > switch_threshold => 0.0,
                _ => weight,
            };
            let predicted = predictions.map(|values| &values[row * arms..][..arms]);
            let base = predicted.map_or(0.0, |values| wanted.iter().zip(values).map(|(p, q)| p * q).sum());
            terms.base.push(base);
            terms.weights.push(used);
            terms.residuals.push(log.reward(row) - predicted.map_or(0.0, |values| values[given]));
        }
        if estimator.is_self_normalised() && terms.weights.iter().sum::<f64>() <= 0.0 {
            return Err(EvaluateError::NoWeight);
        }
        Ok(terms)
    }

    /// The difference between this value and that of another policy on the same rows.
    ///
    /// # Panics
    /// If the rows are not as many, or the other is a difference itself.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        assert!(other.len() == self.len() && other.subtracted.is_none(), "two values on the same rows");
        Self { subtracted: Some(Box::new(other)), ..self }
    }

    /// The estimator.
    pub fn estimator(&self) -> Estimator {
        self.estimator
    }

    /// Whether it is a difference of two policies.
    pub fn is_difference(&self) -> bool {
        self.subtracted.is_some()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.base.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.base.is_empty()
    }

    /// The value, or the difference.
    ///
    /// # Errors
    /// [`EvaluateError::NoWeight`].
    pub fn estimate(&self) -> Result<f64, EvaluateError> {
        self.estimate_of(0..self.len()).ok_or(EvaluateError::NoWeight)
    }

    /// The estimate on some rows, any of them more than once; `None` if a self-normalised one has no weight there.
    pub(super) fn estimate_of(&self, rows: impl Iterator<Item = usize> + Clone) -> Option<f64> {
        let subtracted = match &self.subtracted {
            Some(other) => other.estimate_of(rows.clone())?,
            None => 0.0,
        };
        let normalised = self.estimator.is_self_normalised();
        let (mut count, mut terms, mut weights, mut weighted) = (0_u64, 0.0, 0.0, 0.0);
        for row in rows {
            count += 1;
            let (base, weight, residual) = (self.base[row], self.weights[row], self.residuals[row]);
            if normalised {
                terms += base;
                weights += weight;
                weighted += weight * residual;
            } else {
                terms += doubly_robust_term(base, weight, residual);
            }
        }
        let mean = terms / count as f64;
        if !normalised {
            return Some(mean - subtracted);
        }
        (weights > 0.0).then(|| mean + weighted / weights - subtracted)
    }

    /// One number for each row, whose mean is the estimate and whose spread is that of the estimate. For a ratio `v = Σw·e/Σw` it is
    /// `v + w(e − v)/w̄` (the delta method).
    pub fn influences(&self) -> Vec<f64> {
        let mut all: Vec<f64> = if self.estimator.is_self_normalised() {
            let total: f64 = self.weights.iter().sum();
            let weighted: f64 = self.weights.iter().zip(&self.residuals).map(|(w, e)| w * e).sum();
            let (ratio, mean) = (weighted / total, total / self.len() as f64);
            let rows = self.base.iter().zip(&self.weights).zip(&self.residuals);
            rows.map(|((base, weight), residual)| base + ratio + weight * (residual - ratio) / mean).collect()
        } else {
            let rows = self.base.iter().zip(&self.weights).zip(&self.residuals);
            rows.map(|((&base, &weight), &residual)| doubly_robust_term(base, weight, residual)).collect()
        };
        if let Some(other) = &self.subtracted {
            all.iter_mut().zip(other.influences()).for_each(|(mine, theirs)| *mine -= theirs);
        }
        all
    }

    /// The mean and standard error of the estimate.
    pub fn mean(&self) -> RunningMean {
        let mut mean = RunningMean::default();
        self.influences().into_iter().for_each(|influence| mean.update(influence));
        mean
    }
}
