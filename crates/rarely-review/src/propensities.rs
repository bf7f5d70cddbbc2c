//! Whether the propensities of a log can be what they are said to be, and how much they leave of it.
//!
//! The mean over all rows of `1{A = a}/p(a)` is 1 for every option whose propensity was always above 0 [horvitz-1952]. A column that
//! holds the probability of one fixed option, instead of that of the option given, breaks this. With the weights `1/p` the rows of an option count as
//! `(Σw)²/Σw²` rows of equal weight (Kish's effective sample size).

use rarely_core::{MIN_EFFECTIVE_ROWS, does_not_fit, effective_rows};
use rarely_policy::PolicyDocument;
use serde::{Deserialize, Serialize};

use crate::fixed_point::{ONE, product};
use crate::tally_row::TallyRow;

/// Bins of equal width that propensities are counted in, from 0 to 1.
pub const PROPENSITY_BINS: usize = 20;

/// The sums of a log's inverse propensities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PropensitySums {
    /// The declared minimum that rows were compared with.
    minimum: Option<f64>,
    rows: u64,
    options: Vec<OptionWeights>,
}

/// The sums of one option.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct OptionWeights {
    /// Rows in which it was given.
    given: u64,
    /// Rows in which it could have been given, as far as that is known.
    possible: u64,
    /// Rows in which its propensity is below the minimum.
    below: u64,
    /// Of the weights `1/p` in whole numbers (mathematics §17) …
    sum: i128,
    /// … and of their squares.
    squares: i128,
    largest: f64,
    /// States from before it was counted have none.
    #[serde(default, skip_serializing_if = "PropensityBins::is_empty")]
    bins: PropensityBins,
}

/// How many cases had which propensity of an option, in [`PROPENSITY_BINS`] bins of equal width from 0 to 1. An upper end belongs to
/// the next bin, 1 to the last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PropensityBins {
    /// Cases that got the option; empty if none was counted.
    pub given: Vec<u64>,
    /// Cases that got another, where their propensity of the option is known; empty if none was counted.
    pub others: Vec<u64>,
}

/// The propensities of one option.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropensityCheck {
    /// The option.
    pub option: String,
    /// Rows in which it was given.
    pub rows: u64,
    /// The mean over all rows of `1{A = a}/p(a)`, …
    pub mean_weight: f64,
    /// … its standard error, …
    pub standard_error: f64,
    /// … and what it should be: the share of the rows in which the option could have been given.
    pub expected_weight: f64,
    /// Rows of equal weight that the option's rows count as.
    pub effective_rows: f64,
    /// The largest weight.
    pub largest_weight: f64,
    /// The share of the rows in which its propensity is below the declared minimum.
    pub below_minimum: Option<f64>,
    /// The distribution of its propensities.
    #[serde(skip_serializing_if = "PropensityBins::is_empty")]
    pub bins: PropensityBins,
    /// What to be careful about.
    #[serde(skip)]
    pub warnings: Vec<PropensityWarning>,
}

/// Why propensities may not be of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropensityWarning {
    /// The mean weight is not what it should be.
    DoesNotFit,
    /// The rows of the option count as too few.
    FewEffectiveRows,
}

impl PropensitySums {
    /// Empty sums; `None` if a document declares no propensities.
    pub(crate) fn new(document: &PolicyDocument) -> Option<Self> {
        let columns = document.log_columns();
        columns.has_propensities().then(|| Self {
            minimum: columns.minimum_propensity,
            rows: 0,
            options: vec![OptionWeights::default(); document.options().len()],
        })
    }

    /// Adds a row, if its propensity is known.
    pub(crate) fn add(&mut self, row: &TallyRow<'_>) {
        let Some(given) = row.given_propensity() else { return };
        let minimum = self.minimum.unwrap_or(0.0);
        self.rows += 1;
        for (arm, option) in self.options.iter_mut().enumerate() {
            let is_given = arm == row.arm.index();
            let propensity = row.propensities.get(arm).copied().or(is_given.then_some(given));
            option.possible += u64::from(propensity.is_none_or(|propensity| propensity > 0.0));
            option.below += u64::from(propensity.is_some_and(|propensity| propensity < minimum));
            if let Some(propensity) = propensity {
                option.bins.count(propensity, is_given);
            }
            if is_given {
                let weight = 1.0 / given;
                let whole = whole_weight(weight);
                option.given += 1;
                option.sum += whole;
                option.squares = option.squares.saturating_add(whole * whole);
                option.largest = option.largest.max(weight);
            }
        }
    }

    /// Adds the rows of another log.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.minimum != other.minimum {
            self.minimum = None;
        }
        self.rows += other.rows;
        for (mine, theirs) in self.options.iter_mut().zip(&other.options) {
            mine.given += theirs.given;
            mine.possible += theirs.possible;
            mine.below += theirs.below;
            mine.sum += theirs.sum;
            mine.squares = mine.squares.saturating_add(theirs.squares);
            mine.largest = mine.largest.max(theirs.largest);
            mine.bins.merge(&theirs.bins);
        }
    }

    /// Whether there is a sound sum for each of so many options. Check this first on a state that was read from a file.
    pub(crate) fn is_sound(&self, options: usize) -> bool {
        self.options.len() == options
            && self.options.iter().all(|option| {
                option.given <= self.rows
                    && option.bins.is_sound(self.rows)
                    && option.sum.min(option.squares) >= 0
                    && option.largest >= 0.0
            })
    }

    /// The propensities of every option; nothing if no row had one.
    pub(crate) fn checks(&self, document: &PolicyDocument) -> Vec<PropensityCheck> {
        if self.rows == 0 {
            return Vec::new();
        }
        let same = self.minimum.is_some() && self.minimum == document.log_columns().minimum_propensity;
        let options = document.options().iter().zip(&self.options);
        options.map(|(name, option)| option.check(name, self.rows as f64, same)).collect()
    }
}

/// In whole numbers; a propensity below `2⁻³⁴` counts as that.
#[allow(clippy::cast_possible_truncation)]
fn whole_weight(weight: f64) -> i128 {
    (weight.min((1_u64 << 34) as f64) * ONE as f64 + 0.5) as i128
}

impl OptionWeights {
    fn check(&self, name: &str, rows: f64, has_minimum: bool) -> PropensityCheck {
        let (sum, squares) = (self.sum as f64 / ONE as f64, product(self.squares));
        let mean = sum / rows;
        let variance = (squares / rows - mean * mean).max(0.0);
        let standard_error = (variance / (rows - 1.0).max(1.0)).sqrt();
        let expected = self.possible as f64 / rows;
        let effective = effective_rows(sum, squares);
        let does_not_fit = self.given > 0 && does_not_fit(mean, standard_error, expected);
        let few = self.possible > 0 && effective < MIN_EFFECTIVE_ROWS;
        let warnings =
            [(does_not_fit, PropensityWarning::DoesNotFit), (few, PropensityWarning::FewEffectiveRows)].into_iter();
        PropensityCheck {
            option: name.to_owned(),
            rows: self.given,
            mean_weight: mean,
            standard_error,
            expected_weight: expected,
            effective_rows: effective,
            largest_weight: self.largest,
            below_minimum: has_minimum.then(|| self.below as f64 / rows),
            bins: self.bins.clone(),
            warnings: warnings.filter_map(|(holds, warning)| holds.then_some(warning)).collect(),
        }
    }
}

impl PropensityBins {
    fn count(&mut self, propensity: f64, is_given: bool) {
        let counts = if is_given { &mut self.given } else { &mut self.others };
        counts.resize(PROPENSITY_BINS, 0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bin = (propensity * PROPENSITY_BINS as f64) as usize;
        counts[bin.min(PROPENSITY_BINS - 1)] += 1;
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.given, &other.given), (&mut self.others, &other.others)] {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.others.is_empty()
    }

    fn is_sound(&self, rows: u64) -> bool {
        let counts = [&self.given, &self.others];
        let total = counts.into_iter().flatten().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        counts.iter().all(|counts| matches!(counts.len(), 0 | PROPENSITY_BINS)) && total.is_some_and(|sum| sum <= rows)
    }
}
