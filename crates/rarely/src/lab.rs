//! `rarely lab`: merging shards.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser as _, Subcommand, ValueEnum as _};
use rarely_lab::ShardSet;

use crate::Cli;
use crate::failure::{Failure, OrFail as _};
use crate::output::{TableFormat, say};
use crate::shard::Work;

/// What to do with shards.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Merge the shards of a command: tables, figures and answer are those of the command without --shard, byte for byte
    Merge {
        /// Directories of shards, or directories with such directories within them
        #[arg(value_name = "DIR", required = true)]
        directories: Vec<PathBuf>,
        /// Directory for tables and figures
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// What stdout gets, where the command has a choice
        #[arg(long, value_enum)]
        format: Option<TableFormat>,
    },
}

/// Merges shards.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Command::Merge { directories, out, format } = &arguments.command;
    let shards = ShardSet::read(directories)?;
    let words = shards.words().clone();
    let mut line: Vec<OsString> = vec!["rarely".into(), words.command.clone().into()];
    line.extend(words.arguments.iter().map(OsString::from));
    line.extend(["--out".into(), out.into()]);
    if let Some(format) = format {
        let name = format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        line.extend(["--format".into(), name.into()]);
    }
    let cli = Cli::try_parse_from(line).or_fail_with(|| format!("`{words}` is not a command that can be merged"))?;
    let crate::Command::Experiments(command) = cli.command else {
        return Err(Failure::new(format!("`{words}` is not a command that is divided into shards")));
    };
    say(&format!("merging {} shards of `rarely {words}`", shards.count()));
    command.run(Work::Merge(shards))
}
