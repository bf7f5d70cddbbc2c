//! Numbers as people write them: with a decimal comma, thousands in groups, currencies and percent.
//!
//! | written | read as |
//! |---|---|
//! | `1.234,56`, `1 234,56`, `1'234.56`, `1,234.56` | 1234.56 |
//! | `€ 12,50`, `12,50 EUR` | 12.5 |
//! | `12 %` | 0.12, as a workbook stores it |
//! | `162.320` | 162.32 with a decimal point, 162320 with a decimal comma: it does not say itself |

mod evidence;
mod spelling;

use std::fmt;

use rarely_policy::DecimalMark;

pub(super) use self::evidence::{ColumnEvidence, ColumnNumbers, common_mark};
use self::spelling::{Marks, Spelling};

/// How the numbers of a column are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NumberFormat {
    /// None if nothing tells it.
    decimal: Option<DecimalMark>,
    is_percent: bool,
    currency: Option<String>,
}

/// What a field is in the format of its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SpeltNumber {
    /// A number.
    Number(f64),
    /// Something else.
    Word,
    /// A number of another format.
    OtherFormat,
    /// A number with two readings, where nothing tells which is meant.
    TwoReadings,
}

/// A number that can be read in two ways, and both of them.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoReadings {
    /// As it is written.
    pub found: String,
    /// With a decimal point.
    pub with_point: f64,
    /// With a decimal comma.
    pub with_comma: f64,
}

impl NumberFormat {
    /// Reads a field.
    pub(super) fn read(&self, text: &str) -> SpeltNumber {
        let Some(spelling) = Spelling::of(text) else {
            // A number that only a program would write.
            let is_number = rarely_policy::number::read(text).is_some();
            return if is_number { SpeltNumber::OtherFormat } else { SpeltNumber::Word };
        };
        let other_currency = spelling.currency.is_some_and(|currency| self.currency.as_deref() != Some(currency));
        if other_currency || spelling.is_percent != self.is_percent {
            return SpeltNumber::OtherFormat;
        }
        let decimal = match (self.decimal, spelling.marks) {
            (Some(decimal), _) | (None, Marks::Decimal(decimal)) => decimal,
            (None, Marks::None) => DecimalMark::Point,
            (None, Marks::Either(_)) => return SpeltNumber::TwoReadings,
        };
        spelling.value(decimal).map_or(SpeltNumber::OtherFormat, SpeltNumber::Number)
    }
}

impl fmt::Display for NumberFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = self.decimal.map(|decimal| decimal.to_string());
        let currency = self.currency.as_ref().map(|currency| format!("in {currency}"));
        let percent = self.is_percent.then(|| "12 % as 0.12".to_owned());
        let parts: Vec<String> = [decimal, currency, percent].into_iter().flatten().collect();
        formatter.write_str(&if parts.is_empty() { "thousands in groups".to_owned() } else { parts.join(", ") })
    }
}

impl TwoReadings {
    /// Of a text, if it is such a number.
    pub(super) fn of(text: &str) -> Option<Self> {
        let spelling = Spelling::of(text)?;
        if !matches!(spelling.marks, Marks::Either(_)) {
            return None;
        }
        let with_point = spelling.value(DecimalMark::Point)?;
        let with_comma = spelling.value(DecimalMark::Comma)?;
        Some(Self { found: text.trim().to_owned(), with_point, with_comma })
    }

    /// `162.320 is 162320`, with this decimal mark.
    pub(super) fn read_with(&self, decimal: DecimalMark) -> String {
        let number = if decimal == DecimalMark::Point { self.with_point } else { self.with_comma };
        format!("{} is {number}", self.found)
    }
}

impl fmt::Display for TwoReadings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, with_point, with_comma } = self;
        write!(
            formatter,
            "found {found:?}, which is {with_point} with a decimal point and {with_comma} with a decimal comma"
        )
    }
}
