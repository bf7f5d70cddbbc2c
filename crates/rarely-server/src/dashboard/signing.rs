//! Forms that change a policy. A signature requires the token again or a passkey, so that an unattended browser cannot sign.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Form;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use rarely_live::engine::{ChangeError, Engine, PolicyHandle};
use rarely_live::event::Signature;
use rarely_live::{Objection, ProposalStatus, Role, TokenGrant};
use rarely_review::Verdict;
use serde::Deserialize;

use super::page_error::PageError;
use super::signature_form::{RejectedForm, SignedForm};
use super::visitor::{Address, Visitor};
use super::{Dashboard, address, blocking};
use crate::limits::check_text;
use crate::problem::ProblemDetails;

/// A form without a signature.
#[derive(Debug, Deserialize)]
pub(super) struct UnsignedForm {
    csrf: String,
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
    let signature = form.signature(&visitor)?;
    let SignedForm { meaning, reason, token, to, .. } = form;
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
            let rejected =
                RejectedForm { id, meaning, reason, chosen: to.map(|to| to.to_string()).unwrap_or_default(), error };
            match proposal {
                Some(number) => super::proposal::page(&dashboard, &visitor, &handle, number, Some(&rejected)).await,
                None => super::policy::page(&dashboard, &visitor, &handle, None, Some(&rejected)).await,
            }
        }
    }
}

/// Checks that the visitor may sign: with a token that is the visitor's own, or with a key, which is checked with the change.
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
    let grant = match &signature.by_key {
        Some(_) => visitor.grant.clone(),
        // The script of passkeys did not run.
        None if token.is_empty() => return Err(Objection::KeyRequired { name: visitor.grant.name.clone() }.into()),
        None => dashboard.check_own_token(visitor, token, peer)?,
    };
    Ok(dashboard.app.authorize(&grant, Role::Review, Some(name))?)
}

impl Dashboard {
    /// Checks that a token in a form belongs to the visitor.
    pub(super) fn check_own_token(
        &self,
        visitor: &Visitor,
        token: &str,
        peer: IpAddr,
    ) -> Result<TokenGrant, PageError> {
        let grant = self.app.authenticate(token, peer)?;
        if grant.person_id() != visitor.person() {
            let detail =
                format!("this token belongs to {}, but you are signed in as {}", grant.name, visitor.grant.name);
            return Err(ProblemDetails::new(StatusCode::FORBIDDEN, detail)
                .with_remedy("sign with your own token")
                .into());
        }
        Ok(grant)
    }
}
