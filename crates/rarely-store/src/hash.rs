//! A SHA-256 hash, which chains each entry to the previous one.

use std::fmt;
use std::str::FromStr;

use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::hex::Hex;

/// A SHA-256 hash. It prints, parses and serialises as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first entry: 32 zero bytes.
    pub const ZERO: Self = Self([0; 32]);

    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// In base64, as the formats of transparency logs write it.
    pub fn base64(&self) -> String {
        tlog_tiles::tlog::Hash(self.0).to_string()
    }
}

/// A text that is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{found:?} is not a SHA-256 hash")]
pub struct HashError {
    /// The text.
    pub found: String,
}

impl Explain for HashError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new("write 64 hexadecimal digits"))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(formatter)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let wrong = || HashError { found: text.chars().take(80).collect() };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = HashError;

    fn try_from(text: String) -> Result<Self, HashError> {
        text.parse()
    }
}
