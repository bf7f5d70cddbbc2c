//! One request to the API, after its token was checked.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use rarely_live::TokenGrant;
use rarely_live::engine::{ChangeError, PolicyHandle};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

use crate::app::{App, forbidden};
use crate::body::{self, BodyFormat};
use crate::client_origin::ClientOrigin;
use crate::limits::{BODY_BYTES, BODY_SECONDS, SMALL_BODY_BYTES};
use crate::problem::ProblemDetails;
use crate::route::Access;

/// A request whose token grants what the route requires.
pub(crate) struct AuthorizedRequest {
    pub(crate) app: Arc<App>,
    /// The policy that the path names.
    handle: Option<Arc<PolicyHandle>>,
    grant: Option<TokenGrant>,
    parameters: Vec<(String, String)>,
    pub(crate) parts: Parts,
    body: Body,
    /// The room that the body takes.
    room: Option<OwnedSemaphorePermit>,
}

impl AuthorizedRequest {
    /// Checks the token of a request against what the route requires.
    pub(crate) async fn check(app: Arc<App>, access: Access, request: Request) -> Result<Self, ProblemDetails> {
        let (mut parts, body) = request.into_parts();
        let parameters = parameters(&mut parts).await?;
        let mut request = Self { app, handle: None, grant: None, parameters, parts, body, room: None };
        if access == Access::Public {
            return Ok(request);
        }
        let grant = request.app.authenticate(bearer(&request.parts.headers)?, address(&request.parts))?;
        if let Some(fault) = request.app.engine.fault() {
            return Err(ChangeError::from(fault).into());
        }
        match access {
            Access::Public => {}
            Access::AllPolicies(role) => request.app.authorize(&grant, role, None)?,
            Access::AnyPolicy(role) => {
                if !grant.roles.iter().any(|own| own.includes(role)) {
                    return Err(forbidden(format!("this requires the role `{role}`")));
                }
            }
            Access::ThisPolicy(role) => {
                request.handle = Some(request.app.policy(&grant, role, request.parameter("name"))?);
            }
        }
        request.grant = Some(grant);
        Ok(request)
    }

    /// The name of the token's owner.
    pub(crate) fn actor(&self) -> &str {
        self.grant.as_ref().map_or("", |grant| &grant.name)
    }

    /// What the token grants.
    pub(crate) fn grant(&self) -> Result<&TokenGrant, ProblemDetails> {
        self.grant.as_ref().ok_or_else(undeclared)
    }

    /// The policy that the path names.
    pub(crate) fn policy(&self) -> Result<&Arc<PolicyHandle>, ProblemDetails> {
        self.handle.as_ref().ok_or_else(undeclared)
    }

    /// A parameter of the path.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// A number in the path. Anything else is not found: status 404.
    pub(crate) fn number(&self, name: &str, what: &str) -> Result<u64, ProblemDetails> {
        let text = self.parameter(name);
        text.parse().map_err(|_| {
            let shown: String = text.chars().take(40).collect();
            ProblemDetails::new(StatusCode::NOT_FOUND, format!("{what} {shown:?} not found"))
                .with_field(name)
                .with_remedy("use its number, a whole number from 1")
        })
    }

    /// The query string.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, ProblemDetails> {
        Query::try_from_uri(&self.parts.uri).map(|Query(query)| query).map_err(|rejection| {
            ProblemDetails::new(StatusCode::BAD_REQUEST, rejection.body_text())
                .with_field("query")
                .with_remedy("`/docs` describes the parameters")
        })
    }

    /// The format of the body, which must be one of `known`.
    pub(crate) fn format(&self, known: &[BodyFormat]) -> Result<BodyFormat, ProblemDetails> {
        BodyFormat::of(&self.parts.headers, known)
    }

    /// Reads the whole body. A second call gets nothing.
    pub(crate) async fn bytes(&mut self, most: usize) -> Result<Bytes, ProblemDetails> {
        let headers = &self.parts.headers;
        let bytes = body::announced(headers).map_or(most, |length| usize::try_from(length).unwrap_or(most)).min(most);
        if bytes > SMALL_BODY_BYTES {
            // Before it is read: requests that wait take no memory.
            let room = self.app.room_for(bytes);
            let room = tokio::time::timeout(Duration::from_secs(BODY_SECONDS), room).await;
            self.room = Some(room.ok().flatten().ok_or_else(ProblemDetails::busy)?);
        }
        body::read(headers, std::mem::take(&mut self.body), most).await
    }

    /// Reads the body as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(&mut self) -> Result<T, ProblemDetails> {
        self.format(&[BodyFormat::Json])?;
        body::parse(&self.bytes(BODY_BYTES).await?)
    }
}

/// Runs work that waits for the disk or takes long on a thread for blocking work.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, ProblemDetails> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ProblemDetails::internal())
}

/// Runs an async operation that reads the store on a thread for blocking work: SQLite reads must not block an async worker.
pub(crate) async fn blocking_on<F>(operation: F) -> Result<F::Output, ProblemDetails>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let runtime = Handle::current();
    blocking(move || runtime.block_on(operation)).await
}

/// The address that a request comes from, as the middleware found it.
pub(crate) fn address(parts: &Parts) -> IpAddr {
    parts.extensions.get().map_or(IpAddr::from([0, 0, 0, 0]), |origin: &ClientOrigin| origin.address)
}

async fn parameters(parts: &mut Parts) -> Result<Vec<(String, String)>, ProblemDetails> {
    let found = RawPathParams::from_request_parts(parts, &()).await;
    let found = found
        .map_err(|rejection| ProblemDetails::new(StatusCode::BAD_REQUEST, rejection.body_text()).with_field("path"))?;
    Ok(found.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn bearer(headers: &HeaderMap) -> Result<&str, ProblemDetails> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let value = match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    };
    let token = value.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    token.ok_or_else(|| {
        ProblemDetails::new(StatusCode::UNAUTHORIZED, "the request has no token").with_remedy(
            "send the header `Authorization: Bearer rarely_…`; the administrator of the service creates tokens",
        )
    })
}

fn undeclared() -> ProblemDetails {
    ProblemDetails::new(StatusCode::INTERNAL_SERVER_ERROR, "the route does not declare what its handler needs")
}
