//! Checks that rows do not go back in time.

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
    time: Time,
    text: String,
    location: Location,
    file: usize,
}

/// A time, as far as its order needs it.
#[derive(PartialEq, Clone, Copy)]
pub(super) enum Time {
    Number(f64),
    /// Compared as it is written.
    Text,
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

    /// Reads a row's time into `text` and checks that it is not before the last. Returns it in whole seconds since the beginning of
    /// 1970, if it counts them.
    pub(super) fn next(
        &mut self,
        record: &LogRow<'_>,
        (wanted, in_seconds): (usize, bool),
        file: usize,
        text: &mut String,
    ) -> Result<Option<i64>, OutOfOrder> {
        let (time, seconds) = read(record, (wanted, in_seconds), text).map_err(OutOfOrder::Row)?;
        self.check((time, text), (file, record.line()), || record.location(wanted))?;
        Ok(seconds)
    }

    /// Checks that a time is not before the last, given its file and line.
    pub(super) fn check(
        &mut self,
        (time, text): (Time, &String),
        (file, line): (usize, u64),
        location: impl Fn() -> Location,
    ) -> Result<(), OutOfOrder> {
        let Some(last) = &mut self.last else {
            self.last = Some(Last { time, text: text.clone(), location: location(), file });
            return Ok(());
        };
        let backwards = match (last.time, time) {
            (Time::Number(last), Time::Number(now)) => now < last,
            (Time::Text, Time::Text) => *text < last.text,
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
) -> Result<(Time, Option<i64>), RowProblem> {
    text.clear();
    match record.value(wanted) {
        FieldValue::Missing => return Err(RowProblem::NotTime { found: "nothing".to_owned() }),
        FieldValue::Number(number) => text.push_str(&number.to_string()),
        FieldValue::Text(words) => text.push_str(words),
    }
    if let Some(number) = record.number(wanted) {
        return Ok((Time::Number(number), in_seconds.then_some(number.floor() as i64)));
    }
    let seconds = is_date(text.as_bytes()).then(|| rarely_output::seconds(text)).flatten();
    let seconds = seconds.ok_or_else(|| RowProblem::NotTime { found: number::shown(text.as_bytes()) })?;
    Ok((Time::Text, Some(seconds.floor() as i64)))
}

/// Whether a text is a date, or a date and a time of day.
pub(crate) fn is_time(text: &str) -> bool {
    is_date(text.as_bytes()) && rarely_output::seconds(text).is_some()
}

/// Whether a text is a year and a month, a date, or a date and a time of day.
fn is_date(text: &[u8]) -> bool {
    let shape = |text: &[u8], shape: &[u8]| {
        text.len() == shape.len()
            && text
                .iter()
                .zip(shape)
                .all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
    };
    let of_day = |byte: &u8| byte.is_ascii_digit() || b":.,+-Zz".contains(byte);
    match text.split_at_checked(10) {
        None => shape(text, b"0000-00"),
        Some((date, [])) => shape(date, b"0000-00-00"),
        Some((date, [b'T' | b't' | b' ', time @ ..])) => shape(date, b"0000-00-00") && time.iter().all(of_day),
        Some(_) => false,
    }
}
