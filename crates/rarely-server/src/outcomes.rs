//! Outcomes of decisions made here, and of decisions made elsewhere.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use rarely_live::engine::{NewOutcome, PolicyHandle, RecordedOutcome};
use rarely_live::event::ExternalDecision;
use rarely_policy::{Encoder, FieldValue};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use crate::batch;
use crate::body::{self, BodyFormat};
use crate::erasures::check_subject;
use crate::limits::{BODY_BYTES, check_key, check_text};
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking, blocking_on};
use crate::route::ApiResult;

/// The outcome of a decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeReport {
    /// The number that `POST …/decisions` returned.
    decision: u64,
    /// The outcome, in the unit of the policy document.
    outcome: f64,
    /// The outcomes of the document's guard-rails, by column; required if it has some.
    #[serde(default)]
    guardrails: BTreeMap<String, f64>,
    /// Whether it replaces an outcome that was reported before.
    #[serde(default)]
    correction: bool,
    /// Why the outcome is corrected; required for a correction.
    #[serde(default)]
    reason: Option<String>,
}

/// A decision that was made elsewhere, with its outcome.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observation {
    /// The person's data: a value for every feature of the policy document.
    #[serde(deserialize_with = "body::fields_once")]
    #[schema(value_type = Object)]
    pub(crate) record: Map<String, Json>,
    /// The option that the person got.
    pub(crate) option: String,
    /// The outcome, in the unit of the policy document.
    pub(crate) outcome: f64,
    /// The outcomes of the document's guard-rails, by column; required if it has some.
    #[serde(default)]
    pub(crate) guardrails: BTreeMap<String, f64>,
    /// An idempotency key: a repeated request with the same key is recorded once.
    #[serde(default)]
    pub(crate) key: Option<String>,
    /// The probability with which the option was chosen, if it is known.
    #[serde(default)]
    pub(crate) propensity: Option<f64>,
    /// The person that it is about, by an identifier of yours: it is then encrypted with a key of its own, and can be erased.
    #[serde(default)]
    pub(crate) subject: Option<String>,
}

/// An outcome that is recorded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportedView {
    /// The event that records it.
    event: u64,
    /// Whether it was reported before.
    repeated: bool,
}

pub(crate) async fn outcomes(request: AuthorizedRequest) -> ApiResult {
    report(request, outcome).await
}

pub(crate) async fn observations(request: AuthorizedRequest) -> ApiResult {
    report(request, observation).await
}

fn outcome(_handle: &PolicyHandle, report: OutcomeReport) -> Result<NewOutcome, ProblemDetails> {
    let OutcomeReport { decision, outcome, guardrails, correction, reason } = report;
    if let Some(reason) = &reason {
        check_text("reason", reason)?;
        if !correction {
            return Err(ProblemDetails::wrong(
                "reason",
                "only a correction has a reason",
                "leave the reason out, or send `\"correction\": true`",
            ));
        }
    }
    let correction = correction.then(|| reason.unwrap_or_default());
    Ok(NewOutcome::OfDecision { decision, outcome: plain(outcome), guardrails: all_plain(guardrails), correction })
}

pub(crate) fn observation(handle: &PolicyHandle, observation: Observation) -> Result<NewOutcome, ProblemDetails> {
    let Observation { record, option, outcome, guardrails, key, propensity, subject } = observation;
    check_key(key.as_deref())?;
    check_subject(subject.as_deref())?;
    let edition = handle.edition();
    let (record, _) = edition.reader.read(record)?;
    let arm = edition.reader.option(&option).map_err(|error| ProblemDetails::from(error).with_field("option"))?;
    let option = edition.document.options()[arm.index()].clone();
    // The registered document needs no mention.
    let edition = Some(edition.version).filter(|version| *version > 1);
    if let Some(propensity) = propensity {
        Encoder::propensity(FieldValue::Number(propensity))
            .map_err(|error| ProblemDetails::from(error).with_field("propensity"))?;
    }
    Ok(NewOutcome::External {
        decision: ExternalDecision { key, record, option, propensity, edition, time_ms: None },
        outcome: plain(outcome),
        guardrails: all_plain(guardrails),
        subject,
    })
}

/// Turns −0 into 0, so that both are the same outcome.
fn plain(outcome: f64) -> f64 {
    outcome + 0.0
}

fn all_plain(mut outcomes: BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    for outcome in outcomes.values_mut() {
        *outcome = plain(*outcome);
    }
    outcomes
}

/// Records what `check` makes of the body, or of each line of a batch.
pub(crate) async fn report<T: DeserializeOwned + 'static>(
    mut request: AuthorizedRequest,
    check: impl Fn(&PolicyHandle, T) -> Result<NewOutcome, ProblemDetails> + Send + 'static,
) -> ApiResult {
    let format = request.format(&[BodyFormat::Json, BodyFormat::Lines])?;
    let bytes = request.bytes(BODY_BYTES).await?;
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    if format == BodyFormat::Json {
        let outcome = check(&handle, body::parse(&bytes)?)?;
        // The decision, or the key, is looked up in the store.
        let mut results = blocking_on(async move { app.engine.observe(&handle, &actor, vec![outcome]).await }).await?;
        let recorded = results.pop().ok_or_else(ProblemDetails::internal)??;
        return Ok(json(StatusCode::OK, &ReportedView::from(recorded)));
    }
    let runtime = Handle::current();
    let _turn = request.app.batch_turn().await;
    blocking(move || {
        let items = batch::read(&bytes, |report| check(&handle, report))?;
        Ok(batch::respond(&app, items, |block| {
            let results = runtime.block_on(app.engine.observe(&handle, &actor, block));
            results.into_iter().map(|result| Ok(ReportedView::from(result?))).collect()
        }))
    })
    .await?
}

impl From<RecordedOutcome> for ReportedView {
    fn from(RecordedOutcome { event, repeated }: RecordedOutcome) -> Self {
        Self { event, repeated }
    }
}
