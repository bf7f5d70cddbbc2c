//! Durations as people write them, in milliseconds.

use crate::names::{did_you_mean, shown};
use crate::number::{self, plainly};

/// The units, with their milliseconds. A year is 365 days.
const UNITS: [(&str, u64); 6] = [
    ("second", 1000),
    ("minute", 60_000),
    ("hour", 3_600_000),
    ("day", 86_400_000),
    ("week", 604_800_000),
    ("year", 31_536_000_000),
];
/// A hundred years.
const LONGEST_MS: f64 = 36_525.0 * 86_400_000.0;
/// A duration as text, for the JSON Schema.
pub(crate) const PATTERN: &str = r"^\s*\+?[0-9.]+([eE][+-]?[0-9]+)?\s+(second|minute|hour|day|week|year)s?\s*$";

/// The milliseconds of a duration such as "7 days" or "1.5 hours"; `None` if the text is not one, or not in (0, 100 years].
///
/// ```
/// use rarely_policy::duration;
/// assert_eq!(duration::read("1.5 hours"), Some(5_400_000));
/// assert_eq!(duration::read("soon"), None);
/// ```
pub fn read(text: &str) -> Option<u64> {
    explained(text).ok()
}

/// A duration in the largest unit of which it is a whole number; in seconds if there is none.
///
/// ```
/// use rarely_policy::duration;
/// assert_eq!(duration::words(30 * 86_400_000), "30 days");
/// assert_eq!(duration::words(604_800_000), "1 week");
/// assert_eq!(duration::words(1500), "1.5 seconds");
/// ```
pub fn words(milliseconds: u64) -> String {
    let whole = UNITS.iter().rev().find(|(_, size)| milliseconds.is_multiple_of(*size) && milliseconds > 0);
    let (name, size) = whole.unwrap_or(&UNITS[0]);
    let number = milliseconds as f64 / *size as f64;
    format!("{} {name}{}", plainly(number), if number == 1.0 { "" } else { "s" })
}

/// As [`read`], with the problem and what to do.
pub(crate) fn explained(text: &str) -> Result<u64, (String, String)> {
    let mut parts = text.split_whitespace();
    let (Some(amount), Some(unit), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(not_a_time(text));
    };
    let Some(number) = number::read(amount) else { return Err(not_a_time(text)) };
    let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit.strip_suffix('s').unwrap_or(unit)) else {
        let plurals = ["seconds", "minutes", "hours", "days", "weeks", "years"];
        let problem = format!("unknown unit of time {}", shown(unit));
        return Err((problem, did_you_mean(unit, "the units are", plurals)));
    };
    let milliseconds = (number * *size as f64).round();
    if !(1.0..=LONGEST_MS).contains(&milliseconds) {
        let problem =
            format!("the duration {} is {}", shown(text), if number > 0.0 { "out of range" } else { "not above 0" });
        return Err((problem, "write at least 1 millisecond and at most 100 years (36525 days)".to_owned()));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let milliseconds = milliseconds as u64;
    Ok(milliseconds)
}

fn not_a_time(text: &str) -> (String, String) {
    let remedy = "write a number, a space and seconds, minutes, hours, days, weeks or years, as in \"7 days\"";
    (format!("{} is not a duration", shown(text)), remedy.to_owned())
}
