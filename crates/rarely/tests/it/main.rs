//! The command line as a user meets it, and the architecture as the manifests have it.

mod architecture;
mod audit;
#[cfg(unix)]
mod cluster;
#[cfg(unix)]
mod cluster_load;
mod completions;
mod doctor;
mod documents;
mod duckdb;
mod erase;
mod examples;
mod frontier;
mod grid;
mod help;
mod ihdp;
#[path = "../../../../testdata/ihdp_files.rs"]
mod ihdp_files;
mod messy;
mod missing;
mod operating;
mod options;
mod output;
mod policy;
mod policy_init;
mod postgres;
#[cfg(unix)]
#[path = "../../../../testdata/postgres_server.rs"]
mod postgres_server;
mod program;
mod progress;
mod replay;
mod reproduce;
mod review;
mod review_bad_input;
mod review_groups;
mod review_pipes;
mod review_states;
mod serve;
mod server;
mod shard;
mod shard_examples;
mod simulate;
mod store;
mod sums;
mod sweep;
#[path = "../../../../testdata/table.rs"]
mod table;
mod token;
