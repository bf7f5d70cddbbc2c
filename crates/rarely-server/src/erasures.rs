//! Erasing people.

use axum::http::StatusCode;
use rarely_live::Engine;
use rarely_live::engine::Erasure;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::division::EraseRequest;
use crate::limits::{KEY_BYTES, check_text};
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::AuthorizedRequest;
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatisticsChoice {
    /// It stays in the sums.
    #[default]
    Keep,
    /// The sums are computed again.
    Forget,
}

/// What was erased.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ErasureView {
    /// The events that say so, one for each policy that decided about these people.
    pub(crate) events: Vec<u64>,
    /// The chain of each of these events, where policies are spread over several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chains: Vec<u64>,
    /// Decisions whose records cannot be read any more.
    pub(crate) decisions: u64,
    /// Outcomes and corrections that cannot be read any more.
    pub(crate) outcomes: u64,
    /// Whether what was left of the keys in free space is overwritten; otherwise the next start does it.
    pub(crate) scrubbed: bool,
}

impl Default for ErasureView {
    fn default() -> Self {
        Self { events: Vec::new(), chains: Vec::new(), decisions: 0, outcomes: 0, scrubbed: true }
    }
}

impl ErasureView {
    /// Adds what was erased in another chain.
    pub(crate) fn add(&mut self, chain: u64, theirs: Self) {
        self.chains.extend(theirs.events.iter().map(|_| chain));
        self.events.extend(theirs.events);
        self.decisions += theirs.decisions;
        self.outcomes += theirs.outcomes;
        self.scrubbed &= theirs.scrubbed;
    }
}

/// Erases people of whom this engine has records.
pub(crate) fn erase_here(engine: &Engine, request: &EraseRequest) -> Result<ErasureView, ProblemDetails> {
    let EraseRequest { actor, person, subjects, reason, statistics } = request;
    let erased = engine.erase((actor, person), subjects, reason, (*statistics).into())?;
    let Erasure { events, decisions, outcomes, scrubbed } = erased;
    Ok(ErasureView { events, chains: Vec::new(), decisions, outcomes, scrubbed })
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
    let who = request.grant()?;
    let erase = EraseRequest { actor: who.name.clone(), person: who.person_id(), subjects, reason, statistics };
    Ok(json(StatusCode::OK, &request.app.erase(erase).await?))
}
