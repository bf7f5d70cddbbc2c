//! Erasing people.

use axum::http::StatusCode;
use rarely_live::engine::{ErasedStatistics, Erasure};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits::{KEY_BYTES, check_text};
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

/// People who are erased.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErasureRequest {
    /// The people, each as decision requests named the person in `subject`. All of them or none are erased.
    subjects: Vec<String>,
    /// Why. The log keeps it for good, so it must not name anybody.
    reason: String,
    /// What becomes of what was learned from them: `keep` leaves it in the sums, `forget` computes the sums again without it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    statistics: StatisticsChoice,
}

/// What becomes of the statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatisticsChoice {
    /// It stays in the sums.
    #[default]
    Keep,
    /// The sums are computed again.
    Forget,
}

/// What was erased.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasureView {
    /// The events that say so, one for each policy that decided about these people.
    events: Vec<u64>,
    /// Decisions whose records cannot be read any more.
    decisions: u64,
    /// Outcomes and corrections that cannot be read any more.
    outcomes: u64,
    /// Whether what was left of the keys in free space is overwritten; otherwise the next start does it.
    scrubbed: bool,
}

impl From<StatisticsChoice> for ErasedStatistics {
    fn from(choice: StatisticsChoice) -> Self {
        match choice {
            StatisticsChoice::Keep => Self::Keep,
            StatisticsChoice::Forget => Self::Forget,
        }
    }
}

/// Checks how a person is named.
pub(crate) fn check_subject(subject: Option<&str>) -> Result<(), ProblemDetails> {
    match subject.map(str::len) {
        Some(bytes) if bytes == 0 || bytes > KEY_BYTES => Err(ProblemDetails::wrong(
            "subject",
            format!("the subject has {bytes} bytes"),
            format!("use 1 to {KEY_BYTES} bytes, or leave the subject out"),
        )),
        _ => Ok(()),
    }
}

pub(crate) async fn erase(mut request: AuthorizedRequest) -> ApiResult {
    let ErasureRequest { subjects, reason, statistics } = request.json().await?;
    check_text("reason", &reason)?;
    subjects.iter().try_for_each(|subject| check_subject(Some(subject)))?;
    let (app, who) = (request.app.clone(), request.grant()?.clone());
    blocking(move || {
        let erased = app.engine.erase((&who.name, &who.person_id()), &subjects, &reason, statistics.into())?;
        let Erasure { events, decisions, outcomes, scrubbed } = erased;
        Ok(json(StatusCode::OK, &ErasureView { events, decisions, outcomes, scrubbed }))
    })
    .await?
}
