//! What the evidence says now.

use axum::http::StatusCode;
use rarely_live::TimedReviewPoint;
use rarely_review::{Findings, ReviewJson, Verdict};
use serde::Serialize;
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::call::{Call, blocking};
use crate::policies::json;
use crate::problem::Problem;
use crate::route::Answered;
use crate::views::{OptionCounts, json as value, option_counts};

/// What the evidence says.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvidenceView {
    /// The last event that was looked at.
    basis: u64,
    /// The version in force.
    version: u64,
    /// keep, change, cannot tell.
    #[schema(value_type = String)]
    verdict: Verdict,
    /// Why not otherwise.
    reasons: Vec<String>,
    /// The whole review, as `rarely review --format json` prints it.
    #[schema(value_type = Object)]
    review: Json,
    /// How much happened, by option.
    options: Vec<OptionCounts>,
    /// Options that may be best for many and that nobody gets.
    stuck_options: Vec<StuckOption>,
    /// What would settle what is open, by simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    remedy: Option<Json>,
    /// How the rule stood at reviews: above a strain of 1 its boundaries are implausible.
    #[schema(value_type = Vec<Object>)]
    points: Vec<TimedReviewPoint>,
}

/// An option that may be best for many and that nobody gets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StuckOption {
    option: String,
    /// Share of recent people for whom it may be best.
    plausible_share: f64,
    /// Share of all outcomes that are of it.
    played_share: f64,
    /// What it means, and what to do.
    words: String,
}

pub(crate) async fn evidence(call: Call) -> Answered {
    let (app, handle) = (call.app.clone(), call.policy()?.clone());
    // It is never closed, so that waiting ends with a turn.
    let _turn = call.app.simulations.acquire().await;
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
        Ok(json(StatusCode::OK, &view.map_err(Problem::from)?))
    })
    .await?
}
