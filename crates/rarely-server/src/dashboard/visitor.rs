//! The person who views a page, and the address of the request.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Redirect, Response};
use rarely_live::{Role, TokenGrant};

use super::page_error::PageError;
use super::session::{SessionOwner, UserSession};
use super::{Dashboard, percent_encoded};
use crate::client_origin::ClientOrigin;
use crate::request;

/// The name of the session cookie.
pub(super) const COOKIE: &str = "rarely_session";

/// A person who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// What the token grants now.
    pub(super) grant: TokenGrant,
    pub(super) session: UserSession,
    /// The value of the session cookie.
    pub(super) secret: String,
}

/// The address that a request comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address(pub(super) IpAddr);

/// Whether the client used TLS. Its cookies are then sent over TLS only.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByTls(bool);

impl ByTls {
    /// The attribute of a cookie.
    pub(super) fn attribute(self) -> &'static str {
        if self.0 { "; Secure" } else { "" }
    }
}

impl Visitor {
    /// Checks that a form belongs to this session.
    pub(super) fn check_form(&self, csrf: &str) -> Result<(), PageError> {
        if self.session.owns_form(csrf) { Ok(()) } else { Err(PageError::foreign_form()) }
    }

    /// The id of the person, to whom keys belong.
    pub(super) fn person(&self) -> String {
        self.grant.person_id()
    }

    pub(super) fn may(&self, role: Role, policy: &str) -> bool {
        self.grant.allows(role, Some(policy))
    }
}

impl Dashboard {
    /// The visitor of a session, if it still grants something.
    ///
    /// # Errors
    /// 503 if the database does not answer: the session may be there.
    pub(super) async fn visitor(&self, secret: &str) -> Result<Option<Visitor>, PageError> {
        let Some(session) = self.sessions.find(secret, self.now_ms()).await? else { return Ok(None) };
        Ok(self.grant(&session).map(|grant| Visitor { grant, session, secret: secret.to_owned() }))
    }

    /// What a session grants now; `None` if its token is not valid any more, or its identity provider is not asked any more.
    pub(super) fn grant(&self, session: &UserSession) -> Option<TokenGrant> {
        match &session.owner {
            SessionOwner::Token(id) => self.app.engine.tokens().valid(id, self.now_ms()).cloned(),
            SessionOwner::Provided(grant) => {
                let known = self.app.openid().is_some_and(|provider| provider.knows(&grant.person_id()));
                known.then(|| grant.as_ref().clone())
            }
        }
    }
}

impl FromRequestParts<Arc<Dashboard>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Arc<Dashboard>) -> Result<Self, Response> {
        if let Some(secret) = cookie(&parts.headers)
            && let Some(visitor) = dashboard.visitor(secret).await.map_err(PageError::into_response)?
        {
            return Ok(visitor);
        }
        // A form cannot be submitted again after signing in, so show the first page instead.
        let next = if parts.method == Method::GET { parts.uri.path() } else { "/" };
        let next = if next == "/" { String::new() } else { format!("?next={}", percent_encoded(next)) };
        Err(Redirect::to(&format!("/sign-in{next}")).into_response())
    }
}

impl FromRequestParts<Arc<Dashboard>> for ByTls {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Arc<Dashboard>) -> Result<Self, Infallible> {
        let told = parts.extensions.get::<ClientOrigin>().map(|origin| origin.https);
        Ok(Self(told.unwrap_or(dashboard.app.settings.secure)))
    }
}

impl<S: Sync> FromRequestParts<S> for Address {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(request::address(parts)))
    }
}

/// The value of the session cookie.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    cookie_named(headers, COOKIE)
}

/// The value of a cookie.
pub(super) fn cookie_named<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}
