//! Errors of the libraries as HTTP problems: one table of statuses for the API and the pages.

use std::borrow::Cow;

use axum::http::StatusCode;
use rarely_error::{Action, Explain, Remedy};
use rarely_live::engine::{ChangeError, DecisionError, OutcomeError};
use rarely_live::replay::ReplayError;
use rarely_live::{Objection, PersonError, RecordError, TokenError};
use rarely_policy::{DocumentError, ValueError};
use rarely_review::ReviewError;
use rarely_store::StoreError;

use crate::limits::NameError;
use crate::openid::OpenIdError;
use crate::problem::ProblemDetails;

/// Any error that a request can cause.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Decide(#[from] DecisionError),
    #[error(transparent)]
    Outcome(#[from] OutcomeError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    OpenId(#[from] OpenIdError),
}

impl From<Objection> for ServiceError {
    fn from(error: Objection) -> Self {
        Self::Change(error.into())
    }
}

impl From<DocumentError> for ServiceError {
    fn from(error: DocumentError) -> Self {
        Self::Change(error.into())
    }
}

impl From<ReviewError> for ServiceError {
    fn from(error: ReviewError) -> Self {
        Self::Change(error.into())
    }
}

/// The HTTP status of an error.
pub(crate) fn status_of(error: &ServiceError) -> StatusCode {
    match error {
        ServiceError::OpenId(OpenIdError::NoRole { .. }) => StatusCode::FORBIDDEN,
        ServiceError::Token(_) | ServiceError::OpenId(_) => StatusCode::UNAUTHORIZED,
        ServiceError::Change(
            ChangeError::Objection(Objection::NoProposal(_) | Objection::NoDecision(_) | Objection::NoShadow)
            | ChangeError::NoToken(_)
            | ChangeError::NoSubject
            | ChangeError::NoPersonKey(_),
        )
        | ServiceError::Outcome(OutcomeError::Unknown(_)) => StatusCode::NOT_FOUND,
        ServiceError::Outcome(OutcomeError::Erased | OutcomeError::Archived { .. })
        | ServiceError::Change(ChangeError::Objection(Objection::Erased(_) | Objection::Archived { .. })) => {
            StatusCode::GONE
        }
        ServiceError::Change(
            ChangeError::Objection(
                Objection::NoVersion(_)
                | Objection::SignatureIncomplete(_)
                | Objection::UnfitCandidate { .. }
                | Objection::NoOption { .. }
                | Objection::SameOption { .. },
            )
            | ChangeError::Person(PersonError::Empty { .. } | PersonError::Invisible { .. })
            | ChangeError::Document(_)
            | ChangeError::NoNoise
            | ChangeError::OnlyReviewed(_),
        )
        | ServiceError::Outcome(
            OutcomeError::Value(_)
            | OutcomeError::Guardrails(_)
            | OutcomeError::NoReason(_)
            | OutcomeError::History(Objection::FutureHistory),
        )
        | ServiceError::Record(_)
        | ServiceError::Value(_)
        | ServiceError::Name(_)
        | ServiceError::Store(StoreError::Proof { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
        ServiceError::Change(
            ChangeError::Objection(_)
            | ChangeError::NameTaken(_)
            | ChangeError::LastAdmin(_)
            | ChangeError::NoSigningKey
            | ChangeError::ArchivedStatistics(_)
            | ChangeError::Person(_)
            | ChangeError::PersonKeyTaken(_)
            | ChangeError::HasKey(_)
            | ChangeError::Review(_),
        )
        | ServiceError::Decide(DecisionError::KeyTaken { .. })
        | ServiceError::Outcome(
            OutcomeError::Differs { .. }
            | OutcomeError::NothingToCorrect(_)
            | OutcomeError::KeyTaken { .. }
            | OutcomeError::History(_),
        ) => StatusCode::CONFLICT,
        ServiceError::Change(ChangeError::Store(_) | ChangeError::Busy | ChangeError::Fault(_))
        | ServiceError::Decide(
            DecisionError::Amended | DecisionError::Erasing | DecisionError::Store(_) | DecisionError::Replay(_),
        )
        | ServiceError::Outcome(OutcomeError::Store(_) | OutcomeError::Replay(_))
        | ServiceError::Store(_)
        | ServiceError::Replay(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The field of the body, or the parameter, that an error is about.
fn field_of(error: &ServiceError) -> Option<Cow<'_, str>> {
    let name = match error {
        ServiceError::Change(ChangeError::Objection(Objection::NoProposal(_))) => "number",
        ServiceError::Change(ChangeError::Objection(Objection::NoVersion(_))) => "to",
        ServiceError::Change(ChangeError::Objection(Objection::SignatureIncomplete(field))) => field,
        ServiceError::Change(
            ChangeError::Document(_)
            | ChangeError::Objection(Objection::Amendment { .. })
            | ChangeError::NameTaken(_)
            | ChangeError::NoNoise
            | ChangeError::OnlyReviewed(_),
        ) => "document",
        ServiceError::Change(ChangeError::NoToken(_) | ChangeError::LastAdmin(_) | ChangeError::NoPersonKey(_)) => "id",
        ServiceError::Change(ChangeError::Person(error)) => error.field(),
        ServiceError::Change(ChangeError::PersonKeyTaken(_))
        | ServiceError::Decide(DecisionError::KeyTaken { .. })
        | ServiceError::Outcome(OutcomeError::KeyTaken { .. }) => "key",
        ServiceError::Change(ChangeError::NoSubject) => "subjects",
        ServiceError::Outcome(OutcomeError::Unknown(_) | OutcomeError::Erased | OutcomeError::Archived { .. }) => {
            "decision"
        }
        ServiceError::Outcome(OutcomeError::NoReason(_)) => "reason",
        ServiceError::Outcome(OutcomeError::History(_)) => "time",
        ServiceError::Outcome(OutcomeError::Guardrails(_)) => "guardrails",
        ServiceError::Outcome(
            OutcomeError::Differs { .. } | OutcomeError::NothingToCorrect(_) | OutcomeError::Value(_),
        ) => "outcome",
        ServiceError::Record(error) => {
            return Some(error.column().map_or("record".into(), |column| format!("record.{column}").into()));
        }
        _ => return None,
    };
    Some(name.into())
}

impl Explain for ServiceError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Token(error) => error.remedy(),
            Self::Change(error) => error.remedy(),
            Self::Decide(error) => error.remedy(),
            Self::Outcome(error) => error.remedy(),
            Self::Record(error) => error.remedy(),
            Self::Value(error) => error.remedy(),
            Self::Name(error) => error.remedy(),
            Self::Store(error) => error.remedy(),
            Self::Replay(error) => error.remedy(),
            Self::OpenId(error) => error.remedy(),
        }
    }
}

/// What the service calls an action: in the API, and on the pages.
fn words_of(action: Action) -> Option<(&'static str, &'static str)> {
    Some(match action {
        Action::VerifyLog => ("run `rarely audit verify`", "run `rarely audit verify`"),
        Action::ListProposals => {
            ("`GET …/proposals` lists the proposals", "the page of the policy lists its proposals")
        }
        Action::ListVersions => ("`GET …/versions` lists the versions", "the page of the policy lists its versions"),
        Action::RequestReview => ("request a review with `POST …/review`", "review the policy on its page"),
        Action::ResumePolicy => ("resume the policy with `POST …/resume`", "resume the policy on its page"),
        Action::RequestDecision => ("`POST …/decisions`", "the decision request"),
        Action::CorrectOutcome => {
            ("send this outcome with `\"correction\": true` and a `\"reason\"`", "report this outcome as a correction")
        }
        Action::ReportOutcome => ("send the outcome without `\"correction\"`", "report it as a first outcome"),
        Action::CreateToken => {
            ("ask the administrator of the service for one", "ask the administrator of the service for one")
        }
        _ => return None,
    })
}

/// Who reads about an error, and so which words it uses for actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A program: remedies name routes.
    Api,
    /// A person: remedies name what the pages offer.
    Page,
}

impl<E: Into<ServiceError>> From<E> for ProblemDetails {
    fn from(error: E) -> Self {
        problem(&error.into(), Audience::Api)
    }
}

/// An error as a problem.
pub(crate) fn problem(error: &ServiceError, audience: Audience) -> ProblemDetails {
    let status = status_of(error);
    let mut problem = ProblemDetails::new(status, error.to_string());
    if let Some(field) = field_of(error) {
        problem = problem.with_field(field);
    }
    if let Some(remedy) = error.remedy() {
        let words = |action| {
            words_of(action).map(|(route, page)| match audience {
                Audience::Api => route,
                Audience::Page => page,
            })
        };
        problem = problem.with_remedy(remedy.worded(words));
        if let Some(topic) = remedy.topic() {
            problem = problem.with_topic(topic);
        }
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        if problem.remedy().is_none() {
            problem = problem.with_remedy("send the request again; nothing was changed");
        }
        problem = problem.with_retry_after(1);
    }
    problem
}
