//! `rarely audit`: checks a service's log, and reports its changes.

mod held;
mod report;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use rarely_store::Head;

use crate::failure::{Failure, parse};
use crate::output::OutputFormat;
use held::Held;

/// What to do with a log.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check everything: the hash chain, the signed checkpoints, every decision drawn again, every review's sums, every version's
    /// signatures; exit 0 if all is consistent, 1 if not
    Verify {
        /// The store, a file or postgres://USER@HOST/DATABASE; servers may be using it
        #[arg(long, value_name = "STORE")]
        store: PathBuf,
        /// An event number and its hash, recorded elsewhere, which the log must still contain
        #[arg(long, value_name = "NUMBER:HASH", value_parser = head)]
        head: Option<Head>,
        /// File with signed checkpoints that were kept elsewhere; the log must begin with what they cover
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
        /// Public key of the log as name+id+key, or a file with it [default: that of the key file beside the store]
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// Directory with the files of archived records; everything is then checked from the first event
        #[arg(long, value_name = "DIR")]
        archive: Option<PathBuf>,
        /// What stdout gets
        #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
        format: OutputFormat,
    },
    /// Write the history of changes as a self-contained page and as CSV
    Report {
        /// The store, a file or postgres://USER@HOST/DATABASE; servers may be using it
        #[arg(long, value_name = "STORE")]
        store: PathBuf,
        /// Only this policy
        #[arg(long, value_name = "NAME")]
        policy: Option<String>,
        /// Directory for changes.html and changes.csv
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Verify { store, head, checkpoint, key, archive, format } => {
            let held = Held::read(store, *head, checkpoint.as_deref(), key.as_deref())?;
            verify::run(store, &Held { archive: archive.clone(), ..held }, *format)
        }
        Command::Report { store, policy, out } => {
            report::run(store, policy.as_deref(), out).map(|()| ExitCode::SUCCESS)
        }
    }
}

fn head(text: &str) -> Result<Head, String> {
    let (number, hash) = text
        .split_once(':')
        .ok_or_else(|| format!("{text:?} has no colon\nhelp: write the number, a colon and the hash: 4711:9f2c…"))?;
    let number = number.parse().map_err(|_| format!("{number:?} is not the number of an event"))?;
    Ok(Head { number, hash: parse(hash)? })
}
