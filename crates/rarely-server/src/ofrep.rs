//! The OpenFeature Remote Evaluation Protocol: a policy as a flag, its options as the variants. Single evaluations only: a bulk
//! evaluation would decide for policies that nobody asked about.

use axum::http::StatusCode;
use axum::response::Response;
use rarely_core::Reason;
use rarely_live::Role;
use rarely_live::engine::{DecisionResponse, PolicyHandle};
use rarely_store::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::body::{self, BodyFormat};
use crate::decisions::{decide_one, request_for};
use crate::limits::BODY_BYTES;
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::AuthorizedRequest;
use crate::route::ApiResult;

/// The part of a context that names a version.
const VERSION: &str = "policyVersion";

/// A request to evaluate a flag.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Evaluation {
    /// The features of the policy, and `targetingKey`, which says who the person is. The same person with the same features gets the same
    /// decision as long as a version is in force. Without it every evaluation is a decision of its own. `policyVersion` names a version whose
    /// rule decides, unless the policy has a feature of that name.
    #[serde(default, deserialize_with = "body::fields_once")]
    #[schema(value_type = Object)]
    context: Map<String, Json>,
}

/// The option that a person gets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Evaluated {
    /// The policy.
    key: String,
    /// `TARGETING_MATCH` if the rule decided, `SPLIT` if the option was drawn.
    reason: &'static str,
    /// The option.
    variant: String,
    /// The option.
    value: String,
    metadata: EvaluationMetadata,
}

/// What else there is to know of a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvaluationMetadata {
    /// The number of the decision, with which its outcome is reported.
    decision: u64,
    /// The version that decided.
    version: u64,
    /// The probability with which the option was chosen.
    propensity: f64,
    /// Why this option.
    #[serde(rename = "decidedBy")]
    decided_by: String,
}

/// Why a flag was not evaluated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvaluationFailure {
    key: String,
    #[serde(rename = "errorCode")]
    error_code: &'static str,
    #[serde(rename = "errorDetails")]
    error_details: String,
}

pub(crate) async fn evaluate(mut request: AuthorizedRequest) -> ApiResult {
    let name = request.parameter("name").to_owned();
    let failure = |status, code, problem: &ProblemDetails| failure(&name, status, code, problem);
    let handle = match request.app.policy(request.grant()?, Role::Decide, &name) {
        Ok(handle) => handle,
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => {
            return Ok(failure(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND", &problem));
        }
        Err(problem) => return Err(problem),
    };
    request.format(&[BodyFormat::Json])?;
    let bytes = request.bytes(BODY_BYTES).await?;
    let mut context = match body::parse::<Evaluation>(&bytes) {
        Ok(evaluation) => evaluation.context,
        Err(problem) => return Ok(failure(StatusCode::BAD_REQUEST, "PARSE_ERROR", &problem)),
    };
    let person = context.remove("targetingKey");
    let asked = named_version(&handle, &mut context)
        .and_then(|version| request_for(&handle, version, |edition| Ok(edition.request(None, context)?)));
    let mut asked = match asked {
        Ok(asked) => asked,
        Err(problem) => return Ok(failure(StatusCode::BAD_REQUEST, "INVALID_CONTEXT", &problem)),
    };
    asked.key = match person {
        Some(Json::String(person)) => {
            asked.subject = Some(person.clone()).filter(|person| !person.is_empty());
            let record = serde_json::to_string(&asked.record).unwrap_or_default();
            let pinned = asked.pinned.as_ref().map(|pinned| format!("pinned to {}", pinned.version));
            let version = pinned.unwrap_or_else(|| handle.decider().version.to_string());
            Some(format!("ofrep {}", Hash::of(format!("{version} {} {person} {record}", person.len()).as_bytes())))
        }
        None | Some(Json::Null) => None,
        Some(_) => {
            let problem = ProblemDetails::wrong("targetingKey", "targetingKey is not a text", "send a text");
            return Ok(failure(StatusCode::BAD_REQUEST, "INVALID_CONTEXT", &problem));
        }
    };
    let (app, actor) = (request.app.clone(), request.actor().to_owned());
    let DecisionResponse { decision, option, version, reason, propensity } =
        decide_one(app, handle, actor, asked).await?;
    let how = if reason == Reason::Policy { "TARGETING_MATCH" } else { "SPLIT" };
    let metadata = EvaluationMetadata { decision, version, propensity, decided_by: reason.to_string() };
    Ok(json(StatusCode::OK, &Evaluated { key: name, reason: how, variant: option.clone(), value: option, metadata }))
}

/// The version that the context names, unless the policy has a feature of that name.
fn named_version(handle: &PolicyHandle, context: &mut Map<String, Json>) -> Result<Option<u64>, ProblemDetails> {
    if handle.edition().reader.encoder().feature_columns().iter().any(|column| column == VERSION) {
        return Ok(None);
    }
    let wrong = || ProblemDetails::wrong(VERSION, format!("{VERSION} is not a version"), "send a whole number from 1");
    match context.remove(VERSION) {
        None | Some(Json::Null) => Ok(None),
        Some(version) => version.as_u64().map(Some).ok_or_else(wrong),
    }
}

fn failure(key: &str, status: StatusCode, error_code: &'static str, problem: &ProblemDetails) -> Response {
    let error_details = match problem.remedy() {
        Some(remedy) => format!("{}. {remedy}", problem.detail()),
        None => problem.detail().to_owned(),
    };
    json(status, &EvaluationFailure { key: key.to_owned(), error_code, error_details })
}
