//! Numbers: read from text, shown to people, and rounded back to the digits that were written.

/// Powers of ten that `f64` holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// The most digits of which every number fits into 64 bits.
const MOST_DIGITS: usize = 19;
/// 2⁵³: `f64` holds every whole number up to it.
const LARGEST_EXACT: u64 = 1 << 53;
/// Significant digits of a number in words.
const SHOWN_DIGITS: usize = 6;

/// The number in a text, which may have spaces around it; `None` if it is not a number, NaN or infinite.
///
/// Plain decimals take a fast path: where the digits are a whole number up to 2⁵³ (any 15 digits are), one multiplication or
/// division by an exact power of ten rounds once, hence correctly. Everything else goes to the standard library.
///
/// ```
/// assert_eq!(rarely_policy::number::read(" 140.5 "), Some(140.5));
/// assert_eq!(rarely_policy::number::read("n/a"), None);
/// ```
#[inline]
pub fn read(text: &str) -> Option<f64> {
    if let Some(value) = plain(text.as_bytes()) {
        return Some(value);
    }
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// A number for people: at most six significant digits, no trailing zeros.
///
/// ```
/// assert_eq!(rarely_policy::number::short(131.250_000_1), "131.25");
/// assert_eq!(rarely_policy::number::short(0.1 + 0.2), "0.3");
/// ```
pub fn short(value: f64) -> String {
    plainly(round(value, SHOWN_DIGITS))
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

/// A number of a rule for people: all its digits, because the words must say what the rule does, and a true minus sign.
pub(crate) fn written(value: f64) -> String {
    let text = plainly(value);
    match text.strip_prefix('-') {
        Some(size) => format!("−{size}"),
        None => text,
    }
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

/// A plain decimal of few digits; `None` if the standard library must parse it.
#[inline]
fn plain(text: &[u8]) -> Option<f64> {
    let (&first, &last) = (text.first()?, text.last()?);
    let text = if first <= b' ' || last <= b' ' { text.trim_ascii() } else { text };
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (mantissa, rest) = digits(0, text);
    let mut count = text.len() - rest.len();
    let (mut mantissa, mut rest, mut scale) = (mantissa, rest, 0);
    if let [b'.', fraction @ ..] = rest {
        (mantissa, rest) = digits(mantissa, fraction);
        let places = fraction.len() - rest.len();
        count += places;
        scale = -i32::try_from(places).ok()?;
    }
    if let [b'e' | b'E', power @ ..] = rest {
        scale += exponent(power)?;
        rest = &[];
    }
    if count == 0 || count > MOST_DIGITS || mantissa > LARGEST_EXACT || !rest.is_empty() {
        return None;
    }
    let power = *POWERS.get(scale.unsigned_abs() as usize)?;
    let size = if scale < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    Some(if negative { -size } else { size })
}

/// Reads digits onto the end of a number (which wraps if they are too many), and returns what follows them.
#[inline]
fn digits(mut number: u64, mut text: &[u8]) -> (u64, &[u8]) {
    while let [byte @ b'0'..=b'9', rest @ ..] = text {
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        text = rest;
    }
    (number, text)
}

/// An exponent of at most two digits.
#[inline]
fn exponent(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'-', tail @ ..] => (-1, tail),
        [b'+', tail @ ..] => (1, tail),
        _ => (1, text),
    };
    match digits {
        [a @ b'0'..=b'9'] => Some(sign * i32::from(a - b'0')),
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some(sign * (i32::from(a - b'0') * 10 + i32::from(b - b'0'))),
        _ => None,
    }
}
