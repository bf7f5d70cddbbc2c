//! The service killed at random moments and on a disk that fails: nothing acknowledged is lost, nothing is there twice, and the
//! audit passes.

mod client;
mod disk;
mod kills;
mod service;
mod truncation;
