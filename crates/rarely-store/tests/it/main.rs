//! Tests of the store: threads, failing disks, truncated files and flipped bytes.

mod backup;
#[cfg(unix)]
mod chains;
mod entry;
mod event_log;
mod hash;
mod log_writer;
mod merkle;
mod notary;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
#[path = "../../../../testdata/postgres_server.rs"]
mod postgres_server;
#[cfg(unix)]
mod sessions;
mod snapshot;
mod store;
mod support;
mod tampering;
mod verify;
mod witness;
