//! A candidate that decides beside the rule in force, and decisions that people override.

use std::fmt;
use std::str::FromStr;

use axum::http::StatusCode;
use rarely_live::{LivePolicy, Objection, ShadowRecord};
use rarely_output::utc;
use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::limits::check_text;
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

/// A candidate: one of a rule, a proposal and a version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShadowRequest {
    /// The rule, as a version or a proposal has it.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    rule: Option<Json>,
    /// The proposal whose rule it is.
    #[serde(default)]
    proposal: Option<u64>,
    /// The version whose rule it is.
    #[serde(default)]
    version: Option<u64>,
    /// Why it is watched.
    reason: String,
}

/// Where the rule of a candidate is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CandidateSource {
    /// The rule that a proposal has.
    Proposal(u64),
    /// The rule of a version.
    Version(u64),
}

impl CandidateSource {
    /// The rule.
    pub(crate) fn rule(self, live: &LivePolicy) -> Result<WrittenRule, Objection> {
        match self {
            Self::Proposal(number) => {
                let found = live.state().proposals.iter().find(|proposal| proposal.number == number);
                found.map(|proposal| proposal.rule.clone()).ok_or(Objection::NoProposal(number))
            }
            Self::Version(number) => live.version_of(number).map(|version| version.rule.clone()),
        }
    }
}

impl fmt::Display for CandidateSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proposal(number) => write!(formatter, "proposal {number}"),
            Self::Version(number) => write!(formatter, "version {number}"),
        }
    }
}

impl FromStr for CandidateSource {
    type Err = ProblemDetails;

    /// Reads what a form sends: the words that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, ProblemDetails> {
        let number = |kind: &str| text.strip_prefix(kind)?.trim().parse().ok();
        let proposal = number("proposal ").map(Self::Proposal);
        proposal.or_else(|| number("version ").map(Self::Version)).ok_or_else(|| {
            let words = format!("“{text}” names neither a proposal nor a version");
            ProblemDetails::wrong("candidate", words, "choose one from the list")
        })
    }
}

/// A candidate, and how often it decided otherwise.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShadowView {
    /// The event that started it.
    event: u64,
    /// When it started.
    since: String,
    /// Who started it.
    by: String,
    /// Why.
    reason: String,
    /// The candidate.
    #[schema(value_type = Object)]
    rule: Json,
    /// The candidate in words.
    words: Vec<String>,
    /// Decisions that it watched.
    decisions: u64,
    /// Decisions that it would have made otherwise.
    different: u64,
    /// `different` as a share of the decisions; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    different_share: Option<f64>,
    /// The same by options: what was decided, what it would have decided, and how often.
    pairs: Vec<ShadowPair>,
}

/// What was decided, and what a candidate would have decided.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShadowPair {
    decided: String,
    candidate: String,
    decisions: u64,
}

/// Another option than was decided.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverrideRequest {
    /// The option that the person gets instead.
    option: String,
    /// Why.
    reason: String,
}

/// An override that is recorded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OverrideView {
    /// The event that records it.
    event: u64,
    /// The decision.
    decision: u64,
    /// The option that the person gets.
    option: String,
}

impl ShadowView {
    pub(crate) fn new(live: &LivePolicy, shadow: &ShadowRecord) -> Self {
        let (decisions, different) = (shadow.decisions(), shadow.different());
        let pairs = shadow.pairs().map(|(decided, candidate, decisions)| ShadowPair {
            decided: decided.to_owned(),
            candidate: candidate.to_owned(),
            decisions,
        });
        Self {
            event: shadow.event,
            since: utc(shadow.time_ms),
            by: shadow.by.clone(),
            reason: shadow.reason.clone(),
            rule: serde_json::to_value(&shadow.rule).unwrap_or_default(),
            words: shadow.rule.words(live.document()),
            decisions,
            different,
            different_share: (decisions > 0).then(|| different as f64 / decisions as f64),
            pairs: pairs.collect(),
        }
    }
}

pub(crate) async fn shadow(request: AuthorizedRequest) -> ApiResult {
    let live = request.policy()?.live.lock();
    let shadow = live.shadow().ok_or(Objection::NoShadow)?;
    Ok(json(StatusCode::OK, &ShadowView::new(&live, shadow)))
}

pub(crate) async fn start_shadow(mut request: AuthorizedRequest) -> ApiResult {
    let ShadowRequest { rule, proposal, version, reason } = request.json().await?;
    check_text("reason", &reason)?;
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    let rule = {
        let live = handle.live.lock();
        match (rule, proposal, version) {
            (Some(rule), None, None) => serde_json::from_value::<WrittenRule>(rule)
                .map_err(|error| ProblemDetails::wrong("rule", error.to_string(), "write it as a version has it"))?,
            (None, Some(number), None) => CandidateSource::Proposal(number).rule(&live)?,
            (None, None, Some(number)) => CandidateSource::Version(number).rule(&live)?,
            _ => {
                let words = "name one candidate: a rule, a proposal or a version";
                return Err(ProblemDetails::wrong("rule", words, "leave out the others"));
            }
        }
    };
    blocking(move || {
        app.engine.start_shadow(&handle, &actor, rule, &reason)?;
        let live = handle.live.lock();
        let shadow = live.shadow().ok_or(Objection::NoShadow)?;
        Ok(json(StatusCode::CREATED, &ShadowView::new(&live, shadow)))
    })
    .await?
}

pub(crate) async fn end_shadow(request: AuthorizedRequest) -> ApiResult {
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    blocking(move || {
        let last = {
            let live = handle.live.lock();
            ShadowView::new(&live, live.shadow().ok_or(Objection::NoShadow)?)
        };
        app.engine.end_shadow(&handle, &actor, "ended by request")?;
        Ok(json(StatusCode::OK, &last))
    })
    .await?
}

pub(crate) async fn override_decision(mut request: AuthorizedRequest) -> ApiResult {
    let decision = request.number("decision", "decision")?;
    let OverrideRequest { option, reason } = request.json().await?;
    check_text("reason", &reason)?;
    let (app, handle, who) = (request.app.clone(), request.policy()?.clone(), request.grant()?.clone());
    blocking(move || {
        let event = app.engine.override_decision(&handle, &who, decision, &option, &reason)?;
        Ok(json(StatusCode::OK, &OverrideView { event, decision, option }))
    })
    .await?
}
