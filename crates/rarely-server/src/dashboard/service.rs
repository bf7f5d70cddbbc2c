//! The service itself: its people with their tokens and keys, who signed in, and the signed checkpoints of its log.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};
use rarely_live::{PersonKeyRecord, Role, TokenRecord, look_alike};

use super::backwards::Backwards;
use super::event_text::event_text;
use super::format::{count, time};
use super::layout::{PageLayout, TableCell, fact, table};
use super::page_error::PageError;
use super::visitor::Visitor;
use super::{Dashboard, blocking, event_of};
use crate::app::App;
use crate::division::chain_path;

/// Sign-ins on the page.
const SIGN_INS: usize = 100;
/// Events that are searched for them.
const SEARCHED: usize = 20_000;
const SIGN_IN_KINDS: [&str; 3] = ["signed in", "sign-ins failed", "sign-in failed"];
/// Checkpoints on the page.
const CHECKPOINTS: usize = 50;

/// The pages about the service: address and name.
const PAGES: [(&str, &str); 5] = [
    ("/audit", "Events"),
    ("/service/people", "People, tokens and keys"),
    ("/service/sign-ins", "Sign-ins"),
    ("/service/checkpoints", "Checkpoints"),
    (super::erasure::ADDRESS, "Erase a person"),
];

/// Links to the pages about the service.
pub(super) fn pages(here: &str) -> Markup {
    html! {
        nav.contents aria-label="Pages about the service" { ul {
            @for (address, name) in PAGES { li { a href=(address) aria-current=[(address == here).then_some("page")] { (name) } } }
        } }
    }
}

/// The same page of the other chains, if there are several.
pub(super) fn chains(app: &App, here: &str) -> Markup {
    let own = app.chain_path();
    html! {
        @if let Some(chains) = app.chains() {
            nav.contents aria-label="Chains" { ul {
                @for chain in chains.all() {
                    @let path = chain_path(chain);
                    li { a href=(format!("{path}{here}")) aria-current=[(path == own).then_some("page")] {
                        @if path.is_empty() { "the service's own chain" } @else { "chain " (chain) }
                    } }
                }
            } }
        }
    }
}

/// A person, with what they have.
#[derive(Default)]
struct Person<'a> {
    names: Vec<&'a str>,
    tokens: Vec<&'a TokenRecord>,
    keys: Vec<&'a PersonKeyRecord>,
}

/// `GET /service/people`.
pub(super) async fn people(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
) -> Result<Html<String>, PageError> {
    dashboard.app.authorize(&visitor.grant, Role::Auditor, None)?;
    let (tokens, keys, now_ms) = (dashboard.app.engine.tokens(), dashboard.app.engine.people(), dashboard.now_ms());
    let mut people: BTreeMap<String, Person<'_>> = BTreeMap::new();
    for record in tokens.iter() {
        let person = people.entry(record.grant.person_id()).or_default();
        person.names.push(&record.grant.name);
        person.tokens.push(record);
    }
    for record in keys.iter() {
        let person = people.entry(record.person_id()).or_default();
        person.names.push(&record.person);
        person.keys.push(record);
    }
    for person in people.values_mut() {
        person.names.sort_unstable();
        person.names.dedup();
    }
    let rows = people.iter().map(|(id, person)| {
        let alike: Vec<&str> = confusable(&people, id);
        vec![
            TableCell::Head(html! {
                (person.names.join(", "))
                @if !alike.is_empty() { ul.badges { li { span.badge.bad { "looks like " (alike.join(", ")) } } } }
            }),
            TableCell::left(id),
            TableCell::number(count(person.tokens.iter().filter(|record| is_valid(record, now_ms)).count() as u64)),
            TableCell::number(count(person.keys.iter().filter(|record| record.revoked_ms.is_none()).count() as u64)),
        ]
    });
    let content = html! {
        h1 { "People, tokens and keys" }
        (pages("/service/people"))
        p { "A person is known by the id; names are for reading. Names that can be mistaken for another person's are marked." }
        (table("People", &["name", "id", "#valid tokens", "#keys"], rows))
        h2 { "Tokens" }
        (table("Tokens", &["token", "name", "roles", "policies", "created", "state"], tokens.iter().map(|record| token_row(record, now_ms))))
        h2 { "Keys" }
        @if keys.is_empty() { p { "Nobody has registered a key." } } @else {
            (table("Keys", &["key", "name", "kind", "registered", "state"], keys.iter().map(key_row)))
        }
    };
    Ok(PageLayout::of(&dashboard, &visitor, "People").under("/", "Policies").under("/audit", "Service").html(&content))
}

/// Names of other people that look like a name or the id of this one.
fn confusable<'a>(people: &BTreeMap<String, Person<'a>>, id: &str) -> Vec<&'a str> {
    let Some(person) = people.get(id) else { return Vec::new() };
    let own: Vec<&str> = person.names.iter().copied().chain([id]).collect();
    let others = people.iter().filter(|(other, _)| other.as_str() != id);
    others
        .flat_map(|(_, other)| other.names.iter().copied())
        .filter(|name| own.iter().any(|known| look_alike(known, name)))
        .collect()
}

fn is_valid(record: &TokenRecord, now_ms: u64) -> bool {
    record.revoked_ms.is_none() && record.grant.expires_ms.is_none_or(|expires_ms| expires_ms > now_ms)
}

fn token_row(record: &TokenRecord, now_ms: u64) -> Vec<TableCell> {
    let grant = &record.grant;
    let roles: Vec<&str> = grant.roles.iter().map(|role| role.name()).collect();
    let state = match (record.revoked_ms, grant.expires_ms) {
        (Some(revoked_ms), _) => html! { "revoked " (time(revoked_ms)) },
        (None, Some(expires_ms)) if expires_ms <= now_ms => html! { "expired " (time(expires_ms)) },
        (None, Some(expires_ms)) => html! { "valid until " (time(expires_ms)) },
        (None, None) => html! { "valid" },
    };
    vec![
        TableCell::Name(html! { code { (grant.id) } }),
        TableCell::left(&grant.name),
        TableCell::left(roles.join(", ")),
        TableCell::left(grant.policies.as_ref().map_or_else(|| "all".to_owned(), |names| names.join(", "))),
        TableCell::OneLine(time(record.created_ms)),
        TableCell::Left(state),
    ]
}

fn key_row(record: &PersonKeyRecord) -> Vec<TableCell> {
    let kind = if record.key.passkey().is_some() { "passkey" } else { "key file" };
    let state =
        record.revoked_ms.map_or_else(|| html! { "valid" }, |revoked_ms| html! { "revoked " (time(revoked_ms)) });
    vec![
        TableCell::Head(html! { code { (record.key.id()) } }),
        TableCell::left(&record.person),
        TableCell::left(kind),
        TableCell::OneLine(time(record.registered_ms)),
        TableCell::Left(state),
    ]
}

/// `GET /service/sign-ins`.
pub(super) async fn sign_ins(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
) -> Result<Html<String>, PageError> {
    dashboard.app.authorize(&visitor.grant, Role::Auditor, None)?;
    let (engine, sessions) = (dashboard.app.engine.clone(), dashboard.sessions.count(dashboard.now_ms()).await?);
    let found = blocking(move || {
        let (mut entries, mut found) = (Backwards::new(engine.log().as_ref(), 0, engine.committed() + 1), Vec::new());
        for _ in 0..SEARCHED {
            let Some(entry) = entries.next()? else { break };
            if SIGN_IN_KINDS.contains(&entry.kind.as_str()) {
                let event = event_of(engine.log().as_ref(), &entry)?;
                found.push((entry, event));
            }
            if found.len() == SIGN_INS {
                break;
            }
        }
        Ok(found)
    });
    let rows = found.await?.into_iter().map(|(entry, event)| {
        vec![TableCell::OneLine(time(entry.time_ms)), TableCell::Words(event_text("", &entry.actor, &event))]
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    let content = html! {
        h1 { "Sign-ins" }
        (pages("/service/sign-ins"))
        dl.facts { (fact("open sessions", &html! { (count(sessions)) })) (fact("invalid tokens since the start", &html! { (count(dashboard.app.failed_sign_ins.total())) })) }
        @if rows.is_empty() { p { "Nobody has signed in lately." } } @else { (table("Sign-ins, newest first", &["time", "what happened"], rows)) }
    };
    Ok(PageLayout::of(&dashboard, &visitor, "Sign-ins")
        .under("/", "Policies")
        .under("/audit", "Service")
        .html(&content))
}

/// `GET /service/checkpoints`.
pub(super) async fn checkpoints(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
) -> Result<Html<String>, PageError> {
    dashboard.app.authorize(&visitor.grant, Role::Auditor, None)?;
    let engine = dashboard.app.engine.clone();
    let mut stored = {
        let engine = engine.clone();
        blocking(move || Ok(engine.log().checkpoints(None)?)).await?
    };
    let all = stored.len() as u64;
    let rows = stored.drain(..).rev().take(CHECKPOINTS).map(|checkpoint| {
        // The text of a note: its signatures begin with a dash.
        let signatures = checkpoint.to_string().lines().filter(|line| line.starts_with('—')).count() as u64;
        vec![
            TableCell::number(count(checkpoint.size())),
            TableCell::Left(html! { code { (checkpoint.root()) } }),
            TableCell::number(count(signatures)),
        ]
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    let content = html! {
        h1 { "Checkpoints" }
        (pages("/service/checkpoints"))
        (chains(&dashboard.app, "/service/checkpoints"))
        @if let Some(notary) = engine.notary() {
            @let covered = notary.latest().map_or(0, |latest| latest.size());
            p { "Checkpoints are signed with the key " code.long { (notary.key()) } "." }
            dl.facts {
                (fact("checkpoints", &html! { (count(all)) }))
                (fact("events covered", &html! { (count(covered)) }))
                (fact("events not covered yet", &html! { (count(engine.committed().saturating_sub(covered))) }))
            }
        } @else { p { "This service signs no checkpoints." } }
        @if !rows.is_empty() { (table("Checkpoints, newest first", &["#events", "root", "#signatures"], rows)) }
        p { "A signature more than the service's own is a witness's. " code { "rarely audit verify --key" } " checks them all." }
    };
    Ok(PageLayout::of(&dashboard, &visitor, "Checkpoints")
        .under("/", "Policies")
        .under("/audit", "Service")
        .html(&content))
}
