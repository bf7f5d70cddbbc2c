//! The command line as a user meets it, and the architecture as the manifests have it.

mod answers;
mod architecture;
mod bad_data;
mod bad_options;
mod documents;
mod examples;
mod help;
#[path = "../../../../testdata/ihdp_files.rs"]
mod ihdp_files;
mod interruption;
mod outputs;
mod pipes;
mod policy_documents;
mod program;
mod replay;
mod reproduction;
mod review;
mod review_bad_input;
mod review_states;
mod service;
