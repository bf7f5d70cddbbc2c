//! Access tokens and their roles. Only digests of tokens are stored.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rarely_core::Digest;
use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_store::Hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::person::person_of;

/// What a token permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Request decisions.
    Decide,
    /// Report outcomes.
    Observe,
    /// Read policies and their events.
    Read,
    /// Read and verify everything, also tokens and the events of no policy; change nothing.
    Auditor,
    /// Review, sign, stop and roll back; read policies and their events.
    Review,
    /// Register policies, create tokens and register keys; and all of the above but `review`.
    Admin,
}

/// The stored part of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenGrant {
    /// Its public part.
    pub id: String,
    /// The owner's name, as signatures show it.
    pub name: String,
    /// The owner's id; derived from the name if absent. Two signatures of one person count once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Its roles.
    pub roles: Vec<Role>,
    /// The policies it is valid for; `None` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,
    /// SHA-256 of the whole token.
    pub digest: Digest,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not in the format of a token.
    #[error("this is not a rarely token")]
    Malformed,
    /// The token does not exist.
    #[error("this token is unknown")]
    Unknown,
    /// The token was revoked.
    #[error("this token was revoked")]
    Revoked,
    /// The token has expired.
    #[error("this token has expired")]
    Expired,
}

impl Explain for TokenError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Malformed => {
                Remedy::with("send a token of the form rarely_0123456789abcdef_…, or {action}", Action::CreateToken)
                    .see(Topic::Roles)
            }
            Self::Unknown | Self::Revoked | Self::Expired => {
                Remedy::new("ask the service's administrator for a token").see(Topic::Roles)
            }
        })
    }
}

/// All tokens ever created.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    grants: BTreeMap<String, TokenRecord>,
}

/// A token with its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// What it permits.
    pub grant: TokenGrant,
    /// When it was created.
    pub created_ms: u64,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<u64>,
}

impl TokenRecord {
    fn check(&self, now_ms: u64) -> Result<&TokenGrant, TokenError> {
        if self.revoked_ms.is_some() {
            return Err(TokenError::Revoked);
        }
        match self.grant.expires_ms {
            Some(expires_ms) if expires_ms <= now_ms => Err(TokenError::Expired),
            _ => Ok(&self.grant),
        }
    }
}

const PREFIX: &str = "rarely_";
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

impl TokenGrant {
    /// Creates a token from 40 random bytes, of the person whom the name stands for. Returns the token itself, which is shown once, and
    /// the part that is stored.
    pub fn new(
        random: [u8; ID_BYTES + SECRET_BYTES],
        name: impl Into<String>,
        roles: Vec<Role>,
        policies: Option<Vec<String>>,
        expires_ms: Option<u64>,
    ) -> (String, Self) {
        let (id, secret) = random.split_at(ID_BYTES);
        let (id, secret) = (Hex(id).to_string(), Hex(secret));
        let token = format!("{PREFIX}{id}_{secret}");
        let (name, person) = (name.into(), None);
        let grant = Self { id, name, person, roles, policies, digest: digest(&token), expires_ms };
        (token, grant)
    }

    /// The owner's id.
    pub fn person_id(&self) -> String {
        self.person.clone().unwrap_or_else(|| person_of(&self.name))
    }

    /// Whether it permits `role` on `policy`, or on all policies if `policy` is `None`.
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
    /// All roles.
    pub const ALL: [Self; 6] = [Self::Decide, Self::Observe, Self::Read, Self::Auditor, Self::Review, Self::Admin];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Observe => "observe",
            Self::Read => "read",
            Self::Auditor => "auditor",
            Self::Review => "review",
            Self::Admin => "admin",
        }
    }

    /// Whether this role includes another. An administrator cannot sign: who gives out tokens must not also decide.
    pub fn includes(self, other: Self) -> bool {
        let more = match self {
            Self::Admin => other != Self::Review,
            Self::Review | Self::Auditor => other == Self::Read,
            Self::Decide | Self::Observe | Self::Read => false,
        };
        self == other || more
    }
}

/// A text that is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no role {found:?}")]
pub struct RoleError {
    /// The text.
    pub found: String,
}

impl Explain for RoleError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(format!("choose from {}", Role::ALL.map(Role::name).join(", "))).see(Topic::Roles))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| RoleError { found: text.to_owned() })
    }
}

impl Tokens {
    /// Checks a token and returns what it permits.
    ///
    /// # Errors
    /// [`TokenError`] says why it is refused.
    pub fn check(&self, token: &str, now_ms: u64) -> Result<&TokenGrant, TokenError> {
        let rest = token.strip_prefix(PREFIX).ok_or(TokenError::Malformed)?;
        let (id, secret) = rest.split_once('_').ok_or(TokenError::Malformed)?;
        if id.len() != 2 * ID_BYTES || secret.len() != 2 * SECRET_BYTES {
            return Err(TokenError::Malformed);
        }
        let record = self.grants.get(id).ok_or(TokenError::Unknown)?;
        if !bool::from(record.grant.digest.0.ct_eq(&digest(token).0)) {
            return Err(TokenError::Unknown);
        }
        record.check(now_ms)
    }

    /// What the token with this public part permits, if it is still valid.
    pub fn valid(&self, id: &str, now_ms: u64) -> Option<&TokenGrant> {
        self.get(id).and_then(|record| record.check(now_ms).ok())
    }

    /// Whether this is the only valid token that may create others.
    pub(crate) fn is_last_admin(&self, id: &str, now_ms: u64) -> bool {
        let valid = self.iter().filter_map(|record| record.check(now_ms).ok());
        let mut admins = valid.filter(|grant| grant.allows(Role::Admin, None));
        admins.next().is_some_and(|grant| grant.id == id) && admins.next().is_none()
    }

    /// The token with this public part.
    pub fn get(&self, id: &str) -> Option<&TokenRecord> {
        self.grants.get(id)
    }

    /// All tokens, ordered by public part.
    pub fn iter(&self) -> impl Iterator<Item = &TokenRecord> {
        self.grants.values()
    }

    /// Whether no token was ever created.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    pub(crate) fn create(&mut self, grant: TokenGrant, time_ms: u64) {
        self.grants.insert(grant.id.clone(), TokenRecord { grant, created_ms: time_ms, revoked_ms: None });
    }

    pub(crate) fn revoke(&mut self, id: &str, time_ms: u64) -> bool {
        let record = self.grants.get_mut(id).filter(|record| record.revoked_ms.is_none());
        record.map(|record| record.revoked_ms = Some(time_ms)).is_some()
    }
}

fn digest(token: &str) -> Digest {
    Digest(Sha256::digest(token).into())
}
