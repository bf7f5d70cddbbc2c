//! What the beginning of a file tells about the format of its numbers.

use rarely_policy::DecimalMark;

use super::spelling::{Marks, Spelling};
use super::{NumberFormat, TwoReadings};

/// What the first values of a column tell.
#[derive(Debug, Default)]
pub(crate) struct ColumnEvidence {
    values: u64,
    numbers: u64,
    /// The first decimal mark that is one for certain.
    decimal: Option<DecimalMark>,
    /// The first number with two readings, and the line it is on.
    either: Option<(TwoReadings, u64)>,
    /// Whether a number is written as programs do not.
    is_decorated: bool,
    percents: u64,
    currency: Option<String>,
}

/// How the numbers of a column are to be read.
pub(crate) enum ColumnNumbers {
    /// As programs write them.
    Plain,
    /// As programs write them, but nothing tells the decimal mark: a number with two readings is refused.
    Doubtful,
    /// In a format.
    Formatted(NumberFormat),
    /// The beginning has a number with two readings.
    TwoReadings(TwoReadings, u64),
}

impl ColumnEvidence {
    /// Adds a value that is not missing.
    pub(crate) fn add(&mut self, text: &str, line: u64) {
        self.values += 1;
        let Some(spelling) = Spelling::of(text) else { return };
        self.numbers += 1;
        self.is_decorated |= rarely_policy::number::read(text).is_none();
        self.percents += u64::from(spelling.is_percent);
        if self.currency.is_none() {
            self.currency = spelling.currency.map(str::to_owned);
        }
        match spelling.marks {
            Marks::Decimal(mark) => self.decimal = self.decimal.or(Some(mark)),
            Marks::Either(_) if self.either.is_none() => {
                self.either = TwoReadings::of(text).map(|readings| (readings, line));
            }
            Marks::None | Marks::Either(_) => {}
        }
    }

    /// How many there were.
    pub(crate) fn values(&self) -> u64 {
        self.values
    }

    /// How many of them are numbers.
    pub(crate) fn numbers(&self) -> u64 {
        self.numbers
    }

    /// Whether nearly all values are numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.numbers > 0 && 10 * self.numbers >= 9 * self.values
    }

    /// Whether a number has a mark, or is written as programs do not.
    pub(crate) fn shows_format(&self) -> bool {
        self.is_decorated || self.decimal.is_some() || self.either.is_some()
    }

    /// The first number with two readings, if the column itself does not tell which is meant.
    pub(crate) fn left_open(&self) -> Option<&TwoReadings> {
        self.either.as_ref().filter(|_| self.decimal.is_none()).map(|(readings, _)| readings)
    }

    /// How to read the column, given the mark that was asked for, or the one that all other columns have.
    pub(crate) fn resolve(self, asked: Option<DecimalMark>, common: Option<DecimalMark>) -> ColumnNumbers {
        let Some(decimal) = asked.or(self.decimal).or(common) else {
            return match self.either {
                Some((readings, line)) => ColumnNumbers::TwoReadings(readings, line),
                None if self.is_decorated => ColumnNumbers::Formatted(self.format(None)),
                None => ColumnNumbers::Doubtful,
            };
        };
        // A comma between thousands is no plain number.
        if decimal == DecimalMark::Point && !self.is_decorated {
            return ColumnNumbers::Plain;
        }
        ColumnNumbers::Formatted(self.format(Some(decimal)))
    }

    fn format(self, decimal: Option<DecimalMark>) -> NumberFormat {
        NumberFormat { decimal, is_percent: 2 * self.percents > self.numbers, currency: self.currency }
    }
}

/// The decimal mark of all columns of numbers that tell it, if it is the same.
pub(crate) fn common_mark(columns: &[ColumnEvidence]) -> Option<DecimalMark> {
    let mut marks = columns.iter().filter(|column| column.is_numeric()).filter_map(|column| column.decimal);
    let first = marks.next()?;
    marks.all(|mark| mark == first).then_some(first)
}
