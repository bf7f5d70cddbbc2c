//! The HTTP API and the dashboard of live policies; the only crate that knows HTTP.
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `app`, `failures` | what every request has at hand; wrong tokens |
//! | `problem`, `refusals` | what went wrong, as RFC 9457 has it; the engine's errors as such |
//! | `route`, `call`, `body`, `limits` | a route and who may call it; one request; its body; how much is taken |
//! | `table` | every route of the API |
//! | `policies`, `evidence`, `signing`, `decisions`, `explain`, `outcomes`, `batch`, `events`, `export`, `tokens` | what they do |
//! | `views` | policies, versions and proposals as they are shown |
//! | `open`, `measure` | health, metrics and documentation |
//! | `openapi`, `docs` | the table as an OpenAPI document, and as a page |
//! | `guard` | around every request: limits, headers, measures, panics |
//! | `dashboard` | pages for people |
//! | `serve` | the server |
#![deny(missing_docs)]

mod app;
mod batch;
mod body;
mod call;
mod dashboard;
mod decisions;
mod docs;
mod events;
mod evidence;
mod explain;
mod export;
mod failures;
mod guard;
mod limits;
mod measure;
mod open;
mod openapi;
mod outcomes;
mod policies;
mod problem;
mod refusals;
mod route;
mod serve;
mod signing;
mod table;
mod tokens;
mod views;
mod worked;

use std::sync::Arc;

use axum::{Router, middleware};

pub use app::{App, Settings};
pub use limits::{check_name, check_person};
pub use openapi::document as openapi;
pub use problem::Problem;
pub use serve::{Ready, ServeError, ServeOptions, serve};

/// Everything that is served, without a socket.
pub fn router(app: Arc<App>) -> Router {
    route::router(&app, table::routes())
        .merge(dashboard::routes(app.clone()))
        .fallback(guard::no_route)
        .method_not_allowed_fallback(guard::no_method)
        .layer(middleware::from_fn_with_state(app, guard::guard))
}
