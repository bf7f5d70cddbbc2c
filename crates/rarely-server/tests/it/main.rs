//! The HTTP API through its router, without a socket. Each file tests the source file of the same name.

mod amending;
mod beside;
mod body;
mod decisions;
mod erasures;
mod error;
mod events;
mod explanation;
mod export;
mod limits;
mod login_throttle;
mod metrics;
mod notifications;
mod noting;
mod ofrep;
mod openapi;
mod outcomes;
mod policies;
mod proxied;
mod request;
mod restart;
mod route;
mod signing;
mod support;
mod tokens;
mod transparency;
