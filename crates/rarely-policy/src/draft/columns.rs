//! The columns of a file, summarised.

use super::{distinct, read};

/// A column of a file, summarised.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSketch {
    /// Its name.
    pub name: String,
    /// Its values.
    pub kind: ColumnValues,
    /// The first different values, as they are written.
    pub written: Vec<String>,
    /// Rows with a value.
    pub present: u64,
    /// Rows without one.
    pub missing: u64,
    /// How many different values there are, as far as they were counted.
    pub distinct: u64,
    /// Whether every value is a date, or a date and a time.
    pub is_time: bool,
    /// Whether the option alone tells its value.
    pub follows_option: bool,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnValues {
    /// Numbers.
    Numbers {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// Words, each once.
    Words(Vec<String>),
}

impl ColumnSketch {
    /// A column of which only the values are known.
    pub fn new(name: &str, kind: ColumnValues) -> Self {
        let written = match &kind {
            ColumnValues::Words(words) => words.clone(),
            ColumnValues::Numbers { .. } => Vec::new(),
        };
        let (name, distinct) = (name.to_owned(), written.len() as u64);
        Self { name, kind, written, present: 0, missing: 0, distinct, is_time: false, follows_option: false }
    }

    /// Whether no two rows have the same value, and every row has one.
    pub(super) fn is_unique(&self) -> bool {
        self.missing == 0 && self.present > 1 && self.distinct == self.present
    }

    /// Whether nearly every row has a value of its own.
    pub(super) fn is_nearly_unique(&self) -> bool {
        self.present > 20 && self.distinct as f64 >= 0.9 * self.present as f64
    }

    /// The values of a column of numbers that are codes, ascending; each once, though it may be written in several ways.
    pub(super) fn codes(&self) -> Vec<String> {
        let mut codes: Vec<(f64, String)> =
            distinct(&self.written).into_iter().filter_map(|text| Some((read(&text)?, text))).collect();
        codes.sort_by(|one, other| one.0.total_cmp(&other.0));
        codes.dedup_by(|one, other| one.0 == other.0);
        codes.into_iter().map(|(_, text)| text).collect()
    }
}
