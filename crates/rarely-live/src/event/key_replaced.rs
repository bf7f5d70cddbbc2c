//! Keys: a new one for checkpoints, signed by the old one and by itself; those of people.

use rarely_store::{NoteKey, NoteSigner};
use serde::{Deserialize, Serialize};

use super::Signature;
use crate::person_key::PersonPublicKey;

/// The key that signs checkpoints was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyReplaced {
    /// The key before; absent if it was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<NoteKey>,
    /// The key from now on.
    pub to: NoteKey,
    /// The signature of the key before, in base64; absent if it was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by_old: Option<String>,
    /// The signature of the new key, in base64.
    pub signed_by_new: String,
}

impl KeyReplaced {
    /// The replacement, signed by both keys; by the new one alone if the old one is lost.
    pub fn sign(old: Option<&NoteSigner>, new: &NoteSigner) -> Self {
        let from = old.map(|old| old.key().clone());
        let message = Self::message(from.as_ref(), new.key());
        let signed_by_old = old.map(|old| old.sign(message.as_bytes()));
        let signed_by_new = new.sign(message.as_bytes());
        Self { from, to: new.key().clone(), signed_by_old, signed_by_new }
    }

    /// Whether both signatures are right.
    pub fn is_signed(&self) -> bool {
        let message = Self::message(self.from.as_ref(), &self.to);
        let old = match (&self.from, &self.signed_by_old) {
            (Some(from), Some(signature)) => from.has_signed(message.as_bytes(), signature),
            (None, None) => true,
            _ => false,
        };
        old && self.to.has_signed(message.as_bytes(), &self.signed_by_new)
    }

    /// A key, and all keys that it vouches for: those that replaced it or that it replaced, where both have signed.
    pub fn trusted(key: &NoteKey, replacements: &[Self]) -> Vec<NoteKey> {
        let mut trusted = vec![key.clone()];
        let mut at = 0;
        while let Some(known) = trusted.get(at).cloned() {
            for Self { from, to, .. } in replacements.iter().filter(|replaced| replaced.is_signed()) {
                let Some(from) = from else { continue };
                let other = if *from == known { to } else { from };
                if (*from == known || *to == known) && !trusted.contains(other) {
                    trusted.push(other.clone());
                }
            }
            at += 1;
        }
        trusted
    }

    /// What both keys sign.
    fn message(from: Option<&NoteKey>, to: &NoteKey) -> String {
        let from = from.map_or_else(|| "lost".to_owned(), ToString::to_string);
        format!("rarely signing key replaced\n{from}\n{to}\n")
    }
}

/// A person's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonKey {
    /// The person's name, as in signatures.
    pub person: String,
    /// The person's id; derived from the name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
    /// The public key.
    pub key: PersonPublicKey,
    /// The signature of a person who revokes a key with the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
