//! Who is signed in: random sessions, of which only digests are kept, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rarely_store::Hash;
use subtle::ConstantTimeEq as _;

/// A session lasts so long, a working day.
pub(super) const LENGTH_MS: u64 = 8 * 3_600_000;
/// Sessions at a time; beyond, the one that would end first ends.
const MOST: usize = 10_000;

/// The sessions of everybody who is signed in.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: Mutex<HashMap<[u8; 32], Session>>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    /// The public part of the token that opened it.
    pub(super) token: String,
    /// What every form of it carries, so that no other site can send one.
    pub(super) csrf: String,
    expires_ms: u64,
}

impl Sessions {
    /// Opens a session of a token; the secret that the browser keeps.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub(super) fn open(&self, token: &str, now_ms: u64) -> Result<String, getrandom::Error> {
        let (secret, csrf) = (random()?, random()?);
        let session = Session { token: token.to_owned(), csrf, expires_ms: now_ms.saturating_add(LENGTH_MS) };
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
    pub(super) fn find(&self, secret: &str, now_ms: u64) -> Option<Session> {
        // What is looked up is a digest, so that the time it takes says nothing about the secret.
        self.lock().get(&key(secret)).filter(|session| session.expires_ms > now_ms).cloned()
    }

    /// Ends a session.
    pub(super) fn close(&self, secret: &str) {
        self.lock().remove(&key(secret));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Whether a form is one of this session.
    pub(super) fn sent(&self, csrf: &str) -> bool {
        self.csrf.as_bytes().ct_eq(csrf.as_bytes()).into()
    }
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Hash(bytes).to_string())
}

fn key(secret: &str) -> [u8; 32] {
    Hash::of(secret.as_bytes()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_secret_until_it_ends() {
        let sessions = Sessions::default();
        let secret = sessions.open("abc", 1000).expect("random bytes");
        assert_eq!(secret.len(), 64);
        assert_eq!(sessions.find(&secret, 1000).expect("open").token, "abc");
        assert!(sessions.find(&secret, 1000 + LENGTH_MS - 1).is_some());
        assert_eq!(sessions.find(&secret, 1000 + LENGTH_MS), None, "eight hours later");
        assert_eq!(sessions.find(&secret[1..], 1000), None);
        sessions.close(&secret);
        assert_eq!(sessions.find(&secret, 1000), None);
    }

    #[test]
    fn only_its_own_forms_are_taken() {
        let sessions = Sessions::default();
        let [one, other] =
            [1, 2].map(|now| sessions.find(&sessions.open("abc", now).expect("random bytes"), now).expect("open"));
        assert!(one.sent(&one.csrf));
        for wrong in ["", &other.csrf, &one.csrf[1..], &format!("{}0", one.csrf)] {
            assert!(!one.sent(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn there_are_never_more_than_the_most() {
        let sessions = Sessions::default();
        let first = sessions.open("first", 0).expect("random bytes");
        let second = sessions.open("second", 1).expect("random bytes");
        for now in 2..=MOST as u64 {
            sessions.open("other", now).expect("random bytes");
        }
        assert_eq!(sessions.lock().len(), MOST);
        assert_eq!(sessions.find(&first, 2), None, "the oldest made room");
        assert!(sessions.find(&second, 2).is_some());
    }
}
