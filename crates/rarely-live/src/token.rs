//! Who may do what: tokens with roles, of which only digests are kept.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rarely_core::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Asks for decisions.
    Decide,
    /// Reports outcomes.
    Observe,
    /// Sees everything.
    Read,
    /// Reviews, signs, stops and rolls back; sees everything.
    Review,
    /// All of it, and registers policies and makes tokens.
    Admin,
}

/// What is kept of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its public part.
    pub id: String,
    /// Whose it is: signatures bear this name, and two signatures of one name count once.
    pub name: String,
    /// What it is for.
    pub roles: Vec<Role>,
    /// For which policies; nothing means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,
    /// SHA-256 of the whole token.
    pub digest: Digest,
    /// After this time it is one no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

/// Why a token does not let anybody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// Nothing like a token.
    #[error(
        "this is not a token of rarely; one looks like rarely_0123456789abcdef_… and is made with `rarely token create`"
    )]
    Malformed,
    /// No such token.
    #[error("this token is not known here; ask the service's administrator for one")]
    Unknown,
    /// It was taken back.
    #[error("this token was revoked; ask the service's administrator for a new one")]
    Revoked,
    /// Its time is over.
    #[error("this token has expired; ask the service's administrator for a new one")]
    Expired,
}

/// All tokens that were ever made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    grants: BTreeMap<String, Kept>,
}

/// A token, and when it was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What it is for.
    pub grant: Grant,
    /// When it was made.
    pub created_ms: u64,
    /// When it was taken back, if it was.
    pub revoked_ms: Option<u64>,
}

const PREFIX: &str = "rarely_";
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

impl Grant {
    /// A new token, from 40 random bytes; the token itself, which is shown once, and what is kept of it.
    pub fn new(
        random: [u8; ID_BYTES + SECRET_BYTES],
        name: impl Into<String>,
        roles: Vec<Role>,
        policies: Option<Vec<String>>,
        expires_ms: Option<u64>,
    ) -> (String, Self) {
        let (id, secret) = (hexadecimal(&random[..ID_BYTES]), hexadecimal(&random[ID_BYTES..]));
        let token = format!("{PREFIX}{id}_{secret}");
        let grant = Self { id, name: name.into(), roles, policies, digest: digest(&token), expires_ms };
        (token, grant)
    }

    /// Whether it allows a role on a policy, or, without one, on everything.
    pub fn allows(&self, role: Role, policy: Option<&str>) -> bool {
        let covers = match (&self.policies, policy) {
            (None, _) => true,
            (Some(policies), Some(policy)) => policies.iter().any(|name| name == policy),
            (Some(_), None) => false,
        };
        covers && self.roles.iter().any(|own| own.includes(role))
    }
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 5] = [Self::Decide, Self::Observe, Self::Read, Self::Review, Self::Admin];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Observe => "observe",
            Self::Read => "read",
            Self::Review => "review",
            Self::Admin => "admin",
        }
    }

    /// Whether whoever has this role also has another.
    pub fn includes(self, other: Self) -> bool {
        self == other || self == Self::Admin || (self == Self::Review && other == Self::Read)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found
            .ok_or_else(|| format!("no role is called {text:?}; the roles are decide, observe, read, review and admin"))
    }
}

impl Tokens {
    /// Whose token this is.
    ///
    /// # Errors
    /// [`Denied`] if it lets nobody in.
    pub fn check(&self, token: &str, now_ms: u64) -> Result<&Grant, Denied> {
        let rest = token.strip_prefix(PREFIX).ok_or(Denied::Malformed)?;
        let (id, secret) = rest.split_once('_').ok_or(Denied::Malformed)?;
        if id.len() != 2 * ID_BYTES || secret.len() != 2 * SECRET_BYTES {
            return Err(Denied::Malformed);
        }
        let kept = self.grants.get(id).ok_or(Denied::Unknown)?;
        if !bool::from(kept.grant.digest.0.ct_eq(&digest(token).0)) {
            return Err(Denied::Unknown);
        }
        if kept.revoked_ms.is_some() {
            return Err(Denied::Revoked);
        }
        if kept.grant.expires_ms.is_some_and(|expires| expires <= now_ms) {
            return Err(Denied::Expired);
        }
        Ok(&kept.grant)
    }

    /// Those of a public part.
    pub fn get(&self, id: &str) -> Option<&Kept> {
        self.grants.get(id)
    }

    /// All of them, in the order of their public parts.
    pub fn iter(&self) -> impl Iterator<Item = &Kept> {
        self.grants.values()
    }

    /// Whether none was ever made.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    pub(crate) fn create(&mut self, grant: Grant, time_ms: u64) {
        self.grants.insert(grant.id.clone(), Kept { grant, created_ms: time_ms, revoked_ms: None });
    }

    pub(crate) fn revoke(&mut self, id: &str, time_ms: u64) -> bool {
        let kept = self.grants.get_mut(id).filter(|kept| kept.revoked_ms.is_none());
        kept.map(|kept| kept.revoked_ms = Some(time_ms)).is_some()
    }
}

fn digest(token: &str) -> Digest {
    Digest(Sha256::digest(token).into())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
