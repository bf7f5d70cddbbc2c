//! The calendar: dates and times as text that sorts.

use std::fmt::Write as _;

/// Days from 1 March of the year 0 to 1 January 1970.
const EPOCH: i64 = 719_468;

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

/// Seconds since the beginning of 1970 of a month, a date, or a date with a time of day as ISO 8601 has them. A time without a zone is taken
/// as Greenwich's.
///
/// ```
/// use rarely_output::seconds;
/// assert_eq!(seconds("2000-02-29"), Some(951_782_400.0));
/// assert_eq!(seconds("2000-02-28T23:59:59.5Z"), Some(951_782_399.5));
/// assert_eq!(seconds("2000-02-29 01:00+01:00"), Some(951_782_400.0));
/// assert_eq!(seconds("soon"), None);
/// ```
pub fn seconds(text: &str) -> Option<f64> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
    let (day, time) = match text.split_at_checked(10) {
        Some((day, time)) => (day, time.strip_prefix(['T', 't', ' '])),
        None => (text, None),
    };
    if text.len() > 10 && time.is_none() {
        return None;
    }
    let mut parts = day.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(1))?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(86_400.0 * days(year, month, day) as f64 + time.map_or(Some(0.0), of_day)?)
}

/// Seconds since midnight in Greenwich of a time of day, with its zone.
fn of_day(text: &str) -> Option<f64> {
    let (time, zone) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (&text[..at], text[at..].trim_start_matches(['Z', 'z'])),
        None => (text, ""),
    };
    let behind = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let zone = zone.trim_start_matches(['+', '-']);
    let zone =
        if zone.len() == 4 && !zone.contains(':') { format!("{}:{}", &zone[..2], &zone[2..]) } else { zone.to_owned() };
    let hours = |text: &str| {
        let mut parts = text.split(':').map(|part| part.replace(',', ".").parse::<f64>().ok());
        let mut next = || parts.next().unwrap_or(Some(0.0));
        Some(3600.0 * next()? + 60.0 * next()? + next()?)
    };
    let offset = if zone.is_empty() { 0.0 } else { hours(&zone)? };
    Some(hours(time)? - behind * offset)
}

/// Days of a date after 1 January 1970.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that start in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - EPOCH
}

/// Year, month and day of the Gregorian calendar, `days` after 1 January 1970.
fn date(days: i64) -> (i64, i64, i64) {
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
