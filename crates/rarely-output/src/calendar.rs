//! The calendar: dates and times as text that sorts.

use std::fmt::Write as _;

/// Days from 1 March of the year 0 to 1 January 1970.
const EPOCH: i64 = 719_468;
const SECONDS_A_DAY: i64 = 86_400;

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

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcInstant {
    /// Whole seconds since the beginning of 1970, rounded down.
    pub seconds: i64,
    /// Parts of a second, of which a second has 10⁹.
    pub nanoseconds: u32,
}

impl UtcInstant {
    /// Of a month, a date, or a date with a time of day, in any way that ISO 8601 has: a date may be that of a calendar, a week or a day of
    /// the year, with hyphens or without. A blank may stand for the `T`. A time without a zone is taken as Greenwich's.
    ///
    /// ```
    /// use rarely_output::UtcInstant;
    /// let seconds = |text| UtcInstant::parse(text).map(|instant| instant.seconds);
    /// assert_eq!(seconds("2000-02-29"), Some(951_782_400));
    /// assert_eq!(seconds("2000-W09-2"), seconds("2000-060"));
    /// assert_eq!(seconds("20000228T235959.5Z"), Some(951_782_399));
    /// assert_eq!(seconds("2000-02-29 01:00+01:00"), Some(951_782_400));
    /// assert_eq!((seconds("soon"), seconds("2001-02-29")), (None, None));
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.find(['T', 't', ' ']) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let (seconds, nanoseconds) = time.map_or(Some((0, 0)), of_day)?;
        Some(Self { seconds: SECONDS_A_DAY * day(date)? + seconds, nanoseconds })
    }
}

/// Days of a date after 1 January 1970.
fn day(date: &str) -> Option<i64> {
    let bytes = date.as_bytes();
    let year = number(date.get(..4)?)?;
    let rest = date.get(4..)?;
    if let Some(week) = rest.strip_prefix("-W").or_else(|| rest.strip_prefix('W')) {
        return of_week(year, week);
    }
    let (month, day) = match bytes.len() {
        7 if bytes[4] == b'-' => (number(&rest[1..])?, 1),
        10 if bytes[4] == b'-' && bytes[7] == b'-' => (number(date.get(5..7)?)?, number(date.get(8..)?)?),
        // The day of a year.
        8 if bytes[4] == b'-' => return of_year(year, number(&rest[1..])?),
        7 => return of_year(year, number(rest)?),
        8 => (number(date.get(4..6)?)?, number(date.get(6..)?)?),
        _ => return None,
    };
    let found = days(year, month, day);
    // A day that its month does not have would be another one.
    ((1..=12).contains(&month) && self::date(found) == (year, month, day)).then_some(found)
}

fn of_year(year: i64, day: i64) -> Option<i64> {
    let found = days(year, 1, 1) + day - 1;
    (day >= 1 && found < days(year + 1, 1, 1)).then_some(found)
}

/// A day of a week, `47-2` or `472`; Monday, if there is none. The first week of a year has its fourth of January.
fn of_week(year: i64, text: &str) -> Option<i64> {
    let week = number(text.get(..2)?)?;
    let day = match text.get(2..)? {
        "" => 1,
        rest => number(rest.strip_prefix('-').unwrap_or(rest)).filter(|_| rest.len() <= 2)?,
    };
    let monday = |year: i64| {
        let fourth = days(year, 1, 4);
        // 1 January 1970 was a Thursday.
        fourth - (fourth + 3).rem_euclid(7)
    };
    let found = monday(year) + 7 * (week - 1) + day - 1;
    (week >= 1 && (1..=7).contains(&day) && found < monday(year + 1)).then_some(found)
}

/// Digits as a number.
fn number(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Seconds since midnight in Greenwich of a time of day with its zone, and parts of a second.
fn of_day(text: &str) -> Option<(i64, u32)> {
    let (time, zone) = match text.find(['Z', 'z', '+', '-', '\u{2212}']) {
        Some(at) => (text[..at].trim_end(), &text[at..]),
        None => (text, ""),
    };
    let (whole, parts) = match time.split_once(['.', ',']) {
        Some((whole, parts)) => (whole, number(parts).map(|_| parts)?),
        None => (time, ""),
    };
    let seconds = clock(whole)?;
    // A part of an hour or a minute is one that nobody writes.
    if !parts.is_empty() && whole.len() < 6 || seconds > SECONDS_A_DAY {
        return None;
    }
    let nanoseconds = format!("{parts:0<9}").get(..9)?.parse().ok()?;
    let offset = match zone.chars().next() {
        None => 0,
        Some('Z' | 'z') => return (zone.len() == 1).then_some((seconds, nanoseconds)),
        Some('+') => clock(&zone[1..])?,
        Some(minus) => -clock(&zone[minus.len_utf8()..])?,
    };
    Some((seconds - offset, nanoseconds))
}

/// Seconds of hours, minutes and seconds: `08:30`, `0830`, `08`.
fn clock(text: &str) -> Option<i64> {
    let parts: Vec<&str> = if text.contains(':') {
        text.split(':').collect()
    } else {
        (0..text.len()).step_by(2).map(|at| text.get(at..at + 2)).collect::<Option<_>>()?
    };
    let of = |at: usize, most: i64| parts.get(at).map_or(Some(0), |part| number(part).filter(|part| *part <= most));
    let is_clock = (1..=3).contains(&parts.len()) && parts.iter().all(|part| part.len() <= 2);
    is_clock.then(|| Some(3600 * of(0, 24)? + 60 * of(1, 59)? + of(2, 60)?))?
}

/// Days of a date of the calendar after 1 January 1970.
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
