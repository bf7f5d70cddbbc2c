//! Keys of people: what a person signs, and with which key.

use rarely_store::{Hash, NoteKey, NoteSigner};
use serde::{Deserialize, Serialize};

use crate::event::Signature;
use crate::objection::Objection;

/// A signature made with a person's own key. Anyone can check it with the public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySignature {
    /// The public key.
    pub key: NoteKey,
    /// SHA-256 of what was signed: [`SignedStatement::digest`].
    pub digest: Hash,
    /// The Ed25519 signature of the digest's 32 bytes, in base64.
    pub signature: String,
}

/// What a person signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedStatement<'a> {
    /// `approve` or `roll back`.
    pub act: &'a str,
    /// The policy's name.
    pub policy: &'a str,
    /// The proposal, or the version to go back to.
    pub number: u64,
    /// The hash of the event that made the proposal, which covers its rule and the digest of its statistics; for a rollback, of
    /// the event that registered the document.
    pub subject: Hash,
    /// The person's name.
    pub signer: &'a str,
    /// What the signature means.
    pub meaning: &'a str,
    /// Why the person signs.
    pub reason: &'a str,
}

impl SignedStatement<'_> {
    /// SHA-256 of the canonical bytes: for each field its length in bytes, as eight bytes, and its text.
    pub fn digest(&self) -> Hash {
        let (number, subject) = (self.number.to_string(), self.subject.to_string());
        let fields =
            ["rarely signature 1", self.act, self.policy, &number, &subject, self.signer, self.meaning, self.reason];
        let mut bytes = Vec::new();
        for field in fields {
            bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
            bytes.extend_from_slice(field.as_bytes());
        }
        Hash::of(&bytes)
    }

    /// Signs the statement.
    pub fn sign(&self, signer: &NoteSigner) -> KeySignature {
        let digest = self.digest();
        KeySignature { key: signer.key().clone(), digest, signature: signer.sign(&digest.0) }
    }
}

/// The keys of all people, with those that were revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PersonKeys(Vec<PersonKeyRecord>);

/// A person's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonKeyRecord {
    /// The person's name, as in signatures.
    pub person: String,
    /// The public key.
    pub key: NoteKey,
    /// When it was registered.
    pub registered_ms: u64,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<u64>,
}

impl PersonKeys {
    /// All keys, in the order of their registration.
    pub fn iter(&self) -> impl Iterator<Item = &PersonKeyRecord> {
        self.0.iter()
    }

    /// Whether no key was ever registered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key may be registered: one key belongs to one person.
    pub(crate) fn is_free(&self, key: &NoteKey) -> bool {
        self.0.iter().all(|known| known.key != *key)
    }

    pub(crate) fn register(&mut self, person: &str, key: NoteKey, time_ms: u64) {
        self.0.push(PersonKeyRecord { person: person.to_owned(), key, registered_ms: time_ms, revoked_ms: None });
    }

    /// Whether the key was there and not yet revoked.
    pub(crate) fn revoke(&mut self, key: &NoteKey, time_ms: u64) -> bool {
        let known = self.0.iter_mut().find(|known| known.key == *key && known.revoked_ms.is_none());
        known.map(|known| known.revoked_ms = Some(time_ms)).is_some()
    }

    fn active(&self) -> impl Iterator<Item = &PersonKeyRecord> {
        self.0.iter().filter(|known| known.revoked_ms.is_none())
    }

    /// Checks a signature. Whoever has a key must have signed with it; nobody else can have.
    ///
    /// # Errors
    /// [`Objection`] says why it does not count.
    pub fn check(&self, statement: &SignedStatement<'_>, signature: &Signature) -> Result<(), Objection> {
        let name = statement.signer.to_owned();
        let own = self.active().filter(|known| known.person == name);
        let Some(made) = &signature.by_key else {
            return match own.count() {
                0 => Ok(()),
                _ => Err(Objection::KeyRequired { name }),
            };
        };
        if !own.into_iter().any(|known| known.key == made.key) {
            return Err(Objection::UnknownKey { name, key: made.key.id() });
        }
        let right = made.digest == statement.digest() && made.key.has_signed(&made.digest.0, &made.signature);
        if right { Ok(()) } else { Err(Objection::WrongSignature { name }) }
    }
}
