//! What rows of a log lack: values by column and option, and the rows that were dropped for it.

use std::collections::BTreeMap;

use rarely_core::Arm;
use serde::{Deserialize, Serialize};

use crate::document::PolicyDocument;

/// Steps of the outcome's range; the square of a sum's largest term has room for 2⁷⁴ rows.
const STEPS: f64 = (1_u64 << 26) as f64;
/// The step of outcomes without a range.
const OPEN_STEP: f64 = 1.0 / (1_u64 << 20) as f64;

/// What rows of a log lack, as counts and sums that add in any order.
///
/// ```
/// # let text = include_str!("../tests/it/example.toml");
/// use rarely_core::Arm;
/// use rarely_policy::{MissingCounts, PolicyDocument};
/// let document = PolicyDocument::parse(text, "policy.toml")?;
/// let mut counts = MissingCounts::new(&document);
/// counts.add(["systolic"], Some(Arm::new(1)));
/// counts.drop_row(Some(Arm::new(1)), Some(0.25));
/// assert_eq!(counts.columns().next(), Some(("systolic", [0, 1, 0].as_slice())));
/// assert_eq!((counts.dropped_rows(), counts.mean_of_dropped(1)), (1, Some(0.25)));
/// # Ok::<(), rarely_policy::DocumentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MissingCounts {
    /// Missing values by column, then by option; last those of rows without an option.
    columns: BTreeMap<String, Vec<u64>>,
    /// The dropped rows of each option that have an outcome.
    dropped: Vec<DroppedRows>,
    /// The dropped rows of each option without an outcome; last those without an option.
    without_outcome: Vec<u64>,
    start: f64,
    step: f64,
}

/// Rows that were dropped, and their outcomes in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct DroppedRows {
    rows: u64,
    sum: i128,
    squares: i128,
}

impl MissingCounts {
    /// Nothing is missing yet.
    pub fn new(document: &PolicyDocument) -> Self {
        let options = document.options().len();
        let (start, step) = Self::grid(document);
        Self {
            columns: BTreeMap::new(),
            dropped: vec![DroppedRows::default(); options],
            without_outcome: vec![0; options + 1],
            start,
            step,
        }
    }

    /// The grid on which outcomes of dropped rows are summed: where it starts, and its step.
    pub fn grid(document: &PolicyDocument) -> (f64, f64) {
        match document.outcome().range {
            Some((low, high)) => (low, (high - low) / STEPS),
            None => (0.0, OPEN_STEP),
        }
    }

    /// Whether no row lacks a value.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Counts the columns in which a row has no value.
    pub fn add<'a>(&mut self, columns: impl IntoIterator<Item = &'a str>, arm: Option<Arm>) {
        for column in columns {
            self.add_rows(column, arm, 1);
        }
    }

    /// Counts rows that have no value in a column.
    pub fn add_rows(&mut self, column: &str, arm: Option<Arm>, rows: u64) {
        if rows == 0 {
            return;
        }
        let options = self.dropped.len();
        if !self.columns.contains_key(column) {
            self.columns.insert(column.to_owned(), vec![0; options + 1]);
        }
        if let Some(counts) = self.columns.get_mut(column) {
            counts[arm.map_or(options, Arm::index)] += rows;
        }
    }

    /// Counts a row that is dropped, with its outcome in the document's units.
    #[allow(clippy::cast_possible_truncation)]
    pub fn drop_row(&mut self, arm: Option<Arm>, outcome: Option<f64>) {
        // Ties up, as every engine can (mathematics §17).
        let steps = |outcome: f64| ((outcome - self.start) / self.step + 0.5).floor() as i128;
        match outcome.filter(|_| arm.is_some()).map(steps) {
            Some(steps) => self.drop_rows(arm, (1, steps, steps.saturating_mul(steps)), 0),
            None => self.drop_rows(arm, (0, 0, 0), 1),
        }
    }

    /// Counts rows that are dropped: how many have an outcome, its sum and that of its square on the [grid](MissingCounts::grid); and how many
    /// have none.
    pub fn drop_rows(&mut self, arm: Option<Arm>, (rows, sum, squares): (u64, i128, i128), without_outcome: u64) {
        let options = self.dropped.len();
        self.without_outcome[arm.map_or(options, Arm::index)] += without_outcome;
        if let Some(of) = arm.and_then(|arm| self.dropped.get_mut(arm.index())) {
            of.rows += rows;
            of.sum = of.sum.saturating_add(sum);
            of.squares = of.squares.saturating_add(squares);
        }
    }

    /// Adds those of other rows of the same document.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.dropped.is_empty() {
            self.clone_from(other);
            return;
        }
        for (column, counts) in &other.columns {
            let mine = self.columns.entry(column.clone()).or_insert_with(|| vec![0; counts.len()]);
            mine.iter_mut().zip(counts).for_each(|(mine, count)| *mine += count);
        }
        for (mine, theirs) in self.dropped.iter_mut().zip(&other.dropped) {
            mine.rows += theirs.rows;
            mine.sum = mine.sum.saturating_add(theirs.sum);
            mine.squares = mine.squares.saturating_add(theirs.squares);
        }
        self.without_outcome.iter_mut().zip(&other.without_outcome).for_each(|(mine, count)| *mine += count);
    }

    /// Whether they are of this many options. Check this first on counts that were read from a file.
    pub fn fits(&self, options: usize) -> bool {
        let is_default = *self == Self::default();
        is_default
            || self.dropped.len() == options
                && self.without_outcome.len() == options + 1
                && self.columns.values().all(|counts| counts.len() == options + 1)
                && self.start.is_finite()
                && self.step.is_finite()
    }

    /// Each column that lacks values: how many of each option's rows, and last of rows without an option.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[u64])> {
        self.columns.iter().map(|(column, counts)| (column.as_str(), counts.as_slice()))
    }

    /// Rows that were dropped.
    pub fn dropped_rows(&self) -> u64 {
        self.dropped.iter().map(|dropped| dropped.rows).sum::<u64>() + self.without_outcome.iter().sum::<u64>()
    }

    /// Dropped rows of an option.
    ///
    /// # Panics
    /// If there is no such option.
    pub fn dropped_of(&self, option: usize) -> u64 {
        self.dropped[option].rows + self.without_outcome[option]
    }

    /// The number, the mean and the variance of the outcomes of the dropped rows that have one, of all options.
    pub fn dropped_outcomes(&self) -> Option<(u64, f64, f64)> {
        let sum = self.dropped.iter().fold(DroppedRows::default(), |all, of| DroppedRows {
            rows: all.rows + of.rows,
            sum: all.sum.saturating_add(of.sum),
            squares: all.squares.saturating_add(of.squares),
        });
        let mean = self.mean(&sum)?;
        let (rows, steps) = (sum.rows as f64, sum.sum as f64 / sum.rows as f64);
        let variance = (sum.squares as f64 / rows - steps * steps).max(0.0) * rows / (rows - 1.0).max(1.0);
        Some((sum.rows, mean, variance * self.step * self.step))
    }

    /// The mean outcome of an option's dropped rows, if one has an outcome.
    ///
    /// # Panics
    /// If there is no such option.
    pub fn mean_of_dropped(&self, option: usize) -> Option<f64> {
        self.mean(&self.dropped[option])
    }

    fn mean(&self, of: &DroppedRows) -> Option<f64> {
        (of.rows > 0).then(|| self.start + self.step * (of.sum as f64 / of.rows as f64))
    }
}
