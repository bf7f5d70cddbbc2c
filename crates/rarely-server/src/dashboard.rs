//! The dashboard: pages for the people who own a policy. They are rendered on the server and work without scripts.
//!
//! | module | what it is about |
//! |---|---|
//! | `session`, `visitor`, `sign_in`, `openid` | sessions, who is signed in, signing in and out, by token or identity provider |
//! | `layout`, `assets`, `format` | the layout of every page; style sheet and script; times and numbers |
//! | `page_error` | errors as pages |
//! | `policies`, `waiting`, `policy`, `proposal`, `document` | the list of policies, what waits for the visitor, one policy, one proposal; a policy's document, to amend |
//! | `service`, `erasure` | people, tokens, keys, sign-ins and checkpoints; the form that erases a person |
//! | `audit`, `event_text`, `backwards`, `decision` | events, newest first; one decision explained |
//! | `signature_form`, `signing` | forms that ask for a signature; what they change |
//! | `your_keys` | the passkeys and key files of the visitor |
//! | `live` | notifies an open page of new events |

mod assets;
mod audit;
mod backwards;
mod decision;
mod document;
mod erasure;
mod event_text;
mod format;
mod layout;
mod live;
mod openid;
mod page_error;
mod policies;
mod policy;
mod proposal;
mod service;
mod session;
mod sign_in;
mod signature_form;
mod signing;
#[cfg(test)]
mod tests;
mod visitor;
mod waiting;
mod your_keys;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use rarely_live::engine::{Durability, PolicyHandle};
use rarely_live::{Role, replay};

use crate::app::App;
use crate::openid::RETURN_PATH;
use crate::request;
use openid::PendingSignIns;
use page_error::PageError;
use policy::evidence::EvidenceCache;
use session::Sessions;
use visitor::Visitor;
use your_keys::Enrolments;

/// The state that every page shares.
pub(crate) struct Dashboard {
    app: Arc<App>,
    sessions: Sessions,
    evidence: EvidenceCache,
    enrolments: Enrolments,
    sign_ins: PendingSignIns,
}

/// The routes of the dashboard. The middleware sets the security headers.
pub(crate) fn routes(app: Arc<App>) -> Router {
    let dashboard = Arc::new(Dashboard {
        sessions: Sessions::new(app.settings.sessions.clone()),
        app,
        evidence: EvidenceCache::default(),
        enrolments: Enrolments::default(),
        sign_ins: PendingSignIns::default(),
    });
    Router::new()
        .route("/", get(policies::show).post(policies::register))
        .route("/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/sign-in/openid", get(openid::start))
        .route(RETURN_PATH, get(openid::finish))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/audit", get(audit::show_service))
        .route("/service/people", get(service::people))
        .route("/service/sign-ins", get(service::sign_ins))
        .route("/service/checkpoints", get(service::checkpoints))
        .route(erasure::ADDRESS, get(erasure::show).post(erasure::erase))
        .route("/policies/{name}", get(policy::show))
        .route("/policies/{name}/document", get(document::show).post(document::amend))
        .route("/policies/{name}/review", post(signing::review))
        .route("/policies/{name}/confirm", post(signing::confirm))
        .route("/policies/{name}/rollback", post(signing::roll_back))
        .route("/policies/{name}/stop", post(signing::stop))
        .route("/policies/{name}/resume", post(signing::resume))
        .route("/policies/{name}/shadow", post(policy::shadow::start))
        .route("/policies/{name}/shadow/end", post(policy::shadow::end))
        .route("/policies/{name}/live", get(live::follow))
        .route("/policies/{name}/audit", get(audit::show))
        .route("/policies/{name}/decisions/{decision}", get(decision::show))
        .route("/policies/{name}/decisions/{decision}/override", post(decision::override_decision))
        .route("/policies/{name}/proposals/{proposal}", get(proposal::show))
        .route("/policies/{name}/proposals/{proposal}/approve", post(signing::approve))
        .route("/policies/{name}/proposals/{proposal}/reject", post(signing::reject))
        .route("/keys", get(your_keys::show).post(your_keys::register))
        .route("/keys/revoke", post(your_keys::revoke))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/live.js", get(assets::script))
        .route("/assets/passkey.js", get(assets::passkey_script))
        .with_state(dashboard)
}

impl Dashboard {
    /// The policy of a name, if the visitor may read it.
    fn policy(&self, visitor: &Visitor, name: &str) -> Result<Arc<PolicyHandle>, PageError> {
        Ok(self.app.policy(&visitor.grant, Role::Read, name)?)
    }

    fn is_relaxed(&self) -> bool {
        self.app.engine.durability() == Durability::Relaxed
    }

    fn now_ms(&self) -> u64 {
        self.app.engine.now_ms()
    }
}

/// Runs work that reads or writes the store on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    request::blocking(work).await?
}

/// The URL of a page of a policy.
pub(crate) fn address(policy: &str, rest: &str) -> String {
    format!("/policies/{}{rest}", percent_encoded(policy))
}

/// Percent-encodes a text for use in a URL.
fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        // Writing to a string cannot fail.
        let _ = if byte.is_ascii_alphanumeric() {
            write!(encoded, "{}", char::from(byte))
        } else {
            write!(encoded, "%{byte:02X}")
        };
        encoded
    })
}

/// The event of a log entry.
fn event_of(log: &dyn rarely_store::EventLog, entry: &rarely_store::LogEntry) -> Result<rarely_live::Event, PageError> {
    Ok(replay::event(log, entry)?)
}
