//! Forms that change a policy. A signature requires the token again, so that an unattended browser cannot sign.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Form;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_live::engine::{ChangeError, Engine, PolicyHandle};
use rarely_live::event::Signature;
use rarely_live::{ProposalStatus, Role};
use rarely_review::Verdict;
use serde::Deserialize;

use super::layout::csrf;
use super::page_error::PageError;
use super::visitor::{Address, Visitor};
use super::{Dashboard, address, blocking};
use crate::limits::{TEXT_CHARACTERS, check_text};
use crate::problem::ProblemDetails;

/// A form without a signature.
#[derive(Debug, Deserialize)]
pub(super) struct UnsignedForm {
    csrf: String,
}

/// A form with a signature.
#[derive(Debug, Deserialize)]
pub(super) struct SignedForm {
    csrf: String,
    meaning: String,
    reason: String,
    token: String,
    /// The version to roll back to.
    to: Option<u64>,
}

/// The input of a form that was not accepted, to show it again. The token is never shown again.
#[derive(Debug)]
pub(super) struct RejectedForm {
    /// The form.
    pub(super) id: &'static str,
    pub(super) meaning: String,
    pub(super) reason: String,
    pub(super) to: Option<u64>,
    /// Why it was not accepted.
    pub(super) error: PageError,
}

/// A form that asks for a signature.
pub(super) struct SignatureForm<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'a str,
    pub(super) about: &'a str,
    pub(super) action: String,
    /// The suggested meaning of the signature.
    pub(super) meaning: &'a str,
    pub(super) button: &'a str,
}

/// Who submits a form, and from which address.
type Submitter = (State<Arc<Dashboard>>, Visitor, Address);

/// `POST /policies/{name}/review`.
pub(super) async fn review(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(form): Form<UnsignedForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let handle = dashboard.policy(&visitor, &name)?;
    dashboard.app.authorize(&visitor.grant, Role::Review, Some(&name))?;
    let (engine, actor) = (dashboard.app.engine.clone(), visitor.grant.name.clone());
    let outcome = blocking(move || Ok(engine.review(&handle, Some((&actor, None)))?)).await?;
    let done = match outcome.verdict {
        Verdict::Keep => "keep",
        Verdict::Change => "change",
        Verdict::CannotTell => "cannot-tell",
    };
    Ok(Redirect::to(&address(&name, &format!("?done={done}"))).into_response())
}

/// `POST /policies/{name}/confirm`: signs "reviewed, no change".
pub(super) async fn confirm(
    from: Submitter,
    Path(name): Path<String>,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    signed(from, &name, "confirm", None, form, |engine, handle, actor, signature| {
        let outcome = engine.review(handle, Some((actor, Some(signature))))?;
        Ok(if outcome.verdict == Verdict::Change { "not-confirmed" } else { "confirmed" })
    })
    .await
}

/// `POST /policies/{name}/rollback`.
pub(super) async fn roll_back(
    from: Submitter,
    Path(name): Path<String>,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    let to = form.to.unwrap_or(0);
    signed(from, &name, "rollback", None, form, move |engine, handle, actor, signature| {
        let before = handle.live.lock().version().number;
        engine.roll_back(handle, actor, to, signature)?;
        Ok(if handle.live.lock().version().number > before { "rolled-back" } else { "rollback-proposed" })
    })
    .await
}

/// `POST /policies/{name}/stop`.
pub(super) async fn stop(
    from: Submitter,
    Path(name): Path<String>,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    signed(from, &name, "stop", None, form, |engine, handle, actor, signature| {
        engine.stop_policy(handle, actor, signature).map(|_| "stopped")
    })
    .await
}

/// `POST /policies/{name}/resume`.
pub(super) async fn resume(
    from: Submitter,
    Path(name): Path<String>,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    signed(from, &name, "resume", None, form, |engine, handle, actor, signature| {
        engine.resume_policy(handle, actor, signature).map(|_| "resumed")
    })
    .await
}

/// `POST /policies/{name}/proposals/{proposal}/approve`.
pub(super) async fn approve(
    from: Submitter,
    Path((name, number)): Path<(String, u64)>,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    signed(from, &name, "approve", Some(number), form, move |engine, handle, actor, signature| {
        engine.approve(handle, actor, number, signature)?;
        let live = handle.live.lock();
        let found = live.state().proposals.iter().find(|proposal| proposal.number == number);
        let whole = found.is_some_and(|proposal| matches!(proposal.status, ProposalStatus::Approved { .. }));
        Ok(if whole { "approved" } else { "signed" })
    })
    .await
}

/// `POST /policies/{name}/proposals/{proposal}/reject`.
pub(super) async fn reject(
    from: Submitter,
    Path((name, number)): Path<(String, u64)>,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    signed(from, &name, "reject", Some(number), form, move |engine, handle, actor, signature| {
        engine.reject(handle, actor, number, signature).map(|_| "rejected")
    })
    .await
}

/// Checks a signed form and applies its change. If that fails, shows the page again with the error and the input.
async fn signed(
    (State(dashboard), visitor, Address(peer)): Submitter,
    name: &str,
    id: &'static str,
    proposal: Option<u64>,
    form: SignedForm,
    change: impl FnOnce(&Engine, &PolicyHandle, &str, Signature) -> Result<&'static str, ChangeError> + Send + 'static,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let handle = dashboard.policy(&visitor, name)?;
    let SignedForm { meaning, reason, token, to, .. } = form;
    let signature = Signature { meaning: meaning.trim().to_owned(), reason: reason.trim().to_owned(), by_key: None };
    let result = match check(&dashboard, &visitor, name, token.trim(), peer, &signature) {
        Ok(()) => {
            let (engine, handle, actor) = (dashboard.app.engine.clone(), handle.clone(), visitor.grant.name.clone());
            blocking(move || Ok(change(&engine, &handle, &actor, signature)?)).await
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(done) => Ok(Redirect::to(&address(name, &format!("?done={done}"))).into_response()),
        Err(error) => {
            let rejected = RejectedForm { id, meaning, reason, to, error };
            match proposal {
                Some(number) => super::proposal::page(&dashboard, &visitor, &handle, number, Some(&rejected)).await,
                None => super::policy::page(&dashboard, &visitor, &handle, None, Some(&rejected)).await,
            }
        }
    }
}

/// Checks that the token in the form belongs to the visitor and may sign.
fn check(
    dashboard: &Dashboard,
    visitor: &Visitor,
    name: &str,
    token: &str,
    peer: IpAddr,
    signature: &Signature,
) -> Result<(), PageError> {
    for (field, text) in [("meaning", &signature.meaning), ("reason", &signature.reason)] {
        check_text(field, text)?;
    }
    let grant = dashboard.app.authenticate(token, peer)?;
    if grant.name != visitor.grant.name {
        let detail = format!("this token belongs to {}, but you are signed in as {}", grant.name, visitor.grant.name);
        return Err(ProblemDetails::new(StatusCode::FORBIDDEN, detail).with_remedy("sign with your own token").into());
    }
    Ok(dashboard.app.authorize(&grant, Role::Review, Some(name))?)
}

/// Renders a form that asks for a signature, with the input of a rejected one.
pub(super) fn signature_form(
    visitor: &Visitor,
    form: &SignatureForm<'_>,
    choice: &Markup,
    rejected: Option<&RejectedForm>,
) -> Markup {
    let rejected = rejected.filter(|rejected| rejected.id == form.id);
    let id = |part: &str| format!("{}-{part}", form.id);
    html! {
        details.act id=(form.id) open[rejected.is_some()] {
            summary { (form.title) }
            div.inside {
                p { (form.about) }
                @if let Some(rejected) = rejected { div.notice.bad role="alert" { p { (rejected.error.sentences()) } } }
                form.sheet method="post" action=(form.action) autocomplete="off" {
                    (csrf(visitor))
                    (choice)
                    div.field {
                        label for=(id("meaning")) { "What your signature means" }
                        input type="text" id=(id("meaning")) name="meaning" required maxlength=(TEXT_CHARACTERS)
                            value=(rejected.map_or(form.meaning, |rejected| &rejected.meaning));
                    }
                    div.field {
                        label for=(id("reason")) { "Reason" }
                        textarea id=(id("reason")) name="reason" required maxlength=(TEXT_CHARACTERS) {
                            "\n" (rejected.map_or("", |rejected| &rejected.reason))
                        }
                    }
                    div.field {
                        label for=(id("token")) { "Your token, again" }
                        input type="password" id=(id("token")) name="token" required autocomplete="off" aria-describedby=(id("about"));
                        p.hint id=(id("about")) { "You sign as " strong { (visitor.grant.name) } ". A signature cannot be withdrawn." }
                    }
                    button type="submit" { (form.button) }
                }
            }
        }
    }
}
