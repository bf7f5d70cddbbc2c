//! The command line as a user meets it, and the architecture as the manifests have it.

mod architecture;
mod archive;
mod audit;
#[cfg(unix)]
mod book;
mod book_pages;
#[cfg(unix)]
mod cluster;
#[cfg(unix)]
mod cluster_chains;
#[cfg(unix)]
mod cluster_faults;
#[cfg(unix)]
mod cluster_load;
#[cfg(unix)]
mod cluster_sessions;
#[cfg(unix)]
mod cluster_versions;
mod completions;
mod desk;
#[cfg(unix)]
mod divided_commands;
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
mod import;
mod messy;
mod missing;
mod operating;
mod options;
mod output;
#[cfg(target_os = "linux")]
mod packaging;
mod policy;
mod policy_init;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod postgres_commands;
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
#[cfg(unix)]
mod slow_proxy;
mod store;
mod sums;
mod sweep;
#[path = "../../../../testdata/table.rs"]
mod table;
mod token;
