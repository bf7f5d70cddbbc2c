//! Forms that change a policy. A signature asks for the token again, so that a browser left open signs nothing.

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
use super::refusal::Refusal;
use super::visitor::{Address, Visitor};
use super::{Dashboard, address, blocking, policy, proposal};
use crate::limits::{TEXT_CHARACTERS, check_text};

/// A form without a signature.
#[derive(Debug, Deserialize)]
pub(super) struct Plain {
    csrf: String,
}

/// A form with one.
#[derive(Debug, Deserialize)]
pub(super) struct Sheet {
    csrf: String,
    meaning: String,
    reason: String,
    token: String,
    /// The version to go back to.
    to: Option<u64>,
}

/// What was typed into a form that was not taken. The token is not kept.
#[derive(Debug)]
pub(super) struct Typed {
    /// Of which form.
    pub(super) act: &'static str,
    pub(super) meaning: String,
    pub(super) reason: String,
    pub(super) to: Option<u64>,
    /// Why it was not taken.
    pub(super) refusal: Refusal,
}

/// A form that asks for a signature.
pub(super) struct Act<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'a str,
    pub(super) about: &'a str,
    pub(super) action: String,
    /// What the signature means, unless the signer says otherwise.
    pub(super) meaning: &'a str,
    pub(super) button: &'a str,
}

/// Somebody who wants to change a policy, and where from.
type Caller = (State<Arc<Dashboard>>, Visitor, Address);

/// `POST /policies/{name}/review`.
pub(super) async fn review(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(form): Form<Plain>,
) -> Result<Response, Refusal> {
    visitor.check(&form.csrf)?;
    let handle = dashboard.policy(&visitor, &name)?;
    dashboard.app.require(&visitor.grant, Role::Review, Some(&name))?;
    let (engine, actor) = (dashboard.app.engine.clone(), visitor.grant.name.clone());
    let outcome = blocking(move || Ok(engine.review(&handle, Some((&actor, None)))?)).await?;
    let done = match outcome.verdict {
        Verdict::Keep => "keep",
        Verdict::Change => "change",
        Verdict::CannotTell => "cannot-tell",
    };
    Ok(Redirect::to(&address(&name, &format!("?done={done}"))).into_response())
}

/// `POST /policies/{name}/confirm`: reviewed, no change.
pub(super) async fn confirm(
    from: Caller,
    Path(name): Path<String>,
    Form(form): Form<Sheet>,
) -> Result<Response, Refusal> {
    signed(from, &name, "confirm", None, form, |engine, handle, actor, signature| {
        let outcome = engine.review(handle, Some((actor, Some(signature))))?;
        Ok(if outcome.verdict == Verdict::Change { "not-confirmed" } else { "confirmed" })
    })
    .await
}

/// `POST /policies/{name}/rollback`.
pub(super) async fn roll_back(
    from: Caller,
    Path(name): Path<String>,
    Form(form): Form<Sheet>,
) -> Result<Response, Refusal> {
    let to = form.to.unwrap_or(0);
    signed(from, &name, "rollback", None, form, move |engine, handle, actor, signature| {
        let before = handle.live.lock().version().number;
        engine.roll_back(handle, actor, to, signature)?;
        Ok(if handle.live.lock().version().number > before { "rolled-back" } else { "rollback-proposed" })
    })
    .await
}

/// `POST /policies/{name}/stop`.
pub(super) async fn stop(from: Caller, Path(name): Path<String>, Form(form): Form<Sheet>) -> Result<Response, Refusal> {
    signed(from, &name, "stop", None, form, |engine, handle, actor, signature| {
        engine.stop_policy(handle, actor, signature).map(|_| "stopped")
    })
    .await
}

/// `POST /policies/{name}/resume`.
pub(super) async fn resume(
    from: Caller,
    Path(name): Path<String>,
    Form(form): Form<Sheet>,
) -> Result<Response, Refusal> {
    signed(from, &name, "resume", None, form, |engine, handle, actor, signature| {
        engine.resume_policy(handle, actor, signature).map(|_| "resumed")
    })
    .await
}

/// `POST /policies/{name}/proposals/{proposal}/approve`.
pub(super) async fn approve(
    from: Caller,
    Path((name, number)): Path<(String, u64)>,
    Form(form): Form<Sheet>,
) -> Result<Response, Refusal> {
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
    from: Caller,
    Path((name, number)): Path<(String, u64)>,
    Form(form): Form<Sheet>,
) -> Result<Response, Refusal> {
    signed(from, &name, "reject", Some(number), form, move |engine, handle, actor, signature| {
        engine.reject(handle, actor, number, signature).map(|_| "rejected")
    })
    .await
}

/// Does what a signed form asks for and shows the policy; or shows the page again, with what is wrong and what was typed.
async fn signed(
    (State(dashboard), visitor, Address(peer)): Caller,
    name: &str,
    act: &'static str,
    about: Option<u64>,
    form: Sheet,
    change: impl FnOnce(&Engine, &PolicyHandle, &str, Signature) -> Result<&'static str, ChangeError> + Send + 'static,
) -> Result<Response, Refusal> {
    visitor.check(&form.csrf)?;
    let handle = dashboard.policy(&visitor, name)?;
    let Sheet { meaning, reason, token, to, .. } = form;
    let signature = Signature { meaning: meaning.trim().to_owned(), reason: reason.trim().to_owned() };
    let result = match check(&dashboard, &visitor, name, token.trim(), peer, &signature) {
        Ok(()) => {
            let (engine, handle, actor) = (dashboard.app.engine.clone(), handle.clone(), visitor.grant.name.clone());
            blocking(move || Ok(change(&engine, &handle, &actor, signature)?)).await
        }
        Err(refusal) => Err(refusal),
    };
    match result {
        Ok(done) => Ok(Redirect::to(&address(name, &format!("?done={done}"))).into_response()),
        Err(refusal) => {
            let typed = Typed { act, meaning, reason, to, refusal };
            match about {
                Some(number) => proposal::page(&dashboard, &visitor, &handle, number, Some(&typed)).await,
                None => policy::page(&dashboard, &visitor, &handle, None, Some(&typed)).await,
            }
        }
    }
}

/// Whether the token that was typed signs for whoever is signed in.
fn check(
    dashboard: &Dashboard,
    visitor: &Visitor,
    name: &str,
    token: &str,
    peer: IpAddr,
    signature: &Signature,
) -> Result<(), Refusal> {
    for (field, text) in [("meaning", &signature.meaning), ("reason", &signature.reason)] {
        check_text(field, text)?;
    }
    let grant = dashboard.app.admit(token, peer)?;
    if grant.name != visitor.grant.name {
        let sentence = format!("This token is {}'s, but you are signed in as {}.", grant.name, visitor.grant.name);
        return Err(Refusal::new(StatusCode::FORBIDDEN, sentence).remedy("Sign with a token of your own."));
    }
    Ok(dashboard.app.require(&grant, Role::Review, Some(name))?)
}

/// A form that asks for a signature; what was typed before stands in it.
pub(super) fn sheet(visitor: &Visitor, act: &Act<'_>, choice: &Markup, typed: Option<&Typed>) -> Markup {
    let typed = typed.filter(|typed| typed.act == act.id);
    let id = |part: &str| format!("{}-{part}", act.id);
    html! {
        details.act id=(act.id) open[typed.is_some()] {
            summary { (act.title) }
            div.inside {
                p { (act.about) }
                @if let Some(typed) = typed { div.notice.bad role="alert" { p { (typed.refusal.words()) } } }
                form.sheet method="post" action=(act.action) autocomplete="off" {
                    (csrf(visitor))
                    (choice)
                    div.field {
                        label for=(id("meaning")) { "What your signature means" }
                        input type="text" id=(id("meaning")) name="meaning" required maxlength=(TEXT_CHARACTERS)
                            value=(typed.map_or(act.meaning, |typed| &typed.meaning));
                    }
                    div.field {
                        label for=(id("reason")) { "Reason" }
                        textarea id=(id("reason")) name="reason" required maxlength=(TEXT_CHARACTERS) {
                            "\n" (typed.map_or("", |typed| &typed.reason))
                        }
                    }
                    div.field {
                        label for=(id("token")) { "Your token, again" }
                        input type="password" id=(id("token")) name="token" required autocomplete="off" aria-describedby=(id("about"));
                        p.hint id=(id("about")) { "You sign as " strong { (visitor.grant.name) } ". The signature is kept for good." }
                    }
                    button type="submit" { (act.button) }
                }
            }
        }
    }
}
