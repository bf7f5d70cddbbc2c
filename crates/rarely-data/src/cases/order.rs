//! Checks that rows do not go back in time.

use std::cmp::Ordering;

use rarely_output::UtcInstant;
use rarely_policy::FieldValue;

use super::error::CasesError;
use crate::{Location, LogRow, RowProblem, number};

/// The time of the last row.
pub(super) struct Order {
    /// Whether rows may go back in time.
    any: bool,
    last: Option<Last>,
}

struct Last {
    time: LogTime,
    text: String,
    location: Location,
    file: usize,
}

/// The time of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogTime {
    /// A number.
    Number(f64),
    /// A date, with or without a time of day.
    Instant(UtcInstant),
}

impl LogTime {
    /// Earlier, the same or later; a number comes before every date.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Instant(one), Self::Instant(other)) => one.cmp(other),
            (Self::Number(_), Self::Instant(_)) => Ordering::Less,
            (Self::Instant(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

/// What is wrong with a time: the value, or the order of the rows.
pub(super) enum OutOfOrder {
    Row(RowProblem),
    Rows(CasesError),
}

impl Order {
    pub(super) fn new(any: bool) -> Self {
        Self { any, last: None }
    }

    /// Reads a row's time into `text` and checks that it is not before the last. Returns it, and in whole seconds since the beginning of
    /// 1970, if it counts them.
    pub(super) fn next(
        &mut self,
        record: &LogRow<'_>,
        (wanted, in_seconds): (usize, bool),
        file: usize,
        text: &mut String,
    ) -> Result<(LogTime, Option<i64>), OutOfOrder> {
        let (time, seconds) = read(record, (wanted, in_seconds), text).map_err(OutOfOrder::Row)?;
        self.check((time, text), (file, record.line()), || record.location(wanted))?;
        Ok((time, seconds))
    }

    /// Checks that a time is not before the last, given its file and line.
    pub(super) fn check(
        &mut self,
        (time, text): (LogTime, &String),
        (file, line): (usize, u64),
        location: impl Fn() -> Location,
    ) -> Result<(), OutOfOrder> {
        let Some(last) = &mut self.last else {
            self.last = Some(Last { time, text: text.clone(), location: location(), file });
            return Ok(());
        };
        let backwards = match (last.time, time) {
            (LogTime::Number(_), LogTime::Number(_)) | (LogTime::Instant(_), LogTime::Instant(_)) => {
                time.order(&last.time) == Ordering::Less
            }
            _ => {
                let (found, last) = (number::shown(text.as_bytes()), number::shown(last.text.as_bytes()));
                return Err(OutOfOrder::Row(RowProblem::OtherTime { found, last }));
            }
        };
        if backwards && !self.any {
            return Err(OutOfOrder::Rows(CasesError::Backwards {
                earlier: Box::new(last.location.clone()),
                earlier_time: last.text.clone(),
                later: Box::new(location()),
                later_time: text.clone(),
            }));
        }
        last.time = time;
        last.text.clone_from(text);
        if last.file == file {
            last.location.set_line(line);
        } else {
            (last.location, last.file) = (location(), file);
        }
        Ok(())
    }
}

/// Reads a row's time into `text`. Returns it in whole seconds, too, if it is a date, or numbers count seconds.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn read(
    record: &LogRow<'_>,
    (wanted, in_seconds): (usize, bool),
    text: &mut String,
) -> Result<(LogTime, Option<i64>), RowProblem> {
    text.clear();
    match record.value(wanted) {
        FieldValue::Missing => return Err(RowProblem::NotTime { found: "nothing".to_owned() }),
        FieldValue::Number(number) => text.push_str(&number.to_string()),
        FieldValue::Text(words) => text.push_str(words),
    }
    if let Some(number) = record.number(wanted)
        && !(in_seconds && is_compact_date(text))
    {
        return Ok((LogTime::Number(number), in_seconds.then_some(number.floor() as i64)));
    }
    let instant = UtcInstant::parse(text);
    let instant = instant.ok_or_else(|| RowProblem::NotTime { found: number::shown(text.as_bytes()) })?;
    Ok((LogTime::Instant(instant), Some(instant.seconds)))
}

/// Whether a number is a date of the last or this century, such as 20261116: as seconds, all of them were in 1970.
fn is_compact_date(text: &str) -> bool {
    text.len() == 8 && matches!(&text[..2], "19" | "20") && UtcInstant::parse(text).is_some()
}

/// Whether a text is a date, or a date and a time of day.
pub(crate) fn is_time(text: &str) -> bool {
    UtcInstant::parse(text).is_some()
}
