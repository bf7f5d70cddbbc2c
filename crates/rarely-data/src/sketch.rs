//! What the columns of a file contain, for a draft of a policy document.

mod spread;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::path::Path;

use rarely_policy::{ColumnSketch, ColumnValues, DataFormat, FieldValue, canonical_code, stands_for_missing};

use crate::cases::is_time;
use crate::log::{WantedColumn, WantedKind};
use crate::{CasesError, DataError, LogError, LogReader, LogRow};

pub use spread::{ColumnSpread, read_spreads};

/// Rows between two calls of a watcher.
const STRIDE: u64 = 4096;
/// Distinct words that are kept of a column: one more than a draft lists, so that it can tell that there are too many.
const MOST_WORDS: usize = 51;
/// Distinct values that are counted while no value has come twice, …
const MOST_UNIQUE: usize = 1 << 22;
/// … and once one has.
const MOST_DISTINCT: usize = 1 << 16;

/// What a file contains.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSketch {
    /// Its columns.
    pub columns: Vec<ColumnSketch>,
    /// How it is read, if it is not written as programs write it: `semicolon-separated, decimal comma`.
    pub read_as: Option<String>,
}

/// Reads a whole file and describes every column: numbers with their range, or words in the order of appearance (at most fifty-one).
/// Columns of a Parquet file whose type is not supported are left out, and so are columns without a name and those that share one.
///
/// A column with a single word in it is words. Missing values do not count, nor do words that stand for them, NaN and infinity.
///
/// # Errors
/// A [`DataError`] if the file cannot be read, has no row, or one that cannot be read.
pub fn sketch(path: &Path, format: &DataFormat) -> Result<FileSketch, DataError> {
    sketch_watched(path, format, |_| Ok(()))
}

/// The same, with a function that is called now and then with the bytes read and the bytes in total, and stops the reading by an error.
///
/// # Errors
/// As [`sketch`], and what `watch` returns.
pub fn sketch_watched<E: From<DataError>>(
    path: &Path,
    format: &DataFormat,
    watch: impl FnMut((u64, u64)) -> Result<(), E>,
) -> Result<FileSketch, E> {
    let names = LogReader::open_as(path, &[], format)?.readable_names();
    let mut log = open(path, &names, format)?;
    let read_as = log.read_as();
    let mut columns: Vec<SeenColumn> = names.iter().map(|_| SeenColumn::default()).collect();
    let rows = each_row(&mut log, watch, |record| {
        for (wanted, column) in columns.iter_mut().enumerate() {
            match (record.number(wanted), record.value(wanted)) {
                (_, value) if stands_for_missing(value) => column.missing += 1,
                (Some(number), FieldValue::Text(text)) => column.add_number(number, || text.to_owned()),
                (Some(number), _) => column.add_number(number, || number.to_string()),
                (None, FieldValue::Text(text)) => column.add_word(text),
                (None, _) => column.missing += 1,
            }
        }
    })?;
    if rows == 0 {
        return Err(DataError::from(CasesError::NoRow { files: vec![path.to_owned()], first: Vec::new() }).into());
    }
    let columns = names.iter().zip(columns).map(|(name, column)| column.sketch(name)).collect();
    Ok(FileSketch { columns, read_as })
}

/// Reads a file again and marks the columns that the option alone tells: one value for each option.
///
/// # Errors
/// As [`sketch`].
pub fn mark_followers(
    columns: &mut [ColumnSketch],
    path: &Path,
    format: &DataFormat,
    option_column: &str,
) -> Result<(), DataError> {
    mark_followers_watched(columns, (path, format), option_column, |_| Ok(()))
}

/// The same, watched as [`sketch_watched`] is.
///
/// # Errors
/// As [`sketch`], and what `watch` returns.
pub fn mark_followers_watched<E: From<DataError>>(
    columns: &mut [ColumnSketch],
    (path, format): (&Path, &DataFormat),
    option_column: &str,
    watch: impl FnMut((u64, u64)) -> Result<(), E>,
) -> Result<(), E> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let Some(option) = names.iter().position(|name| name == option_column) else { return Ok(()) };
    let mut values: Vec<Option<HashMap<u64, u64>>> = vec![Some(HashMap::new()); names.len()];
    values[option] = None;
    each_row(&mut open(path, &names, format)?, watch, |record| {
        let given = value_hash(record, option);
        for (wanted, known) in values.iter_mut().enumerate() {
            let Some(by_option) = known else { continue };
            if *by_option.entry(given).or_insert_with(|| value_hash(record, wanted)) != value_hash(record, wanted) {
                *known = None;
            }
        }
    })?;
    for (column, known) in columns.iter_mut().zip(values) {
        let differ = |by_option: HashMap<u64, u64>| by_option.values().collect::<HashSet<_>>().len() > 1;
        column.follows_option = known.is_some_and(differ);
    }
    Ok(())
}

fn open(path: &Path, names: &[String], format: &DataFormat) -> Result<LogReader, DataError> {
    let wanted: Vec<WantedColumn> = names.iter().map(|name| WantedColumn::new(name, WantedKind::Any)).collect();
    LogReader::open_as(path, &wanted, format)
}

/// Calls a function with every row of a file, and returns how many there are.
fn each_row<E: From<DataError>>(
    log: &mut LogReader,
    mut watch: impl FnMut((u64, u64)) -> Result<(), E>,
    mut take: impl FnMut(&LogRow<'_>),
) -> Result<u64, E> {
    loop {
        if log.rows().is_multiple_of(STRIDE) {
            watch(log.progress())?;
        }
        match log.next() {
            Ok(Some(record)) => take(&record),
            Ok(None) => return Ok(log.rows()),
            Err(LogError::Row(rejection)) => return Err(DataError::from(CasesError::Rejected(rejection)).into()),
            Err(LogError::File(error)) => return Err(error.into()),
        }
    }
}

/// The same for a number however it is written.
fn value_hash(record: &LogRow<'_>, wanted: usize) -> u64 {
    match (record.number(wanted), record.value(wanted)) {
        (Some(number), _) => hash(&(number + 0.0).to_bits()),
        (None, FieldValue::Text(text)) => hash(&text.trim()),
        (None, _) => 0,
    }
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What was seen of a column.
#[derive(Default)]
struct SeenColumn {
    /// The least and the greatest number.
    range: Option<(f64, f64)>,
    has_words: bool,
    /// Whether there was something else than a date.
    has_others: bool,
    /// Words and, until it is clear that there are words, numbers as they are written.
    words: Vec<String>,
    /// Hashes of the different values.
    distinct: HashSet<u64>,
    present: u64,
    missing: u64,
}

impl SeenColumn {
    fn add_number(&mut self, number: f64, written: impl Fn() -> String) {
        let (low, high) = self.range.unwrap_or((number, number));
        self.range = Some((low.min(number), high.max(number)));
        self.has_others = true;
        self.count(hash(&(number + 0.0).to_bits()));
        if self.words.len() < MOST_WORDS {
            self.keep(&written());
        }
    }

    fn add_word(&mut self, word: &str) {
        if word.parse::<f64>().is_ok() {
            self.missing += 1;
            return;
        }
        self.has_words = true;
        self.has_others = self.has_others || !is_time(word);
        self.count(hash(&word.trim()));
        if self.words.len() < MOST_WORDS {
            self.keep(word);
        }
    }

    fn count(&mut self, value: u64) {
        let is_unique = self.distinct.len() as u64 == self.present;
        self.present += 1;
        if self.distinct.len() < if is_unique { MOST_UNIQUE } else { MOST_DISTINCT } {
            self.distinct.insert(value);
        }
    }

    fn keep(&mut self, word: &str) {
        // `0`, `0.0` and `false` are one word.
        let code = canonical_code(word);
        let same = |known: &String| known == word || code.is_some() && canonical_code(known) == code;
        if !self.words.iter().any(same) {
            self.words.push(word.to_owned());
        }
    }

    fn sketch(self, name: &str) -> ColumnSketch {
        let kind = match self.range {
            Some((low, high)) if !self.has_words => ColumnValues::Numbers { low, high },
            _ => ColumnValues::Words(self.words.clone()),
        };
        ColumnSketch {
            is_time: self.has_words && !self.has_others,
            written: self.words,
            present: self.present,
            missing: self.missing,
            distinct: self.distinct.len() as u64,
            ..ColumnSketch::new(name, kind)
        }
    }
}
