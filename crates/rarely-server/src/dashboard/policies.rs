//! The list of policies, and the form that registers one.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_live::Role;
use serde::Deserialize;

use super::format::{age, count, plural};
use super::layout::{PageLayout, TableCell, csrf, table};
use super::page_error::PageError;
use super::visitor::Visitor;
use super::waiting::waiting as waits_for;
use super::{Dashboard, address, percent_encoded};
use crate::limits::check_document_size;
use crate::policies::{NewPolicy, check_document};
use crate::views::{PolicyBrief, PolicySummary};

/// Policies per page.
const ON_A_PAGE: usize = 100;
/// Lines of a rule in the list.
const LINES: usize = 4;

/// The query parameters.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Search {
    q: Option<String>,
    /// Whether to list only policies with an open proposal.
    waiting: Option<String>,
    page: Option<usize>,
}

impl Search {
    /// Whether it is the page that comes first, without a search.
    fn is_first(&self) -> bool {
        self.q.is_none() && self.waiting.is_none() && self.page.is_none_or(|page| page == 1)
    }
}

/// The form that registers a policy document.
#[derive(Debug, Deserialize)]
pub(super) struct RegistrationForm {
    csrf: String,
    document: String,
}

/// `GET /`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Query(search): Query<Search>,
) -> Result<Response, PageError> {
    Ok(page(&dashboard, &visitor, &search, None).await?.into_response())
}

/// `POST /`.
pub(super) async fn register(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Form(form): Form<RegistrationForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    dashboard.app.authorize(&visitor.grant, Role::Admin, None)?;
    // Browsers submit CRLF line ends; documents have LF.
    let text = form.document.replace("\r\n", "\n");
    match try_register(&dashboard, &visitor, text.clone()).await {
        Ok(new) => Ok(Redirect::to(&address(&new.name, "?done=registered")).into_response()),
        Err(error) => {
            let page = page(&dashboard, &visitor, &Search::default(), Some((&text, &error))).await?;
            Ok((error.status(), page).into_response())
        }
    }
}

async fn try_register(dashboard: &Arc<Dashboard>, visitor: &Visitor, text: String) -> Result<NewPolicy, PageError> {
    check_document_size(&text)?;
    let name = check_document(&text)?;
    Ok(dashboard.app.register(&visitor.grant.name, text, &name).await?)
}

async fn page(
    dashboard: &Dashboard,
    visitor: &Visitor,
    search: &Search,
    rejected: Option<(&str, &PageError)>,
) -> Result<impl IntoResponse + use<>, PageError> {
    let wanted = search.q.as_deref().unwrap_or_default().trim().to_lowercase();
    let all = dashboard.app.summaries().await?;
    let seen: Vec<&PolicySummary> = all.iter().filter(|policy| visitor.may(Role::Read, &policy.brief.name)).collect();
    let waiting = seen.iter().filter(|policy| policy.open.is_some()).count();
    let fits = |policy: &&&PolicySummary| {
        policy.brief.name.to_lowercase().contains(&wanted) && (search.waiting.is_none() || policy.open.is_some())
    };
    let found: Vec<&PolicySummary> = seen.iter().filter(fits).copied().collect();
    let pages = found.len().div_ceil(ON_A_PAGE).max(1);
    let at = search.page.unwrap_or(1).clamp(1, pages);
    let shown = found.iter().skip((at - 1) * ON_A_PAGE).take(ON_A_PAGE);
    let rows: Vec<Vec<TableCell>> = shown.map(|policy| row(policy, dashboard.now_ms())).collect();
    let content = html! {
        h1 { "Policies" }
        @if search.is_first() && !seen.is_empty() { (waits_for(visitor, &seen, dashboard.now_ms())) }
        @if waiting > 0 {
            div.notice.fair { p {
                (if waiting == 1 { "One policy has".to_owned() } else { format!("{} policies have", count(waiting as u64)) })
                " a proposal that waits for a signature. "
                @if search.waiting.is_none() { a href="/?waiting=yes" { "Show" } } @else { a href="/" { "Show all" } }
            } }
        }
        @if seen.len() > 1 || search.q.is_some() { (searching(search)) }
        @if seen.is_empty() {
            p { "There is no policy that you can see." @if visitor.grant.allows(Role::Admin, None) { " Register one below." } }
        } @else if found.is_empty() {
            p { "No policy matches. " a href="/" { "Show all" } }
        } @else {
            p.muted.small { @if found.len() == 1 { "1\u{a0}policy" } @else { (count(found.len() as u64)) "\u{a0}policies" } @if pages > 1 { ", page " (at) " of " (pages) } }
            (table(
                "Policies",
                &["policy", "rule in force", "#version", "in force for", "#decisions", "#outcomes", "#unanswered"],
                rows,
            ))
            (paging(search, at, pages))
        }
        @if visitor.grant.allows(Role::Admin, None) { (registration(visitor, rejected)) }
    };
    Ok(PageLayout::of(dashboard, visitor, "Policies").html(&content))
}

fn row(policy: &PolicySummary, now_ms: u64) -> Vec<TableCell> {
    let PolicyBrief { name, version, words, stopped, decisions, outcomes, .. } = &policy.brief;
    let open = policy.open.as_ref().map(|proposal| proposal.number);
    vec![
        TableCell::Head(html! {
            a href=(address(name, "")) { (name) }
            @if open.is_some() || *stopped { ul.badges {
                @if let Some(open) = open {
                    li { a.badge.fair href=(address(name, &format!("/proposals/{open}"))) { "waits for a signature" } }
                }
                @if *stopped { li { span.badge.bad { "stopped" } } }
            } }
        }),
        TableCell::Words(html! { ul {
            @for line in words.iter().take(LINES) { li { (line) } }
            @if words.len() > LINES { li.muted { "and " (plural((words.len() - LINES) as u64, "more line")) } }
        } }),
        TableCell::number(count(*version)),
        TableCell::OneLine(html! { (age(policy.since_ms, now_ms)) }),
        TableCell::number(count(*decisions)),
        TableCell::number(count(*outcomes)),
        TableCell::number(policy.unanswered.map_or_else(|| "–".to_owned(), count)),
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
        format!("/?q={}{waiting}&page={page}", percent_encoded(words))
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

fn registration(visitor: &Visitor, rejected: Option<(&str, &PageError)>) -> Markup {
    html! {
        h2 #register-heading { "Register a policy" }
        details.act #register open[rejected.is_some()] {
            summary { "Register a policy document as version 1 of a new policy" }
            div.inside {
                @if let Some((_, error)) = rejected { div.notice.bad role="alert" { p { (error.sentences()) } } }
                form method="post" action="/" {
                    (csrf(visitor))
                    div.field {
                        label for="document" { "Policy document" }
                        p.hint #about-document {
                            "The text of the document: options, features with their ranges, the rule, and the plan under " code { "[control]" }
                            ". " code { "rarely policy init" } " writes a draft."
                        }
                        textarea.document #document name="document" required spellcheck="false" autocapitalize="off" aria-describedby="about-document" {
                            "\n" (rejected.map(|(text, _)| text).unwrap_or_default())
                        }
                    }
                    button type="submit" { "Register" }
                }
            }
        }
    }
}
