//! How the values of a column are spread: counts in bins of equal width, or of each word.

use std::collections::HashMap;
use std::path::Path;

use rarely_policy::{ColumnSketch, ColumnValues, DataFormat, FieldValue, canonical_code, stands_for_missing};

use super::{each_row, open};
use crate::{DataError, LogRow};

/// Bins of a column of numbers.
const BINS: usize = 24;

/// How the values of a column are spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnSpread {
    /// Numbers: the counts in bins of equal width between the lowest and the highest.
    Bins(Vec<u64>),
    /// Words that the sketch lists, in its order, with their counts, and how many values are others.
    Words {
        /// A word and its count.
        listed: Vec<(String, u64)>,
        /// The count of all other words.
        others: u64,
    },
}

/// Reads a file again and counts the values of the columns that a sketch found. `watch` is as in [`super::sketch_watched`].
///
/// # Errors
/// As [`super::sketch`], and what `watch` returns.
pub fn read_spreads<E: From<DataError>>(
    columns: &[ColumnSketch],
    path: &Path,
    format: &DataFormat,
    watch: impl FnMut((u64, u64)) -> Result<(), E>,
) -> Result<Vec<ColumnSpread>, E> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut counters: Vec<Counter<'_>> = columns.iter().map(Counter::new).collect();
    each_row(&mut open(path, &names, format)?, watch, |record| {
        for (wanted, counter) in counters.iter_mut().enumerate() {
            counter.add(record, wanted);
        }
    })?;
    Ok(counters.into_iter().map(Counter::finish).collect())
}

enum Counter<'a> {
    Bins { low: f64, high: f64, counts: Vec<u64> },
    Words { places: HashMap<&'a str, usize>, words: &'a [String], counts: Vec<u64>, others: u64 },
}

impl<'a> Counter<'a> {
    fn new(column: &'a ColumnSketch) -> Self {
        match &column.kind {
            ColumnValues::Numbers { low, high } => Self::Bins { low: *low, high: *high, counts: vec![0; BINS] },
            ColumnValues::Words(words) => {
                let places = words.iter().enumerate().map(|(at, word)| (word.trim(), at)).collect();
                Self::Words { places, words, counts: vec![0; words.len()], others: 0 }
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the range times the bins")]
    fn add(&mut self, record: &LogRow<'_>, wanted: usize) {
        let value = record.value(wanted);
        if stands_for_missing(value) {
            return;
        }
        match self {
            Self::Bins { low, high, counts } => {
                let Some(number) = record.number(wanted) else { return };
                let share = (number - *low) / (*high - *low).max(f64::MIN_POSITIVE);
                counts[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
            }
            Self::Words { places, words, counts, others } => {
                let written;
                let text = match (value, record.number(wanted)) {
                    (FieldValue::Text(text), _) => text.trim(),
                    (_, Some(number)) => {
                        written = number.to_string();
                        written.as_str()
                    }
                    _ => return,
                };
                // `0` and `0.0` are one word, which the sketch lists as it came first.
                let same = |code: &str| words.iter().position(|word| canonical_code(word) == Some(code));
                match places.get(text).copied().or_else(|| canonical_code(text).and_then(same)) {
                    Some(place) => counts[place] += 1,
                    None => *others += 1,
                }
            }
        }
    }

    fn finish(self) -> ColumnSpread {
        match self {
            Self::Bins { counts, .. } => ColumnSpread::Bins(counts),
            Self::Words { words, counts, others, .. } => {
                ColumnSpread::Words { listed: words.iter().cloned().zip(counts).collect(), others }
            }
        }
    }
}
