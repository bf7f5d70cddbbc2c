//! All policies, and the form that registers one.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_live::Role;
use rarely_live::engine::{ChangeError, PolicyHandle};
use rarely_policy::{DocumentError, PolicyDocument};
use serde::Deserialize;

use super::format::{age, count, plural};
use super::layout::{Cell, Frame, csrf, table};
use super::refusal::{Refusal, sentence};
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, quoted};
use crate::limits::{DOCUMENT_BYTES, check_name};

/// Policies on a page.
const ON_A_PAGE: usize = 100;
/// A rule of more lines is cut short in the list.
const LINES: usize = 4;

/// What is looked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Search {
    q: Option<String>,
    /// Only those that wait for a signature.
    waiting: Option<String>,
    page: Option<usize>,
}

/// The form that registers a document.
#[derive(Debug, Deserialize)]
pub(super) struct Registration {
    csrf: String,
    document: String,
}

/// `GET /`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Query(search): Query<Search>,
) -> Response {
    page(&dashboard, &visitor, &search, None).into_response()
}

/// `POST /`.
pub(super) async fn register(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Form(form): Form<Registration>,
) -> Result<Response, Refusal> {
    visitor.check(&form.csrf)?;
    dashboard.app.require(&visitor.grant, Role::Admin, None)?;
    // Browsers send the ends of lines as they did in the days of the telegraph; a document has one byte there.
    let text = form.document.replace("\r\n", "\n");
    match enter(&dashboard, &visitor, text.clone()).await {
        Ok(handle) => Ok(Redirect::to(&address(&handle.name, "?done=registered")).into_response()),
        Err(refusal) => {
            let page = page(&dashboard, &visitor, &Search::default(), Some((&text, &refusal)));
            Ok((refusal.status, page).into_response())
        }
    }
}

async fn enter(dashboard: &Arc<Dashboard>, visitor: &Visitor, text: String) -> Result<Arc<PolicyHandle>, Refusal> {
    if text.len() > DOCUMENT_BYTES {
        let problem = format!(
            "The document has {}; {} are taken at most.",
            plural(text.len() as u64, "byte"),
            count(DOCUMENT_BYTES as u64)
        );
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, problem));
    }
    let document = PolicyDocument::parse(&text, "document").map_err(|error| mistake(&error))?;
    let unfit = |problem: String| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, sentence(&problem));
    check_name(document.policy()).map_err(unfit)?;
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| Refusal::fault(error.to_string()))?;
    let (engine, name) = (dashboard.app.engine.clone(), visitor.grant.name.clone());
    blocking(move || {
        engine.register(&name, &text, u64::from_le_bytes(seed)).map_err(|error| match &error {
            ChangeError::Document(wrong) => mistake(wrong),
            _ => error.into(),
        })
    })
    .await
}

/// Where a document is wrong, and what to do.
fn mistake(error: &DocumentError) -> Refusal {
    match error {
        DocumentError::Wrong(mistake) => {
            let place = format!("Line {}, column {}: {}.", mistake.line, mistake.column, mistake.problem);
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, place).remedy(sentence(&mistake.remedy))
        }
        other => Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, other.to_string()),
    }
}

fn page(
    dashboard: &Dashboard,
    visitor: &Visitor,
    search: &Search,
    wrong: Option<(&str, &Refusal)>,
) -> impl IntoResponse + use<> {
    let wanted = search.q.as_deref().unwrap_or_default().trim().to_lowercase();
    let all = dashboard.app.engine.policies();
    let seen: Vec<&Arc<PolicyHandle>> = all.iter().filter(|handle| visitor.may(Role::Read, &handle.name)).collect();
    let waits = |handle: &PolicyHandle| handle.live.lock().open_proposal().is_some();
    let waiting = seen.iter().filter(|handle| waits(handle)).count();
    let fits = |handle: &&&Arc<PolicyHandle>| {
        handle.name.to_lowercase().contains(&wanted) && (search.waiting.is_none() || waits(handle))
    };
    let found: Vec<&Arc<PolicyHandle>> = seen.iter().filter(fits).copied().collect();
    let pages = found.len().div_ceil(ON_A_PAGE).max(1);
    let at = search.page.unwrap_or(1).clamp(1, pages);
    let shown = found.iter().skip((at - 1) * ON_A_PAGE).take(ON_A_PAGE);
    let rows: Vec<Vec<Cell>> = shown.map(|handle| row(handle, dashboard.now_ms())).collect();
    let content = html! {
        h1 { "Policies" }
        @if waiting > 0 {
            div.notice.fair { p {
                (if waiting == 1 { "One policy waits".to_owned() } else { format!("{} policies wait", count(waiting as u64)) })
                " for a signature. "
                @if search.waiting.is_none() { a href="/?waiting=yes" { "Show" } } @else { a href="/" { "Show all" } }
            } }
        }
        @if seen.len() > 1 || search.q.is_some() { (searching(search)) }
        @if seen.is_empty() {
            p { "There is no policy that you may see." @if visitor.grant.allows(Role::Admin, None) { " Register one below." } }
        } @else if found.is_empty() {
            p { "No policy fits. " a href="/" { "Show all" } }
        } @else {
            p.muted.small { (plural(found.len() as u64, "policy").replace("policys", "policies")) @if pages > 1 { ", page " (at) " of " (pages) } }
            (table(
                "Policies",
                &["policy", "rule in force", "#version", "in force for", "#decisions", "#outcomes", "#unanswered"],
                rows,
            ))
            (paging(search, at, pages))
        }
        @if visitor.grant.allows(Role::Admin, None) { (registration(visitor, wrong)) }
    };
    Frame::of(dashboard, visitor, "Policies").html(&content)
}

fn row(handle: &PolicyHandle, now_ms: u64) -> Vec<Cell> {
    let live = handle.live.lock();
    let (state, version, document) = (live.state(), live.version(), live.document());
    let words = version.rule.words(document);
    let unanswered = state.counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(now_ms).iter().sum::<u64>());
    let open = live.open_proposal().map(|proposal| proposal.number);
    vec![
        Cell::Head(html! {
            a href=(address(&handle.name, "")) { (handle.name) }
            @if open.is_some() || state.stopped { ul.badges {
                @if let Some(open) = open {
                    li { a.badge.fair href=(address(&handle.name, &format!("/proposals/{open}"))) { "waits for a signature" } }
                }
                @if state.stopped { li { span.badge.bad { "stopped" } } }
            } }
        }),
        Cell::Words(html! { ul {
            @for line in words.iter().take(LINES) { li { (line) } }
            @if words.len() > LINES { li.muted { "and " (plural((words.len() - LINES) as u64, "more line")) } }
        } }),
        Cell::number(count(version.number)),
        Cell::Whole(html! { (age(version.time_ms, now_ms)) }),
        Cell::number(count(state.counts.decided.iter().sum())),
        Cell::number(count(state.learned.outcomes())),
        Cell::number(unanswered.map_or_else(|| "–".to_owned(), count)),
    ]
}

fn searching(search: &Search) -> Markup {
    html! {
        form.filter method="get" action="/" role="search" {
            div {
                label for="q" { "Name contains" }
                input #q type="search" name="q" value=(search.q.as_deref().unwrap_or_default()) maxlength="128";
            }
            label.beside { input type="checkbox" name="waiting" value="yes" checked[search.waiting.is_some()]; "waits for a signature" }
            button.plain type="submit" { "Search" }
        }
    }
}

fn paging(search: &Search, at: usize, pages: usize) -> Markup {
    let link = |page: usize| {
        let words = search.q.as_deref().unwrap_or_default();
        let waiting = if search.waiting.is_some() { "&waiting=yes" } else { "" };
        format!("/?q={}{waiting}&page={page}", quoted(words))
    };
    html! {
        @if pages > 1 {
            nav.pages aria-label="Pages" {
                @if at > 1 { a href=(link(at - 1)) rel="prev" { "Previous page" } }
                span aria-current="page" { "Page " (at) " of " (pages) }
                @if at < pages { a href=(link(at + 1)) rel="next" { "Next page" } }
            }
        }
    }
}

fn registration(visitor: &Visitor, wrong: Option<(&str, &Refusal)>) -> Markup {
    html! {
        h2 #register-heading { "Register a policy" }
        details.act #register open[wrong.is_some()] {
            summary { "A policy document becomes version 1 of a new policy" }
            div.inside {
                @if let Some((_, refusal)) = wrong {
                    div.notice.bad role="alert" {
                        p { (refusal.sentence) }
                        @if let Some(remedy) = &refusal.remedy { p { (remedy) } }
                    }
                }
                form method="post" action="/" {
                    (csrf(visitor))
                    div.field {
                        label for="document" { "Policy document" }
                        p.hint #about-document {
                            "Its text: the options, the features with their ranges, the rule in force and the plan under " code { "[control]" }
                            ". A draft comes from " code { "rarely policy init" } "."
                        }
                        textarea.document #document name="document" required spellcheck="false" autocapitalize="off" aria-describedby="about-document" {
                            "\n" (wrong.map(|(text, _)| text).unwrap_or_default())
                        }
                    }
                    button type="submit" { "Register" }
                }
            }
        }
    }
}
