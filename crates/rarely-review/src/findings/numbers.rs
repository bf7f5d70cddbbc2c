//! How numbers are written in prose: rounded to what they mean, with a true minus sign, and never with an exponent.

use rarely_core::Interval;
use rarely_policy::number::round;

/// The least p-value that is written out.
const LEAST_P_VALUE: f64 = 0.0001;
/// Numbers from here on are written in groups of three digits; years and most cuts are below it.
const GROUPED_FROM: f64 = 10_000.0;

/// A number with this many significant digits: `−0.00217`, `136.4`, `12,346`.
///
/// ```
/// use rarely_review::findings::numbers::number;
/// assert_eq!(number(-0.000_003_123, 3), "−0.00000312");
/// assert_eq!(number(12_345.6, 3), "12,346", "whole digits are not rounded away");
/// ```
pub fn number(value: f64, digits: usize) -> String {
    // Whole digits are not rounded away: 12,346 with three digits, not 12,300.
    let size = round(value, digits.max(whole_digits(value))).abs();
    let text = size.to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    let whole = if size >= GROUPED_FROM { grouped(whole) } else { whole.to_owned() };
    let sign = if value < 0.0 && size > 0.0 { "−" } else { "" };
    match fraction {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    }
}

/// A measured number: three digits are enough to read.
pub fn measured(value: f64) -> String {
    number(value, 3)
}

/// A setting as its owner wrote it: up to six digits.
pub fn setting(value: f64) -> String {
    number(value, 6)
}

/// How many there are of something: "1 row", "8,000 rows".
pub(super) fn many(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// A count: `12,000`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// The nearest count to a number of cases that need not be whole: `2,670`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn nearest_count(cases: f64) -> String {
    count(cases.round() as u64)
}

/// A time in days, months or years, with two digits: `9 days`, `4.5 months`, `12 years`.
///
/// ```
/// use rarely_review::findings::numbers::duration;
/// let shown = [0.2, 1.0, 44.0, 137.0, 3000.0, 1e6].map(duration);
/// assert_eq!(shown, ["less than a day", "1 day", "44 days", "4.5 months", "8.2 years", "2,700 years"]);
/// ```
pub fn duration(days: f64) -> String {
    const A_YEAR: f64 = 365.2425;
    let (time, unit) = match days {
        days if days < 0.5 => return "less than a day".to_owned(),
        days if days < 60.0 => (days.round(), "day"),
        days if days < 2.0 * A_YEAR => (days / (A_YEAR / 12.0), "month"),
        days => (days / A_YEAR, "year"),
    };
    let time = round(time, 2);
    let text = if time >= 1000.0 { grouped(&time.to_string()) } else { time.to_string() };
    format!("{text} {unit}{}", if time == 1.0 { "" } else { "s" })
}

/// A share as `12.3 %`. A share above 0 is never shown as 0 %, and one below 1 never as 100 %.
///
/// ```
/// use rarely_review::findings::numbers::percent;
/// assert_eq!([percent(0.0), percent(0.000_1), percent(0.123), percent(1.0)], ["0 %", "< 0.1 %", "12.3 %", "100 %"]);
/// ```
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let text = match percent {
        percent if percent > 0.0 && percent < 0.05 => "< 0.1".to_owned(),
        percent if percent < 100.0 && percent > 99.95 => "> 99.9".to_owned(),
        percent => format!("{percent:.1}").trim_end_matches(".0").to_owned(),
    };
    format!("{text} %")
}

/// An estimate with its interval: `0.031 (0.021 to 0.041)`.
pub fn interval(interval: Interval) -> String {
    let Interval { estimate, lower, upper } = interval;
    format!("{} ({})", measured(estimate), ends(lower, upper))
}

/// An estimate with its unit and its interval: `0.031 wellbeing (0.021 to 0.041)`.
pub fn interval_with_unit(interval: Interval, unit: &str) -> String {
    let Interval { estimate, lower, upper } = interval;
    format!("{} ({})", with_unit(&measured(estimate), unit), ends(lower, upper))
}

fn ends(lower: f64, upper: f64) -> String {
    if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
        return "not bounded".to_owned();
    }
    format!("{} to {}", measured(lower), measured(upper))
}

/// `p = 0.0153`, `p < 0.0001`.
pub fn p_value(p: f64) -> String {
    if p < LEAST_P_VALUE { format!("p < {LEAST_P_VALUE}") } else { format!("p = {}", measured(p)) }
}

/// `140 mmHg`; without a unit the number alone.
pub fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

/// Digits before the point.
fn whole_digits(value: f64) -> usize {
    format!("{:.0}", value.abs()).len()
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
