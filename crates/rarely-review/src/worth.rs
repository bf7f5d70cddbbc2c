//! What a rule would have been worth on a log that another rule made: off-policy values.
//!
//! *Direct*: the model's mean outcome, with the confidence set's own interval. *Inverse propensity*: the logged outcomes where the
//! rule agrees with the log, weighted by one over the probability of what was done [horvitz-1952]. *Doubly robust*: the model's
//! prediction plus the weighted residual [dudik-2014]; the model of each row is that of the rows before it, so that each term is
//! unbiased. The last two rest on randomised choices: on a log without them they are refused.

use rarely_core::{Arm, ConfidenceSet, Interval, Parameters, Shape, Statistics};

/// The quantile of a normal 95 % interval.
const NINETY_FIVE: f64 = 1.959_963_984_540_054;

/// The values of one rule, of the outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// By the model; holds with probability `1−δ`.
    pub direct: Interval,
    /// By inverse propensities, with a normal 95 % interval; or why not.
    pub inverse_propensity: Result<Interval, String>,
    /// Doubly robust, with a normal 95 % interval; or why not.
    pub doubly_robust: Result<Interval, String>,
}

/// The sums behind a rule's values.
#[derive(Debug, Clone)]
pub(crate) struct Worth {
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

impl Worth {
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

    pub(crate) fn value(self, set: &ConfidenceSet<'_>, sign: f64) -> Value {
        let mean = self.functional.iter().map(|sum| sum / self.rows as f64).collect();
        let functional = Parameters::new(self.shape, mean).expect("means of contexts are finite");
        let refusal = self.refusal();
        let unless_refused = |mean: &Mean| match &refusal {
            Some(reason) => Err(reason.clone()),
            None => Ok(signed(mean.interval(), sign)),
        };
        Value {
            direct: signed(set.functional_interval(&functional), sign),
            inverse_propensity: unless_refused(&self.weighted),
            doubly_robust: unless_refused(&self.doubly),
        }
    }

    /// Why outcomes cannot be weighted.
    fn refusal(&self) -> Option<String> {
        if self.with_propensity < self.rows {
            return Some(
                "the log has no propensities: name their column with --propensity-column, or log them from now on"
                    .to_owned(),
            );
        }
        if self.randomised == 0 {
            return Some(
                "the log is deterministic: every option was certain (propensity 1), so no weight can stand for the people who would have got \
                 another; let the policy explore"
                    .to_owned(),
            );
        }
        (self.out_of_reach > 0).then(|| {
            format!(
                "in {} of {} rows the rule wants an option that could not have been given there (the logged one was certain), so the weights leave \
                 these people out",
                self.out_of_reach, self.rows
            )
        })
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
