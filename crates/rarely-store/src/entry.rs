//! An entry of the log, and what becomes one.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::Hash;

/// One thing that happened. The store knows its frame and leaves the meaning of `kind` and `body` to its caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// 1, 2, 3 … over the whole log, without gaps.
    pub number: u64,
    /// When, in milliseconds since 1970 UTC. Never before the entry before it, whatever the clock did.
    pub time_ms: u64,
    /// Who did it.
    pub actor: String,
    /// The policy it belongs to, by the number of the entry that registered it; 0 for none.
    pub policy: u64,
    /// What kind of thing happened.
    pub kind: String,
    /// What happened, as JSON text.
    pub body: String,
    /// The hash of all of this and of the hash before.
    pub hash: Hash,
}

impl Entry {
    /// SHA-256 of previous hash ‖ number ‖ time ‖ policy ‖ length and actor ‖ length and kind ‖ length and body, where
    /// every integer is a big-endian `u64` and lengths count bytes. An untouched entry's `hash` equals it.
    ///
    /// ```
    /// use rarely_store::{Entry, Hash};
    /// let mut entry = Entry {
    ///     number: 1, time_ms: 0, actor: "ann".into(), policy: 0, kind: "started".into(), body: "{}".into(), hash: Hash::ZERO,
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
        Hash(digest.finalize().into())
    }
}

/// The end of a log: how far it goes and the hash that stands for all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last entry; 0 of an empty log.
    pub number: u64,
    /// Its hash; [`Hash::ZERO`] of an empty log.
    pub hash: Hash,
}

impl Head {
    /// Of a log in which nothing has happened.
    pub const EMPTY: Self = Self { number: 0, hash: Hash::ZERO };
}

/// Which policy an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// None: the entry is about the store or about access to it.
    None,
    /// The policy that the entry with this number registered.
    Policy(u64),
    /// The entry registers a policy, whose id is the entry's own number.
    Itself,
}

/// An entry before it has a number, a time and a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Who did it.
    pub actor: String,
    /// Which policy it is about.
    pub subject: Subject,
    /// What kind of thing happened.
    pub kind: &'static str,
    /// What happened, as JSON text.
    pub body: String,
    /// A name under which the entry is found again.
    pub mark: Option<Mark>,
}

/// A short name under which the *latest* entry that carries it is found again: an idempotency key, or "the outcome of
/// decision 17". The first byte is the space the name lives in, so that different kinds of names never meet.
///
/// Names longer than [`Mark::LONGEST`] bytes are stored as their SHA-256.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark(Box<[u8]>);

impl Mark {
    /// The longest name that is stored as it is, in bytes.
    pub const LONGEST: usize = 64;

    /// The mark with this name in this space.
    pub fn new(space: u8, bytes: &[u8]) -> Self {
        let hashed;
        let (form, name) = if bytes.len() <= Self::LONGEST {
            (0, bytes)
        } else {
            hashed = Hash::of(bytes);
            (1, &hashed.0[..])
        };
        let mut mark = Vec::with_capacity(name.len() + 2);
        // The second byte keeps a short name that happens to equal another's hash apart from it.
        mark.extend_from_slice(&[space, form]);
        mark.extend_from_slice(name);
        Self(mark.into_boxed_slice())
    }

    /// The mark whose [`as_bytes`](Self::as_bytes) these are.
    pub(crate) fn from_stored(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The bytes it is stored as: space, form, name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Mark(")?;
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))?;
        formatter.write_str(")")
    }
}

/// A finished entry on its way into a [`Log`](crate::Log), with the mark under which it is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamped {
    /// The entry.
    pub entry: Entry,
    /// Its mark.
    pub mark: Option<Mark>,
}
