//! The command line as a user meets it, and the architecture as the manifests have it.

mod architecture;
mod command_line;
