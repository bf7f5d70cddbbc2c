//! Intervals of a policy's value, or of the difference of two, and what they rest on.
//!
//! *t*: the mean of the estimator's influences with its standard error. *Bootstrap*: rows are drawn with replacement, and the estimate's
//! percentiles are the ends [efron-1993, §13.3]. *Empirical Bernstein*: certain for outcomes of a declared range and propensities of a declared
//! minimum, whatever their distribution [waudby-smith-2024, Thm 2]. *Asymptotic*: holds at all times at once, approximately
//! [waudby-smith-2021, Thm 2.2].

use super::{Estimator, PolicyProbabilities, PropensityLog, ValueTerms};
use crate::anytime::planned_multiplier;
use crate::confidence::Interval;
use crate::error::{EvaluateError, ScoreError};
use crate::number::{ErrorProbability, in_range};
use crate::rng::Rng;
use crate::scores::{ScoreSettings, is_probable};
use crate::sequence::{AsymptoticSequence, EmpiricalBernstein};
use crate::standard::{Confirmed, Method, Standard, Timing};

/// Which interval, at which error probability.
///
/// ```
/// use rarely_core::*;
/// let arms: Vec<Arm> = (0..200).map(|row| Arm::new(row % 2)).collect();
/// let rewards: Vec<f64> = (0..200).map(|row| f64::from(row % 2 == 1 && row % 3 == 0)).collect();
/// let log = PropensityLog::new(2, &arms, &rewards, LogPropensities::Given(&[0.5; 200]))?;
/// let probabilities: Vec<f64> = [0.0, 1.0].repeat(200);
/// let policy = PolicyProbabilities::new(&log, &probabilities)?;
/// let terms = ValueTerms::new(Estimator::InversePropensity, &log, policy, None, f64::INFINITY)?;
/// let value = ValueInterval::StudentT.of(&terms, ErrorProbability::new(0.05)?)?;
/// assert!(value.interval.contains(1.0 / 3.0) && value.standard == Standard::Approximate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueInterval {
    /// The mean of the influences with its t interval. Approximate.
    StudentT,
    /// Percentiles of so many resamples, drawn from a seed. Approximate.
    Bootstrap {
        /// How often the rows are drawn again.
        resamples: u32,
        /// Of the draws.
        seed: u64,
    },
    /// The asymptotic confidence sequence, sharpest at this number of rows. Approximate, at any time.
    Asymptotic {
        /// Rows that were expected beforehand.
        expected_rows: u64,
    },
}

impl ValueInterval {
    /// The interval of a value or a difference.
    ///
    /// # Errors
    /// [`EvaluateError`]: no weight, or a number out of its range.
    pub fn of(self, terms: &ValueTerms, delta: ErrorProbability) -> Result<Confirmed, EvaluateError> {
        let estimate = terms.estimate()?;
        let mean = terms.mean();
        let error = mean.standard_error();
        let confirmed = |interval, method, timing, degrees| Confirmed {
            interval,
            standard: Standard::Approximate,
            method,
            timing,
            standard_error: Some(error),
            degrees,
        };
        Ok(match self {
            Self::StudentT => {
                let degrees = mean.count() as f64 - 1.0;
                let interval = Interval::around(estimate, planned_multiplier(degrees, delta.get()) * error);
                let method =
                    if terms.estimator() == Estimator::Direct { Method::Predictions } else { Method::ScoreMean };
                confirmed(interval, method, Timing::Planned, Some(degrees))
            }
            Self::Bootstrap { resamples, seed } => {
                in_range("number of resamples", f64::from(resamples), 100.0..=1e6, None)?;
                let (lower, upper) = percentiles(terms, resamples, seed, delta.get())?;
                confirmed(Interval { estimate, lower, upper }, Method::Bootstrap, Timing::Planned, None)
            }
            Self::Asymptotic { expected_rows } => {
                let mut sequence = AsymptoticSequence::new(delta.get(), expected_rows.max(1));
                terms.influences().into_iter().for_each(|influence| sequence.update(influence));
                let interval = Interval { estimate, ..sequence.interval() };
                confirmed(interval, Method::AsymptoticSequence, Timing::Anytime, None)
            }
        })
    }
}

/// What an interval rests on besides its [estimator](Estimator::rests_on), in words.
pub fn interval_rests_on(method: Method) -> &'static str {
    match method {
        Method::EmpiricalBernstein => {
            "outcomes are within the declared range, and propensities at least the declared minimum"
        }
        Method::AsymptoticSequence => "there are many rows by the first look",
        _ => "there are many rows",
    }
}

/// The percentiles `δ/2` and `1−δ/2` of the estimates on resamples.
fn percentiles(terms: &ValueTerms, resamples: u32, seed: u64, delta: f64) -> Result<(f64, f64), EvaluateError> {
    let rows = terms.len();
    let mut rng = Rng::new(seed, 0);
    let mut drawn = vec![0_usize; rows];
    let mut estimates = Vec::with_capacity(resamples as usize);
    for _ in 0..resamples {
        for row in &mut drawn {
            *row = rng.below(rows);
        }
        // A resample without any weight says nothing of a ratio.
        estimates.extend(terms.estimate_of(drawn.iter().copied()));
    }
    if estimates.is_empty() {
        return Err(EvaluateError::NoWeight);
    }
    estimates.sort_by(f64::total_cmp);
    Ok((quantile(&estimates, 0.5 * delta), quantile(&estimates, 1.0 - 0.5 * delta)))
}

/// A quantile of sorted numbers, interpolated.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (place - place.floor()) * (sorted[high] - sorted[low])
}

/// What a certain interval is computed from: the log, the policies, and what is declared about outcomes and propensities.
#[derive(Debug, Clone, Copy)]
pub struct CertainValue<'a> {
    /// The log, with the propensity of every arm.
    pub log: &'a PropensityLog<'a>,
    /// The policy.
    pub policy: PolicyProbabilities<'a>,
    /// The policy that is subtracted, if any.
    pub against: Option<PolicyProbabilities<'a>>,
    /// The declared range of the outcome and the least propensity of every arm that a policy gives.
    pub declared: ScoreSettings,
}

impl CertainValue<'_> {
    /// The empirical-Bernstein interval of the estimator's terms, whose predictions must be within the declared range and made from earlier
    /// rows or another log. It holds at the rows of this log or, if a number was expected beforehand, at any time.
    ///
    /// # Errors
    /// [`EvaluateError`] names the row that breaks what is declared, or says why the estimator has no such interval.
    pub fn interval(
        &self,
        terms: &ValueTerms,
        delta: ErrorProbability,
        expected_rows: Option<u64>,
    ) -> Result<Confirmed, EvaluateError> {
        let estimator = terms.estimator();
        if !estimator.is_unbiased() {
            let reason = "the mean of its terms is not the policy's value";
            return Err(EvaluateError::NotCertain { estimator: estimator.name(), reason });
        }
        if !self.log.knows_every_arm() {
            return Err(EvaluateError::EveryPropensity);
        }
        for row in 0..self.log.len() {
            self.check(row).map_err(|source| EvaluateError::Row { row, source })?;
        }
        let (low, high) = self.bounds(estimator);
        let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
        let rows = terms.len() as u64;
        let mut sequence = EmpiricalBernstein::new(half, delta.get(), Some(expected_rows.unwrap_or(rows)));
        for (row, term) in terms.influences().into_iter().enumerate() {
            // The sequence panics at such a number, which only predictions outside the range can cause.
            if !((term - centre).abs() <= half * (1.0 + 1e-9)) {
                return Err(EvaluateError::TermRange { row, term, low, high });
            }
            sequence.update(term - centre);
        }
        let found = sequence.interval();
        let (least, most) = self.possible();
        Ok(Confirmed {
            interval: Interval {
                estimate: terms.estimate()?,
                lower: (found.lower + centre).max(least),
                upper: (found.upper + centre).min(most),
            },
            standard: Standard::Certain,
            method: Method::EmpiricalBernstein,
            timing: if expected_rows.is_some() { Timing::Anytime } else { Timing::Planned },
            standard_error: Some(terms.mean().standard_error()),
            degrees: None,
        })
    }

    /// Where the value, or the difference, must lie.
    fn possible(&self) -> (f64, f64) {
        let (low, high) = self.declared.range();
        if self.against.is_some() { (low - high, high - low) } else { (low, high) }
    }

    /// The ends between which every term lies. A doubly robust term of a value, less the lower end of the range of length `R`, is at most
    /// `(1−π)R + πR/p ≤ R/p_min`, and at least `πR(1 − 1/p) ≥ −R(1/p_min − 1)`.
    fn bounds(&self, estimator: Estimator) -> (f64, f64) {
        let (low, high) = self.declared.range();
        let most = 1.0 / self.declared.minimum_propensity();
        let length = high - low;
        match (estimator, self.against) {
            (Estimator::InversePropensity, None) => (low.min(0.0) * most, high.max(0.0) * most),
            (Estimator::InversePropensity, Some(_)) => {
                let largest = low.abs().max(high.abs()) * most;
                (-largest, largest)
            }
            (_, None) => (low - length * (most - 1.0), low + length * most),
            (_, Some(against)) => {
                let random = !(self.policy.is_deterministic() && against.is_deterministic());
                let bound = if random { self.declared.random_rules().bound() } else { self.declared.bound() };
                (-bound, bound)
            }
        }
    }

    fn check(&self, row: usize) -> Result<(), ScoreError> {
        let ((low, high), reward) = (self.declared.range(), self.log.reward(row));
        if !(low..=high).contains(&reward) {
            return Err(ScoreError::OutcomeRange { reward, low, high });
        }
        let minimum = self.declared.minimum_propensity();
        for arm in 0..self.log.arm_count() {
            let concerns = match self.against {
                None => self.policy.row(row)[arm] > 0.0,
                Some(against) => self.policy.row(row)[arm] != against.row(row)[arm],
            };
            let propensity = self.log.propensity(row, arm).unwrap_or(f64::NAN);
            if concerns && !is_probable(propensity, minimum) {
                return Err(ScoreError::Overlap { arm, propensity, minimum });
            }
        }
        Ok(())
    }
}
