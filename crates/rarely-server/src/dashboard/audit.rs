//! Everything that happened to a policy, newest first.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use rarely_live::Event;
use rarely_store::{EventLog, LogEntry};
use serde::Deserialize;

use super::backwards::Backwards;
use super::format::{plural, time};
use super::layout::{Cell, Frame, table};
use super::refusal::Refusal;
use super::told::told;
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, event_of, quoted};

/// Events on a page.
const ON_A_PAGE: usize = 50;
/// Events that are looked through for a page; the next page goes on from there.
const LOOKED_THROUGH: u64 = 20_000;
/// Characters of a name that is not broken.
const SHORT_NAME: usize = 20;
/// Kinds that happen to no policy.
const NOT_OF_POLICIES: [&str; 4] = ["token created", "token revoked", "sign-in failed", "recovered"];

/// What is looked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Filter {
    kind: Option<String>,
    actor: Option<String>,
    before: Option<u64>,
}

/// Some events, and where older ones begin.
struct Found {
    entries: Vec<(LogEntry, Event)>,
    /// Older ones come before this event, if there can be any.
    older: Option<u64>,
}

/// `GET /policies/{name}/audit`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(filter): Query<Filter>,
) -> Result<Html<String>, Refusal> {
    let handle = dashboard.policy(&visitor, &name)?;
    let (engine, wanted) = (dashboard.app.engine.clone(), filter.clone());
    let found = blocking(move || find(engine.log().as_ref(), handle.id, &wanted)).await?;
    let link = |rest: &str| address(&name, rest);
    let rows = found.entries.iter().map(|(entry, event)| {
        let number = html! {
            @if entry.kind == "decided" { a href=(link(&format!("/decisions/{}", entry.number))) { (entry.number) } }
            @else { (entry.number) }
        };
        let hash = entry.hash.to_string();
        vec![
            Cell::Name(number),
            Cell::Words(told(&name, event)),
            Cell::Whole(time(entry.time_ms)),
            who(&entry.actor),
            Cell::Whole(html! { (entry.kind) }),
            Cell::Whole(html! { code title=(hash) { (hash[..12]) "…" } }),
        ]
    });
    let content = html! {
        h1 { "Everything that happened to " (name) }
        p {
            "Newest first. Each event is chained to the one before it by its hash (SHA-256); " code { "rarely audit verify" }
            " checks the whole chain, and decides every decision again."
        }
        (form(&name, &filter))
        @if found.entries.is_empty() { p { "No event fits" @if found.older.is_some() { " among those looked through so far" } "." } } @else {
            (table("Events", &["event", "what happened", "time", "who", "kind", "hash"], rows))
        }
        (paging(&name, &filter, found.older))
    };
    let frame = Frame::of(&dashboard, &visitor, "Audit").under("/", "Policies").under(link(""), &name);
    Ok(frame.html(&content))
}

/// A name, on one line if it is short.
fn who(name: &str) -> Cell {
    if name.chars().count() <= SHORT_NAME { Cell::Whole(html! { (name) }) } else { Cell::left(name) }
}

fn find(log: &dyn EventLog, policy: u64, filter: &Filter) -> Result<Found, Refusal> {
    let last = log.head()?.map_or(0, |(number, _)| number);
    let before = filter.before.unwrap_or(u64::MAX).min(last + 1);
    let actor = filter.actor.as_deref().unwrap_or_default().trim().to_lowercase();
    let kind = filter.kind.as_deref().filter(|kind| !kind.is_empty());
    let fits =
        |entry: &LogEntry| kind.is_none_or(|kind| entry.kind == kind) && entry.actor.to_lowercase().contains(&actor);
    let (mut backwards, mut entries, mut looked) = (Backwards::new(log, policy, before), Vec::new(), 0);
    let mut older = None;
    while let Some(entry) = backwards.next()? {
        let number = entry.number;
        looked += 1;
        if fits(&entry) {
            let event = event_of(&entry)?;
            entries.push((entry, event));
        }
        if entries.len() == ON_A_PAGE || looked == LOOKED_THROUGH {
            older = (number > policy).then_some(number);
            break;
        }
    }
    Ok(Found { entries, older })
}

fn form(name: &str, filter: &Filter) -> Markup {
    let kinds = Event::KINDS.iter().filter(|kind| !NOT_OF_POLICIES.contains(kind));
    html! {
        form.filter method="get" action=(address(name, "/audit")) {
            div {
                label for="kind" { "Kind of event" }
                select #kind name="kind" {
                    option value="" { "every kind" }
                    @for kind in kinds { option value=(kind) selected[filter.kind.as_deref() == Some(kind)] { (kind) } }
                }
            }
            div {
                label for="actor" { "Who: name contains" }
                input #actor type="search" name="actor" maxlength="128" value=(filter.actor.as_deref().unwrap_or_default());
            }
            button.plain type="submit" { "Filter" }
        }
    }
}

fn paging(name: &str, filter: &Filter, older: Option<u64>) -> Markup {
    let link = |before: Option<u64>| {
        let text = |text: &Option<String>| quoted(text.as_deref().unwrap_or_default());
        let before = before.map_or_else(String::new, |before| format!("&before={before}"));
        address(name, &format!("/audit?kind={}&actor={}{before}", text(&filter.kind), text(&filter.actor)))
    };
    html! {
        nav.pages aria-label="Pages" {
            @if filter.before.is_some() { a href=(link(None)) { "Newest" } }
            @if let Some(older) = older { a href=(link(Some(older))) rel="next" { "Older than event " (older) } }
            @else { span.muted { "These are the oldest." } }
        }
        @if older.is_some() {
            p.small.muted { "A page looks through at most " (plural(LOOKED_THROUGH, "event")) "." }
        }
    }
}
