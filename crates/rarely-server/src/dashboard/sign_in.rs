//! Signing in with a token, and signing out.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Form;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use rarely_live::{Role, TokenGrant};
use serde::Deserialize;

use super::layout::PageLayout;
use super::page_error::PageError;
use super::session::{LENGTH_MS, SessionOwner};
use super::visitor::{Address, ByTls, COOKIE, Visitor};
use super::{Dashboard, blocking, percent_encoded};

/// The page to show after signing in.
#[derive(Debug, Deserialize)]
pub(super) struct NextPage {
    pub(super) next: Option<String>,
}

/// The sign-in form.
#[derive(Debug, Deserialize)]
pub(super) struct SignInForm {
    token: String,
    next: Option<String>,
}

/// The sign-out form.
#[derive(Debug, Deserialize)]
pub(super) struct SignOutForm {
    csrf: String,
}

/// `GET /sign-in`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Query(NextPage { next }): Query<NextPage>,
) -> Response {
    page(&dashboard, StatusCode::OK, next.as_deref(), None)
}

/// `POST /sign-in`.
pub(super) async fn sign_in(
    State(dashboard): State<Arc<Dashboard>>,
    Address(address): Address,
    secure: ByTls,
    headers: HeaderMap,
    Form(form): Form<SignInForm>,
) -> Result<Response, PageError> {
    if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        // Another site must not sign a visitor in, not even with a token of its own.
        return Err(PageError::foreign_form());
    }
    let next = form.next.as_deref();
    let grant = match dashboard.app.authenticate(form.token.trim(), address) {
        Ok(grant) => grant,
        Err(problem) => {
            let error = PageError::from(problem);
            return Ok(page(&dashboard, error.status(), next, Some(&error.sentences())));
        }
    };
    if !grant.roles.iter().any(|role| role.includes(Role::Read)) {
        let words = "The dashboard requires a token with the role `read`. Use another token.";
        return Ok(page(&dashboard, StatusCode::FORBIDDEN, next, Some(words)));
    }
    record(&dashboard, &grant, format!("the token {}", grant.id), address).await?;
    let secret = dashboard.sessions.open(SessionOwner::Token(grant.id), dashboard.now_ms()).await?;
    let cookie = set_cookie(secure, &secret, LENGTH_MS / 1000);
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(inside(next))).into_response())
}

/// Records that a person signed in, in the log of events and in that of the service.
pub(super) async fn record(
    dashboard: &Dashboard,
    who: &TokenGrant,
    with: String,
    address: IpAddr,
) -> Result<(), PageError> {
    tracing::info!(person = who.person_id(), with, %address, "signed in");
    let (engine, who) = (dashboard.app.engine.clone(), who.clone());
    blocking(move || Ok(engine.signed_in(&who, with, address.to_string()).map(drop)?)).await
}

/// `POST /sign-out`.
pub(super) async fn sign_out(
    State(dashboard): State<Arc<Dashboard>>,
    secure: ByTls,
    visitor: Visitor,
    Form(form): Form<SignOutForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    dashboard.sessions.close(&visitor.secret).await?;
    Ok(([(header::SET_COOKIE, set_cookie(secure, "", 0))], Redirect::to("/sign-in")).into_response())
}

pub(super) fn set_cookie(by_tls: ByTls, secret: &str, seconds: u64) -> String {
    format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{}", by_tls.attribute())
}

/// The page to redirect to, if it is on this site; otherwise the first page.
pub(super) fn inside(next: Option<&str>) -> &str {
    let is_inside = |next: &&str| {
        let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        plain && next.starts_with('/') && !next.starts_with("//")
    };
    next.filter(is_inside).unwrap_or("/")
}

/// The sign-in page, with what went wrong before.
pub(super) fn page(dashboard: &Dashboard, status: StatusCode, next: Option<&str>, problem: Option<&str>) -> Response {
    let provider = dashboard.app.openid().map(|provider| provider.issuer());
    let content = html! {
        h1 { "Sign in" }
        @if let Some(problem) = problem { div.notice.bad role="alert" { p { (problem) } } }
        @if let Some(issuer) = provider {
            p { a.provider href=(format!("/sign-in/openid?next={}", percent_encoded(inside(next)))) { "Sign in with " (issuer) } }
            h2 { "With a token" }
        }
        p { "Use a token of this service. It determines what you can see, and your signatures carry its name." }
        form.sheet method="post" action="/sign-in" {
            input type="hidden" name="next" value=(inside(next));
            div.field {
                label for="token" { "Token" }
                input #token type="password" name="token" autocomplete="off" required autofocus aria-describedby="about-token";
                p.hint #about-token {
                    "It looks like " code { "rarely_0123456789abcdef_…" } " and was shown once, when it was created. The administrator of the \
                     service creates tokens with " code { "rarely token create" } "."
                }
            }
            button type="submit" { "Sign in" }
        }
    };
    (status, PageLayout::bare("Sign in").html(&content)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_this_site() {
        for wrong in [
            "",
            "policies",
            "//elsewhere.org",
            "/\\elsewhere.org",
            "https://elsewhere.org",
            "/a\r\nSet-Cookie: b",
            "/a b",
        ] {
            assert_eq!(inside(Some(wrong)), "/", "{wrong:?}");
        }
        assert_eq!(inside(None), "/");
        assert_eq!(inside(Some("/policies/blood%20pressure")), "/policies/blood%20pressure");
    }
}
