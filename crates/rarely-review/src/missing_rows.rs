//! What rows of a log lack, and how the rows that were dropped for it differ from the others.

use rarely_core::Interval;
use rarely_policy::PolicyDocument;

use crate::moments::Moments;
use crate::tally::Tally;

/// The normal quantile of a plain 95 % interval.
const PLAIN: f64 = 1.959_963_984_540_054;

/// What rows of a log lack.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingRows {
    /// Each column that lacks values: in how many rows of each option, and in how many without an option.
    pub columns: Vec<(String, Vec<u64>, u64)>,
    /// Rows that were dropped.
    pub dropped: u64,
    /// Those of each option.
    pub dropped_of: Vec<u64>,
    /// The outcomes of dropped rows beside those of the others.
    pub outcomes: Option<DroppedOutcomes>,
}

/// The outcomes of dropped rows beside those of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DroppedOutcomes {
    /// The mean of the dropped rows.
    pub dropped: f64,
    /// The mean of the others.
    pub kept: f64,
    /// The difference, with a plain 95 % interval that allows for different variances [welch-1947].
    pub difference: Interval,
}

impl MissingRows {
    /// `None` if no row lacks a value.
    pub(crate) fn new(document: &PolicyDocument, tally: &Tally) -> Option<Self> {
        let missing = tally.missing();
        if missing.is_empty() {
            return None;
        }
        let options = document.options().len();
        let columns = missing.columns().map(|(column, counts)| {
            (column.to_owned(), counts[..options].to_vec(), counts.get(options).copied().unwrap_or(0))
        });
        let outcomes = missing.dropped_outcomes().zip(kept_outcomes(document, &tally.totals()));
        Some(Self {
            columns: columns.collect(),
            dropped: missing.dropped_rows(),
            dropped_of: (0..options).map(|option| missing.dropped_of(option)).collect(),
            outcomes: outcomes.map(|((dropped_rows, dropped, dropped_variance), (rows, kept, variance))| {
                let error = (dropped_variance / dropped_rows as f64 + variance / rows).sqrt();
                let estimate = dropped - kept;
                let (lower, upper) = (estimate - PLAIN * error, estimate + PLAIN * error);
                DroppedOutcomes { dropped, kept, difference: Interval { estimate, lower, upper } }
            }),
        })
    }
}

/// The number, the mean and the variance of the outcomes of all options, before costs.
fn kept_outcomes(document: &PolicyDocument, totals: &[Moments]) -> Option<(f64, f64, f64)> {
    let (mut rows, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (option, cost) in totals.iter().zip(document.limits().costs()) {
        let (weight, own) = (option.weight(), option.reward_sum());
        rows += weight;
        sum += own + cost * weight;
        squares += option.reward_squares() + 2.0 * cost * own + cost * cost * weight;
    }
    if !(rows > 1.0) {
        return None;
    }
    let mean = sum / rows;
    Some((rows, document.outcome_sign() * mean, (squares / rows - mean * mean).max(0.0) * rows / (rows - 1.0)))
}
