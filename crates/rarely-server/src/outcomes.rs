//! Outcomes of our decisions, and of decisions taken elsewhere.

use axum::http::StatusCode;
use rarely_live::engine::{NewOutcome, PolicyHandle, RecordedOutcome};
use rarely_live::event::ExternalDecision;
use rarely_policy::{Encoder, FieldValue};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::batch;
use crate::body::{self, Written};
use crate::call::{Call, blocking};
use crate::limits::{BODY_BYTES, check_key, check_text, wrong, wrong_in_words};
use crate::policies::json;
use crate::problem::Problem;
use crate::refusals::unavailable;
use crate::route::Answered;

/// How one of our decisions went.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeReport {
    /// The number that `POST …/decisions` answered.
    decision: u64,
    /// The outcome, in the document's units.
    outcome: f64,
    /// Whether it replaces what was reported before.
    #[serde(default)]
    correction: bool,
    /// Why it is corrected.
    #[serde(default)]
    reason: Option<String>,
}

/// How a decision went that was taken elsewhere.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observation {
    /// What was known of the person: every feature of the policy document.
    #[schema(value_type = Object)]
    record: Map<String, Json>,
    /// The option that was given.
    option: String,
    /// The outcome, in the document's units.
    outcome: f64,
    /// A name for the request: the same name again is taken in once.
    #[serde(default)]
    key: Option<String>,
    /// With what probability the option was given, if that is known.
    #[serde(default)]
    propensity: Option<f64>,
}

/// It was taken in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportedView {
    /// The event that keeps it.
    event: u64,
    /// Whether it had been reported before.
    repeated: bool,
}

pub(crate) async fn outcomes(call: Call) -> Answered {
    report(call, outcome).await
}

pub(crate) async fn observations(call: Call) -> Answered {
    report(call, observation).await
}

fn outcome(_handle: &PolicyHandle, report: OutcomeReport) -> Result<NewOutcome, Problem> {
    let OutcomeReport { decision, outcome, correction, reason } = report;
    if let Some(reason) = &reason {
        check_text("reason", reason)?;
        if !correction {
            return Err(wrong("reason", "a reason is for corrections", "leave it out, or send \"correction\": true"));
        }
    }
    Ok(NewOutcome::OfDecision { decision, outcome: plain(outcome), correction: correction.then_some(reason) })
}

fn observation(handle: &PolicyHandle, observation: Observation) -> Result<NewOutcome, Problem> {
    let Observation { record, option, outcome, key, propensity } = observation;
    check_key(key.as_deref())?;
    let (record, _) = handle.reader.read(record)?;
    let arm = handle.reader.option(&option).map_err(|error| wrong_in_words("option", &error.to_string()))?;
    let option = handle.document.options()[arm.index()].clone();
    if let Some(propensity) = propensity {
        Encoder::propensity(FieldValue::Number(propensity))
            .map_err(|error| wrong_in_words("propensity", &error.to_string()))?;
    }
    Ok(NewOutcome::External { decision: ExternalDecision { key, record, option, propensity }, outcome: plain(outcome) })
}

/// Zero has one sign, so that −0 sent again as 0 is the same outcome.
fn plain(outcome: f64) -> f64 {
    outcome + 0.0
}

async fn report<T: DeserializeOwned + 'static>(
    mut call: Call,
    understand: fn(&PolicyHandle, T) -> Result<NewOutcome, Problem>,
) -> Answered {
    let written = call.written(&[Written::Json, Written::Lines])?;
    let bytes = call.bytes(BODY_BYTES).await?;
    let (app, handle) = (call.app.clone(), call.policy()?.clone());
    if written == Written::Json {
        let report = understand(&handle, body::parse(&bytes)?)?;
        let mut results = app.engine.observe(&handle, call.actor(), vec![report]).await;
        let reported = results.pop().ok_or_else(|| unavailable("there is no answer"))??;
        return Ok(json(StatusCode::OK, &ReportedView::from(reported)));
    }
    let (actor, runtime) = (call.actor().to_owned(), tokio::runtime::Handle::current());
    blocking(move || {
        let reports = batch::read(&bytes, |report| understand(&handle, report))?;
        Ok(batch::answer(reports, |block| {
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
