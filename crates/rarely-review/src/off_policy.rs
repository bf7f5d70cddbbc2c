//! Off-policy values: what a rule would have been worth on a log that another rule made.
//!
//! *Direct*: the model's mean outcome, with the confidence set's own interval. *Inverse propensity*: the logged outcomes where the
//! rule agrees with the log, weighted by one over the probability of what was done [horvitz-1952]. *Doubly robust*: the model's
//! prediction plus the weighted residual [dudik-2014]; the model of each row is that of the rows before it, so that each term is
//! unbiased. The last two need randomised choices, and are refused on a log without them.

use rarely_core::{Arm, ConfidenceSet, Interval, Parameters, Shape, Statistics};
use rarely_error::{Action, Explain, Remedy};
use thiserror::Error;

/// The quantile of a normal 95 % interval.
const NINETY_FIVE: f64 = 1.959_963_984_540_054;

/// The values of one rule, of the outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OffPolicyValue {
    /// By the model; holds with probability `1−δ`.
    pub direct: Interval,
    /// By inverse propensities, with a normal 95 % interval; or why not.
    pub inverse_propensity: Result<Interval, NotWeightable>,
    /// Doubly robust, with a normal 95 % interval; or why not.
    pub doubly_robust: Result<Interval, NotWeightable>,
}

/// Why outcomes cannot be weighted by propensities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
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
        "in {out_of_reach} of {rows} rows the rule wants an option that could not have been given, because the logged one was certain: the \
         weights leave these people out"
    )]
    OutOfReach {
        /// Rows whose option was certain and is not the rule's.
        out_of_reach: u64,
        /// All rows.
        rows: u64,
    },
}

impl Explain for NotWeightable {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoPropensities => {
                Some(Remedy::with("{action}, or log propensities from now on", Action::NamePropensityColumn))
            }
            Self::Deterministic => Some(Remedy::new("let the policy explore")),
            Self::OutOfReach { .. } => None,
        }
    }
}

/// The sums behind a rule's values.
#[derive(Debug, Clone)]
pub(crate) struct ValueSums {
    shape: Shape,
    /// For each arm the sum of the contexts at which the rule plays it.
    functional: Vec<f64>,
    rows: u64,
    with_propensity: u64,
    randomised: u64,
    /// Rows whose option was certain and is not the rule's.
    out_of_reach: u64,
    weighted: Mean,
    doubly: Mean,
}

impl ValueSums {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            functional: vec![0.0; shape.parameters()],
            rows: 0,
            with_propensity: 0,
            randomised: 0,
            out_of_reach: 0,
            weighted: Mean::default(),
            doubly: Mean::default(),
        }
    }

    /// One row, with the rule's choice and the statistics of the rows before.
    pub(crate) fn add(
        &mut self,
        before: &Statistics,
        context: &[f64],
        choice: Arm,
        logged: Arm,
        reward: f64,
        propensity: Option<f64>,
    ) {
        self.rows += 1;
        let start = choice.index() * context.len();
        for (sum, value) in self.functional[start..start + context.len()].iter_mut().zip(context) {
            *sum += value;
        }
        let Some(propensity) = propensity else {
            return;
        };
        self.with_propensity += 1;
        self.randomised += u64::from(propensity < 1.0);
        self.out_of_reach += u64::from(propensity >= 1.0 && choice != logged);
        let weight = if choice == logged { 1.0 / propensity } else { 0.0 };
        self.weighted.add(weight * reward);
        let predict = |arm: Arm| before.arm(arm.index()).predict(context);
        self.doubly.add(predict(choice) + weight * (reward - predict(logged)));
    }

    pub(crate) fn value(self, set: &ConfidenceSet<'_>, sign: f64) -> OffPolicyValue {
        let mean = self.functional.iter().map(|sum| sum / self.rows as f64).collect();
        let functional = Parameters::new(self.shape, mean).expect("means of contexts are finite");
        let refusal = self.refusal();
        let unless_refused = |mean: &Mean| refusal.map_or_else(|| Ok(signed(mean.interval(), sign)), Err);
        OffPolicyValue {
            direct: signed(set.functional_interval(&functional), sign),
            inverse_propensity: unless_refused(&self.weighted),
            doubly_robust: unless_refused(&self.doubly),
        }
    }

    fn refusal(&self) -> Option<NotWeightable> {
        let Self { rows, out_of_reach, .. } = *self;
        if self.with_propensity < rows {
            Some(NotWeightable::NoPropensities)
        } else if self.randomised == 0 {
            Some(NotWeightable::Deterministic)
        } else {
            (out_of_reach > 0).then_some(NotWeightable::OutOfReach { out_of_reach, rows })
        }
    }
}

/// A running mean and its standard error [welford-1962].
#[derive(Debug, Clone, Default)]
pub(crate) struct Mean {
    count: u64,
    centre: f64,
    squares: f64,
}

impl Mean {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        let off = value - self.centre;
        self.centre += off / self.count as f64;
        self.squares += off * (value - self.centre);
    }

    /// A normal 95 % interval.
    pub(crate) fn interval(&self) -> Interval {
        let count = self.count as f64;
        let error = (self.squares / (count - 1.0).max(1.0) / count).sqrt();
        let half = NINETY_FIVE * error;
        Interval { estimate: self.centre, lower: self.centre - half, upper: self.centre + half }
    }
}

/// An interval of rewards as one of outcomes.
pub(crate) fn signed(interval: Interval, sign: f64) -> Interval {
    let ends = [sign * interval.lower, sign * interval.upper];
    Interval { estimate: sign * interval.estimate, lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
}
