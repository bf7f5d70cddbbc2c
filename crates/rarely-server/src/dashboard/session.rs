//! Sessions, kept in memory or in the database. Only digests of their secrets are stored.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rarely_live::TokenGrant;
use rarely_store::{Hash, SessionTable};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::blocking;
use super::page_error::PageError;
use crate::policies::random_bytes;
use crate::problem::ProblemDetails;

/// How long a session lasts: a working day.
pub(super) const LENGTH_MS: u64 = 8 * 3_600_000;
/// The most sessions at a time. One more ends the oldest.
const MOST: usize = 10_000;

/// All open sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    kept: KeptSessions,
    most: usize,
}

/// Where sessions are, by digests of their secrets. A lookup by digest has a duration that reveals nothing about the secret.
#[derive(Debug)]
enum KeptSessions {
    /// In this process, and as long as it runs.
    InMemory(Mutex<HashMap<Hash, UserSession>>),
    /// In the database, for every replica.
    InDatabase(SessionTable),
}

/// How the person of a session signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SessionOwner {
    /// With the token that has this public part.
    Token(String),
    /// With an identity provider, which grants this until the session ends.
    Provided(Box<TokenGrant>),
}

/// The session of a person who signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UserSession {
    pub(super) owner: SessionOwner,
    /// A secret in every form of the session, so that other sites cannot submit one.
    pub(super) csrf: String,
    expires_ms: u64,
}

impl Sessions {
    /// In the database, if there is one.
    pub(super) fn new(table: Option<SessionTable>) -> Self {
        let kept = table.map_or_else(|| KeptSessions::InMemory(Mutex::default()), KeptSessions::InDatabase);
        Self { kept, most: MOST }
    }

    /// Opens a session. Returns the secret for the cookie.
    ///
    /// # Errors
    /// 503 if the operating system has no random bytes, or the database does not answer.
    pub(super) async fn open(&self, owner: SessionOwner, now_ms: u64) -> Result<String, PageError> {
        let (secret, csrf) = (random()?, random()?);
        let session = UserSession { owner, csrf, expires_ms: now_ms.saturating_add(LENGTH_MS) };
        let (key, most) = (key(&secret), self.most);
        match &self.kept {
            KeptSessions::InMemory(open) => {
                let mut open = lock(open);
                open.retain(|_, session| session.expires_ms > now_ms);
                if open.len() >= most {
                    let first = open.iter().min_by_key(|(_, session)| session.expires_ms).map(|(key, _)| *key);
                    first.map(|key| open.remove(&key));
                }
                open.insert(key, session);
            }
            KeptSessions::InDatabase(table) => {
                let text = serde_json::to_string(&session).map_err(|_| ProblemDetails::internal())?;
                let (table, lasting) = (table.clone(), Duration::from_millis(LENGTH_MS));
                blocking(move || Ok(table.keep(&key, &text, lasting, most as u64)?)).await?;
            }
        }
        Ok(secret)
    }

    /// The session of a secret.
    ///
    /// # Errors
    /// 503 if the database does not answer.
    pub(super) async fn find(&self, secret: &str, now_ms: u64) -> Result<Option<UserSession>, PageError> {
        let key = key(secret);
        let found = match &self.kept {
            KeptSessions::InMemory(open) => lock(open).get(&key).cloned(),
            KeptSessions::InDatabase(table) => {
                let table = table.clone();
                let text = blocking(move || Ok(table.find(&key)?)).await?;
                // What another version has written and this one cannot read is no session.
                text.and_then(|text| serde_json::from_str(&text).ok())
            }
        };
        Ok(found.filter(|session: &UserSession| session.expires_ms > now_ms))
    }

    /// How many sessions are open.
    ///
    /// # Errors
    /// 503 if the database does not answer.
    pub(super) async fn count(&self, now_ms: u64) -> Result<u64, PageError> {
        match &self.kept {
            KeptSessions::InMemory(open) => {
                Ok(lock(open).values().filter(|session| session.expires_ms > now_ms).count() as u64)
            }
            KeptSessions::InDatabase(table) => {
                let table = table.clone();
                blocking(move || Ok(table.count()?)).await
            }
        }
    }

    /// Ends a session.
    ///
    /// # Errors
    /// 503 if the database does not answer: the session may go on.
    pub(super) async fn close(&self, secret: &str) -> Result<(), PageError> {
        let key = key(secret);
        match &self.kept {
            KeptSessions::InMemory(open) => {
                lock(open).remove(&key);
                Ok(())
            }
            KeptSessions::InDatabase(table) => {
                let table = table.clone();
                blocking(move || Ok(table.end(&key)?)).await
            }
        }
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

fn lock(open: &Mutex<HashMap<Hash, UserSession>>) -> MutexGuard<'_, HashMap<Hash, UserSession>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

fn random() -> Result<String, ProblemDetails> {
    let mut bytes = [0; 32];
    random_bytes(&mut bytes)?;
    Ok(Hash(bytes).to_string())
}

fn key(secret: &str) -> Hash {
    Hash::of(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use axum::http::StatusCode;
    use rarely_live::Role;
    #[cfg(unix)]
    use rarely_store::{Durability, PostgresAddress, PostgresStore};

    use super::*;
    #[cfg(unix)]
    use crate::postgres_server::PostgresServer;

    fn token(id: &str) -> SessionOwner {
        SessionOwner::Token(id.to_owned())
    }

    async fn open(sessions: &Sessions, owner: SessionOwner, now_ms: u64) -> String {
        sessions.open(owner, now_ms).await.expect("it is kept")
    }

    async fn find(sessions: &Sessions, secret: &str, now_ms: u64) -> Option<UserSession> {
        sessions.find(secret, now_ms).await.expect("an answer")
    }

    /// What holds wherever sessions are kept.
    async fn check(empty: impl Fn() -> KeptSessions) {
        let few = |most| Sessions { kept: empty(), most };
        a_session_is_found_by_its_secret_until_it_ends(&few(MOST)).await;
        what_a_provider_grants_is_kept(&few(MOST)).await;
        only_its_own_forms_are_accepted(&few(MOST)).await;
        the_oldest_session_ends_when_there_are_too_many(&few(3)).await;
    }

    async fn a_session_is_found_by_its_secret_until_it_ends(sessions: &Sessions) {
        let secret = open(sessions, token("abc"), 1000).await;
        assert_eq!(secret.len(), 64);
        assert_eq!(find(sessions, &secret, 1000).await.expect("open").owner, token("abc"));
        assert!(find(sessions, &secret, 1000 + LENGTH_MS - 1).await.is_some());
        assert_eq!(find(sessions, &secret, 1000 + LENGTH_MS).await, None, "eight hours later");
        assert_eq!(find(sessions, &secret[1..], 1000).await, None);
        assert_eq!(sessions.count(1000).await, Ok(1));
        sessions.close(&secret).await.expect("closed");
        assert_eq!(find(sessions, &secret, 1000).await, None);
        assert_eq!(sessions.count(1000).await, Ok(0));
        sessions.close(&secret).await.expect("once more changes nothing");
    }

    async fn what_a_provider_grants_is_kept(sessions: &Sessions) {
        let (_, mut grant) = TokenGrant::new([7; 40], "Ann Lee", vec![Role::Read, Role::Review], None, Some(5));
        grant.person = Some("https://login.example.org#ann".to_owned());
        let owner = SessionOwner::Provided(Box::new(grant));
        let secret = open(sessions, owner.clone(), 1000).await;
        let found = find(sessions, &secret, 4000).await.expect("open");
        assert_eq!((found.age_ms(4000), found.owner), (3000, owner));
    }

    async fn only_its_own_forms_are_accepted(sessions: &Sessions) {
        let mut opened = Vec::new();
        for now in [1, 2] {
            let secret = open(sessions, token("abc"), now).await;
            opened.push(find(sessions, &secret, now).await.expect("open"));
        }
        let (one, other) = (&opened[0], &opened[1]);
        assert!(one.owns_form(&one.csrf));
        for wrong in ["", &other.csrf, &one.csrf[1..], &format!("{}0", one.csrf)] {
            assert!(!one.owns_form(wrong), "{wrong:?}");
        }
    }

    async fn the_oldest_session_ends_when_there_are_too_many(sessions: &Sessions) {
        let first = open(sessions, token("first"), 0).await;
        let second = open(sessions, token("second"), 1).await;
        for now in 2..=sessions.most as u64 {
            open(sessions, token("other"), now).await;
        }
        assert_eq!(sessions.count(2).await, Ok(sessions.most as u64));
        assert_eq!(find(sessions, &first, 2).await, None, "the oldest ended");
        assert!(find(sessions, &second, 2).await.is_some());
    }

    #[tokio::test]
    async fn in_memory() {
        check(|| KeptSessions::InMemory(Mutex::default())).await;
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread")]
    async fn in_a_database() {
        let server = PostgresServer::start();
        check(|| {
            let table = replica(&server);
            server.query("DELETE FROM rarely.sessions");
            KeptSessions::InDatabase(table)
        })
        .await;
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread")]
    async fn replicas_share_sessions_and_say_when_the_database_is_away() {
        let server = PostgresServer::start();
        let [one, other] = [replica(&server), replica(&server)].map(|table| Sessions::new(Some(table)));
        let secret = open(&one, token("abc"), 1000).await;
        let found = find(&other, &secret, 1000).await.expect("the other knows it");
        let kept = server.query("SELECT encode(key, 'hex') || session FROM rarely.sessions");
        assert!(kept.contains(&found.csrf) && !kept.contains(&secret), "{kept}");
        let unreadable = open(&one, token("abc"), 1000).await;
        server.query(
            "UPDATE rarely.sessions SET session = '{}' WHERE expires = (SELECT max(expires) FROM rarely.sessions)",
        );
        assert_eq!(find(&other, &unreadable, 1000).await, None, "people sign in again");
        other.close(&secret).await.expect("closed");
        assert_eq!(find(&one, &secret, 1000).await, None, "it has ended everywhere");
        let secret = open(&one, token("abc"), 1000).await;
        server.crash();
        let away = one.find(&secret, 1000).await.expect_err("nobody knows");
        assert_eq!(away.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(one.close(&secret).await.expect_err("it may go on").status(), StatusCode::SERVICE_UNAVAILABLE);
        server.launch();
        assert!(find(&one, &secret, 1000).await.is_some(), "it has outlived the crash");
    }

    /// The sessions as a replica sees them.
    #[cfg(unix)]
    fn replica(server: &PostgresServer) -> SessionTable {
        let address = PostgresAddress::parse(&server.address()).expect("an address");
        PostgresStore::connect(address, Durability::Full).expect("a store").sessions()
    }
}
