//! Signing in with a token, and out.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use rarely_live::Role;
use serde::Deserialize;

use super::Dashboard;
use super::layout::Frame;
use super::refusal::Refusal;
use super::session::LENGTH_MS;
use super::visitor::{Address, COOKIE, Visitor};

/// Where to go afterwards.
#[derive(Debug, Deserialize)]
pub(super) struct Next {
    next: Option<String>,
}

/// The form.
#[derive(Debug, Deserialize)]
pub(super) struct SignIn {
    token: String,
    next: Option<String>,
}

/// The form of signing out.
#[derive(Debug, Deserialize)]
pub(super) struct SignOut {
    csrf: String,
}

/// `GET /sign-in`.
pub(super) async fn show(Query(Next { next }): Query<Next>) -> Response {
    page(StatusCode::OK, next.as_deref(), None)
}

/// `POST /sign-in`.
pub(super) async fn sign_in(
    State(dashboard): State<Arc<Dashboard>>,
    Address(address): Address,
    headers: HeaderMap,
    Form(form): Form<SignIn>,
) -> Result<Response, Refusal> {
    if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        // Another site must not sign anybody in, not even with a token of its own.
        return Err(Refusal::foreign_form());
    }
    let next = form.next.as_deref();
    let grant = match dashboard.app.admit(form.token.trim(), address) {
        Ok(grant) => grant,
        Err(problem) => {
            let refusal = Refusal::from(problem);
            return Ok(page(refusal.status, next, Some(&refusal.words())));
        }
    };
    if !grant.roles.iter().any(|role| role.includes(Role::Read)) {
        let words = "This token has not the role read, so there is no page for it. Use another one.";
        return Ok(page(StatusCode::FORBIDDEN, next, Some(words)));
    }
    let secret =
        dashboard.sessions.open(&grant.id, dashboard.now_ms()).map_err(|error| Refusal::fault(error.to_string()))?;
    let cookie = set_cookie(&dashboard, &secret, LENGTH_MS / 1000);
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(inside(next))).into_response())
}

/// `POST /sign-out`.
pub(super) async fn sign_out(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Form(form): Form<SignOut>,
) -> Result<Response, Refusal> {
    visitor.check(&form.csrf)?;
    dashboard.sessions.close(&visitor.secret);
    Ok(([(header::SET_COOKIE, set_cookie(&dashboard, "", 0))], Redirect::to("/sign-in")).into_response())
}

fn set_cookie(dashboard: &Dashboard, secret: &str, seconds: u64) -> String {
    let secure = if dashboard.app.settings.secure { "; Secure" } else { "" };
    format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// A page of ours to go to; whatever might lead elsewhere is none.
fn inside(next: Option<&str>) -> &str {
    let is_inside = |next: &&str| {
        let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        plain && next.starts_with('/') && !next.starts_with("//")
    };
    next.filter(is_inside).unwrap_or("/")
}

fn page(status: StatusCode, next: Option<&str>, problem: Option<&str>) -> Response {
    let content = html! {
        h1 { "Sign in" }
        p { "With a token of this service: it says what you may see, and whose name a signature of yours bears." }
        @if let Some(problem) = problem { div.notice.bad role="alert" { p { (problem) } } }
        form.sheet method="post" action="/sign-in" {
            input type="hidden" name="next" value=(inside(next));
            div.field {
                label for="token" { "Token" }
                input #token type="password" name="token" autocomplete="off" required autofocus aria-describedby="about-token";
                p.hint #about-token {
                    "It looks like " code { "rarely_0123456789abcdef_…" } " and was shown once, when it was made. Whoever runs the \
                     service makes one with " code { "rarely token create" } "."
                }
            }
            button type="submit" { "Sign in" }
        }
    };
    (status, Frame::bare("Sign in").html(&content)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_elsewhere() {
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
