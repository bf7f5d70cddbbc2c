//! Fields that are numbers.

use crate::{DataError, Place};

/// Longest piece of a wrong field that a message repeats.
const SHOWN_CHARACTERS: usize = 40;

/// The number a field holds, if it is finite; blanks around it do not matter.
pub(crate) fn finite(field: &[u8]) -> Option<f64> {
    let field = if field.is_ascii() { field.trim_ascii() } else { std::str::from_utf8(field).ok()?.trim().as_bytes() };
    fast_float2::parse(field).ok().filter(|value: &f64| value.is_finite())
}

/// The number that `bytes[from..to]` holds, if it is finite: the same as [`finite`], and faster if more bytes follow the field.
///
/// Most numbers of most files are short decimals without an exponent. Their digits are looked at eight at a time, with whatever
/// follows them. A whole number below 2^53 and a power of ten up to 10^16 are both exact in `f64`, so that their quotient, rounded
/// once, is the number nearest to what is written.
#[expect(clippy::inline_always, reason = "a call for every number of a log costs a tenth of reading it")]
#[inline(always)]
pub(crate) fn finite_within(bytes: &[u8], from: usize, to: usize) -> Option<f64> {
    short_decimal(bytes, from, to).or_else(|| finite_somehow(bytes, from, to))
}

#[inline(never)]
fn finite_somehow(bytes: &[u8], from: usize, to: usize) -> Option<f64> {
    long_decimal(bytes, from, to).or_else(|| finite(&bytes[from..to]))
}

const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
const POINTS: u64 = u64::from_ne_bytes([b'.'; 8]);
const LOW_BITS: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
/// Added to a byte that is more than nine, this sets the high bit.
const ABOVE_NINE: u64 = u64::from_ne_bytes([0x80 - 10; 8]);
const TENS: [f64; 17] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];
const WHOLE_TENS: [i64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Up to eight digits, perhaps with a point behind the first of them; `None` for everything else.
#[expect(clippy::inline_always, reason = "see above")]
#[inline(always)]
fn short_decimal(bytes: &[u8], from: usize, to: usize) -> Option<f64> {
    let window: &[u8; 24] = bytes.get(from..)?.first_chunk()?;
    let sign = usize::from(window[0] == b'-');
    let length = to - from - sign;
    let first = eight_from(window, sign)?;
    let point = first_point(first);
    let (characters, count, places) = if point < length {
        let (at, shift) = (point & 7, 8 * (point & 7));
        if at == 0 {
            return None;
        }
        let before = first & !(u64::MAX << shift);
        (before | eight_from(window, sign + at + 1)? << shift, length - 1, length - 1 - point)
    } else {
        (first, length, 0)
    };
    if count.wrapping_sub(1) > 7 {
        return None;
    }
    let size = eight_digits(characters, count)? as f64 / TENS[places & 7];
    Some(if sign == 1 { -size } else { size })
}

/// Up to seven digits and, after a point, up to sixteen that together make less than 2^53; `None` for everything else.
fn long_decimal(bytes: &[u8], from: usize, to: usize) -> Option<f64> {
    let window: &[u8; 32] = bytes.get(from..)?.first_chunk()?;
    let sign = usize::from(window[0] == b'-');
    let length = to - from - sign;
    let first = eight_from(window, sign)?;
    let point = first_point(first);
    let places = length.checked_sub(point + 1)?;
    let leading_zero = usize::from(window[sign] == b'0');
    if point == 0 || point > 7 || places > 16 || point + places > 16 + leading_zero {
        return None;
    }
    let mut whole = eight_digits(first, point)?;
    let after = eight_from(window, sign + point + 1)?;
    if places > 8 {
        let last = eight_digits(eight_from(window, sign + point + 9)?, places - 8)?;
        whole = whole * 100_000_000 + eight_digits(after, 8)?;
        whole = whole * WHOLE_TENS[places - 8] + last;
    } else if places > 0 {
        whole = whole * WHOLE_TENS[places] + eight_digits(after, places)?;
    }
    let size = whole as f64 / TENS[places];
    (whole < 1 << 53).then_some(if sign == 1 { -size } else { size })
}

/// Eight bytes of a window, the first of them lowest.
#[inline]
fn eight_from(window: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*window.get(at..)?.first_chunk()?))
}

/// Which of eight characters is the first point; 8 if none is.
#[inline]
fn first_point(characters: u64) -> usize {
    let difference = characters ^ POINTS;
    (difference.wrapping_sub(LOW_BITS) & !difference & HIGH_BITS).trailing_zeros() as usize / 8
}

/// The number that the first so many of eight characters spell, if they are digits: all of them at once, as pairs, then as fours.
#[inline]
fn eight_digits(characters: u64, count: usize) -> Option<i64> {
    // What follows the digits goes out at the top, and zeros come in before them.
    let digits = (characters ^ ZEROS) << (64 - 8 * count);
    if (digits.wrapping_add(ABOVE_NINE) | digits) & HIGH_BITS != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let outer = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let inner = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    Some((outer.wrapping_add(inner) >> 32).cast_signed())
}

/// A field as a message shows it: in quotation marks, control characters written out, and not longer than a line.
pub(crate) fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    if text.chars().count() <= SHOWN_CHARACTERS {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
    format!("{start:?}…")
}

/// The number of a field, checked to be finite and at most `limit` in magnitude; `place` is asked for only if it is not.
pub(crate) fn read(
    field: &[u8],
    limit: f64,
    remedy: &'static str,
    place: impl FnOnce() -> Place,
) -> Result<f64, DataError> {
    match finite(field) {
        None => Err(DataError::NotFinite { place: place(), found: shown(field), remedy }),
        Some(value) if value.abs() > limit => Err(DataError::TooLarge { place: place(), found: value, limit }),
        Some(value) => Ok(value),
    }
}
