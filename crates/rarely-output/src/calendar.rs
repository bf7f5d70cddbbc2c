//! The calendar: dates and times as text that sorts.

use std::fmt::Write as _;

/// What a whole number counts since the beginning of 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// Days.
    Days,
    /// Parts of a second.
    Seconds {
        /// Digits after the second: 3 counts thousandths. At most 9.
        digits: usize,
        /// Whether midnight is Greenwich's.
        universal: bool,
    },
}

impl Ticks {
    /// Writes a time as ISO 8601 has it, always with the same digits after the second, so that text sorts as time does.
    pub fn write(self, text: &mut String, count: i64) {
        const SECONDS_A_DAY: i64 = 86_400;
        let written = match self {
            Self::Days => {
                let (year, month, day) = date(count);
                write!(text, "{year:04}-{month:02}-{day:02}")
            }
            Self::Seconds { digits, universal } => {
                let a_second = (0..digits).fold(1, |power, _| power * 10);
                let (seconds, fraction) = (count.div_euclid(a_second), count.rem_euclid(a_second));
                let (year, month, day) = date(seconds.div_euclid(SECONDS_A_DAY));
                let second = seconds.rem_euclid(SECONDS_A_DAY);
                let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
                let zone = if universal { "Z" } else { "" };
                write!(
                    text,
                    "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:0digits$}{zone}"
                )
            }
        };
        debug_assert!(written.is_ok(), "a string takes everything");
    }
}

/// A time in milliseconds since the beginning of 1970, as `2026-11-16T08:30:00.125Z`.
///
/// ```
/// assert_eq!(rarely_output::utc(951_782_399_999), "2000-02-28T23:59:59.999Z");
/// assert_eq!(rarely_output::utc(951_782_400_000), "2000-02-29T00:00:00.000Z");
/// ```
pub fn utc(time_ms: u64) -> String {
    let mut text = String::new();
    let count = i64::try_from(time_ms).unwrap_or(i64::MAX);
    Ticks::Seconds { digits: 3, universal: true }.write(&mut text, count);
    text
}

/// Year, month and day of the Gregorian calendar, `days` after 1 January 1970.
fn date(days: i64) -> (i64, i64, i64) {
    /// Days from 1 March of the year 0 to 1 January 1970.
    const EPOCH: i64 = 719_468;
    /// Days in 400, 100 and 4 years; the leap day, if there is one, is the last.
    const CYCLE: (i64, i64, i64) = (146_097, 36_524, 1_461);
    let day = days + EPOCH;
    let (cycle, day) = (day.div_euclid(CYCLE.0), day.rem_euclid(CYCLE.0));
    let century = (day / CYCLE.1).min(3);
    let day = day - century * CYCLE.1;
    let (four, day) = (day / CYCLE.2, day % CYCLE.2);
    let year_of_four = (day / 365).min(3);
    let day = day - year_of_four * 365;
    // Months from March have 31, 30, 31, 30, 31 days, over and over: 153 days in five.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let year = 400 * cycle + 100 * century + 4 * four + year_of_four;
    if month < 10 { (year, month + 3, day_of_month) } else { (year + 1, month - 9, day_of_month) }
}
