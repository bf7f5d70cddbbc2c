//! The HTTP API and the dashboard of live policies.
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `app`, `network_settings`, `client_address`, `client_origin`, `request_id`, `login_throttle`, `failed_sign_ins` | shared state, authentication and authorization; who asks, and how; the limit of failed sign-ins, and their summary |
//! | `problem`, `error` | RFC 9457 problem documents; one table from errors to HTTP statuses |
//! | `route`, `request`, `body`, `page`, `limits` | a route and who may call it; one request; its body; lists in parts; all limits |
//! | `routes` | every route of the API |
//! | `policies`, `evidence`, `signing`, `decisions`, `outcomes`, `history`, `beside`, `erasures`, `ofrep`, `batch`, `events`, `transparency`, `export`, `tokens`, `person_keys` | the handlers |
//! | `explanation`, `rule_steps` | why a person got an option; a rule applied step by step |
//! | `views` | policies, versions and proposals as the API returns them |
//! | `health`, `metrics`, `traces` | health checks; metrics for Prometheus; spans for OpenTelemetry |
//! | `notifications` | who outside is told what happens: webhooks and mail |
//! | `openapi`, `docs` | the routes as an OpenAPI document, and as a page |
//! | `base_path`, `middleware`, `cors` | around every request: the path below which the service is; limits, headers, metrics, the log, panics; which web sites may call |
//! | `dashboard` | the pages |
//! | `division`, `replica` | policies spread over several chains: what their owners ask each other; several replicas over one database: who owns which chain, and requests that are passed on |
//! | `serve`, `reload`, `connections`, `starting` | sockets, TLS and signals; settings read again; who may connect, and for how long; answers while the log is read |
#![deny(missing_docs)]

mod app;
mod base_path;
mod batch;
mod beside;
mod body;
mod client_address;
mod client_origin;
mod connections;
mod cors;
mod dashboard;
mod decisions;
mod division;
mod docs;
mod erasures;
mod error;
mod events;
mod evidence;
mod explanation;
mod export;
mod failed_sign_ins;
mod health;
mod history;
mod limits;
mod login_throttle;
mod metrics;
mod middleware;
mod network_settings;
mod notifications;
mod ofrep;
mod openapi;
mod openid;
mod outcomes;
mod page;
mod person_keys;
mod policies;
#[cfg(all(test, unix))]
#[path = "../../../testdata/postgres_server.rs"]
mod postgres_server;
mod problem;
mod reload;
mod replica;
mod request;
mod request_id;
mod route;
mod routes;
mod rule_steps;
mod serve;
mod signing;
mod starting;
mod tokens;
mod traces;
mod transparency;
mod views;

use std::sync::Arc;

use axum::Router;

pub use app::{App, ServiceSettings};
pub use base_path::BasePath;
pub use limits::{NameError, check_name, check_owner, check_person};
pub use network_settings::{NetworkSettings, SharedNetworkSettings};
pub use notifications::{MailServer, MailTls, NotificationOptions, Notifications, Webhook, WebhookSecret};
pub use openapi::document as openapi;
pub use openid::{OpenIdError, OpenIdOptions, OpenIdProvider};
pub use problem::ProblemDetails;
pub use reload::{Reload, Reloaded};
pub use replica::ReplicaOptions;
pub use serve::{Ready, ServeError, ServeOptions, ServedStore, serve};
pub use traces::{TraceOptions, Traces};

/// The API and the dashboard as an axum router.
pub fn router(app: Arc<App>) -> Router {
    // A browser asks with a method of its own whether it may call the API, so that its other methods are answered inside.
    let api = route::router(&app, routes::routes()).method_not_allowed_fallback(middleware::no_method);
    let pages = dashboard::routes(app.clone()).method_not_allowed_fallback(middleware::no_method);
    let routed = api
        .layer(axum::middleware::from_fn_with_state(app.settings.network.clone(), cors::wrap))
        .merge(pages)
        .fallback(middleware::no_route)
        .layer(axum::middleware::from_fn_with_state(app.clone(), middleware::wrap));
    // Around the router, because it changes the path by which routes are found.
    Router::new().fallback_service(routed).layer(axum::middleware::from_fn_with_state(app, base_path::wrap))
}
