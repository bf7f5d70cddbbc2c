//! The document of a policy with the rule in force, and the form that proposes another one.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_live::Role;
use rarely_live::engine::PolicyHandle;
use serde::Deserialize;

use super::layout::{PageLayout, csrf};
use super::page_error::PageError;
use super::visitor::Visitor;
use super::{Dashboard, address, blocking};
use crate::limits::{check_document_size, check_text};
use crate::policies::check_document;
use crate::views::VersionView;

/// The form that proposes an amendment.
#[derive(Debug, Deserialize)]
pub(super) struct AmendmentForm {
    csrf: String,
    document: String,
    reason: String,
}

/// `GET /policies/{name}/document`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let handle = dashboard.policy(&visitor, &name)?;
    Ok(page(&dashboard, &visitor, &handle, None))
}

/// `POST /policies/{name}/document`.
pub(super) async fn amend(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(form): Form<AmendmentForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let handle = dashboard.policy(&visitor, &name)?;
    dashboard.app.authorize(&visitor.grant, Role::Admin, Some(&name))?;
    // Browsers submit CRLF line ends; documents have LF.
    let text = form.document.replace("\r\n", "\n");
    match propose(&dashboard, &visitor, &handle, text.clone(), form.reason.clone()).await {
        Ok(number) => Ok(Redirect::to(&address(&name, &format!("/proposals/{number}"))).into_response()),
        Err(error) => Ok(page(&dashboard, &visitor, &handle, Some((&text, &form.reason, &error)))),
    }
}

async fn propose(
    dashboard: &Arc<Dashboard>,
    visitor: &Visitor,
    handle: &Arc<PolicyHandle>,
    text: String,
    reason: String,
) -> Result<u64, PageError> {
    check_document_size(&text)?;
    check_text("reason", &reason)?;
    let (engine, actor, handle) = (dashboard.app.engine.clone(), visitor.grant.name.clone(), handle.clone());
    blocking(move || {
        check_document(&text)?;
        Ok(engine.amend(&handle, &actor, &text, &reason)?)
    })
    .await
}

/// The page, with the input of a form that was not accepted.
fn page(
    dashboard: &Dashboard,
    visitor: &Visitor,
    handle: &PolicyHandle,
    rejected: Option<(&str, &str, &PageError)>,
) -> Response {
    let text = {
        let live = handle.live.lock();
        VersionView::document_text(&live, live.version())
    };
    let content = html! {
        h1 { "The document of " (handle.name) }
        p { "With the rule in force. Signed amendments replace it; the old ones stay in the log, and every decision keeps the document that it was made under." }
        pre tabindex="0" { code { (text) } }
        @if visitor.may(Role::Admin, &handle.name) {
            (form(visitor, handle, &text, rejected))
        } @else {
            p { "To amend it requires the role " code { "admin" } " on this policy." }
        }
    };
    let frame = PageLayout::of(dashboard, visitor, "The document")
        .under("/", "Policies")
        .under(address(&handle.name, ""), &handle.name);
    let status = rejected.map_or(StatusCode::OK, |(_, _, error)| error.status());
    (status, frame.html(&content)).into_response()
}

fn form(visitor: &Visitor, handle: &PolicyHandle, text: &str, rejected: Option<(&str, &str, &PageError)>) -> Markup {
    let (document, reason) = rejected.map_or((text, ""), |(document, reason, _)| (document, reason));
    html! {
        h2 #amend { "Propose an amendment" }
        p {
            "Change what you need: noise, ranges, labels, the plan, a new feature or option. The rule must stay as it is: it changes on evidence, or by a \
             rollback. The proposal says in words what changes, and whether the statistics are kept. It comes into force when it is signed."
        }
        @if let Some((_, _, error)) = rejected { div.notice.bad role="alert" { p { (error.sentences()) } } }
        form method="post" action=(address(&handle.name, "/document")) {
            (csrf(visitor))
            div.field {
                label for="document" { "Policy document" }
                textarea.document #document name="document" required spellcheck="false" autocapitalize="off" { "\n" (document) }
            }
            div.field {
                label for="reason" { "Reason" }
                input #reason type="text" name="reason" required maxlength="1000" value=(reason);
            }
            button type="submit" { "Propose" }
        }
    }
}
