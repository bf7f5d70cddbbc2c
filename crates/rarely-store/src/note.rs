//! Keys and signatures of notes, in the C2SP formats: `signed-note` with Ed25519, and `tlog-cosignature` of witnesses.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rand_core::OsRng;
use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};
use signed_note::{Note, NoteError, Signer as _, StandardSigner, StandardVerifier, Verifier, VerifierList, key_id};
use thiserror::Error;

/// The first byte of the public key of a log or a person, and of a witness.
const ED25519: u8 = 1;
const COSIGNATURE: u8 = 4;

/// A public key: `name+id+key`, where the id is eight hexadecimal digits and the key is in base64.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NoteKey {
    text: String,
    name: String,
    id: u32,
    /// Whether signatures are cosignatures of a witness, which contain a time.
    cosigns: bool,
    verifier: Box<StandardVerifier>,
}

/// A text that is not a public key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{found:?} is not a public key")]
pub struct NoteKeyError {
    /// The text.
    pub found: String,
}

impl Explain for NoteKeyError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new("write it as name+id+key, for example rarely/0f3c…+1a2b3c4d+AQ…"))
    }
}

/// What the signatures of a note say about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteVerdict {
    /// The key has signed the note.
    Signed,
    /// No signature claims to be of this key.
    NotSigned,
    /// A signature claims to be of this key, and is not.
    Forged,
    /// The text is not a signed note.
    Malformed,
}

impl NoteKey {
    /// Its name: for a log, its origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its id, eight hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:08x}", self.id)
    }

    /// The same key under another name, which may be of another log, and so with another id. A name is changed as by
    /// [`NoteSigner::generate`].
    ///
    /// # Panics
    /// If the name is empty.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let name = allowed(name);
        let encoded = self.text.splitn(3, '+').nth(2).unwrap_or_default();
        let id = key_id(&name, &BASE64_STANDARD.decode(encoded).unwrap_or_default());
        format!("{name}+{id:08x}+{encoded}").parse().expect("only the name of a valid key is changed")
    }

    /// Whether it has signed this note.
    pub fn verdict(&self, note: &str) -> NoteVerdict {
        let Ok(parsed) = Note::from_bytes(note.as_bytes()) else { return NoteVerdict::Malformed };
        match parsed.verify(&VerifierList::new(vec![Box::new(self.clone())])) {
            Ok(_) => NoteVerdict::Signed,
            Err(NoteError::UnverifiedNote) => NoteVerdict::NotSigned,
            Err(_) => NoteVerdict::Forged,
        }
    }

    /// Whether this is its signature, in base64, of these bytes.
    pub fn has_signed(&self, message: &[u8], signature: &str) -> bool {
        BASE64_STANDARD.decode(signature).is_ok_and(|signature| self.verify(message, &signature))
    }
}

impl Verifier for NoteKey {
    fn name(&self) -> &str {
        &self.name
    }

    fn key_id(&self) -> u32 {
        self.id
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        if !self.cosigns {
            return self.verifier.verify(message, signature);
        }
        let Some((time, signature)) = signature.split_first_chunk() else { return false };
        let mut signed = format!("cosignature/v1\ntime {}\n", u64::from_be_bytes(*time)).into_bytes();
        signed.extend_from_slice(message);
        self.verifier.verify(&signed, signature)
    }
}

impl FromStr for NoteKey {
    type Err = NoteKeyError;

    fn from_str(text: &str) -> Result<Self, NoteKeyError> {
        let text = text.trim();
        let parse = || {
            let (name, rest) = text.split_once('+')?;
            let (id, encoded) = rest.split_once('+')?;
            let id = u32::from_str_radix(id, 16).ok()?;
            let mut key = BASE64_STANDARD.decode(encoded).ok()?;
            let cosigns = match *key.first()? {
                ED25519 => false,
                COSIGNATURE => true,
                _ => return None,
            };
            if id != key_id(name, &key) {
                return None;
            }
            // Both kinds are Ed25519; only what is signed differs.
            key[0] = ED25519;
            let plain = format!("{name}+{:08x}+{}", key_id(name, &key), BASE64_STANDARD.encode(&key));
            let verifier = Box::new(StandardVerifier::new(&plain).ok()?);
            Some(Self { text: text.to_owned(), name: name.to_owned(), id, cosigns, verifier })
        };
        parse().ok_or_else(|| NoteKeyError { found: text.chars().take(200).collect() })
    }
}

impl fmt::Display for NoteKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for NoteKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NoteKey({})", self.text)
    }
}

impl PartialEq for NoteKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for NoteKey {}

impl From<NoteKey> for String {
    fn from(key: NoteKey) -> Self {
        key.text
    }
}

impl TryFrom<String> for NoteKey {
    type Error = NoteKeyError;

    fn try_from(text: String) -> Result<Self, NoteKeyError> {
        text.parse()
    }
}

/// A private key. It signs notes and other bytes. Its `Debug` form does not show the secret.
pub struct NoteSigner {
    secret: String,
    signer: StandardSigner,
    key: NoteKey,
}

impl NoteSigner {
    /// A new key with this name, from the system's random numbers. Spaces and plus signs, which a name cannot have, become
    /// hyphens.
    ///
    /// # Panics
    /// If the system has no random numbers.
    pub fn generate(name: &str) -> Self {
        let (secret, _) = signed_note::generate_key(&mut OsRng, &allowed(name));
        Self::parse(&secret).expect("a key that was just generated is valid")
    }

    /// A private key as [`secret`](Self::secret) writes it.
    pub fn parse(secret: &str) -> Option<Self> {
        let secret = secret.trim();
        let signer = StandardSigner::new(secret).ok()?;
        let mut parts = secret.splitn(5, '+').skip(2);
        let (name, _id, encoded) = (parts.next()?, parts.next()?, parts.next()?);
        let seed: [u8; 33] = BASE64_STANDARD.decode(encoded).ok()?.try_into().ok()?;
        let (_, seed) = seed.split_first_chunk::<1>()?;
        let public = ed25519_dalek::SigningKey::from_bytes(seed.try_into().ok()?).verifying_key();
        let key = signed_note::new_ed25519_verifier_key(name, &public).parse().ok()?;
        Some(Self { secret: secret.to_owned(), signer, key })
    }

    /// The same key under another name, as [`NoteKey::named`].
    ///
    /// # Panics
    /// If the name is empty.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let NoteKey { name, id, .. } = self.key.named(name);
        let encoded = self.secret.splitn(5, '+').nth(4).unwrap_or_default();
        Self::parse(&format!("PRIVATE+KEY+{name}+{id:08x}+{encoded}")).expect("only the name of a valid key is changed")
    }

    /// The private key as text. Whoever has it can sign.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The public key.
    pub fn key(&self) -> &NoteKey {
        &self.key
    }

    /// The signature of these bytes, in base64.
    pub fn sign(&self, message: &[u8]) -> String {
        // Ed25519 in memory has no way to fail; the interface allows for hardware keys.
        BASE64_STANDARD.encode(self.signer.sign(message).unwrap_or_default())
    }

    /// A text, which must end with a line feed, as a signed note.
    pub fn sign_note(&self, text: &str) -> String {
        let signed = Note::new(text.as_bytes(), &[]).and_then(|mut note| {
            note.add_sigs(&[&self.signer])?;
            Ok(note.to_bytes())
        });
        String::from_utf8(signed.unwrap_or_default()).unwrap_or_default()
    }
}

/// A name without spaces and plus signs.
fn allowed(name: &str) -> String {
    name.chars().map(|sign| if sign.is_whitespace() || sign == '+' { '-' } else { sign }).collect()
}

impl fmt::Debug for NoteSigner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NoteSigner({})", self.key)
    }
}
