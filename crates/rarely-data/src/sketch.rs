//! What the columns of a file contain, for a draft of a policy document.

use std::path::Path;

use rarely_policy::{ColumnSketch, ColumnValues, DataFormat, FieldValue, canonical_code};

use crate::log::{WantedColumn, WantedKind};
use crate::{CasesError, DataError, LogError, LogReader};

/// Distinct words that are kept of a column: one more than a draft lists, so that it can tell that there are too many.
const MOST_WORDS: usize = 51;

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
/// A column with a single word in it is words. Missing values do not count, nor do NaN and infinity.
///
/// # Errors
/// A [`DataError`] if the file cannot be read, has no row, or one that cannot be read.
pub fn sketch(path: &Path, format: &DataFormat) -> Result<FileSketch, DataError> {
    let names = LogReader::open_as(path, &[], format)?.readable_names();
    let wanted: Vec<WantedColumn> = names.iter().map(|name| WantedColumn::new(name, WantedKind::Any)).collect();
    let mut log = LogReader::open_as(path, &wanted, format)?;
    let read_as = log.read_as();
    let mut columns: Vec<SeenColumn> = names.iter().map(|_| SeenColumn::default()).collect();
    loop {
        let record = match log.next() {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(LogError::Row(rejection)) => return Err(CasesError::Rejected(rejection).into()),
            Err(LogError::File(error)) => return Err(error),
        };
        for (wanted, column) in columns.iter_mut().enumerate() {
            match (record.number(wanted), record.value(wanted)) {
                (_, FieldValue::Missing) | (None, FieldValue::Number(_)) => {}
                (Some(number), FieldValue::Number(_)) => column.add_number(number, || number.to_string()),
                (Some(number), FieldValue::Text(text)) => column.add_number(number, || text.to_owned()),
                (None, FieldValue::Text(text)) => column.add_word(text),
            }
        }
    }
    if log.rows() == 0 {
        return Err(CasesError::NoRow { files: vec![path.to_owned()], first: Vec::new() }.into());
    }
    let columns = names.into_iter().zip(columns).map(|(name, column)| ColumnSketch { name, kind: column.kind() });
    Ok(FileSketch { columns: columns.collect(), read_as })
}

/// What was seen of a column.
#[derive(Default)]
struct SeenColumn {
    /// The least and the greatest number.
    range: Option<(f64, f64)>,
    has_words: bool,
    /// Words and, until it is clear that there are words, numbers as they are written.
    words: Vec<String>,
}

impl SeenColumn {
    fn add_number(&mut self, number: f64, written: impl Fn() -> String) {
        let (low, high) = self.range.unwrap_or((number, number));
        self.range = Some((low.min(number), high.max(number)));
        if self.words.len() < MOST_WORDS {
            self.keep(&written());
        }
    }

    fn add_word(&mut self, word: &str) {
        if word.parse::<f64>().is_ok() {
            return;
        }
        self.has_words = true;
        if self.words.len() < MOST_WORDS {
            self.keep(word);
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

    fn kind(self) -> ColumnValues {
        match self.range {
            Some((low, high)) if !self.has_words => ColumnValues::Numbers { low, high },
            _ => ColumnValues::Words(self.words),
        }
    }
}
