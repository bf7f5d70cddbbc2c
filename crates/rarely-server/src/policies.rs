//! Policies and their versions.

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rarely_live::{Engine, Objection, Role};
use rarely_policy::PolicyDocument;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::body::{self, BodyFormat};
use crate::limits::{DOCUMENT_BYTES, check_name, check_text};
use crate::page::ListPart;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;
use crate::signing::evidence_of;
use crate::views::{PolicyBrief, PolicyView, ProposalView, VersionView};

/// A policy document to register.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registration {
    /// The policy document, in TOML.
    document: String,
}

/// Another document for a policy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Amendment {
    /// The policy document, in TOML.
    document: String,
    /// Why it changes.
    reason: String,
}

/// The policies that the token may read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Policies {
    policies: Vec<PolicyBrief>,
    /// What `after` of the next part is, if the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The versions of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Versions {
    versions: Vec<VersionView>,
    /// What `after` of the next part is, if the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(crate) async fn register(mut request: AuthorizedRequest) -> ApiResult {
    let format = request.format(&[BodyFormat::Json, BodyFormat::Text])?;
    let bytes = request.bytes(DOCUMENT_BYTES).await?;
    let text = match format {
        BodyFormat::Json => body::parse::<Registration>(&bytes)?.document,
        _ => text(&bytes)?,
    };
    let name = check_document(&text)?;
    let NewPolicy { created, view, .. } = request.app.register(request.actor(), text, &name).await?;
    let view = RawValue::from_string(view).map_err(|_| ProblemDetails::internal())?;
    Ok(json(if created { StatusCode::CREATED } else { StatusCode::OK }, &view))
}

/// A policy that is registered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NewPolicy {
    /// Whether it was not registered before.
    created: bool,
    /// Its name.
    pub(crate) name: String,
    /// As the API returns it: the text, whose fields have an order.
    view: String,
}

/// Registers a policy with this engine.
pub(crate) fn register_here(engine: &Engine, actor: &str, document: &str) -> Result<NewPolicy, ProblemDetails> {
    let before = engine.committed();
    let handle = engine.register(actor, document, random_seed()?)?;
    let view = PolicyView::new(&handle, &handle.live.lock(), engine.now_ms());
    let view = serde_json::to_string(&view).map_err(|_| ProblemDetails::internal())?;
    Ok(NewPolicy { created: handle.id > before, name: handle.name.clone(), view })
}

pub(crate) async fn amend(mut request: AuthorizedRequest) -> ApiResult {
    request.format(&[BodyFormat::Json])?;
    let Amendment { document, reason } = body::parse(&request.bytes(DOCUMENT_BYTES).await?)?;
    check_text("reason", &reason)?;
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    blocking(move || {
        check_document(&document)?;
        let before = handle.live.lock().next_proposal();
        let number = app.engine.amend(&handle, &actor, &document, &reason)?;
        let status = if number >= before { StatusCode::CREATED } else { StatusCode::OK };
        let (live, engine) = (handle.live.lock().clone(), &app.engine);
        let found = live.state().proposals.iter().find(|proposal| proposal.number == number);
        let found = found.ok_or(Objection::NoProposal(number))?;
        Ok(json(status, &ProposalView::new(&live, found, evidence_of(engine, found)?)))
    })
    .await?
}

pub(crate) async fn list(request: AuthorizedRequest) -> ApiResult {
    let grant = request.grant()?.clone();
    let all = request.app.summaries().await?.into_iter().map(|summary| summary.brief);
    let seen = all.filter(|brief| grant.allows(Role::Read, Some(&brief.name)));
    let ListPart { items, next } = ListPart::of(&request, seen, |brief| brief.name.clone())?;
    Ok(json(StatusCode::OK, &Policies { policies: items, next }))
}

pub(crate) async fn one(request: AuthorizedRequest) -> ApiResult {
    let handle = request.policy()?;
    Ok(json(StatusCode::OK, &PolicyView::new(handle, &handle.live.lock(), request.app.engine.now_ms())))
}

pub(crate) async fn versions(request: AuthorizedRequest) -> ApiResult {
    let live = request.policy()?.live.lock();
    let ListPart { items, next } =
        ListPart::of(&request, &live.state().versions, |version| version.number.to_string())?;
    let versions = items.into_iter().map(|version| VersionView::new(&live, version)).collect();
    Ok(json(StatusCode::OK, &Versions { versions, next }))
}

pub(crate) async fn version(request: AuthorizedRequest) -> ApiResult {
    let number = request.number("number", "version")?;
    let live = request.policy()?.live.lock();
    // A missing version in the path is not found; in a body, it is a wrong value.
    let missing =
        |_| ProblemDetails::new(StatusCode::NOT_FOUND, format!("version {number} not found")).with_field("number");
    let version = live.version_of(number).map_err(missing)?;
    Ok(json(StatusCode::OK, &VersionView::with_document(&live, version)))
}

/// Checks a policy document and the name of its policy, and returns that name.
pub(crate) fn check_document(text: &str) -> Result<String, ProblemDetails> {
    let document = PolicyDocument::parse(text, "document")?;
    let name = document.policy();
    check_name(name).map_err(|error| ProblemDetails::from(error).with_field("document.policy"))?;
    Ok(name.to_owned())
}

/// A response in JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => {
            let mut response = (status, body).into_response();
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(error) => ProblemDetails::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn text(bytes: &Bytes) -> Result<String, ProblemDetails> {
    let text = std::str::from_utf8(bytes).map(ToOwned::to_owned);
    text.map_err(|error| {
        ProblemDetails::wrong("document", format!("the document is not UTF-8 text: {error}"), "save it as UTF-8")
    })
}

/// A random seed of at most 53 bits, which every JSON reader reads exactly.
pub(crate) fn random_seed() -> Result<u64, ProblemDetails> {
    let mut bytes = [0; 8];
    random_bytes(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}

/// Random bytes from the operating system.
pub(crate) fn random_bytes(bytes: &mut [u8]) -> Result<(), ProblemDetails> {
    getrandom::fill(bytes).map_err(|error| {
        ProblemDetails::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the operating system has no random numbers: {error}"),
        )
    })
}
