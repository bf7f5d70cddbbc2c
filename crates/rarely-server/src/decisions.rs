//! Decisions: asked for, and looked at again.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use rarely_core::Reason;
use rarely_live::RecordField;
use rarely_live::engine::{DecisionRequest, DecisionResponse, PolicyHandle};
use rarely_live::event::{Decided, Event};
use rarely_live::replay;
use rarely_store::LogEntry;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::batch;
use crate::body::{self, Written};
use crate::call::{Call, blocking};
use crate::explain::{Explanation, explain};
use crate::limits::{BODY_BYTES, check_key};
use crate::policies::json;
use crate::problem::Problem;
use crate::refusals::unavailable;
use crate::route::Answered;
use crate::views;

/// Which option is a person to get?
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// What is known of the person: every feature of the policy document. What the document does not name is neither used nor kept.
    #[schema(value_type = Object)]
    record: Map<String, Json>,
    /// A name for the request: the same name again gets the same answer.
    #[serde(default)]
    key: Option<String>,
    /// Whether to say why.
    #[serde(default)]
    explain: bool,
}

/// A decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionView {
    /// Its number.
    decision: u64,
    /// The option.
    option: String,
    /// The version of the policy.
    version: u64,
    /// Why this option: policy, pilot or equipoise.
    #[schema(value_type = String)]
    reason: Reason,
    /// With what probability.
    propensity: f64,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
}

/// Everything needed to reconstruct a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reconstruction {
    #[serde(flatten)]
    decision: DecisionView,
    /// What was known of the person.
    #[schema(value_type = Object)]
    record: BTreeMap<String, Json>,
    /// The last event that was known when it was decided.
    basis: u64,
    /// From which, with the decision's number as stream, it was drawn.
    seed: u64,
    /// The stream of random numbers.
    stream: u64,
    /// The version that decided, with its rule in words and its policy document.
    rule: views::VersionView,
    /// The event as the log keeps it.
    event: EventView,
    /// The event that reported its outcome, then those that corrected it.
    outcomes: Vec<EventView>,
    /// The outcome that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<f64>,
    /// How to recompute it.
    how: String,
}

/// An event as the log keeps it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventView {
    number: u64,
    time_ms: u64,
    actor: String,
    kind: String,
    /// What happened.
    #[schema(value_type = Object)]
    body: Json,
    /// SHA-256 of all this and of the hash before.
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

/// An ask that was understood.
struct Understood {
    ask: DecisionRequest,
    explain: bool,
}

fn understand(handle: &PolicyHandle, asked: Asked) -> Result<Understood, Problem> {
    check_key(asked.key.as_deref())?;
    let (record, context) = handle.reader.read(asked.record)?;
    Ok(Understood { ask: DecisionRequest { key: asked.key, record, context }, explain: asked.explain })
}

fn view(handle: &PolicyHandle, answer: DecisionResponse, explained: Option<&[RecordField]>) -> DecisionView {
    let DecisionResponse { decision, option, version, reason, propensity } = answer;
    let explanation = explained.and_then(|fields| explain(handle, fields, (&option, version), (reason, propensity)));
    DecisionView { decision, option, version, reason, propensity, explanation }
}

pub(crate) async fn decide(mut call: Call) -> Answered {
    let written = call.written(&[Written::Json, Written::Lines])?;
    let bytes = call.bytes(BODY_BYTES).await?;
    let (app, handle) = (call.app.clone(), call.policy()?.clone());
    if written == Written::Json {
        let Understood { ask, explain } = understand(&handle, body::parse(&bytes)?)?;
        let fields = explain.then(|| ask.record.clone());
        let mut answers = app.engine.decide(&handle, call.actor(), vec![ask]).await;
        let answer = answers.pop().ok_or_else(|| unavailable("there is no answer"))??;
        return Ok(json(StatusCode::OK, &view(&handle, answer, fields.as_deref())));
    }
    let (actor, runtime) = (call.actor().to_owned(), tokio::runtime::Handle::current());
    blocking(move || {
        let asks = batch::read(&bytes, |asked| understand(&handle, asked))?;
        Ok(batch::answer(asks, |block| {
            let fields: Vec<Option<Vec<RecordField>>> =
                block.iter().map(|understood| understood.explain.then(|| understood.ask.record.clone())).collect();
            let asks = block.into_iter().map(|understood| understood.ask).collect();
            let answers = runtime.block_on(app.engine.decide(&handle, &actor, asks));
            let answers = answers.into_iter().zip(fields);
            answers.map(|(answer, fields)| Ok(view(&handle, answer?, fields.as_deref()))).collect()
        }))
    })
    .await?
}

pub(crate) async fn reconstruct(call: Call) -> Answered {
    let number = call.number("decision", "decision")?;
    let (app, handle) = (call.app.clone(), call.policy()?.clone());
    blocking(move || {
        let entry = app.engine.log().entry(number)?.filter(|entry| entry.policy == handle.id);
        let event = entry.as_ref().map(replay::event).transpose()?;
        let (Some(entry), Some(Event::Decided(decided))) = (entry, event) else {
            return Err(Problem::new(StatusCode::NOT_FOUND, format!("the policy has made no decision {number}"))
                .field("decision")
                .remedy("use the number that `POST …/decisions` answered"));
        };
        let outcomes = app.engine.outcomes_of(number)?;
        Ok(json(StatusCode::OK, &reconstruction(&handle, &entry, decided, &outcomes)?))
    })
    .await?
}

fn reconstruction(
    handle: &PolicyHandle,
    entry: &LogEntry,
    decided: Decided,
    outcomes: &[LogEntry],
) -> Result<Reconstruction, Problem> {
    let Decided { record, option, version, basis, reason, propensity, .. } = decided;
    let explanation = explain(handle, &record, (&option, version), (reason, propensity));
    let (rule, seed) = {
        let live = handle.live.lock();
        (views::VersionView::with_document(&live, live.version_of(version)?), live.state().registration.seed)
    };
    let number = entry.number;
    let mut outcome = None;
    for entry in outcomes {
        outcome = match replay::event(entry)? {
            Event::Observed(observed) => Some(observed.outcome),
            Event::Corrected(corrected) => Some(corrected.outcome),
            _ => outcome,
        };
    }
    let how = format!(
        "Take in the policy's events up to {basis}, encode the record with the document, and let the rule of version {version} \
         decide; where lots are drawn, with the generator ChaCha8 of seed {seed} and stream {number}. `rarely audit verify` does \
         this for every decision."
    );
    Ok(Reconstruction {
        record: views::record(handle, &record),
        decision: DecisionView { decision: number, option, version, reason, propensity, explanation },
        basis,
        seed,
        stream: number,
        rule,
        event: EventView::new(entry),
        outcomes: outcomes.iter().map(EventView::new).collect(),
        outcome,
        how,
    })
}
