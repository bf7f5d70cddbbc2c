//! Keys of people: key files and passkeys, and whether a signature was made with one.

use rarely_store::{Hash, NoteKey};
use serde::{Deserialize, Serialize};

use crate::event::{PersonKey, Signature};
use crate::objection::Objection;
use crate::passkey::{Passkey, PasskeyError, PasskeySignature};
use crate::person::person_of;
use crate::signed_statement::{SignedAct, SignedStatement};

/// The public half of a person's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PersonPublicKey {
    /// The key of a key file, Ed25519.
    Note(NoteKey),
    /// A passkey.
    Passkey(Passkey),
}

/// A signature made with a person's own key. Anyone can check it with the public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeySignature {
    /// Made with a key file.
    Note(NoteSignature),
    /// Made with a passkey.
    Passkey(PasskeySignature),
}

/// A signature made with a key file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteSignature {
    /// The public key.
    pub key: NoteKey,
    /// SHA-256 of what was signed: [`SignedStatement::digest`].
    pub digest: Hash,
    /// The Ed25519 signature of the digest's 32 bytes, in base64.
    pub signature: String,
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
    /// The person's id, if it is not derived from the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
    /// The public key.
    pub key: PersonPublicKey,
    /// When it was registered.
    pub registered_ms: u64,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<u64>,
    /// The counter of a passkey at its last signature; 0 if it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<u32>,
}

/// A passkey that has signed, and its counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyUse {
    credential: String,
    counter: u32,
}

impl PersonKeyRecord {
    /// The person's id.
    pub fn person_id(&self) -> String {
        self.person_id.clone().unwrap_or_else(|| person_of(&self.person))
    }
}

impl From<NoteKey> for PersonPublicKey {
    fn from(key: NoteKey) -> Self {
        Self::Note(key)
    }
}

impl PersonPublicKey {
    /// The id of the key: eight hexadecimal digits.
    pub fn id(&self) -> String {
        match self {
            Self::Note(key) => key.id(),
            Self::Passkey(passkey) => passkey.id(),
        }
    }

    /// The key of a key file, if it is one.
    pub fn note(&self) -> Option<&NoteKey> {
        match self {
            Self::Note(key) => Some(key),
            Self::Passkey(_) => None,
        }
    }

    /// The passkey, if it is one.
    pub fn passkey(&self) -> Option<&Passkey> {
        match self {
            Self::Note(_) => None,
            Self::Passkey(passkey) => Some(passkey),
        }
    }

    /// Whether both are the same key, whatever is known about it.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Passkey(one), Self::Passkey(other)) => one.credential == other.credential,
            (one, other) => one == other,
        }
    }
}

impl KeySignature {
    /// SHA-256 of what was signed.
    pub fn digest(&self) -> Hash {
        match self {
            Self::Note(made) => made.digest,
            Self::Passkey(made) => made.digest,
        }
    }

    /// The id of the key.
    pub fn key_id(&self) -> String {
        match self {
            Self::Note(made) => made.key.id(),
            Self::Passkey(made) => made.key_id(),
        }
    }
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

    /// The keys of the person with this id that are not revoked.
    pub fn of<'a>(&'a self, person: &'a str) -> impl Iterator<Item = &'a PersonKeyRecord> {
        self.0.iter().filter(move |known| known.revoked_ms.is_none() && known.person_id() == person)
    }

    /// Whether a key may be registered: one key belongs to one person.
    pub(crate) fn is_free(&self, key: &PersonPublicKey) -> bool {
        self.0.iter().all(|known| !known.key.is_same(key))
    }

    pub(crate) fn register(&mut self, registered: &PersonKey, time_ms: u64) {
        let PersonKey { person, person_id, key, .. } = registered.clone();
        let counter = key.passkey().map(|passkey| passkey.counter);
        self.0.push(PersonKeyRecord { person, person_id, key, registered_ms: time_ms, revoked_ms: None, counter });
    }

    /// Whether the key was there and not yet revoked.
    pub(crate) fn revoke(&mut self, key: &PersonPublicKey, time_ms: u64) -> bool {
        let known = self.0.iter_mut().find(|known| known.key.is_same(key) && known.revoked_ms.is_none());
        known.map(|known| known.revoked_ms = Some(time_ms)).is_some()
    }

    /// Keeps the counter of a passkey that has signed.
    pub(crate) fn used(&mut self, passkey: &PasskeyUse) {
        let mut known = self.0.iter_mut();
        let is_it = |known: &&mut PersonKeyRecord| {
            known.key.passkey().is_some_and(|known| known.credential == passkey.credential)
        };
        if let Some(known) = known.find(is_it) {
            known.counter = Some(passkey.counter);
        }
    }

    /// Checks a signature that the person with this id made with a key.
    ///
    /// # Errors
    /// [`Objection`] says why it does not count.
    pub fn check(
        &self,
        person: &str,
        statement: &SignedStatement<'_>,
        made: &KeySignature,
    ) -> Result<Option<PasskeyUse>, Objection> {
        let name = || statement.signer.to_owned();
        if made.digest() != statement.digest() {
            return Err(Objection::WrongSignature { name: name() });
        }
        let unknown = || Objection::UnknownKey { name: name(), key: made.key_id() };
        let mut own = self.of(person);
        match made {
            KeySignature::Note(made) => {
                let known = PersonPublicKey::Note(made.key.clone());
                own.find(|own| own.key == known).ok_or_else(unknown)?;
                let right = made.key.has_signed(&made.digest.0, &made.signature);
                if right { Ok(None) } else { Err(Objection::WrongSignature { name: name() }) }
            }
            KeySignature::Passkey(made) => {
                let mut own = own.filter_map(|own| Some((own.key.passkey()?, own.counter?)));
                let (passkey, counter) = own.find(|(own, _)| own.credential == made.credential).ok_or_else(unknown)?;
                match passkey.check(made, counter) {
                    Ok(counter) => Ok(Some(PasskeyUse { credential: made.credential.clone(), counter })),
                    Err(PasskeyError::Copied) => Err(Objection::CopiedKey { name: name(), key: passkey.id() }),
                    Err(_) => Err(Objection::WrongSignature { name: name() }),
                }
            }
        }
    }
}

impl PersonKeys {
    /// What a signature that revokes a key is about.
    pub fn revocation_subject(key: &PersonPublicKey) -> Hash {
        Hash::of(key.id().as_bytes())
    }

    /// Checks the signature with which a person revokes a key, if there is one.
    pub(crate) fn check_revocation(&self, revoked: &PersonKey) -> Result<(), Objection> {
        let Some(Signature { meaning, reason, by_key, .. }) = &revoked.signature else { return Ok(()) };
        let signer = &revoked.person;
        let person = revoked.person_id.clone().unwrap_or_else(|| person_of(signer));
        let made = by_key.as_ref().ok_or_else(|| Objection::KeyRequired { name: signer.clone() })?;
        let subject = Self::revocation_subject(&revoked.key);
        let act = SignedAct::RevokeKey;
        let statement = SignedStatement { act, policy: "", number: 0, subject, signer, meaning, reason };
        self.check(&person, &statement, made).map(|_| ())
    }
}

impl Signature {
    /// A signature by token: the person said it while signed in.
    pub fn by_token(meaning: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { meaning: meaning.into(), reason: reason.into(), person: None, by_key: None }
    }

    /// What it was made with, in words: "with the passkey 1a2b3c4d".
    pub fn means(&self) -> String {
        match &self.by_key {
            None => "with a token".to_owned(),
            Some(made @ KeySignature::Note(_)) => format!("with the key {}", made.key_id()),
            Some(made @ KeySignature::Passkey(_)) => format!("with the passkey {}", made.key_id()),
        }
    }
}
