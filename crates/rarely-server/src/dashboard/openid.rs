//! Signing in with an identity provider.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use rarely_core::Digest;
use rarely_live::{Role, TokenGrant, clean_person_text};
use serde::Deserialize;

use super::Dashboard;
use super::layout::PageLayout;
use super::page_error::PageError;
use super::session::{LENGTH_MS, SessionOwner};
use super::sign_in::{NextPage, inside, page, record, set_cookie};
use super::visitor::{Address, ByTls, cookie_named};
use crate::limits::check_owner;
use crate::openid::{OpenIdError, OpenIdProvider, PendingSignIn, ProvidedIdentity, RETURN_PATH};
use crate::problem::ProblemDetails;

/// The cookie that ties a sign-in to the browser that started it.
const COOKIE: &str = "rarely_sign_in";
/// How long a person may take at the provider.
const PATIENCE_MS: u64 = 600_000;
/// Sign-ins that may wait at a time. One more ends the oldest.
const MOST: usize = 10_000;

/// The sign-ins that wait for a person to come back, by their state. Unlike sessions they are always in memory: anybody can begin one.
#[derive(Default)]
pub(super) struct PendingSignIns(Mutex<HashMap<String, Waiting>>);

struct Waiting {
    pending: PendingSignIn,
    next: String,
    until_ms: u64,
}

impl PendingSignIns {
    fn put(&self, state: String, waiting: Waiting, now_ms: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, waiting| waiting.until_ms > now_ms);
        if all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, waiting)| waiting.until_ms).map(|(state, _)| state.clone());
            oldest.map(|state| all.remove(&state));
        }
        all.insert(state, waiting);
    }

    /// Takes a sign-in out: a state is good for one return.
    fn take(&self, state: &str, now_ms: u64) -> Option<Waiting> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(state);
        taken.filter(|waiting| waiting.until_ms > now_ms)
    }
}

/// What the provider sends back.
#[derive(Debug, Deserialize)]
pub(super) struct Returned {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

/// `GET /sign-in/openid`: sends the browser to the provider.
pub(super) async fn start(
    State(dashboard): State<Arc<Dashboard>>,
    by_tls: ByTls,
    Query(NextPage { next }): Query<NextPage>,
) -> Result<Response, PageError> {
    let provider = provider(&dashboard)?;
    let (started, now_ms) = (provider.start(), dashboard.now_ms());
    let next = inside(next.as_deref()).to_owned();
    let waiting = Waiting { pending: started.pending, next, until_ms: now_ms.saturating_add(PATIENCE_MS) };
    dashboard.sign_ins.put(started.state.clone(), waiting, now_ms);
    // Lax: the provider's redirect comes from another site.
    let secure = by_tls.attribute();
    let seconds = PATIENCE_MS / 1000;
    let cookie =
        format!("{COOKIE}={}; Path={RETURN_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}", started.state);
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(&started.address)).into_response())
}

/// `GET /sign-in/openid/return`: the browser comes back from the provider.
pub(super) async fn finish(
    State(dashboard): State<Arc<Dashboard>>,
    Address(address): Address,
    by_tls: ByTls,
    headers: HeaderMap,
    Query(returned): Query<Returned>,
) -> Result<Response, PageError> {
    let provider = provider(&dashboard)?.clone();
    let found = identity(&dashboard, provider, cookie_named(&headers, COOKIE), returned).await;
    let (identity, next) = match found {
        Ok(found) => found,
        Err(problem) => {
            dashboard.app.count_failed_sign_in(address);
            let error = PageError::from(problem);
            return Ok(page(&dashboard, error.status(), None, Some(&error.sentences())));
        }
    };
    open(&dashboard, &identity, (address, by_tls), &next).await
}

fn provider(dashboard: &Dashboard) -> Result<&Arc<OpenIdProvider>, PageError> {
    let none = || ProblemDetails::new(StatusCode::NOT_FOUND, "this service has no identity provider");
    Ok(dashboard.app.openid().ok_or_else(none)?)
}

/// Who came back, and which page to show.
async fn identity(
    dashboard: &Dashboard,
    provider: Arc<OpenIdProvider>,
    cookie: Option<&str>,
    returned: Returned,
) -> Result<(ProvidedIdentity, String), OpenIdError> {
    let refused = |words: &str| OpenIdError::Refused(words.to_owned());
    let state = returned.state.unwrap_or_default();
    if cookie.is_none_or(|cookie| cookie != state) {
        return Err(refused("this sign-in was not started in this browser"));
    }
    let waiting = dashboard.sign_ins.take(&state, dashboard.now_ms());
    let Waiting { pending, next, .. } =
        waiting.ok_or_else(|| refused("this sign-in took too long, or was used before"))?;
    if let Some(error) = returned.error {
        let more = returned.error_description.map_or_else(String::new, |more| format!(" ({more})"));
        return Err(OpenIdError::Refused(format!("it says {error:?}{more}")));
    }
    let code = returned.code.ok_or_else(|| refused("it sent no code"))?;
    let asked = tokio::task::spawn_blocking(move || provider.finish(code, pending)).await;
    Ok((asked.map_err(|_| refused("the request failed"))??, next))
}

/// Opens a session, and records it.
async fn open(
    dashboard: &Dashboard,
    identity: &ProvidedIdentity,
    (address, by_tls): (IpAddr, ByTls),
    next: &str,
) -> Result<Response, PageError> {
    let grant = grant(dashboard, identity);
    if !grant.roles.iter().any(|role| role.includes(Role::Read)) {
        let words = "The dashboard requires the role `read`. Your identity provider gives you other roles.";
        return Ok(page(dashboard, StatusCode::FORBIDDEN, None, Some(words)));
    }
    let issuer = dashboard.app.openid().map_or_else(String::new, |provider| provider.issuer().to_owned());
    record(dashboard, &grant, format!("the identity provider {issuer}"), address).await?;
    let owner = SessionOwner::Provided(Box::new(grant));
    let secret = dashboard.sessions.open(owner, dashboard.now_ms()).await?;
    let cookie = set_cookie(by_tls, &secret, LENGTH_MS / 1000);
    // A redirect would still come from the provider's site, and the browser would keep the session's cookie back.
    let content = html! {
        h1 { "Signed in" }
        p { a href=(next) { "Continue" } }
    };
    let headers = [(header::SET_COOKIE, cookie), (header::REFRESH, format!("0; url={next}"))];
    Ok((headers, PageLayout::bare("Signed in").html(&content)).into_response())
}

/// What the person may do until the session ends. Somebody whose name can be mistaken for another person's is shown with the provider's
/// own id.
fn grant(dashboard: &Dashboard, identity: &ProvidedIdentity) -> TokenGrant {
    let ProvidedIdentity { person, name, subject, roles } = identity.clone();
    let is_own = check_owner(&name).is_ok() && dashboard.app.engine.check_person(&name, &person).is_ok();
    let name = match clean_person_text("name", &name) {
        Ok(name) if is_own => name,
        Ok(name) => format!("{name} ({subject})"),
        Err(_) => subject,
    };
    TokenGrant {
        id: String::new(),
        name,
        person: Some(person),
        roles,
        policies: None,
        digest: Digest([0; 32]),
        expires_ms: Some(dashboard.now_ms().saturating_add(LENGTH_MS)),
    }
}
