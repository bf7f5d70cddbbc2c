//! Fields that are numbers.

use crate::{DataError, Place};

/// Longest piece of a wrong field that a message repeats.
const SHOWN_CHARACTERS: usize = 40;

/// The number a field holds, if it is finite; blanks around it do not matter.
pub(crate) fn finite(field: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(field).ok()?.trim().parse().ok()?;
    value.is_finite().then_some(value)
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
