//! Tests of the store: threads, failing disks, truncated files and flipped bytes.

mod backup;
mod entry;
mod event_log;
mod hash;
mod log_writer;
mod merkle;
mod notary;
mod snapshot;
mod store;
mod support;
mod tampering;
mod verify;
mod witness;
