//! Keys of people. What the log has about a person is encrypted with a key of its own; whoever destroys the key erases the person, and no
//! byte of the hash chain changes.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rand_core::{OsRng, RngCore as _};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::hash::{Hash, HashError};
use crate::hex::Hex;

/// Stands for a person in the log. It is drawn at random, so that nobody can find a person by it once the key is destroyed, not even by
/// trying names. It prints and serialises as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SubjectTag(pub(crate) [u8; 16]);

/// The key with which everything about one person is encrypted: ChaCha20-Poly1305 with random nonces.
#[derive(Clone, PartialEq, Eq)]
pub struct SubjectKey(pub(crate) [u8; 32]);

/// A person in the table of keys, which is no part of the hash chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Stands for the person in the log.
    pub tag: SubjectTag,
    /// The digest of the person's name, under the secret of the store.
    pub name: Hash,
    /// The key.
    pub key: SubjectKey,
}

/// The keys of people in a log. They are not chained, since they can be destroyed.
pub trait SubjectKeys {
    /// The secret under which names of people are digested; `None` in a log that never had one.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn subject_secret(&self) -> Result<Option<Hash>, StoreError> {
        Ok(None)
    }

    /// Replaces the secret. For copies.
    ///
    /// # Errors
    /// If the log cannot be written.
    fn keep_subject_secret(&self, _secret: &Hash) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }

    /// The person whose name has this digest.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn subject(&self, _name: &Hash) -> Result<Option<Subject>, StoreError> {
        Ok(None)
    }

    /// The key of a person; `None` if it was destroyed.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn subject_key(&self, _tag: &SubjectTag) -> Result<Option<SubjectKey>, StoreError> {
        Ok(None)
    }

    /// All people with a key.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn subjects(&self) -> Result<Vec<Subject>, StoreError> {
        Ok(Vec::new())
    }

    /// Stores people, but for those whose name is known already. They are on disk when this returns.
    ///
    /// # Errors
    /// If the log cannot be written.
    fn keep_subjects(&self, _subjects: &[Subject]) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }

    /// Makes sure that destroyed keys are not left in a write-ahead log or in free space. Returns whether that was possible now; it is done
    /// at the next start otherwise.
    ///
    /// # Errors
    /// If the log cannot be written.
    fn scrub(&self) -> Result<bool, StoreError> {
        Ok(true)
    }
}

impl Subject {
    /// A person who is not known yet.
    pub fn generate(name: Hash) -> Self {
        let (mut tag, mut key) = ([0; 16], [0; 32]);
        OsRng.fill_bytes(&mut tag);
        OsRng.fill_bytes(&mut key);
        Self { tag: SubjectTag(tag), name, key: SubjectKey(key) }
    }

    /// The digest of a name under a secret.
    pub fn digest(secret: &Hash, name: &str) -> Hash {
        Hash::of(&[b"rarely subject\n", &secret.0[..], name.as_bytes()].concat())
    }

    pub(crate) fn of_columns(tag: &[u8], name: &[u8], key: &[u8]) -> Option<Self> {
        let tag = SubjectTag(tag.try_into().ok()?);
        Some(Self { tag, name: Hash(name.try_into().ok()?), key: SubjectKey(key.try_into().ok()?) })
    }
}

impl SubjectKey {
    /// Encrypts a text of an event of some kind: a random nonce, the ciphertext and its tag, in base64.
    ///
    /// # Panics
    /// Never: the key has the right length, and no text is too long.
    pub fn seal(&self, kind: &str, text: &str) -> String {
        let mut nonce = [0; NONCE_LEN];
        OsRng.fill_bytes(&mut nonce);
        let mut sealed = text.as_bytes().to_vec();
        let done = self.cipher().map(|cipher| {
            cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(kind), &mut sealed)
        });
        done.and_then(Result::ok).expect("the key has the right length, and no text is too long");
        STANDARD_NO_PAD.encode([&nonce[..], &sealed].concat())
    }

    /// Decrypts what [`seal`](Self::seal) encrypted; `None` if it is something else.
    pub fn open(&self, kind: &str, sealed: &str) -> Option<String> {
        let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let text = self.cipher()?.open_in_place(nonce, Aad::from(kind), &mut sealed).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A digest that nobody can compute once the key is destroyed.
    pub fn digest(&self, text: &str) -> Hash {
        Hash::of(&[b"rarely subject key\n", &self.0[..], text.as_bytes()].concat())
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.0).ok().map(LessSafeKey::new)
    }
}

impl fmt::Debug for SubjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SubjectKey(…)")
    }
}

impl fmt::Display for SubjectTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(formatter)
    }
}

impl fmt::Debug for SubjectTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SubjectTag({self})")
    }
}

impl From<SubjectTag> for String {
    fn from(tag: SubjectTag) -> Self {
        tag.to_string()
    }
}

impl TryFrom<String> for SubjectTag {
    type Error = HashError;

    fn try_from(text: String) -> Result<Self, HashError> {
        text.parse()
    }
}

impl FromStr for SubjectTag {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        // A tag is half a hash: the other half is filled up.
        let whole: Hash = format!("{text}{}", "0".repeat(32)).parse()?;
        let mut tag = [0; 16];
        tag.copy_from_slice(&whole.0[..16]);
        Ok(Self(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_its_key_only() {
        let one = Subject::generate(Hash::ZERO);
        let other = Subject::generate(Hash::ZERO);
        let sealed = one.key.seal("decided", "systolic 151");
        assert_eq!(one.key.open("decided", &sealed).as_deref(), Some("systolic 151"));
        assert_eq!(one.key.open("observed", &sealed), None, "of another kind of event");
        assert_eq!(other.key.open("decided", &sealed), None, "with another key");
        assert_eq!(one.key.open("decided", &sealed[1..]), None, "damaged");
        assert_ne!(sealed, one.key.seal("decided", "systolic 151"), "nonces are random");
        assert_eq!(one.tag.to_string().parse(), Ok(one.tag));
        assert!("1234".parse::<SubjectTag>().is_err());
    }
}
