//! The form that erases a person.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use rarely_live::Role;
use serde::Deserialize;

use super::Dashboard;
use super::format::plural;
use super::layout::{PageLayout, csrf};
use super::page_error::PageError;
use super::service::pages;
use super::visitor::Visitor;
use crate::division::EraseRequest;
use crate::erasures::{ErasureView, StatisticsChoice, check_subject};
use crate::limits::{TEXT_CHARACTERS, check_text};

/// Where the page is.
pub(super) const ADDRESS: &str = "/service/erasure";

/// The form.
#[derive(Debug, Deserialize)]
pub(super) struct ErasureForm {
    csrf: String,
    subject: String,
    reason: String,
    statistics: StatisticsChoice,
}

/// `GET /service/erasure`.
pub(super) async fn show(State(dashboard): State<Arc<Dashboard>>, visitor: Visitor) -> Result<Response, PageError> {
    dashboard.app.authorize(&visitor.grant, Role::Admin, None)?;
    Ok(page(&dashboard, &visitor, None))
}

/// `POST /service/erasure`.
pub(super) async fn erase(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Form(form): Form<ErasureForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    dashboard.app.authorize(&visitor.grant, Role::Admin, None)?;
    Ok(page(&dashboard, &visitor, Some((&try_erase(&dashboard, &visitor, &form).await, &form))))
}

async fn try_erase(dashboard: &Dashboard, visitor: &Visitor, form: &ErasureForm) -> Result<ErasureView, PageError> {
    check_subject(Some(&form.subject))?;
    check_text("reason", &form.reason)?;
    let (actor, person) = (visitor.grant.name.clone(), visitor.person());
    let (subjects, reason) = (vec![form.subject.clone()], form.reason.clone());
    let request = EraseRequest { actor, person, subjects, reason, statistics: form.statistics };
    Ok(dashboard.app.erase(request).await?)
}

/// The page, with what became of a form. The input of one that was not accepted is kept.
fn page(
    dashboard: &Dashboard,
    visitor: &Visitor,
    sent: Option<(&Result<ErasureView, PageError>, &ErasureForm)>,
) -> Response {
    let result = sent.map(|(result, _)| result);
    let rejected = sent.filter(|(result, _)| result.is_err()).map(|(_, form)| form);
    let forgets = rejected.is_some_and(|form| matches!(form.statistics, StatisticsChoice::Forget));
    let content = html! {
        h1 { "Erase a person" }
        (pages(ADDRESS))
        @match result {
            Some(Ok(erased)) => div.notice.good role="status" { p {
                "The person is erased: the records of " (plural(erased.decisions, "decision")) " and of " (plural(erased.outcomes, "outcome"))
                " cannot be read any more. Event " (erased.events.last().copied().unwrap_or_default()) " says so."
                @if !erased.scrubbed { " What is left of the key in free space is overwritten at the next start." }
            } },
            Some(Err(error)) => div.notice.bad role="alert" { p { (error.sentences()) } },
            None => {},
        }
        p {
            "Everything that the log has about a person is encrypted with a key of its own, if decision requests name the person as "
            code { "subject" } ". To erase the person is to destroy the key. This cannot be undone. Backups made before still have the key."
        }
        form method="post" action=(ADDRESS) {
            (csrf(visitor))
            div.field {
                label for="subject" { "Subject, exactly as requests name the person" }
                input #subject type="text" name="subject" required autocomplete="off" spellcheck="false" value=(rejected.map_or("", |form| &form.subject));
            }
            div.field {
                label for="reason" { "Reason, which the log keeps for good: do not name the person" }
                input #reason type="text" name="reason" required maxlength=(TEXT_CHARACTERS) value=(rejected.map_or("", |form| &form.reason));
            }
            div.field {
                label for="statistics" { "What was learned from the person" }
                select #statistics name="statistics" {
                    option value="keep" { "stays in the sums" }
                    option value="forget" selected[forgets] { "is forgotten: the sums are computed again" }
                }
            }
            button type="submit" { "Erase this person" }
        }
    };
    let frame = PageLayout::of(dashboard, visitor, "Erase a person").under("/", "Policies").under("/audit", "Service");
    let status = match result {
        Some(Err(error)) => error.status(),
        _ => StatusCode::OK,
    };
    (status, frame.html(&content)).into_response()
}
