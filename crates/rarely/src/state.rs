//! `rarely state`: saved statistics of logs.

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rarely_output::OutputDirectory;
use rarely_policy::PolicyDocument;
use rarely_review::{Tally, TallyError};

use crate::failure::{Failure, OrFail as _};
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

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Command::Merge { out, states } = &arguments.command;
    if out.exists() {
        return Err(exists(out).help("give --out another name"));
    }
    let mut merged: Option<Tally> = None;
    for path in states {
        let state = from_file(path)?;
        match &mut merged {
            None => merged = Some(state),
            Some(merged) => merged.merge(&state).map_err(|error| at(path, error))?,
        }
    }
    let merged =
        merged.ok_or_else(|| Failure::new("there are no saved statistics to merge").help("name their files"))?;
    write(out, &merged)?;
    say(&format!("{} rows of {} states are in {}", merged.rows(), states.len(), out.display()));
    Ok(())
}

/// Saved statistics, checked against the document.
pub(crate) fn read(path: &Path, document: &PolicyDocument) -> Result<Tally, Failure> {
    from_file(path)?.revive(document).map_err(|error| at(path, error))
}

fn from_file(path: &Path) -> Result<Tally, Failure> {
    let text = fs::read_to_string(path).or_fail_with(|| "cannot be read".to_owned());
    let text =
        text.map_err(|failure| failure.at(path.display()).help("compute the saved statistics again from the logs"))?;
    Tally::from_text(&text).map_err(|error| at(path, error))
}

/// An error of the statistics in a file.
pub(crate) fn at(path: &Path, error: TallyError) -> Failure {
    Failure::from(error).at(path.display())
}

/// Saves statistics; the file is written whole or not at all.
pub(crate) fn write(path: &Path, tally: &Tally) -> Result<(), Failure> {
    replace(path, tally.to_text()?.as_bytes())
}

/// Writes a file that must not exist yet.
pub(crate) fn write_new(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    if path.exists() {
        return Err(exists(path).help("give another name"));
    }
    replace(path, contents)
}

fn replace(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Failure::new(format!("{} is not the name of a file", path.display())))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = OutputDirectory::create(parent).and_then(|directory| directory.write(name, contents));
    written.map_err(|error| {
        let failure = Failure::new(format!("{}: cannot be written", path.display()));
        let failure = error.source().into_iter().fold(failure, Failure::caused_by);
        failure.help("check your permissions and the free space, or name another file")
    })
}

/// A file that would be lost if it were written.
pub(crate) fn exists(path: &Path) -> Failure {
    Failure::new(format!("{}: exists already, and its contents would be lost", path.display()))
}
