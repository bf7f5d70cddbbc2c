//! Laws by property tests, messages by snapshots, and the example.

mod applied;
mod control;
mod documents;
mod drafts;
mod encoding;
mod laws;
mod mistakes;
mod rules;
mod schemas;
mod support;
