//! Predictions of every arm's reward at every row, from other rows.
//!
//! One ridge regression with an intercept for each arm, shrunk towards the mean reward. With *folds*, a row is predicted from the rows of the
//! other folds [chernozhukov-2018, §3]; *forward*, from the blocks before its own, so that a doubly robust term is unbiased given
//! everything before it, also where the log chose its arms by earlier outcomes.

use super::{PolicyProbabilities, PropensityLog, length};
use crate::context::Contexts;
use crate::error::EvaluateError;
use crate::number::{Penalty, in_range};
use crate::ridge::Ridge;
use crate::rng::Rng;

/// From which rows a row is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folds {
    /// From those of the other folds; rows are dealt out at random, from a seed.
    Random {
        /// How many folds.
        count: usize,
        /// Of the draw.
        seed: u64,
    },
    /// From the blocks before its own, in the order of the log.
    Forward {
        /// How many blocks.
        count: usize,
    },
}

/// A regression of rewards, as predictions of rows that it was not fitted to.
///
/// ```
/// use rarely_core::*;
/// let arms: Vec<Arm> = (0..100).map(|row| Arm::new(row % 2)).collect();
/// let contexts: Vec<f64> = (0..100).map(|row| f64::from(row) / 100.0).collect();
/// let rewards: Vec<f64> = contexts.iter().zip(&arms).map(|(x, arm)| x * arm.index() as f64).collect();
/// let log = PropensityLog::new(2, &arms, &rewards, LogPropensities::Given(&[0.5; 100]))?;
/// let model = RewardModel::new(Penalty::new(1e-6)?, Folds::Random { count: 5, seed: 1 }, 0.0)?;
/// let predictions = model.predictions(&log, Some(Contexts::new(&contexts, 1)?), None)?;
/// assert!((predictions[2 * 30 + 1] - 0.3).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RewardModel {
    penalty: Penalty,
    folds: Folds,
    start: f64,
}

impl RewardModel {
    /// `start` is the prediction of rows before which there are none.
    ///
    /// # Errors
    /// [`EvaluateError::Settings`] for fewer than 2 or more than 1,000 folds.
    pub fn new(penalty: Penalty, folds: Folds, start: f64) -> Result<Self, EvaluateError> {
        let (Folds::Random { count, .. } | Folds::Forward { count }) = folds;
        in_range("number of folds", count as f64, 2.0..=1000.0, None)?;
        Ok(Self { penalty, folds, start })
    }

    /// `q̂(s,a)` of every row and arm, row by row. Without contexts a model is the mean of its arm. `importance`, if given, is the weight of
    /// each row in the fit.
    ///
    /// # Errors
    /// [`EvaluateError::Length`] if there is not one context, or one weight, for each row.
    pub fn predictions(
        &self,
        log: &PropensityLog<'_>,
        contexts: Option<Contexts<'_>>,
        importance: Option<&[f64]>,
    ) -> Result<Vec<f64>, EvaluateError> {
        let rows = log.len();
        if let Some(contexts) = contexts {
            length("contexts", rows, rows, contexts.len())?;
        }
        if let Some(importance) = importance {
            length("weights", rows, rows, importance.len())?;
        }
        let model_rows = ModelRows::new(log, contexts, importance);
        let folds = self.fold_of_rows(rows);
        let (Folds::Random { count, .. } | Folds::Forward { count }) = self.folds;
        let mut predictions = vec![0.0; rows * log.arm_count()];
        for fold in 0..count {
            let learned = |row: usize| match self.folds {
                Folds::Random { .. } => folds[row] != fold,
                Folds::Forward { .. } => folds[row] < fold,
            };
            let models = model_rows.fit(log, self.penalty, self.start, learned);
            for row in (0..rows).filter(|&row| folds[row] == fold) {
                let room = &mut predictions[row * log.arm_count()..][..log.arm_count()];
                room.iter_mut().zip(&models).for_each(|(room, model)| *room = model.predict(model_rows.row(row)));
            }
        }
        Ok(predictions)
    }

    fn fold_of_rows(&self, rows: usize) -> Vec<usize> {
        match self.folds {
            Folds::Forward { count } => (0..rows).map(|row| row * count / rows).collect(),
            Folds::Random { count, seed } => {
                let mut rng = Rng::new(seed, 1);
                let mut order: Vec<usize> = (0..rows).collect();
                (1..rows).rev().for_each(|at| order.swap(at, rng.below(at + 1)));
                let mut folds = vec![0; rows];
                order.into_iter().enumerate().for_each(|(place, row)| folds[row] = place % count);
                folds
            }
        }
    }
}

/// How much each row counts in the fit of the more robust doubly robust estimator: `c²(1−p)/p²` with `c = π(A|s)`, or the difference of
/// two policies there. It is the part of the estimator's variance that an error of the model at this arm adds [farajtabar-2018, §4],
/// without the products of two arms' errors, so that every arm has a regression of its own. For deterministic policies it is the paper's.
pub(crate) fn variance_weights(
    log: &PropensityLog<'_>,
    policy: PolicyProbabilities<'_>,
    against: Option<PolicyProbabilities<'_>>,
) -> Vec<f64> {
    let weight = |row: usize| {
        let (given, p) = (log.arm(row), log.given(row));
        let change = policy.row(row)[given] - against.map_or(0.0, |other| other.row(row)[given]);
        change * change * (1.0 - p) / (p * p)
    };
    (0..log.len()).map(weight).collect()
}

impl PropensityLog<'_> {
    /// How much each row counts in the fit of [`Estimator::MoreRobustDoublyRobust`](super::Estimator).
    pub fn variance_weights(
        &self,
        policy: PolicyProbabilities<'_>,
        against: Option<PolicyProbabilities<'_>>,
    ) -> Vec<f64> {
        variance_weights(self, policy, against)
    }
}

/// The rows with an intercept and, for a weighted fit, once more times the root of their weight.
struct ModelRows {
    width: usize,
    rows: Vec<f64>,
    scaled: Option<(Vec<f64>, Vec<f64>)>,
}

impl ModelRows {
    fn new(log: &PropensityLog<'_>, contexts: Option<Contexts<'_>>, importance: Option<&[f64]>) -> Self {
        let dimension = contexts.map_or(0, Contexts::dimension);
        let width = dimension + 1;
        let mut rows = Vec::with_capacity(log.len() * width);
        for row in 0..log.len() {
            rows.push(1.0);
            rows.extend(contexts.iter().flat_map(|all| &all.values()[row * dimension..][..dimension]));
        }
        let scaled = importance.map(|importance| {
            let roots: Vec<f64> = importance.iter().map(|weight| weight.sqrt()).collect();
            let scaled = rows.chunks_exact(width).zip(&roots).flat_map(|(row, root)| row.iter().map(move |x| x * root));
            (scaled.collect(), roots)
        });
        Self { width, rows, scaled }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.width..][..self.width]
    }

    /// What a fit takes of a row: the row and its reward, both times the root of its weight.
    fn observation(&self, log: &PropensityLog<'_>, row: usize) -> (&[f64], f64) {
        match &self.scaled {
            None => (self.row(row), log.reward(row)),
            Some((scaled, roots)) => (&scaled[row * self.width..][..self.width], roots[row] * log.reward(row)),
        }
    }

    /// A regression of each arm on the rows that may be learned from.
    fn fit(
        &self,
        log: &PropensityLog<'_>,
        penalty: Penalty,
        start: f64,
        learned: impl Fn(usize) -> bool,
    ) -> Vec<Ridge> {
        let (mut sum, mut count) = (0.0, 0_u64);
        for row in (0..log.len()).filter(|&row| learned(row)) {
            sum += log.reward(row);
            count += 1;
        }
        let mut prior = vec![0.0; self.width];
        prior[0] = if count == 0 { start } else { sum / count as f64 };
        let mut scratch = vec![0.0; self.width];
        let fit = |arm: usize| {
            let mut ridge = Ridge::new(penalty.get(), &prior);
            let rows = (0..log.len()).filter(|&row| log.arm(row) == arm && learned(row));
            ridge.add_many(rows.map(|row| self.observation(log, row)));
            ridge.refresh(&mut scratch);
            ridge
        };
        (0..log.arm_count()).map(fit).collect()
    }
}
