//! The clock: it jumped, or was corrected.

use rarely_store::{NoteKey, NoteSigner};
use serde::{Deserialize, Serialize};

/// The system's clock jumped and is not believed, or is right again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockJumped {
    /// How far it was ahead of the time of the log, in milliseconds; 0 if it is right again.
    pub offset_ms: i64,
}

/// The time of the log was ahead and was set back. This event has the new time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockCorrected {
    /// The time before.
    pub from_ms: u64,
    /// The time from now on.
    pub to_ms: u64,
    /// Why it was corrected.
    pub reason: String,
    /// The key of the log.
    pub key: NoteKey,
    /// Its signature of all of this, in base64.
    pub signature: String,
}

impl ClockCorrected {
    /// The correction, signed.
    pub fn sign(signer: &NoteSigner, from_ms: u64, to_ms: u64, reason: &str) -> Self {
        let signature = signer.sign(message(from_ms, to_ms, reason).as_bytes());
        Self { from_ms, to_ms, reason: reason.to_owned(), key: signer.key().clone(), signature }
    }

    /// Whether the signature is right.
    pub fn is_signed(&self) -> bool {
        let message = message(self.from_ms, self.to_ms, &self.reason);
        self.key.has_signed(message.as_bytes(), &self.signature)
    }
}

/// What the key signs.
fn message(from_ms: u64, to_ms: u64, reason: &str) -> String {
    format!("rarely clock corrected\n{from_ms}\n{to_ms}\n{reason}\n")
}
