//! What people sign, in canonical bytes.

use std::fmt;

use rarely_policy::SignedWith;
use rarely_store::{Hash, NoteSigner};
use serde::{Deserialize, Serialize};

use crate::event::{Event, Signature};
use crate::live_policy::EventHeader;
use crate::person_key::{KeySignature, NoteSignature};

/// What a person does with a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedAct {
    /// Approves a proposal.
    Approve,
    /// Rejects a proposal.
    Reject,
    /// Puts the rule of an earlier version in force again.
    RollBack,
    /// Stops a policy.
    Stop,
    /// Resumes a policy.
    Resume,
    /// Revokes a key of their own.
    RevokeKey,
}

impl SignedAct {
    /// Its name in the signed bytes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::RollBack => "roll back",
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::RevokeKey => "revoke key",
        }
    }
}

impl fmt::Display for SignedAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Event {
    /// What it does by a signature for a policy, and with which number: that of the proposal, or of the version to go back to.
    pub fn signed_act(&self) -> Option<(SignedAct, u64, &Signature)> {
        Some(match self {
            Self::Approved(signed) => (SignedAct::Approve, signed.proposal, &signed.signature),
            Self::Rejected(signed) => (SignedAct::Reject, signed.proposal, &signed.signature),
            Self::RolledBack(rolled) => (SignedAct::RollBack, rolled.to, &rolled.signature),
            Self::Proposed(proposed) => (SignedAct::RollBack, proposed.rollback?, proposed.signature.as_ref()?),
            Self::Stopped(signature) => (SignedAct::Stop, 0, signature),
            Self::Resumed(signature) => (SignedAct::Resume, 0, signature),
            _ => return None,
        })
    }
}

/// How people sign for a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningState {
    /// With what.
    pub signed_with: SignedWith,
    /// The hash of the last event that changed what is in force or proposed. Signatures without a proposal are about it.
    pub last_act: Hash,
}

impl SigningState {
    pub(crate) fn follow(&mut self, header: EventHeader<'_>, event: &Event) {
        let is_act = matches!(
            event,
            Event::Proposed(_)
                | Event::Approved(_)
                | Event::Rejected(_)
                | Event::Expired(_)
                | Event::RolledBack(_)
                | Event::Stopped(_)
                | Event::Resumed(_)
        );
        if is_act {
            self.last_act = header.hash;
        }
    }
}

/// What a person signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedStatement<'a> {
    /// What the person does.
    pub act: SignedAct,
    /// The policy's name; empty for a key.
    pub policy: &'a str,
    /// The proposal, or the version to go back to; otherwise 0.
    pub number: u64,
    /// The hash of the event that made the proposal, which covers its rule and the digest of its statistics; for other acts, of
    /// the policy's last act, so that the signature cannot be used again. Of a key, the hash of its id.
    pub subject: Hash,
    /// The person's name.
    pub signer: &'a str,
    /// What the signature means.
    pub meaning: &'a str,
    /// Why the person signs.
    pub reason: &'a str,
}

impl SignedStatement<'_> {
    /// The first of the signed fields.
    pub const FORMAT: &'static str = "rarely signature 1";

    /// SHA-256 of the canonical bytes: for each field its length in bytes, as eight bytes, and its text.
    pub fn digest(&self) -> Hash {
        let (number, subject) = (self.number.to_string(), self.subject.to_string());
        let act = self.act.name();
        let fields = [Self::FORMAT, act, self.policy, &number, &subject, self.signer, self.meaning, self.reason];
        let mut bytes = Vec::new();
        for field in fields {
            bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
            bytes.extend_from_slice(field.as_bytes());
        }
        Hash::of(&bytes)
    }

    /// Signs the statement with a key file.
    pub fn sign(&self, signer: &NoteSigner) -> KeySignature {
        let digest = self.digest();
        let signature = signer.sign(&digest.0);
        KeySignature::Note(NoteSignature { key: signer.key().clone(), digest, signature })
    }
}
