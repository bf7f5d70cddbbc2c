//! Bytes as hexadecimal digits.

use std::fmt;

/// Prints bytes as lower-case hexadecimal digits.
///
/// ```
/// assert_eq!(rarely_store::Hex(&[0, 10, 255]).to_string(), "000aff");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}
