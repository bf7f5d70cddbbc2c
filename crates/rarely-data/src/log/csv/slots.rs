//! The wanted fields of a row.

/// A wanted field.
#[derive(Clone, Copy)]
pub(super) struct FieldSlot {
    /// The number, if it was read with the row; NaN if not.
    pub(super) number: f64,
    /// Where the field starts in its row.
    pub(super) from: u32,
    /// Where it ends.
    pub(super) to: u32,
}

impl FieldSlot {
    /// Nothing yet.
    pub(super) const EMPTY: Self = Self { number: f64::NAN, from: 0, to: 0 };

    /// The field.
    #[inline]
    pub(super) fn field(self, row: &[u8]) -> &[u8] {
        &row[self.from as usize..self.to as usize]
    }
}

/// A place in a row.
#[expect(clippy::cast_possible_truncation, reason = "the longest row has 2^24 bytes")]
#[inline]
pub(super) fn offset(at: usize) -> u32 {
    at as u32
}
