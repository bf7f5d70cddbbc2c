//! `rarely state`: saved statistics of logs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use miette::{IntoDiagnostic as _, Report, WrapErr as _, miette};
use rarely_output::OutputDirectory;
use rarely_policy::PolicyDocument;
use rarely_review::Tally;

use crate::output::say;

/// What to do with saved statistics.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Merge saved statistics of several logs into one file
    Merge {
        /// The new file
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Files that `rarely review --save-state` wrote
        #[arg(value_name = "STATE", required = true, num_args = 2..)]
        states: Vec<PathBuf>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Report> {
    let Command::Merge { out, states } = &arguments.command;
    if out.exists() {
        return Err(miette!("{} exists already and would be lost; give --out another name", out.display()));
    }
    let mut merged: Option<Tally> = None;
    for path in states {
        let state = from_file(path)?;
        match &mut merged {
            None => merged = Some(state),
            Some(merged) => merged.merge(&state).into_diagnostic().wrap_err_with(|| path.display().to_string())?,
        }
    }
    let merged = merged.ok_or_else(|| miette!("name the states to merge"))?;
    write(out, &merged)?;
    say(&format!("{} rows of {} states are in {}", merged.rows(), states.len(), out.display()));
    Ok(())
}

/// Saved statistics, checked against the document.
pub(crate) fn read(path: &Path, document: &PolicyDocument) -> Result<Tally, Report> {
    from_file(path)?.revive(document).into_diagnostic().wrap_err_with(|| path.display().to_string())
}

fn from_file(path: &Path) -> Result<Tally, Report> {
    let place = || format!("{}: these saved statistics cannot be used; build them again from the logs", path.display());
    let text = fs::read_to_string(path).into_diagnostic().wrap_err_with(place)?;
    Tally::from_text(&text).into_diagnostic().wrap_err_with(place)
}

/// Saves statistics: a whole file or none.
pub(crate) fn write(path: &Path, tally: &Tally) -> Result<(), Report> {
    replace(path, tally.to_text().into_diagnostic()?.as_bytes())
}

/// Writes a file that must not exist yet.
pub(crate) fn write_new(path: &Path, contents: &[u8]) -> Result<(), Report> {
    if path.exists() {
        return Err(miette!("{} exists already; give another name", path.display()));
    }
    replace(path, contents)
}

fn replace(path: &Path, contents: &[u8]) -> Result<(), Report> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| miette!("{} is no name for a file", path.display()))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = OutputDirectory::create(parent).and_then(|folder| folder.write(name, contents));
    written.map_err(|error| {
        let reason = std::error::Error::source(&error).map_or_else(String::new, |source| format!(" ({source})"));
        miette!("{}: could not be written{reason}; name a place that you may write to", path.display())
    })
}
