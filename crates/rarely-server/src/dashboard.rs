//! The dashboard: pages for the people who own a policy, rendered here, readable without a script and without the internet.
//!
//! | module | what it is about |
//! |---|---|
//! | `session`, `visitor`, `sign_in` | who is signed in, and how |
//! | `layout`, `assets`, `format` | what every page looks like; times and numbers |
//! | `refusal` | why a page is not shown |
//! | `policies`, `policy`, `proposal` | the pages |
//! | `audit`, `told`, `backwards`, `decision` | what happened, newest first; one decision explained |
//! | `signing` | forms that change something |
//! | `live` | tells a page that something happened |

mod assets;
mod audit;
mod backwards;
mod decision;
mod format;
mod layout;
mod live;
mod policies;
mod policy;
mod proposal;
mod refusal;
mod session;
mod sign_in;
mod signing;
#[cfg(test)]
mod tests;
mod told;
mod visitor;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use rarely_live::engine::{Durability, PolicyHandle};
use rarely_live::{Role, replay};

use crate::app::App;
use policy::evidence::Evidence;
use refusal::Refusal;
use session::Sessions;
use visitor::Visitor;

/// What every page has at hand.
pub(crate) struct Dashboard {
    app: Arc<App>,
    sessions: Sessions,
    evidence: Evidence,
}

/// The dashboard's pages. The headers that keep a browser to them are set around every request.
pub(crate) fn routes(app: Arc<App>) -> Router {
    let dashboard = Arc::new(Dashboard { app, sessions: Sessions::default(), evidence: Evidence::default() });
    Router::new()
        .route("/", get(policies::show).post(policies::register))
        .route("/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/policies/{name}", get(policy::show))
        .route("/policies/{name}/review", post(signing::review))
        .route("/policies/{name}/confirm", post(signing::confirm))
        .route("/policies/{name}/rollback", post(signing::roll_back))
        .route("/policies/{name}/stop", post(signing::stop))
        .route("/policies/{name}/resume", post(signing::resume))
        .route("/policies/{name}/live", get(live::follow))
        .route("/policies/{name}/audit", get(audit::show))
        .route("/policies/{name}/decisions/{decision}", get(decision::show))
        .route("/policies/{name}/proposals/{proposal}", get(proposal::show))
        .route("/policies/{name}/proposals/{proposal}/approve", post(signing::approve))
        .route("/policies/{name}/proposals/{proposal}/reject", post(signing::reject))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/live.js", get(assets::script))
        .with_state(dashboard)
}

impl Dashboard {
    /// A policy, for somebody who may see it. Whoever may not does not learn whether there is one.
    fn policy(&self, visitor: &Visitor, name: &str) -> Result<Arc<PolicyHandle>, Refusal> {
        self.app.require(&visitor.grant, Role::Read, Some(name))?;
        let handle = self.app.engine.policy(name);
        handle.ok_or_else(|| Refusal::not_found(format!("There is no policy {name:?}.")))
    }

    fn is_relaxed(&self) -> bool {
        self.app.engine.durability() == Durability::Relaxed
    }

    fn now_ms(&self) -> u64 {
        self.app.engine.now_ms()
    }
}

/// Reads or writes the store, which may wait for the disk, beside the threads that serve.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Refusal::fault(error.to_string()))?
}

/// The address of a page of a policy.
fn address(policy: &str, rest: &str) -> String {
    format!("/policies/{}{rest}", quoted(policy))
}

/// A text as a part of an address: whatever is not a letter or a digit is spelt out.
fn quoted(text: &str) -> String {
    text.bytes().fold(String::new(), |mut quoted, byte| {
        // Writing to a string cannot fail.
        let _ = if byte.is_ascii_alphanumeric() {
            write!(quoted, "{}", char::from(byte))
        } else {
            write!(quoted, "%{byte:02X}")
        };
        quoted
    })
}

/// The event that an entry holds, or why it cannot be shown.
fn event_of(entry: &rarely_store::LogEntry) -> Result<rarely_live::Event, Refusal> {
    replay::event(entry).map_err(|error| Refusal::fault(error.to_string()))
}
