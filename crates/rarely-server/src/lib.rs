//! The HTTP API and the dashboard of live policies; the only crate that knows HTTP.
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `app`, `client_address`, `login_throttle`, `failed_sign_ins` | shared state, authentication and authorization; who asks; the limit of failed sign-ins, and their summary |
//! | `problem`, `error` | RFC 9457 problem documents; one table from errors to HTTP statuses |
//! | `route`, `request`, `body`, `limits` | a route and who may call it; one request; its body; all limits |
//! | `routes` | every route of the API |
//! | `policies`, `evidence`, `signing`, `decisions`, `outcomes`, `ofrep`, `batch`, `events`, `transparency`, `export`, `tokens`, `person_keys` | the handlers |
//! | `explanation`, `rule_steps` | why a person got an option; a rule applied step by step |
//! | `views` | policies, versions and proposals as the API returns them |
//! | `health`, `metrics` | health checks; metrics for Prometheus |
//! | `openapi`, `docs` | the routes as an OpenAPI document, and as a page |
//! | `middleware` | around every request: limits, headers, metrics, panics |
//! | `dashboard` | the pages |
//! | `replica` | several replicas over one database: who owns the log, and requests that are passed on |
//! | `serve`, `connections`, `starting` | sockets, TLS and signals; who may connect, and for how long; answers while the log is read |
#![deny(missing_docs)]

mod app;
mod batch;
mod body;
mod client_address;
mod connections;
mod dashboard;
mod decisions;
mod docs;
mod error;
mod events;
mod evidence;
mod explanation;
mod export;
mod failed_sign_ins;
mod health;
mod limits;
mod login_throttle;
mod metrics;
mod middleware;
mod ofrep;
mod openapi;
mod openid;
mod outcomes;
mod person_keys;
mod policies;
mod problem;
mod replica;
mod request;
mod route;
mod routes;
mod rule_steps;
mod serve;
mod signing;
mod starting;
mod tokens;
mod transparency;
mod views;

use std::sync::Arc;

use axum::Router;

pub use app::{App, ServiceSettings};
pub use limits::{NameError, check_name, check_owner, check_person};
pub use openapi::document as openapi;
pub use openid::{OpenIdError, OpenIdOptions, OpenIdProvider};
pub use problem::ProblemDetails;
pub use replica::ReplicaOptions;
pub use serve::{Ready, ServeError, ServeOptions, ServedStore, serve};

/// The API and the dashboard as an axum router.
pub fn router(app: Arc<App>) -> Router {
    route::router(&app, routes::routes())
        .merge(dashboard::routes(app.clone()))
        .fallback(middleware::no_route)
        .method_not_allowed_fallback(middleware::no_method)
        .layer(axum::middleware::from_fn_with_state(app, middleware::wrap))
}
