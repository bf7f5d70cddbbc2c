//! Policies and their versions.

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rarely_live::Role;
use rarely_policy::PolicyDocument;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{self, Written};
use crate::call::{Call, blocking};
use crate::limits::{DOCUMENT_BYTES, check_name, wrong, wrong_in_words};
use crate::problem::Problem;
use crate::route::Answered;
use crate::views::{PolicyBrief, PolicyView, VersionView};

/// A policy document in JSON.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registration {
    /// The policy document, in TOML.
    document: String,
}

/// All policies that may be seen.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Policies {
    policies: Vec<PolicyBrief>,
}

/// All versions of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Versions {
    versions: Vec<VersionView>,
}

pub(crate) async fn register(mut call: Call) -> Answered {
    let written = call.written(&[Written::Json, Written::Text])?;
    let bytes = call.bytes(DOCUMENT_BYTES).await?;
    let text = match written {
        Written::Json => body::parse::<Registration>(&bytes)?.document,
        _ => text(&bytes)?,
    };
    let (app, actor, seed) = (call.app.clone(), call.actor().to_owned(), seed()?);
    blocking(move || {
        let document =
            PolicyDocument::parse(&text, "document").map_err(|error| wrong_in_words("document", &error.to_string()))?;
        check_name(document.policy()).map_err(|message| wrong_in_words("document.policy", &message))?;
        let before = app.engine.committed();
        let handle = app.engine.register(&actor, &text, seed)?;
        let status = if handle.id > before { StatusCode::CREATED } else { StatusCode::OK };
        let view = PolicyView::new(&handle, &handle.live.lock(), app.engine.now_ms());
        Ok(json(status, &view))
    })
    .await?
}

pub(crate) async fn list(call: Call) -> Answered {
    let now_ms = call.app.engine.now_ms();
    let grant = call.grant()?.clone();
    let app = call.app.clone();
    blocking(move || {
        let handles = app.engine.policies();
        let seen = handles.iter().filter(|handle| grant.allows(Role::Read, Some(&handle.name)));
        let policies = seen.map(|handle| PolicyBrief::new(handle, &handle.live.lock(), now_ms)).collect();
        Ok(json(StatusCode::OK, &Policies { policies }))
    })
    .await?
}

pub(crate) async fn one(call: Call) -> Answered {
    let handle = call.policy()?;
    Ok(json(StatusCode::OK, &PolicyView::new(handle, &handle.live.lock(), call.app.engine.now_ms())))
}

pub(crate) async fn versions(call: Call) -> Answered {
    let live = call.policy()?.live.lock();
    let versions = live.state().versions.iter().map(|version| VersionView::new(&live, version)).collect();
    Ok(json(StatusCode::OK, &Versions { versions }))
}

pub(crate) async fn version(call: Call) -> Answered {
    let number = call.number("number", "version")?;
    let live = call.policy()?.live.lock();
    let version = live
        .version_of(number)
        .map_err(|error| Problem::new(StatusCode::NOT_FOUND, error.to_string()).field("number"))?;
    Ok(json(StatusCode::OK, &VersionView::with_document(&live, version)))
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => {
            let mut response = (status, body).into_response();
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(error) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn text(bytes: &Bytes) -> Result<String, Problem> {
    let text = std::str::from_utf8(bytes).map(ToOwned::to_owned);
    text.map_err(|error| wrong("document", format!("the document is not UTF-8 text: {error}"), "save it as UTF-8"))
}

/// A seed that every program reads without loss: at most 2⁵³.
fn seed() -> Result<u64, Problem> {
    let random = getrandom::u64()
        .map_err(|error| Problem::new(StatusCode::SERVICE_UNAVAILABLE, format!("no random numbers: {error}")))?;
    Ok(random >> 11)
}
