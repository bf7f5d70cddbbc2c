//! The events of a policy, or of the service and its people, newest first.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use rarely_live::{Event, Role};
use rarely_store::{EventLog, LogEntry};
use serde::Deserialize;

use super::backwards::Backwards;
use super::event_text::event_text;
use super::format::{plural, time};
use super::layout::{PageLayout, TableCell, table};
use super::page_error::PageError;
use super::service::{chains, pages};
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, event_of, percent_encoded};

/// Events per page.
const ON_A_PAGE: usize = 50;
/// Events searched for a page. The next page continues from there.
const SEARCHED: u64 = 20_000;
/// A name with at most this many characters stays on one line.
const SHORT_NAME: usize = 20;
/// Kinds of events that belong to no policy.
const SERVICE_KINDS: [&str; 17] = [
    "token created",
    "token revoked",
    "sign-in failed",
    "sign-ins failed",
    "clock jumped",
    "clock corrected",
    "recovered",
    "signing key replaced",
    "person key registered",
    "person key revoked",
    "service started",
    "service stopped",
    "signed in",
    "backup restored",
    "notified",
    "followed",
    "covered",
];

/// The query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct AuditQuery {
    kind: Option<String>,
    actor: Option<String>,
    before: Option<u64>,
}

/// A page of events.
struct EventPage {
    entries: Vec<(LogEntry, Event)>,
    /// The event to continue before, if there may be older ones.
    older: Option<u64>,
}

/// What the events are about.
enum EventTopic<'a> {
    Policy {
        name: &'a str,
        id: u64,
    },
    /// The service and its people, below the path of a chain.
    Service(String),
}

impl EventTopic<'_> {
    /// The policy's id in the log; 0 for events of no policy.
    fn id(&self) -> u64 {
        match self {
            Self::Policy { id, .. } => *id,
            Self::Service(_) => 0,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Policy { name, .. } => name,
            Self::Service(_) => "",
        }
    }

    fn address(&self) -> String {
        match self {
            Self::Policy { name, .. } => address(name, "/audit"),
            Self::Service(chain) => format!("{chain}/audit"),
        }
    }

    fn title(&self) -> String {
        match self {
            Self::Policy { name, .. } => format!("Events of {name}"),
            Self::Service(_) => "Events of the service".to_owned(),
        }
    }

    /// The kinds of its events.
    fn kinds(&self) -> impl Iterator<Item = &'static &'static str> {
        let service = matches!(self, Self::Service(_));
        Event::KINDS.iter().filter(move |kind| SERVICE_KINDS.contains(kind) == service)
    }
}

/// `GET /policies/{name}/audit`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(filter): Query<AuditQuery>,
) -> Result<Html<String>, PageError> {
    let subject = EventTopic::Policy { name: &name, id: dashboard.policy(&visitor, &name)?.id };
    let content = events(&dashboard, &subject, &filter).await?;
    let frame = PageLayout::of(&dashboard, &visitor, "Events").under("/", "Policies").under(address(&name, ""), &name);
    Ok(frame.html(&content))
}

/// `GET /audit`: what happened to the service and its people.
pub(super) async fn show_service(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Query(filter): Query<AuditQuery>,
) -> Result<Html<String>, PageError> {
    dashboard.app.authorize(&visitor.grant, Role::Auditor, None)?;
    let topic = EventTopic::Service(dashboard.app.chain_path());
    let content =
        html! { (pages("/audit")) (chains(&dashboard.app, "/audit")) (events(&dashboard, &topic, &filter).await?) };
    Ok(PageLayout::of(&dashboard, &visitor, "Service").under("/", "Policies").html(&content))
}

async fn events(dashboard: &Dashboard, subject: &EventTopic<'_>, filter: &AuditQuery) -> Result<Markup, PageError> {
    let (engine, wanted, id) = (dashboard.app.engine.clone(), filter.clone(), subject.id());
    let found = blocking(move || find(engine.log().as_ref(), id, &wanted)).await?;
    let name = subject.name();
    let rows = found.entries.iter().map(|(entry, event)| {
        let number = html! {
            @if entry.kind == "decided" { a href=(address(name, &format!("/decisions/{}", entry.number))) { (entry.number) } }
            @else { (entry.number) }
        };
        let hash = entry.hash.to_string();
        vec![
            TableCell::Name(number),
            TableCell::Words(event_text(name, &entry.actor, event)),
            TableCell::OneLine(time(entry.time_ms)),
            actor_cell(&entry.actor),
            TableCell::OneLine(html! { (entry.kind) }),
            TableCell::OneLine(html! { code title=(hash) { (hash[..12]) "…" } }),
        ]
    });
    Ok(html! {
        h1 { (subject.title()) }
        p {
            "Newest first. Each event has a hash (SHA-256) that includes the hash of the event before it. " code { "rarely audit verify" }
            " checks the whole chain and recomputes every decision."
        }
        (form(subject, filter))
        @if found.entries.is_empty() { p { "No matching event" @if found.older.is_some() { " among those searched so far" } "." } } @else {
            (table("Events", &["event", "description", "time", "by", "kind", "hash"], rows))
        }
        (paging(subject, filter, found.older))
    })
}

/// The actor, on one line if the name is short.
fn actor_cell(name: &str) -> TableCell {
    if name.chars().count() <= SHORT_NAME { TableCell::OneLine(html! { (name) }) } else { TableCell::left(name) }
}

fn find(log: &dyn EventLog, policy: u64, filter: &AuditQuery) -> Result<EventPage, PageError> {
    let last = log.head()?.map_or(0, |(number, _)| number);
    let before = filter.before.unwrap_or(u64::MAX).min(last + 1);
    let actor = filter.actor.as_deref().unwrap_or_default().trim().to_lowercase();
    let kind = filter.kind.as_deref().filter(|kind| !kind.is_empty());
    let fits =
        |entry: &LogEntry| kind.is_none_or(|kind| entry.kind == kind) && entry.actor.to_lowercase().contains(&actor);
    let (mut backwards, mut entries, mut searched) = (Backwards::new(log, policy, before), Vec::new(), 0);
    let mut older = None;
    while let Some(entry) = backwards.next()? {
        let number = entry.number;
        searched += 1;
        if fits(&entry) {
            let event = event_of(log, &entry)?;
            entries.push((entry, event));
        }
        if entries.len() == ON_A_PAGE || searched == SEARCHED {
            older = (number > policy).then_some(number);
            break;
        }
    }
    Ok(EventPage { entries, older })
}

fn form(subject: &EventTopic<'_>, filter: &AuditQuery) -> Markup {
    html! {
        form.filter method="get" action=(subject.address()) {
            div {
                label for="kind" { "Kind of event" }
                select #kind name="kind" {
                    option value="" { "all kinds" }
                    @for kind in subject.kinds() { option value=(kind) selected[filter.kind.as_deref() == Some(kind)] { (kind) } }
                }
            }
            div {
                label for="actor" { "By: name contains" }
                input #actor type="search" name="actor" maxlength="128" value=(filter.actor.as_deref().unwrap_or_default());
            }
            button.plain type="submit" { "Filter" }
        }
    }
}

fn paging(subject: &EventTopic<'_>, filter: &AuditQuery, older: Option<u64>) -> Markup {
    let link = |before: Option<u64>| {
        let text = |text: &Option<String>| percent_encoded(text.as_deref().unwrap_or_default());
        let before = before.map_or_else(String::new, |before| format!("&before={before}"));
        format!("{}?kind={}&actor={}{before}", subject.address(), text(&filter.kind), text(&filter.actor))
    };
    html! {
        nav.pages aria-label="Pages" {
            @if filter.before.is_some() { a href=(link(None)) { "Newest" } }
            @if let Some(older) = older { a href=(link(Some(older))) rel="next" { "Before event " (older) } }
            @else { span.muted { "No older events." } }
        }
        @if older.is_some() {
            p.small.muted { "Each page searches at most " (plural(SEARCHED, "event")) "." }
        }
    }
}
