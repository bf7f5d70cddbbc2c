//! The desk without a socket.

mod access;
mod journey;
mod support;
mod trouble;
