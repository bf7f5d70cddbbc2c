//! Fields that are numbers.

use crate::{DataError, Place};

/// Longest piece of a wrong field that a message repeats.
const SHOWN_CHARACTERS: usize = 40;

/// The number a field holds, if it is finite; blanks around it do not matter.
pub(crate) fn finite(field: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(field).ok()?.trim().parse().ok()?;
    value.is_finite().then_some(value)
}

const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
const POINTS: u64 = u64::from_ne_bytes([b'.'; 8]);
const LOW_BITS: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
/// Added to a byte that is more than nine, this sets the high bit.
const ABOVE_NINE: u64 = u64::from_ne_bytes([0x80 - 10; 8]);
const TENS: [f64; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

/// The number that `bytes[from..to]` holds as most files write it: up to eight digits, perhaps a point behind the first of them, no
/// exponent. `None` means that it may still be a number. Sixteen bytes and more are looked at together, of which some may belong to
/// what follows the field.
///
/// Whole numbers of eight digits and small powers of ten are exact in `f64`, so that their quotient, rounded once, is the number
/// nearest to what is written: the same bits as the standard library's.
#[inline]
pub(crate) fn decimal(bytes: &[u8], from: usize, to: usize) -> Option<f64> {
    let window: &[u8; 24] = bytes.get(from..)?.first_chunk()?;
    let eight_from = |at: usize| Some(u64::from_le_bytes(*window[at..].first_chunk()?));
    let sign = usize::from(window[0] == b'-');
    let length = to - from - sign;
    let first = eight_from(sign)?;
    // The lowest high bit that is set is at the first point.
    let difference = first ^ POINTS;
    let point = (difference.wrapping_sub(LOW_BITS) & !difference & HIGH_BITS).trailing_zeros() as usize / 8;
    let (characters, count, places) = if point < length {
        // A number that starts with its point is left to others, as are eight digits before it.
        let (at, shift) = (point & 7, 8 * (point & 7));
        if at == 0 {
            return None;
        }
        let before = first & !(u64::MAX << shift);
        (before | eight_from(sign + at + 1)? << shift, length - 1, length - 1 - point)
    } else {
        (first, length, 0)
    };
    if count.wrapping_sub(1) > 7 {
        return None;
    }
    let size = eight_digits(characters, count)? as f64 / TENS[places & 7];
    Some(if sign == 1 { -size } else { size })
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
