//! The pages: what the session looks like.

pub(crate) mod assets;
mod bars;
mod columns;
mod file;
mod layout;
mod preview;
mod review;
mod rule;

pub(crate) use columns::columns;
pub(crate) use file::{file, format_of, work};
pub(crate) use layout::{not_found, refused};
pub(crate) use preview::preview;
pub(crate) use review::review;
pub(crate) use rule::rule;
