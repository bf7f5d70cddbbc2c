//! Reads and shows fields that are numbers.

use crate::{CounterfactualFormat, DataError, Location};

/// Longest piece of a wrong field that a message repeats.
const SHOWN_CHARACTERS: usize = 40;

/// The number in a field, if it is finite. Blanks around it are ignored.
pub(crate) fn finite(field: &[u8]) -> Option<f64> {
    rarely_policy::number::read(std::str::from_utf8(field).ok()?)
}

const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
const POINTS: u64 = u64::from_ne_bytes([b'.'; 8]);
const LOW_BITS: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
/// Added to a byte that is more than nine, this sets the high bit.
const ABOVE_NINE: u64 = u64::from_ne_bytes([0x80 - 10; 8]);
const TENS: [f64; 17] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];
const WHOLE_TENS: [i64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// Bytes that are looked at together, whether they belong to the number or not.
const WINDOW: usize = 34;

/// The number that `bytes[from..to]` spells, if it is a decimal of few digits and not near the end of the bytes.
///
/// Digits are looked at eight at a time, with whatever follows them. A whole number below 2^53 and a power of ten up to 10^16 are both
/// exact in `f64`, so that their quotient, rounded once, is the number nearest to what is written: the same as [`finite`] gives.
#[expect(clippy::inline_always, reason = "a call for every number of a log costs a tenth of reading it")]
#[inline(always)]
pub(crate) fn decimal(bytes: &[u8], from: usize, to: usize) -> Option<f64> {
    let window: &[u8; WINDOW] = bytes.get(from..)?.first_chunk()?;
    let start = usize::from(window[0] == b'-');
    let length = to - from - start;
    let first = eight_from(window, start)?;
    // The lowest high bit that is set is at the first point.
    let difference = first ^ POINTS;
    let point = (difference.wrapping_sub(LOW_BITS) & !difference & HIGH_BITS).trailing_zeros() as usize / 8;
    let (characters, count, places) = if point < length {
        let (at, shift) = (point & 7, 8 * (point & 7));
        if at == 0 {
            return None;
        }
        if length > 9 {
            return long_decimal(window, start, length, point);
        }
        let before = first & !(u64::MAX << shift);
        (before | eight_from(window, start + at + 1)? << shift, length - 1, length - 1 - point)
    } else {
        (first, length, 0)
    };
    if count.wrapping_sub(1) > 7 {
        return None;
    }
    let size = number(characters, count)? as f64 / TENS[places & 7];
    Some(if start == 1 { -size } else { size })
}

/// The same with up to seven digits before the point and sixteen after it, if together they make less than 2^53.
#[inline(never)]
fn long_decimal(window: &[u8; WINDOW], start: usize, length: usize, point: usize) -> Option<f64> {
    let places = length - point - 1;
    let leading_zero = usize::from(window[start] == b'0');
    if places > 16 || point + places > 16 + leading_zero {
        return None;
    }
    let mut whole = number(eight_from(window, start)?, point)?;
    let after = eight_from(window, start + point + 1)?;
    if places > 8 {
        let last = number(eight_from(window, start + point + 9)?, places - 8)?;
        whole = (whole * WHOLE_TENS[8] + number(after, 8)?) * WHOLE_TENS[places - 8] + last;
    } else {
        whole = whole * WHOLE_TENS[places] + number(after, places)?;
    }
    let size = whole as f64 / TENS[places];
    (whole < 1 << 53).then_some(if start == 1 { -size } else { size })
}

/// Eight bytes of a window, the first of them lowest.
#[inline]
fn eight_from(window: &[u8; WINDOW], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*window.get(at..)?.first_chunk()?))
}

/// The number that the first `count` of eight characters spell, if they are digits: all of them at once, as pairs, then as fours.
#[inline]
fn number(characters: u64, count: usize) -> Option<i64> {
    // What follows the digits goes out at the top, and zeros come in before them.
    let digits = (characters ^ ZEROS) << ((64 - 8 * count) & 63);
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

/// The number of a field, checked to be finite and at most `limit` in magnitude; `location` is called only if it is not.
pub(crate) fn read(
    field: &[u8],
    limit: f64,
    format: CounterfactualFormat,
    location: impl FnOnce() -> Location,
) -> Result<f64, DataError> {
    match finite(field) {
        None => Err(DataError::NotFinite { location: location(), found: shown(field), format }),
        Some(value) if value.abs() > limit => Err(DataError::TooLarge { location: location(), found: value, limit }),
        Some(value) => Ok(value),
    }
}
