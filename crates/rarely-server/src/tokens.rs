//! Who may do what.

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use rarely_live::{Role, TokenGrant, TokenRecord};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{Call, blocking};
use crate::limits::{check_name, check_person, wrong, wrong_in_words};
use crate::policies::json;
use crate::problem::Problem;
use crate::route::Answered;

/// The longest that a token may live, in days: a hundred years.
const MOST_DAYS: f64 = 36_525.0;
/// Policies that one token may name.
const MOST_POLICIES: usize = 1000;

/// A token is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenRequest {
    /// Whose it is: signatures bear this name.
    name: String,
    /// decide, observe, read, review, admin.
    #[schema(value_type = Vec<String>)]
    roles: Vec<Role>,
    /// For which policies; all, if this is left out.
    #[serde(default)]
    policies: Option<Vec<String>>,
    /// After how many days it ends.
    #[serde(default)]
    expires: Option<f64>,
}

/// A token, which is shown this once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenMade {
    /// The token itself: only its digest is kept.
    token: String,
    #[serde(flatten)]
    kept: TokenView,
}

/// What is kept of a token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// Its public part.
    id: String,
    name: String,
    #[schema(value_type = Vec<String>)]
    roles: Vec<Role>,
    /// For which policies; all, if this is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<Vec<String>>,
    created_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_ms: Option<u64>,
}

/// All tokens that were ever made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenList {
    tokens: Vec<TokenView>,
}

impl From<&TokenRecord> for TokenView {
    fn from(TokenRecord { grant, created_ms, revoked_ms }: &TokenRecord) -> Self {
        Self {
            id: grant.id.clone(),
            name: grant.name.clone(),
            roles: grant.roles.clone(),
            policies: grant.policies.clone(),
            created_ms: *created_ms,
            expires_ms: grant.expires_ms,
            revoked_ms: *revoked_ms,
        }
    }
}

pub(crate) async fn create(mut call: Call) -> Answered {
    let request: TokenRequest = call.json().await?;
    let expires_ms = check(&request)?.map(|lives_ms| call.app.engine.now_ms().saturating_add(lives_ms));
    let mut random = [0; 40];
    getrandom::fill(&mut random)
        .map_err(|error| Problem::new(StatusCode::SERVICE_UNAVAILABLE, format!("no random numbers: {error}")))?;
    let TokenRequest { name, mut roles, policies, .. } = request;
    roles.sort_unstable();
    roles.dedup();
    let (token, grant) = TokenGrant::new(random, name, roles, policies, expires_ms);
    let (app, actor, id) = (call.app.clone(), call.actor().to_owned(), grant.id.clone());
    blocking(move || {
        app.engine.create_token(&actor, grant)?;
        let tokens = app.engine.tokens();
        let kept = tokens
            .get(&id)
            .map(TokenView::from)
            .ok_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the token does not show"))?;
        Ok(json(StatusCode::CREATED, &TokenMade { token, kept }))
    })
    .await?
}

/// How long the token is to live.
fn check(request: &TokenRequest) -> Result<Option<u64>, Problem> {
    check_person(&request.name).map_err(|message| wrong_in_words("name", &message))?;
    if request.roles.is_empty() {
        return Err(wrong(
            "roles",
            "a token without a role is good for nothing",
            "name decide, observe, read, review or admin",
        ));
    }
    if let Some(policies) = &request.policies {
        if policies.is_empty() || policies.len() > MOST_POLICIES {
            let detail = format!("the token names {} policies", policies.len());
            return Err(wrong("policies", detail, format!("name 1 to {MOST_POLICIES}, or leave it out for all")));
        }
        for (at, name) in policies.iter().enumerate() {
            check_name(name).map_err(|message| wrong_in_words(format!("policies[{at}]"), &message))?;
        }
    }
    let Some(days) = request.expires else { return Ok(None) };
    if !(days > 0.0 && days <= MOST_DAYS) {
        return Err(wrong(
            "expires",
            format!("{days} days"),
            format!("name a number of days above 0, up to {MOST_DAYS}"),
        ));
    }
    Ok(Some(milliseconds(days)))
}

/// Days as milliseconds, rounded up; a hundred years are far below 2⁵³.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0 and at most a hundred years")]
fn milliseconds(days: f64) -> u64 {
    (days * 86_400_000.0).ceil() as u64
}

pub(crate) async fn list(call: Call) -> Answered {
    let tokens = call.app.engine.tokens().iter().map(TokenView::from).collect();
    Ok(json(StatusCode::OK, &TokenList { tokens }))
}

pub(crate) async fn revoke(call: Call) -> Answered {
    let (app, actor, id) = (call.app.clone(), call.actor().to_owned(), call.parameter("id").to_owned());
    blocking(move || {
        app.engine.revoke_token(&actor, &id)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await?
}
