//! Decisions: requesting them, and reconstructing them later.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use rarely_core::Reason;
use rarely_live::engine::{DecisionRequest, DecisionResponse, OutcomeError, PolicyHandle};
use rarely_live::event::{Decided, Event, Overridden};
use rarely_live::replay;
use rarely_live::{DocumentEdition, RecordField};
use rarely_store::LogEntry;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use crate::app::App;
use crate::batch;
use crate::body::{self, BodyFormat};
use crate::erasures::check_subject;
use crate::explanation::{Explanation, explain};
use crate::limits::{BODY_BYTES, check_key};
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking, blocking_on};
use crate::route::ApiResult;
use crate::views;

/// A request for a decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBody {
    /// The person's data: a value for every feature of the policy document. Other fields are neither used nor stored.
    #[serde(deserialize_with = "body::fields_once")]
    #[schema(value_type = Object)]
    record: Map<String, Json>,
    /// An idempotency key: a repeated request with the same key gets the same decision.
    #[serde(default)]
    key: Option<String>,
    /// The person that the decision is about, by an identifier of yours. What the log has about the person is then encrypted with a key of
    /// its own, and can be erased.
    #[serde(default)]
    subject: Option<String>,
    /// Whether to explain the decision.
    #[serde(default)]
    explain: bool,
    /// A version of the policy, whose rule then decides alone, with nothing drawn at random. Without it the version in force decides.
    #[serde(default)]
    version: Option<u64>,
}

/// A decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionView {
    /// The number of the decision.
    decision: u64,
    /// The option that the person gets.
    option: String,
    /// The version of the policy that decided.
    version: u64,
    /// How the option was chosen: `policy` if it is the rule's, `equipoise` if a lot gave another, `pilot` in a pilot. A lot was drawn
    /// wherever the propensity is below 1.
    #[schema(value_type = String)]
    reason: Reason,
    /// The probability with which this option was chosen.
    propensity: f64,
    /// The explanation, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
}

/// Everything that is needed to reconstruct a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reconstruction {
    #[serde(flatten)]
    decision: DecisionView,
    /// The person's data.
    #[schema(value_type = Object)]
    record: BTreeMap<String, Json>,
    /// The last event that the decision takes into account.
    basis: u64,
    /// The seed of the policy's random numbers.
    seed: u64,
    /// The stream of random numbers: the number of the decision.
    stream: u64,
    /// The version that decided, with its rule and its policy document.
    rule: views::VersionView,
    /// The event of the decision, as the log has it.
    event: EventView,
    /// The event by which a person gave another option: that one is what the person got.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<EventView>,
    /// The event that reported the outcome, then those that corrected it.
    outcomes: Vec<EventView>,
    /// The outcome, after corrections.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<f64>,
    /// How to recompute the decision.
    how: String,
    /// When the person was erased: the record and the outcome cannot be read any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    erased: Option<String>,
    /// The file in which the record and the outcome are, if they are archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived: Option<String>,
}

/// An event, as the log has it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventView {
    number: u64,
    time_ms: u64,
    actor: String,
    kind: String,
    /// The content of the event.
    #[schema(value_type = Object)]
    body: Json,
    /// SHA-256 of this event and of the hash of the event before it.
    hash: String,
}

impl EventView {
    pub(crate) fn new(entry: &LogEntry) -> Self {
        Self {
            number: entry.number,
            time_ms: entry.time_ms,
            actor: entry.actor.clone(),
            kind: entry.kind.clone(),
            body: serde_json::from_str(&entry.body).unwrap_or_default(),
            hash: entry.hash.to_string(),
        }
    }
}

/// A request whose record fits the policy document.
struct CheckedRequest {
    request: DecisionRequest,
    explain: bool,
}

fn check(handle: &PolicyHandle, body: DecisionBody) -> Result<CheckedRequest, ProblemDetails> {
    check_key(body.key.as_deref())?;
    check_subject(body.subject.as_deref())?;
    let request = request_for(handle, body.version, |edition| Ok(edition.request(body.key, body.record)?))?;
    Ok(CheckedRequest { request: DecisionRequest { subject: body.subject, ..request }, explain: body.explain })
}

/// A request that is read with the document of the version that decides: the named one, or the one in force.
pub(crate) fn request_for(
    handle: &PolicyHandle,
    version: Option<u64>,
    read: impl FnOnce(&Arc<DocumentEdition>) -> Result<DecisionRequest, ProblemDetails>,
) -> Result<DecisionRequest, ProblemDetails> {
    let pinned = version.map(|version| handle.pinned(version)).transpose();
    let pinned = pinned.map_err(|objection| ProblemDetails::from(objection).with_field("version"))?;
    let edition = pinned.as_ref().map_or_else(|| handle.edition(), |pinned| pinned.edition.clone());
    Ok(DecisionRequest { pinned, ..read(&edition)? })
}

fn view(handle: &PolicyHandle, response: DecisionResponse, explained: Option<&[RecordField]>) -> DecisionView {
    let DecisionResponse { decision, option, version, reason, propensity } = response;
    let explanation = explained.and_then(|fields| explain(handle, fields, (&option, version), (reason, propensity)));
    DecisionView { decision, option, version, reason, propensity, explanation }
}

pub(crate) async fn decide(mut request: AuthorizedRequest) -> ApiResult {
    let format = request.format(&[BodyFormat::Json, BodyFormat::Lines])?;
    let bytes = request.bytes(BODY_BYTES).await?;
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    if format == BodyFormat::Json {
        let checked = check(&handle, body::parse(&bytes)?)?;
        let fields = checked.explain.then(|| checked.request.record.clone());
        let response = decide_one(app, handle.clone(), actor, checked.request).await?;
        return Ok(json(StatusCode::OK, &view(&handle, response, fields.as_deref())));
    }
    let runtime = Handle::current();
    let _turn = request.app.batch_turn().await;
    blocking(move || {
        let items = batch::read(&bytes, |body| check(&handle, body))?;
        Ok(batch::respond(&app, items, |block| {
            let fields: Vec<Option<Vec<RecordField>>> =
                block.iter().map(|checked| checked.explain.then(|| checked.request.record.clone())).collect();
            let requests = block.into_iter().map(|checked| checked.request).collect();
            let responses = runtime.block_on(app.engine.decide(&handle, &actor, requests));
            let responses = responses.into_iter().zip(fields);
            responses.map(|(response, fields)| Ok(view(&handle, response?, fields.as_deref()))).collect()
        }))
    })
    .await?
}

/// Makes one decision. Only a key and a person are looked up in the store: without them, nothing blocks.
pub(crate) async fn decide_one(
    app: Arc<App>,
    handle: Arc<PolicyHandle>,
    actor: String,
    request: DecisionRequest,
) -> Result<DecisionResponse, ProblemDetails> {
    let reads_store = request.key.is_some() || request.subject.is_some();
    let decided = async move { app.engine.decide(&handle, &actor, vec![request]).await };
    let mut responses = if reads_store { blocking_on(decided).await? } else { decided.await };
    Ok(responses.pop().ok_or_else(ProblemDetails::internal)??)
}

pub(crate) async fn reconstruct(request: AuthorizedRequest) -> ApiResult {
    let number = request.number("decision", "decision")?;
    let (app, handle, who) = (request.app.clone(), request.policy()?.clone(), request.grant()?.clone());
    blocking(move || {
        let entry = app.engine.log().entry(number)?.filter(|entry| entry.policy == handle.id);
        let event = entry.as_ref().map(|entry| replay::event(app.engine.log().as_ref(), entry)).transpose()?;
        let (Some(entry), Some(Event::Decided(decided))) = (entry, event) else {
            return Err(OutcomeError::Unknown(number).into());
        };
        let reported =
            Reported { outcomes: app.engine.outcomes_of(number)?, overridden: app.engine.override_of(number)? };
        app.engine.decision_read(&handle, &who, number)?;
        Ok(json(StatusCode::OK, &reconstruction(&app, &handle, &entry, decided, &reported)?))
    })
    .await?
}

/// What the log has about a decision after it.
struct Reported {
    outcomes: Vec<LogEntry>,
    overridden: Option<(LogEntry, Overridden)>,
}

fn reconstruction(
    app: &App,
    handle: &PolicyHandle,
    entry: &LogEntry,
    decided: Decided,
    Reported { outcomes, overridden }: &Reported,
) -> Result<Reconstruction, ProblemDetails> {
    let Decided { record, option, version, basis, reason, propensity, subject, archived, .. } = decided;
    let archived = archived.and_then(|_| handle.archive_file_of(entry.number)).map(|file| file.to_string());
    let erased = app.engine.erased_ms(subject).map(rarely_output::utc);
    let explanation = explain(handle, &record, (&option, version), (reason, propensity));
    let (rule, seed) = {
        let live = handle.live.lock();
        (views::VersionView::with_document(&live, live.version_of(version)?), live.state().registration.seed)
    };
    let number = entry.number;
    let mut outcome = None;
    for entry in outcomes {
        outcome = match replay::event(app.engine.log().as_ref(), entry)? {
            Event::Observed(observed) => Some(observed.outcome),
            Event::Corrected(corrected) => Some(corrected.outcome),
            _ => outcome,
        };
    }
    let how = format!(
        "Apply the events of the policy up to event {basis}, encode the record with the policy document, and let the rule of \
         version {version} decide. Random numbers come from ChaCha8 with seed {seed} and stream {number}. `rarely audit verify` \
         does this for every decision."
    );
    Ok(Reconstruction {
        record: views::record(&handle.live.lock(), version, &record),
        decision: DecisionView { decision: number, option, version, reason, propensity, explanation },
        basis,
        seed,
        stream: number,
        rule,
        event: EventView::new(entry),
        overridden: overridden.as_ref().map(|(entry, _)| EventView::new(entry)),
        outcomes: outcomes.iter().map(EventView::new).collect(),
        outcome: outcome.filter(|outcome| outcome.is_finite()),
        how,
        erased,
        archived,
    })
}
