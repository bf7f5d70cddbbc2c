//! The evidence about the rule in force, computed on request.

use axum::http::StatusCode;
use rarely_live::TimedReviewPoint;
use rarely_review::{Findings, ReviewJson, Verdict};
use serde::Serialize;
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;
use crate::views::{OptionCounts, json as value, option_counts};

/// The evidence about the rule in force.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvidenceView {
    /// The last event that it takes into account.
    basis: u64,
    /// The version in force.
    version: u64,
    /// `keep`, `change` or `cannot tell`.
    #[schema(value_type = String)]
    verdict: Verdict,
    /// The reasons for the verdict.
    reasons: Vec<String>,
    /// The whole review, as `rarely review --format json` prints it.
    #[schema(value_type = Object)]
    review: Json,
    /// Decisions and outcomes, by option.
    options: Vec<OptionCounts>,
    /// Options that may be best for many people but are hardly ever given.
    stuck_options: Vec<StuckOption>,
    /// What would settle an open question, by simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    remedy: Option<Json>,
    /// The state of the rule at each review. Its boundaries are implausible where the strain is above 1.
    #[schema(value_type = Vec<Object>)]
    points: Vec<TimedReviewPoint>,
}

/// An option that may be best for many people but is hardly ever given.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StuckOption {
    option: String,
    /// The share of recent people for whom it may be best.
    plausible_share: f64,
    /// The share of all outcomes that are from it.
    played_share: f64,
    /// What it means, and what to do.
    words: String,
}

pub(crate) async fn evidence(request: AuthorizedRequest) -> ApiResult {
    let (app, handle) = (request.app.clone(), request.policy()?.clone());
    // The semaphore is never closed, so this always gets a permit.
    let _permit = request.app.simulations.acquire().await;
    blocking(move || {
        let (version, options, points) = {
            let live = handle.live.lock();
            let points = live.state().reviews.points().to_vec();
            (live.version().number, option_counts(&live, app.engine.now_ms()), points)
        };
        let view = app.engine.evidence(&handle, |base, review, basis| {
            let findings = Findings::new(base.document, review);
            let stuck = findings.gaps.stuck.iter().map(|stuck| StuckOption {
                option: stuck.option.clone(),
                plausible_share: stuck.plausible_share,
                played_share: stuck.played_share,
                words: stuck.sentence.clone(),
            });
            EvidenceView {
                basis,
                version,
                verdict: findings.verdict.verdict,
                reasons: findings.verdict.reason_sentences(),
                stuck_options: stuck.collect(),
                remedy: findings.gaps.forecast.as_ref().map(|found| value(&found.forecast)),
                review: value(&ReviewJson::new(&findings)),
                options,
                points,
            }
        });
        Ok(json(StatusCode::OK, &view.map_err(ProblemDetails::from)?))
    })
    .await?
}
