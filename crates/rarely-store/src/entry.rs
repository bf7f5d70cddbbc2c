//! Entries of the log, and drafts that become entries.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::Hash;
use crate::hex::Hex;
use crate::subject::SubjectTag;

/// One event in the log. The meaning of `kind` and `body` belongs to the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// 1, 2, 3 … over the whole log, without gaps.
    pub number: u64,
    /// Milliseconds since 1970 UTC. Never less than the previous entry's time, even if the clock was set back.
    pub time_ms: u64,
    /// Milliseconds that had elapsed since the program that wrote it started, by a clock that nobody can set. Earlier versions did
    /// not store it.
    pub elapsed_ms: Option<u64>,
    /// Who caused the event.
    pub actor: String,
    /// The policy, identified by the number of the entry that registered it; 0 for none.
    pub policy: u64,
    /// The kind of event.
    pub kind: String,
    /// The event as JSON text.
    pub body: String,
    /// The hash of the fields above and of the previous entry's hash.
    pub hash: Hash,
}

impl LogEntry {
    /// SHA-256 of previous hash ‖ number ‖ time ‖ policy ‖ length and actor ‖ length and kind ‖ length and body, and, if the
    /// entry has it, ‖ 8 ‖ elapsed time. Every integer is a big-endian `u64`; lengths count bytes. In an unmodified log it equals `hash`.
    ///
    /// ```
    /// use rarely_store::{Hash, LogEntry};
    /// let mut entry = LogEntry {
    ///     number: 1, time_ms: 0, elapsed_ms: Some(5), actor: "ann".into(), policy: 0, kind: "started".into(), body: "{}".into(),
    ///     hash: Hash::ZERO,
    /// };
    /// entry.hash = entry.expected_hash(&Hash::ZERO);
    /// entry.body.push(' ');
    /// assert_ne!(entry.hash, entry.expected_hash(&Hash::ZERO));
    /// ```
    #[must_use]
    pub fn expected_hash(&self, previous: &Hash) -> Hash {
        let mut frame = [0; 56];
        frame[..32].copy_from_slice(&previous.0);
        frame[32..40].copy_from_slice(&self.number.to_be_bytes());
        frame[40..48].copy_from_slice(&self.time_ms.to_be_bytes());
        frame[48..].copy_from_slice(&self.policy.to_be_bytes());
        let mut digest = Sha256::new_with_prefix(frame);
        for text in [&self.actor, &self.kind, &self.body] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text.as_bytes());
        }
        if let Some(elapsed_ms) = self.elapsed_ms {
            digest.update(8_u64.to_be_bytes());
            digest.update(elapsed_ms.to_be_bytes());
        }
        Hash(digest.finalize().into())
    }
}

/// The end of a log: its last number, and the hash that covers the whole log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last entry; 0 if the log is empty.
    pub number: u64,
    /// Its hash; [`Hash::ZERO`] if the log is empty.
    pub hash: Hash,
}

impl Head {
    /// The head of an empty log.
    pub const EMPTY: Self = Self { number: 0, hash: Hash::ZERO };
}

/// What a writer's clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Milliseconds since 1970 UTC.
    pub time_ms: u64,
    /// Milliseconds since the program started, if the clock tells it.
    pub elapsed_ms: Option<u64>,
}

impl From<u64> for Stamp {
    /// Of a clock that shows only the time.
    fn from(time_ms: u64) -> Self {
        Self { time_ms, elapsed_ms: None }
    }
}

/// The policy that an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyRef {
    /// None: the entry is about the store or about access to it.
    None,
    /// The policy that the entry with this number registered.
    Id(u64),
    /// The entry registers a policy, whose id is the entry's own number.
    OwnNumber,
}

/// An entry before it has a number, a time and a hash.
///
/// The body `B` is either the text itself, for [`Turn::push`](crate::Turn::push), or a function that writes it later, for
/// [`Turn::push_deferred`](crate::Turn::push_deferred).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryDraft<B = String> {
    /// Who caused the event.
    pub actor: String,
    /// The policy it belongs to.
    pub policy: PolicyRef,
    /// The kind of event.
    pub kind: &'static str,
    /// The event as JSON text.
    pub body: B,
    /// The key under which the entry can be looked up.
    pub key: Option<LookupKey>,
}

/// A short key under which the *latest* entry that carries it can be looked up: an idempotency key, or "the outcome of
/// decision 17". Its first byte is a namespace, so that different kinds of keys never collide.
///
/// Keys longer than [`LookupKey::LONGEST`] bytes are stored as their SHA-256.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LookupKey(Box<[u8]>);

impl LookupKey {
    /// The longest key that is stored as it is, in bytes.
    pub const LONGEST: usize = 64;

    /// The key with these bytes in this namespace.
    pub fn new(namespace: u8, bytes: &[u8]) -> Self {
        let hashed;
        let (form, name) = if bytes.len() <= Self::LONGEST {
            (0, bytes)
        } else {
            hashed = Hash::of(bytes);
            (1, &hashed.0[..])
        };
        let mut key = Vec::with_capacity(name.len() + 2);
        // The second byte separates a short key from a long one whose hash happens to equal it.
        key.extend_from_slice(&[namespace, form]);
        key.extend_from_slice(name);
        Self(key.into_boxed_slice())
    }

    /// The inverse of [`as_bytes`](Self::as_bytes).
    pub(crate) fn from_stored(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The stored bytes: namespace, form, key or hash.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for LookupKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LookupKey({})", Hex(&self.0))
    }
}

/// A complete entry on its way into an [`EventLog`](crate::EventLog), with the key under which it can be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedEntry {
    /// The entry.
    pub entry: LogEntry,
    /// Its key.
    pub key: Option<LookupKey>,
    /// The people whose keys are destroyed with it.
    pub destroys: Vec<SubjectTag>,
    /// The earlier entries whose bodies are moved out of the log with it, each with the [stub](crate::stub_body) that stays. Their keys
    /// are removed.
    pub archives: Vec<(u64, String)>,
}
