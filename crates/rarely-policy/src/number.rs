//! Numbers: read from text, shown to people, and rounded back to the digits that were written.

/// Significant digits of a number in words.
const SHOWN_DIGITS: usize = 6;

/// The number in a text, which may have spaces around it; `None` if it is not a number, NaN or infinite.
///
/// ```
/// assert_eq!(rarely_policy::number::read(" 140.5 "), Some(140.5));
/// assert_eq!(rarely_policy::number::read("n/a"), None);
/// ```
#[inline]
pub fn read(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// A number for people: at most six significant digits, no trailing zeros, a true minus sign.
///
/// ```
/// assert_eq!(rarely_policy::number::short(131.250_000_1), "131.25");
/// assert_eq!(rarely_policy::number::short(-0.000_003_12), "−0.00000312");
/// assert_eq!(rarely_policy::number::short(0.1 + 0.2), "0.3");
/// ```
pub fn short(value: f64) -> String {
    written(round(value, SHOWN_DIGITS))
}

/// A number with all its digits: plain where that is short, with an exponent where it is not.
pub(crate) fn plainly(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e15).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A number of a rule for people: all its digits, because the words must say what the rule does, a true minus sign, and no exponent unless
/// the number is so small or large that its zeros could not be counted.
pub(crate) fn written(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-9..1e15).contains(&size) {
        let digits =
            format!("{size:e}").chars().take_while(|&letter| letter != 'e').filter(char::is_ascii_digit).count();
        return rarely_error::scientific(value, digits);
    }
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{size}")
}

/// A whole number as `i64`, if it is small enough to be exact.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
}

/// The number rounded to some significant digits.
///
/// ```
/// assert_eq!(rarely_policy::number::round(131.4567, 3), 131.0);
/// assert_eq!(rarely_policy::number::round(-0.00276, 2), -0.0028);
/// ```
pub fn round(value: f64, digits: usize) -> f64 {
    // Formatting rounds correctly at every magnitude.
    format!("{value:.*e}", digits.max(1) - 1).parse().unwrap_or(value)
}

/// The shortest decimal within `hair` of `value`.
pub(crate) fn snap(value: f64, hair: f64) -> f64 {
    if value.abs() <= hair {
        return 0.0;
    }
    (1..=17).map(|digits| round(value, digits)).find(|rounded| (rounded - value).abs() <= hair).unwrap_or(value)
}
