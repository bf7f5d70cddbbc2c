//! What shows that the log was not rewritten: signed checkpoints, and proofs that an event is covered by one.

use std::sync::Arc;

use axum::http::StatusCode;
use rarely_error::Topic;
use rarely_store::{Hash, LogEntry, Notary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::docs::with_type;
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

const PLAIN: &str = "text/plain; charset=utf-8";

/// The proof that an event is in the log that a checkpoint covers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventProof {
    /// The event.
    event: ProvedEvent,
    /// The hash of the event before, 64 hexadecimal digits; zeros for the first one. The event's hash covers it.
    previous_hash: String,
    /// The number of events in the tree.
    tree_size: u64,
    /// The root of the tree, 64 hexadecimal digits.
    root: String,
    /// The inclusion proof of RFC 6962: hashes from the leaf to the root, 64 hexadecimal digits each. The leaf is the SHA-256
    /// of a zero byte and the event's hash; its index is the event's number minus 1.
    proof: Vec<String>,
    /// The signed checkpoint with this size and root.
    checkpoint: String,
}

/// An event with the exact text that its hash covers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProvedEvent {
    number: u64,
    /// Milliseconds since 1970 UTC.
    time_ms: u64,
    /// Milliseconds since the program that wrote it started, by a clock that nobody can set.
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_ms: Option<u64>,
    /// Who caused it.
    actor: String,
    /// The number of the event that registered the policy; 0 for none.
    policy: u64,
    kind: String,
    /// Its body: JSON as a text, byte by byte as it is stored.
    body: String,
    /// Its hash, 64 hexadecimal digits.
    hash: String,
}

/// The proof that a log is the continuation of an earlier one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConsistencyProof {
    /// The size of the earlier tree.
    from: u64,
    /// The root of the earlier tree, 64 hexadecimal digits.
    from_root: String,
    /// The size of the later tree.
    to: u64,
    /// The root of the later tree, 64 hexadecimal digits.
    to_root: String,
    /// The consistency proof of RFC 6962, 64 hexadecimal digits each.
    proof: Vec<String>,
}

/// The sizes of two trees.
#[derive(Debug, Deserialize)]
struct SizesQuery {
    from: u64,
    /// The size of the last checkpoint if left out.
    to: Option<u64>,
}

pub(crate) async fn checkpoint(request: AuthorizedRequest) -> ApiResult {
    let latest = notary(&request.app)?.latest().ok_or_else(not_yet)?;
    Ok(with_type(latest.to_string(), PLAIN))
}

pub(crate) async fn key(request: AuthorizedRequest) -> ApiResult {
    Ok(with_type(format!("{}\n", notary(&request.app)?.key()), PLAIN))
}

pub(crate) async fn consistency(request: AuthorizedRequest) -> ApiResult {
    let SizesQuery { from, to } = request.query()?;
    let notary = notary(&request.app)?.clone();
    blocking(move || {
        let to = to.or_else(|| notary.latest().map(|latest| latest.size())).ok_or_else(not_yet)?;
        let proof = notary.consistency(from, to)?;
        let (from_root, to_root) = (notary.root(from)?.to_string(), notary.root(to)?.to_string());
        Ok(json(StatusCode::OK, &ConsistencyProof { from, from_root, to, to_root, proof: texts(&proof) }))
    })
    .await?
}

pub(crate) async fn of_policy(request: AuthorizedRequest) -> ApiResult {
    let policy = request.policy()?.id;
    prove(request, Some(policy)).await
}

pub(crate) async fn of_all(request: AuthorizedRequest) -> ApiResult {
    prove(request, None).await
}

async fn prove(request: AuthorizedRequest, policy: Option<u64>) -> ApiResult {
    let number = request.number("number", "event")?;
    let (app, notary) = (request.app.clone(), notary(&request.app)?.clone());
    blocking(move || {
        let log = app.engine.log();
        let found = log.entry(number)?.filter(|entry| policy.is_none_or(|policy| entry.policy == policy));
        let entry = found.ok_or_else(|| {
            ProblemDetails::new(StatusCode::NOT_FOUND, format!("event {number} not found"))
                .with_field("number")
                .with_remedy("use the number of an event of this policy")
        })?;
        let checkpoint = notary.latest().filter(|latest| latest.size() >= number).ok_or_else(not_yet)?;
        let previous = if number == 1 { None } else { log.entry(number - 1)? };
        let size = checkpoint.size();
        let proof = EventProof {
            event: ProvedEvent::from(entry),
            previous_hash: previous.map_or(Hash::ZERO, |previous| previous.hash).to_string(),
            tree_size: size,
            root: checkpoint.root().to_string(),
            proof: texts(&notary.inclusion(number, size)?),
            checkpoint: checkpoint.to_string(),
        };
        Ok(json(StatusCode::OK, &proof))
    })
    .await?
}

impl From<LogEntry> for ProvedEvent {
    fn from(LogEntry { number, time_ms, elapsed_ms, actor, policy, kind, body, hash }: LogEntry) -> Self {
        Self { number, time_ms, elapsed_ms, actor, policy, kind, body, hash: hash.to_string() }
    }
}

fn texts(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(ToString::to_string).collect()
}

fn notary(app: &App) -> Result<&Arc<Notary>, ProblemDetails> {
    app.engine.notary().ok_or_else(|| {
        ProblemDetails::new(StatusCode::NOT_FOUND, "this service signs no checkpoints")
            .with_remedy("start it with a signing key")
            .with_topic(Topic::Checkpoints)
    })
}

fn not_yet() -> ProblemDetails {
    ProblemDetails::new(StatusCode::CONFLICT, "no checkpoint covers this event yet")
        .with_remedy("try again after the next checkpoint, within a minute")
        .with_retry_after(60)
}
