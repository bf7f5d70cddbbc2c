//! What identifies the rows of a log.

use serde::{Deserialize, Serialize};

use crate::people_sample::mix;
use crate::tally_row::TallyRow;

/// One log: its rows, and a digest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) rows: u64,
    /// The sum of the rows' priorities, which depend on the place and the content of a row.
    pub(crate) digest: u64,
    /// The number of the last row in its file.
    pub(crate) last: u64,
}

/// The sum of the rows' hashes: the same for the same rows, in whatever order and however divided into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RowSet(pub(crate) u64, pub(crate) u64);

impl RowSet {
    #[inline]
    pub(crate) fn add(&mut self, row: &TallyRow<'_>) {
        let start = mix(row.reward.to_bits() ^ (row.arm.index() as u64 + 1));
        let mut content = row
            .context
            .iter()
            .fold(start, |hash, value| (hash ^ value.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31));
        // A row without these has the hash that it had before there were any.
        if row.weight != 1.0 {
            content = mix(content ^ row.weight.to_bits());
        }
        for number in row.cluster.into_iter().chain(row.propensities.iter().map(|value| value.to_bits())) {
            content = mix(content ^ number);
        }
        self.0 = self.0.wrapping_add(mix(content));
        self.1 = self.1.wrapping_add(mix(content ^ 0xD6E8_FEB8_6659_FD93));
    }

    pub(crate) fn merge(&mut self, other: Self) {
        (self.0, self.1) = (self.0.wrapping_add(other.0), self.1.wrapping_add(other.1));
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
