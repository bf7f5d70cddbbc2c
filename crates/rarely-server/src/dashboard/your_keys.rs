//! The page "Your keys": the visitor's passkeys and key files.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Form;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_live::{PasskeyEnrolment, PersonKeyRecord, PersonKeys, RelyingParty, SignedAct};
use rarely_store::Hash;
use serde::Deserialize;

use super::format::time;
use super::layout::{PageLayout, csrf};
use super::page_error::PageError;
use super::session::SessionOwner;
use super::signature_form::{PasskeyStatement, SignedForm, SigningMeans};
use super::visitor::{Address, Visitor};
use super::{Dashboard, blocking};
use crate::limits::TEXT_CHARACTERS;
use crate::problem::ProblemDetails;

/// How long a registration may take.
const ENROLMENT_MS: u64 = 600_000;
/// A sign-in with an identity provider no longer ago than this proves who registers a key.
const RECENT_MS: u64 = 600_000;
/// The most registrations at a time. One more ends all others.
const MOST: usize = 10_000;

/// Passkeys that are being registered, by session. They are always in memory.
#[derive(Debug, Default)]
pub(super) struct Enrolments(Mutex<HashMap<[u8; 32], (u64, PasskeyEnrolment)>>);

impl Enrolments {
    fn begin(&self, secret: &str, now_ms: u64, enrolment: PasskeyEnrolment) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, (expires_ms, _)| *expires_ms > now_ms);
        if open.len() >= MOST {
            open.clear();
        }
        open.insert(Hash::of(secret.as_bytes()).0, (now_ms.saturating_add(ENROLMENT_MS), enrolment));
    }

    /// Takes the registration of a session: its challenge can be answered once.
    fn take(&self, secret: &str, now_ms: u64) -> Option<PasskeyEnrolment> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (expires_ms, enrolment) = open.remove(&Hash::of(secret.as_bytes()).0)?;
        (expires_ms > now_ms).then_some(enrolment)
    }
}

/// The query parameters: what was just done.
#[derive(Debug, Default, Deserialize)]
pub(super) struct KeysQuery {
    done: Option<String>,
}

/// The form that registers a passkey.
#[derive(Debug, Deserialize)]
pub(super) struct RegistrationForm {
    csrf: String,
    /// Of a person who signed in with one.
    #[serde(default)]
    token: String,
    /// What the authenticator returned, as JSON.
    #[serde(default)]
    passkey: String,
}

/// `GET /keys`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Query(query): Query<KeysQuery>,
) -> Result<Response, PageError> {
    page(&dashboard, &visitor, query.done.as_deref(), None)
}

/// `POST /keys`: registers the visitor's first passkey.
pub(super) async fn register(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Address(peer): Address,
    Form(form): Form<RegistrationForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let enrolment = dashboard.enrolments.take(&visitor.secret, dashboard.now_ms());
    let registered = match prove(&dashboard, &visitor, form.token.trim(), peer) {
        Ok(()) => enrolled(&dashboard, &visitor, enrolment, &form.passkey).await,
        Err(error) => Err(error),
    };
    match registered {
        Ok(()) => Ok(Redirect::to("/keys?done=registered").into_response()),
        Err(error) => page(&dashboard, &visitor, None, Some(&error)),
    }
}

/// Checks that it is the visitor who registers a key, and not somebody at an open screen: by the token, or by a sign-in with the
/// identity provider a moment ago.
fn prove(dashboard: &Dashboard, visitor: &Visitor, token: &str, peer: IpAddr) -> Result<(), PageError> {
    match visitor.session.owner {
        SessionOwner::Token(_) => dashboard.check_own_token(visitor, token, peer).map(drop),
        SessionOwner::Provided(_) if visitor.session.age_ms(dashboard.now_ms()) <= RECENT_MS => Ok(()),
        SessionOwner::Provided(_) => {
            let problem = ProblemDetails::new(StatusCode::FORBIDDEN, "you signed in more than ten minutes ago");
            Err(problem.with_remedy("sign out, sign in again, and register the passkey then").into())
        }
    }
}

async fn enrolled(
    dashboard: &Dashboard,
    visitor: &Visitor,
    enrolment: Option<PasskeyEnrolment>,
    passkey: &str,
) -> Result<(), PageError> {
    let wrong = |detail: String, remedy: &str| {
        PageError::from(ProblemDetails::new(StatusCode::UNPROCESSABLE_ENTITY, detail).with_remedy(remedy))
    };
    let enrolment = enrolment.zip(dashboard.app.settings.relying_party.as_ref());
    let (enrolment, relying_party) =
        enrolment.ok_or_else(|| wrong("the registration took too long".to_owned(), "start it again"))?;
    if passkey.is_empty() {
        return Err(wrong("no passkey was sent".to_owned(), "allow scripts on this page, or use `rarely sign`"));
    }
    let passkey = relying_party.enrolled(&enrolment, passkey);
    let passkey =
        passkey.map_err(|error| wrong(error.to_string(), "start again, with a passkey that verifies who you are"))?;
    let (engine, owner) = (dashboard.app.engine.clone(), visitor.grant.clone());
    let act = blocking(move || Ok(engine.register_own_passkey(&owner, passkey)?)).await?;
    dashboard.app.settle(act).await;
    Ok(())
}

/// `POST /keys/revoke`: revokes a key of the visitor, with a signature of a passkey.
pub(super) async fn revoke(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Form(form): Form<SignedForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let (id, signature) = (form.id.clone(), form.signature(&visitor)?);
    let (engine, owner) = (dashboard.app.engine.clone(), visitor.grant.clone());
    match blocking(move || Ok(engine.revoke_own_key(&owner, &id, signature)?)).await {
        Ok(act) => {
            dashboard.app.settle(act).await;
            Ok(Redirect::to("/keys?done=revoked").into_response())
        }
        Err(error) => page(&dashboard, &visitor, None, Some(&error)),
    }
}

fn page(
    dashboard: &Dashboard,
    visitor: &Visitor,
    done: Option<&str>,
    error: Option<&PageError>,
) -> Result<Response, PageError> {
    let (people, person) = (dashboard.app.engine.people(), visitor.person());
    let all: Vec<&PersonKeyRecord> = people.iter().filter(|known| known.person_id() == person).collect();
    let is_keyless = people.of(&person).next().is_none();
    let done = done.and_then(|done| match done {
        "registered" => Some("Your passkey is registered. From now on you sign with it."),
        "revoked" => Some("The key is revoked."),
        _ => None,
    });
    let content = html! {
        h1 { "Your keys" }
        @if let Some(words) = done { div.notice.good role="status" { p { (words) } } }
        @if let Some(error) = error { div.notice.bad role="alert" { p { (error.sentences()) } } }
        p {
            "With a key of your own you sign approvals, rejections, rollbacks and resumes. The log keeps each signature, and anyone can check \
             it. Whoever has a key signs only with it; a token alone is then not enough. Stopping a policy never requires a key."
        }
        @if all.is_empty() { p { "You have no key yet." } } @else { (listed(&all)) }
        @if is_keyless { (registration(dashboard, visitor)?) } @else { (revocation(&SigningMeans::of(dashboard, visitor), &all)) }
        h2 { "With a key file, at a shell" }
        p {
            code { "rarely sign keygen" } " creates a key file and prints its public half. The administrator of the service registers it with "
            code { "rarely sign register" } "; then " code { "rarely sign approve" } ", " code { "reject" } ", " code { "rollback" } ", "
            code { "stop" } " and " code { "resume" } " sign with it."
        }
    };
    let status = error.map_or(StatusCode::OK, PageError::status);
    let frame = PageLayout::of(dashboard, visitor, "Your keys").under("/", "Policies").signing();
    Ok((status, frame.html(&content)).into_response())
}

fn listed(keys: &[&PersonKeyRecord]) -> Markup {
    html! {
        ul {
            @for known in keys {
                li {
                    code { (known.key.id()) } ": "
                    @match known.key.passkey() {
                        None => "key file",
                        Some(passkey) if passkey.backup_eligible => "passkey, which may be on several devices",
                        Some(_) => "passkey on one device",
                    }
                    ", registered " (time(known.registered_ms)) " "
                    @match known.revoked_ms {
                        Some(revoked_ms) => { span.badge { "revoked" } " " (time(revoked_ms)) },
                        None => span.badge.good { "in use" },
                    }
                }
            }
        }
    }
}

/// What to do where passkeys cannot be used.
fn unavailable() -> Markup {
    html! {
        p {
            "Passkeys cannot be used here, because the service does not know the address at which browsers reach it. Its administrator sets it \
             with " code { "rarely serve --public-url https://…" } "."
        }
    }
}

fn registration(dashboard: &Dashboard, visitor: &Visitor) -> Result<Markup, PageError> {
    let Some(relying_party) = &dashboard.app.settings.relying_party else { return Ok(unavailable()) };
    let made = relying_party.enrol(&visitor.person(), &visitor.grant.name);
    let (options, enrolment) = made.map_err(|_| ProblemDetails::internal())?;
    dashboard.enrolments.begin(&visitor.secret, dashboard.now_ms(), enrolment);
    Ok(html! {
        h2 { "Register a passkey" }
        p {
            "A passkey is a key in your device, your password manager or a security key. You confirm each signature with a fingerprint, a face or a \
             PIN. The log records that you registered it yourself."
        }
        (elsewhere(relying_party))
        form.sheet method="post" action="/keys" autocomplete="off" data-passkey="register" data-origin=(relying_party.origin) data-options=(options) {
            (csrf(visitor))
            input type="hidden" name="passkey";
            @match visitor.session.owner {
                SessionOwner::Token(_) => div.field {
                    label for="token" { "Your token, again" }
                    input #token type="password" name="token" required autocomplete="off";
                },
                SessionOwner::Provided(_) => p.hint { "You must have signed in within the last ten minutes." },
            }
            div.notice.bad role="alert" data-message hidden {}
            button type="submit" { "Register a passkey" }
        }
    })
}

fn elsewhere(relying_party: &RelyingParty) -> Markup {
    let address = format!("{}/keys", relying_party.origin);
    html! {
        p.hint { "Passkeys of this service work only at " a href=(address) { (relying_party.origin) } "." }
        noscript { p { "Registering a passkey requires scripts. Without them, use a key file." } }
    }
}

fn revocation(means: &SigningMeans<'_>, own: &[&PersonKeyRecord]) -> Markup {
    let passkeys: Vec<_> =
        own.iter().filter(|known| known.revoked_ms.is_none() && known.key.passkey().is_some()).collect();
    let forms = passkeys.iter().map(|known| {
        let (id, subject) = (known.key.id(), PersonKeys::revocation_subject(&known.key));
        let statement =
            PasskeyStatement { act: SignedAct::RevokeKey, policy: "", number: 0, subject, signer: &known.person };
        let fields = html! {
            input type="hidden" name="id" value=(id);
            input type="hidden" name="meaning" value="I revoke this key";
            div.field {
                label for=(format!("reason-{id}")) { "Why you revoke the passkey " (id) }
                input type="text" id=(format!("reason-{id}")) name="reason" required maxlength=(TEXT_CHARACTERS);
            }
        };
        means.passkey_form("/keys/revoke", &statement, &fields, "Revoke this passkey")
    });
    html! {
        h2 { "Revoke a key" }
        @if passkeys.is_empty() {
            p { "The administrator of the service revokes key files. Without a key, you can register a passkey here." }
        } @else {
            p {
                "You revoke a passkey with a signature of it; then you can register another one. If your device is lost, ask the administrator \
                 of the service to revoke its key."
            }
        }
        @for form in forms { (form) }
    }
}
