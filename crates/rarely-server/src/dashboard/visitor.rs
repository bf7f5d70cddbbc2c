//! Who looks at a page, and from where.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Redirect, Response};
use rarely_live::{Role, TokenGrant};

use super::refusal::Refusal;
use super::session::Session;
use super::{Dashboard, quoted};

/// The name of the cookie.
pub(super) const COOKIE: &str = "rarely_session";

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// What the token they signed in with is for, as it is now.
    pub(super) grant: TokenGrant,
    pub(super) session: Session,
    /// What the cookie holds.
    pub(super) secret: String,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address(pub(super) IpAddr);

impl Visitor {
    /// Whether a form was made for this session.
    pub(super) fn check(&self, csrf: &str) -> Result<(), Refusal> {
        if self.session.sent(csrf) { Ok(()) } else { Err(Refusal::foreign_form()) }
    }

    pub(super) fn may(&self, role: Role, policy: &str) -> bool {
        self.grant.allows(role, Some(policy))
    }
}

impl Dashboard {
    /// Whoever has a session whose token still is one.
    pub(super) fn visitor(&self, secret: &str) -> Option<Visitor> {
        let now_ms = self.now_ms();
        let session = self.sessions.find(secret, now_ms)?;
        let tokens = self.app.engine.tokens();
        let kept = tokens.get(&session.token).filter(|kept| kept.revoked_ms.is_none())?;
        let grant = Some(&kept.grant).filter(|grant| grant.expires_ms.is_none_or(|expires| expires > now_ms))?;
        Some(Visitor { grant: grant.clone(), session, secret: secret.to_owned() })
    }
}

impl FromRequestParts<Arc<Dashboard>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Arc<Dashboard>) -> Result<Self, Response> {
        if let Some(visitor) = cookie(&parts.headers).and_then(|secret| dashboard.visitor(secret)) {
            return Ok(visitor);
        }
        // A form cannot be sent again after signing in, so it leads to the first page.
        let next = if parts.method == Method::GET { parts.uri.path() } else { "/" };
        let next = if next == "/" { String::new() } else { format!("?next={}", quoted(next)) };
        Err(Redirect::to(&format!("/sign-in{next}")).into_response())
    }
}

impl<S: Sync> FromRequestParts<S> for Address {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        // A server that does not say so counts everybody as one.
        Ok(Self(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))))
    }
}

/// The session's secret in a request's cookies.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}
