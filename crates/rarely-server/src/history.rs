//! Decisions from before the policy was run here, with their outcomes and their own times.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rarely_live::engine::{NewOutcome, PolicyHandle};
use rarely_output::UtcInstant;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::body;
use crate::outcomes::{Observation, observation, report};
use crate::problem::ProblemDetails;
use crate::request::AuthorizedRequest;
use crate::route::ApiResult;

/// A decision from before the policy was run here, with its outcome.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PastDecision {
    /// When it was made, as ISO 8601 has it: `2024-03-01T09:30:00+01:00`. Without a zone it is UTC; a date is its midnight.
    time: String,
    /// The person's data: a value for every feature of the policy document.
    #[serde(deserialize_with = "body::fields_once")]
    #[schema(value_type = Object)]
    record: Map<String, Json>,
    /// The option that the person got.
    option: String,
    /// The outcome, in the unit of the policy document.
    outcome: f64,
    /// The outcomes of the document's guard-rails, by column; required if it has some.
    #[serde(default)]
    guardrails: BTreeMap<String, f64>,
    /// An idempotency key: a repeated request with the same key is recorded once.
    #[serde(default)]
    key: Option<String>,
    /// The probability with which the option was chosen, if it is known.
    #[serde(default)]
    propensity: Option<f64>,
    /// The person that it is about, by an identifier of yours: it is then encrypted with a key of its own, and can be erased.
    #[serde(default)]
    subject: Option<String>,
}

pub(crate) async fn import(request: AuthorizedRequest) -> ApiResult {
    // Lines that were not written yet cannot be asked when the last decision was.
    let last_ms = AtomicU64::new(0);
    report(request, move |handle, past| past_decision(handle, past, &last_ms)).await
}

fn past_decision(handle: &PolicyHandle, past: PastDecision, last_ms: &AtomicU64) -> Result<NewOutcome, ProblemDetails> {
    let PastDecision { time, record, option, outcome, guardrails, key, propensity, subject } = past;
    let time_ms = milliseconds(&time).ok_or_else(|| {
        let remedy = "write it as ISO 8601 has it, from 1970 on: 2024-03-01T09:30:00Z";
        ProblemDetails::wrong("time", format!("the time {time:?} cannot be read"), remedy)
    })?;
    let mut read = observation(handle, Observation { record, option, outcome, guardrails, key, propensity, subject })?;
    if last_ms.fetch_max(time_ms, Ordering::Relaxed) > time_ms {
        let problem = format!("{time} is before the line above, and history is learned in the order of its times");
        return Err(ProblemDetails::wrong("time", problem, "send the oldest decision first"));
    }
    if let NewOutcome::External { decision, .. } = &mut read {
        decision.time_ms = Some(time_ms);
    }
    Ok(read)
}

fn milliseconds(text: &str) -> Option<u64> {
    let UtcInstant { seconds, nanoseconds } = UtcInstant::parse(text.trim())?;
    u64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(u64::from(nanoseconds / 1_000_000))
}
