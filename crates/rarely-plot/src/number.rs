//! Numbers as they are written: coordinates for the drawing, values for the reader.

use rarely_error::scientific;

/// Significant digits of a value.
pub(crate) const DIGITS: usize = 3;

/// A coordinate with at most two decimals; the same bytes on every machine.
pub(crate) fn coordinate(value: f64) -> String {
    debug_assert!(value.is_finite(), "a coordinate is finite");
    trimmed(&format!("{value:.2}"))
}

/// A coordinate of a long line, with one decimal: a tenth of a pixel cannot be seen, and the drawing is a third
/// smaller.
pub(crate) fn rough_coordinate(value: f64) -> String {
    debug_assert!(value.is_finite(), "a coordinate is finite");
    trimmed(&format!("{value:.1}"))
}

fn trimmed(digits: &str) -> String {
    let short = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// A number with as many decimals as given, a true minus sign, and commas between thousands.
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = digits.split_once('.').map_or((digits.as_str(), None), |(w, f)| (w, Some(f)));
    let mut text = String::new();
    if value < 0.0 && digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        text.push('−');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A value with three significant digits, or all its whole ones.
///
/// ```
/// assert_eq!(rarely_plot::value_text(0.007_412), "0.00741");
/// assert_eq!(rarely_plot::value_text(98.0), "98");
/// assert_eq!(rarely_plot::value_text(12_345.6), "12,346");
/// ```
pub fn value_text(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return scientific(value, DIGITS);
    }
    let mut decimals = 2;
    let mut least = 1.0;
    while size < least && decimals < 7 {
        least /= 10.0;
        decimals += 1;
    }
    if size >= 9.995 {
        decimals = 1;
    }
    if size >= 99.95 {
        decimals = 0;
    }
    let text = grouped(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
