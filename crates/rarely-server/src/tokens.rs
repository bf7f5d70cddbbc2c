//! Tokens: creating, listing and revoking them.

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use rarely_live::{Role, TokenGrant, TokenRecord};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits::{check_name, check_owner, check_person};
use crate::page::ListPart;
use crate::policies::{json, random_bytes};
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

/// The longest lifetime of a token, in days: a hundred years.
const MOST_DAYS: f64 = 36_525.0;
/// Policies that one token can name.
const MOST_POLICIES: usize = 1000;

/// A token to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenRequest {
    /// The name of its owner, as signatures show it.
    name: String,
    /// The id of its owner: all tokens of one person have the same. Derived from the name if left out.
    #[serde(default)]
    person: Option<String>,
    /// Any of `decide`, `observe`, `read`, `auditor`, `review` and `admin`.
    #[schema(value_type = Vec<String>)]
    roles: Vec<Role>,
    /// The policies that it gives access to; all if left out.
    #[serde(default)]
    policies: Option<Vec<String>>,
    /// After how many days it expires; never if left out.
    #[serde(default)]
    expires: Option<f64>,
}

/// A new token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenMade {
    /// The token itself. It is not shown again: only its digest is stored.
    token: String,
    #[serde(flatten)]
    kept: TokenView,
}

/// A token without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// The public part of the token.
    id: String,
    name: String,
    /// The id of its owner.
    person: String,
    #[schema(value_type = Vec<String>)]
    roles: Vec<Role>,
    /// The policies that it gives access to; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<Vec<String>>,
    created_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_ms: Option<u64>,
}

/// All tokens, including revoked and expired ones.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenList {
    tokens: Vec<TokenView>,
    /// What `after` of the next part is, if the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl From<&TokenRecord> for TokenView {
    fn from(TokenRecord { grant, created_ms, revoked_ms }: &TokenRecord) -> Self {
        Self {
            id: grant.id.clone(),
            name: grant.name.clone(),
            person: grant.person_id(),
            roles: grant.roles.clone(),
            policies: grant.policies.clone(),
            created_ms: *created_ms,
            expires_ms: grant.expires_ms,
            revoked_ms: *revoked_ms,
        }
    }
}

pub(crate) async fn create(mut request: AuthorizedRequest) -> ApiResult {
    let wanted: TokenRequest = request.json().await?;
    let expires_ms = check(&wanted)?.map(|lives_ms| request.app.engine.now_ms().saturating_add(lives_ms));
    let mut random = [0; 40];
    random_bytes(&mut random)?;
    let TokenRequest { name, person, mut roles, policies, .. } = wanted;
    roles.sort_unstable();
    roles.dedup();
    let (token, mut grant) = TokenGrant::new(random, name, roles, policies, expires_ms);
    grant.person = person;
    let (app, actor, id) = (request.app.clone(), request.actor().to_owned(), grant.id.clone());
    let (act, made) = blocking(move || {
        let act = app.engine.create_token(&actor, grant)?;
        let tokens = app.engine.tokens();
        let kept = tokens.get(&id).map(TokenView::from).ok_or_else(ProblemDetails::internal)?;
        Ok::<_, ProblemDetails>((act, json(StatusCode::CREATED, &TokenMade { token, kept })))
    })
    .await??;
    request.app.settle(act).await;
    Ok(made)
}

/// Checks a request. Returns the lifetime of the token in milliseconds.
fn check(request: &TokenRequest) -> Result<Option<u64>, ProblemDetails> {
    check_owner(&request.name).map_err(|error| ProblemDetails::from(error).with_field("name"))?;
    check_person(request.person.as_deref()).map_err(|error| ProblemDetails::from(error).with_field("person"))?;
    if request.roles.is_empty() {
        let remedy = format!("give it one or more of {}", Role::ALL.map(Role::name).join(", "));
        return Err(ProblemDetails::wrong("roles", "the token has no role", remedy));
    }
    if let Some(policies) = &request.policies {
        if policies.is_empty() || policies.len() > MOST_POLICIES {
            let detail = format!("the token names {} policies", policies.len());
            let remedy = format!("name 1 to {MOST_POLICIES} policies, or leave the field out for all");
            return Err(ProblemDetails::wrong("policies", detail, remedy));
        }
        for (at, name) in policies.iter().enumerate() {
            check_name(name).map_err(|error| ProblemDetails::from(error).with_field(format!("policies[{at}]")))?;
        }
    }
    let Some(days) = request.expires else { return Ok(None) };
    if !(days > 0.0 && days <= MOST_DAYS) {
        return Err(ProblemDetails::wrong(
            "expires",
            format!("a token cannot expire after {days} days"),
            format!("use a number of days above 0 and at most {MOST_DAYS}"),
        ));
    }
    Ok(Some(milliseconds(days)))
}

/// Days in milliseconds, rounded up. A hundred years are far below 2⁵³.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0 and at most a hundred years")]
fn milliseconds(days: f64) -> u64 {
    (days * 86_400_000.0).ceil() as u64
}

pub(crate) async fn list(request: AuthorizedRequest) -> ApiResult {
    let tokens = request.app.engine.tokens();
    let ListPart { items, next } = ListPart::of(&request, tokens.iter(), |record| record.grant.id.clone())?;
    Ok(json(StatusCode::OK, &TokenList { tokens: items.into_iter().map(TokenView::from).collect(), next }))
}

pub(crate) async fn revoke(request: AuthorizedRequest) -> ApiResult {
    let (app, actor, id) = (request.app.clone(), request.actor().to_owned(), request.parameter("id").to_owned());
    let act = blocking(move || app.engine.revoke_token(&actor, &id)).await??;
    request.app.settle(act).await;
    Ok(StatusCode::NO_CONTENT.into_response())
}
