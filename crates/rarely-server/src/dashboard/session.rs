//! Sessions, kept in memory. Only digests of their secrets are stored.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rarely_live::TokenGrant;
use rarely_store::Hash;
use subtle::ConstantTimeEq as _;

use crate::policies::random_bytes;
use crate::problem::ProblemDetails;

/// How long a session lasts: a working day.
pub(super) const LENGTH_MS: u64 = 8 * 3_600_000;
/// The most sessions at a time. One more ends the oldest.
const MOST: usize = 10_000;

/// All open sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: Mutex<HashMap<[u8; 32], UserSession>>,
}

/// How the person of a session signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// With the token that has this public part.
    Token(String),
    /// With an identity provider, which grants this until the session ends.
    Provided(Box<TokenGrant>),
}

/// The session of a person who signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UserSession {
    pub(super) owner: SessionOwner,
    /// A secret in every form of the session, so that other sites cannot submit one.
    pub(super) csrf: String,
    expires_ms: u64,
}

impl Sessions {
    /// Opens a session. Returns the secret for the cookie.
    ///
    /// # Errors
    /// 503 if the operating system has no random bytes.
    pub(super) fn open(&self, owner: SessionOwner, now_ms: u64) -> Result<String, ProblemDetails> {
        let (secret, csrf) = (random()?, random()?);
        let session = UserSession { owner, csrf, expires_ms: now_ms.saturating_add(LENGTH_MS) };
        let mut open = self.lock();
        if open.len() >= MOST {
            open.retain(|_, session| session.expires_ms > now_ms);
        }
        if open.len() >= MOST {
            let first = open.iter().min_by_key(|(_, session)| session.expires_ms).map(|(key, _)| *key);
            first.map(|key| open.remove(&key));
        }
        open.insert(key(&secret), session);
        Ok(secret)
    }

    /// The session of a secret.
    pub(super) fn find(&self, secret: &str, now_ms: u64) -> Option<UserSession> {
        // The lookup uses a digest, so that its duration reveals nothing about the secret.
        self.lock().get(&key(secret)).filter(|session| session.expires_ms > now_ms).cloned()
    }

    /// How many sessions are open.
    pub(super) fn count(&self, now_ms: u64) -> u64 {
        self.lock().values().filter(|session| session.expires_ms > now_ms).count() as u64
    }

    /// Ends a session.
    pub(super) fn close(&self, secret: &str) {
        self.lock().remove(&key(secret));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], UserSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UserSession {
    /// How long ago the person signed in.
    pub(super) fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.expires_ms.saturating_sub(LENGTH_MS))
    }

    /// Whether a form belongs to this session.
    pub(super) fn owns_form(&self, csrf: &str) -> bool {
        self.csrf.as_bytes().ct_eq(csrf.as_bytes()).into()
    }
}

fn random() -> Result<String, ProblemDetails> {
    let mut bytes = [0; 32];
    random_bytes(&mut bytes)?;
    Ok(Hash(bytes).to_string())
}

fn key(secret: &str) -> [u8; 32] {
    Hash::of(secret.as_bytes()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(id: &str) -> SessionOwner {
        SessionOwner::Token(id.to_owned())
    }

    #[test]
    fn a_session_is_found_by_its_secret_until_it_ends() {
        let sessions = Sessions::default();
        let secret = sessions.open(token("abc"), 1000).expect("random bytes");
        assert_eq!(secret.len(), 64);
        assert_eq!(sessions.find(&secret, 1000).expect("open").owner, token("abc"));
        assert!(sessions.find(&secret, 1000 + LENGTH_MS - 1).is_some());
        assert_eq!(sessions.find(&secret, 1000 + LENGTH_MS), None, "eight hours later");
        assert_eq!(sessions.find(&secret[1..], 1000), None);
        sessions.close(&secret);
        assert_eq!(sessions.find(&secret, 1000), None);
    }

    #[test]
    fn only_its_own_forms_are_accepted() {
        let sessions = Sessions::default();
        let [one, other] = [1, 2]
            .map(|now| sessions.find(&sessions.open(token("abc"), now).expect("random bytes"), now).expect("open"));
        assert!(one.owns_form(&one.csrf));
        for wrong in ["", &other.csrf, &one.csrf[1..], &format!("{}0", one.csrf)] {
            assert!(!one.owns_form(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn the_oldest_session_ends_when_there_are_too_many() {
        let sessions = Sessions::default();
        let first = sessions.open(token("first"), 0).expect("random bytes");
        let second = sessions.open(token("second"), 1).expect("random bytes");
        for now in 2..=MOST as u64 {
            sessions.open(token("other"), now).expect("random bytes");
        }
        assert_eq!(sessions.lock().len(), MOST);
        assert_eq!(sessions.find(&first, 2), None, "the oldest ended");
        assert!(sessions.find(&second, 2).is_some());
    }
}
