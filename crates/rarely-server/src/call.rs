//! One request, of somebody who may make it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, FromRequestParts as _, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use rarely_live::TokenGrant;
use rarely_live::engine::PolicyHandle;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::body::{self, Written};
use crate::limits::BODY_BYTES;
use crate::problem::Problem;
use crate::route::Need;

/// One request, of somebody who may make it.
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    /// The policy that it is about, if the route names one.
    handle: Option<Arc<PolicyHandle>>,
    grant: Option<TokenGrant>,
    parameters: Vec<(String, String)>,
    pub(crate) parts: Parts,
    body: Body,
}

impl Call {
    /// Lets a request in, or says why not.
    pub(crate) async fn admit(app: Arc<App>, need: Need, request: Request) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let parameters = parameters(&mut parts).await?;
        let mut call = Self { app, handle: None, grant: None, parameters, parts, body };
        if need == Need::Nothing {
            return Ok(call);
        }
        let grant = call.app.admit(bearer(&call.parts.headers)?, address(&call.parts))?;
        if let Some(fault) = call.app.engine.fault() {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, fault.to_string())
                .remedy("the log is whole: restart the service, and run `rarely audit verify`"));
        }
        match need {
            Need::Nothing => {}
            Need::Everywhere(role) => call.app.require(&grant, role, None)?,
            Need::Somewhere(role) => {
                if !grant.roles.iter().any(|own| own.includes(role)) {
                    call.app.require(&grant, role, None)?;
                }
            }
            Need::There(role) => {
                let name = call.parameter("name");
                call.app.require(&grant, role, Some(name))?;
                let handle = call.app.engine.policy(name).ok_or_else(|| no_policy(&grant, name))?;
                call.handle = Some(handle);
            }
        }
        call.grant = Some(grant);
        Ok(call)
    }

    /// Whose token it is.
    pub(crate) fn actor(&self) -> &str {
        self.grant.as_ref().map_or("", |grant| &grant.name)
    }

    /// What the token is for.
    pub(crate) fn grant(&self) -> Result<&TokenGrant, Problem> {
        self.grant.as_ref().ok_or_else(unplanned)
    }

    /// The policy that the address names.
    pub(crate) fn policy(&self) -> Result<&Arc<PolicyHandle>, Problem> {
        self.handle.as_ref().ok_or_else(unplanned)
    }

    /// A part of the address.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// A number in the address; what is none is not there.
    pub(crate) fn number(&self, name: &str, what: &str) -> Result<u64, Problem> {
        let text = self.parameter(name);
        text.parse().map_err(|_| {
            let shown: String = text.chars().take(40).collect();
            Problem::new(StatusCode::NOT_FOUND, format!("there is no {what} {shown:?}"))
                .field(name)
                .remedy("its number is a whole number from 1")
        })
    }

    /// What stands behind the question mark.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        Query::try_from_uri(&self.parts.uri).map(|Query(query)| query).map_err(|rejection| {
            Problem::new(StatusCode::BAD_REQUEST, rejection.body_text())
                .field("query")
                .remedy("see /docs for what is expected")
        })
    }

    /// What the body is written in, if that is one of these.
    pub(crate) fn written(&self, known: &[Written]) -> Result<Written, Problem> {
        Written::of(&self.parts.headers, known)
    }

    /// All of the body; it can be read once.
    pub(crate) async fn bytes(&mut self, most: usize) -> Result<Bytes, Problem> {
        body::read(&self.parts.headers, std::mem::take(&mut self.body), most).await
    }

    /// What the body says.
    pub(crate) async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        self.written(&[Written::Json])?;
        body::parse(&self.bytes(BODY_BYTES).await?)
    }
}

/// Does what may wait for a disk or takes long, beside what must not wait.
pub(crate) async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the service made a mistake, and wrote it to its log")
    })
}

/// From where a request comes.
pub(crate) fn address(parts: &Parts) -> IpAddr {
    let known = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    known.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
}

async fn parameters(parts: &mut Parts) -> Result<Vec<(String, String)>, Problem> {
    let found = RawPathParams::from_request_parts(parts, &()).await;
    let found =
        found.map_err(|rejection| Problem::new(StatusCode::BAD_REQUEST, rejection.body_text()).field("address"))?;
    Ok(found.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
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
        Problem::new(StatusCode::UNAUTHORIZED, "the request shows no token")
            .remedy("send the header `Authorization: Bearer rarely_…`; `rarely token create` makes tokens")
    })
}

/// Only who may see everything is told that there is nothing.
fn no_policy(grant: &TokenGrant, name: &str) -> Problem {
    if grant.policies.is_some() {
        return Problem::new(StatusCode::FORBIDDEN, format!("this token is not for a policy {name:?}"))
            .remedy("use another token, or ask the service's administrator");
    }
    Problem::new(StatusCode::NOT_FOUND, format!("there is no policy {name:?}"))
        .remedy("`GET /v1/policies` lists them; `POST /v1/policies` registers one")
}

fn unplanned() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the route is declared without what its handler needs")
}
