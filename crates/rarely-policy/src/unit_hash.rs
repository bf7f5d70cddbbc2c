//! A hash of what a row is called, the same in every engine that has MD5 (mathematics §17).

use md5::{Digest as _, Md5};

/// Rows whose first half is at most this propose a change: a third of them.
const THIRD: u64 = u64::MAX / 3;

/// The MD5 of a row's key. MD5 because every SQL engine has it, not because it is secret.
///
/// ```
/// use rarely_policy::UnitHash;
/// let hash = UnitHash::of("case 17");
/// assert_eq!(format!("{:016x}{:016x}", hash.first, hash.second), "ddd87e7f3f48b13141964ac855cb068d");
/// assert!(!hash.is_in_first_third());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitHash {
    /// Its first eight bytes, which divide rows.
    pub first: u64,
    /// Its last eight bytes, which draw a sample: independent of how rows are divided.
    pub second: u64,
}

impl UnitHash {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        let bytes = u128::from_be_bytes(Md5::digest(text).into());
        // The halves of 128 bits.
        #[allow(clippy::cast_possible_truncation)]
        let (first, second) = ((bytes >> 64) as u64, bytes as u64);
        Self { first, second }
    }

    /// Whether it is among the third that proposes a change.
    #[inline]
    pub fn is_in_first_third(self) -> bool {
        self.first <= THIRD
    }
}
