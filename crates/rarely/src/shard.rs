//! Shards: a part of a command's runs on each of several machines, and merging them.

use std::ffi::OsString;
use std::path::Path;

use clap::{ArgAction, ArgMatches, CommandFactory as _};
use rarely_lab::{CommandRuns, CommandWords, Contestant, Divisible, Experiment, Shard, ShardFile, ShardSet, runs_text};

use crate::Cli;
use crate::failure::{Failure, OrFail as _};
use crate::output::say;
use crate::progress::RunSession;

/// Arguments on which results do not depend.
const LEFT_OUT: [&str; 4] = ["out", "threads", "format", "shard"];

/// What a command of the lab is to do.
pub(crate) enum Work {
    /// What its arguments say.
    Given,
    /// Report what all shards of it played.
    Merge(ShardSet),
}

/// Where a command runs.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) threads: Option<u16>,
    pub(crate) out: Option<&'a Path>,
    pub(crate) shard: Option<Shard>,
}

/// What a command plays.
pub(crate) type Parts<'a> = Vec<Box<dyn Divisible + 'a>>;

/// Experiments with their contestants.
pub(crate) fn parts<'a>(
    experiments: impl IntoIterator<Item = (&'a Experiment, &'a [Contestant])>,
) -> Result<Parts<'a>, Failure> {
    let parts = experiments.into_iter().map(|(experiment, contestants)| experiment.divisible(contestants));
    Ok(parts.collect::<Result<_, _>>()?)
}

impl Work {
    /// To be called when the arguments have been checked. Plays a shard, if the command is for one; otherwise returns the session in which
    /// the whole command runs.
    pub(crate) fn start(self, place: Place<'_>, parts: Parts<'_>) -> Result<Option<RunSession>, Failure> {
        match (self, place.shard) {
            (Self::Merge(shards), _) => {
                let command = shards.words().line();
                let workload = CommandRuns::new(shards.words().clone(), parts);
                RunSession::merging(place.threads, place.out, shards.journal(&workload)?, command).map(Some)
            }
            (Self::Given, Some(shard)) => {
                play(shard, place, &CommandRuns::new(given(&Cli::command().get_matches(), must_be_unicode)?, parts))?;
                Ok(None)
            }
            (Self::Given, None) => {
                let words = given(&Cli::command().get_matches(), |_, value| Ok(value.to_string_lossy().into_owned()))?;
                RunSession::start(place.threads, place.out, words.line()).map(Some)
            }
        }
    }
}

/// Plays a shard in its own directory, unless it was finished there before.
fn play(shard: Shard, place: Place<'_>, workload: &CommandRuns<'_>) -> Result<(), Failure> {
    let out = place.out.ok_or_else(|| Failure::new("a shard needs a directory").help("name one with --out"))?;
    let out = out.join(shard.directory());
    if ShardFile::finished(&out, workload)?.is_some() {
        say(&format!("shard {shard} was finished before; its runs are in {}", out.display()));
        return Ok(());
    }
    let session = RunSession::start(place.threads, Some(&out), workload.words().line())?;
    let progress = (workload.runs(shard), workload.finished(shard, session.journal()));
    if let Some(directory) = session.directory() {
        let what = format!("shard {shard}");
        let file = session.watch(&what, progress, |context| ShardFile::play(directory, workload, shard, context))?;
        file.write(directory)?;
    }
    say(&format!("shard {shard}: {}", runs_text(workload.runs(shard))));
    session.finish()
}

fn must_be_unicode(name: &str, value: OsString) -> Result<String, Failure> {
    value.into_string().map_err(|value| {
        Failure::new(format!("--{name} {}: is not Unicode text", value.display()))
            .help("use a name that is, so that it can be written into the file of a shard")
    })
}

/// The command that was given, without what its results do not depend on and without what it would be by default: equal commands
/// have equal words.
fn given(
    matches: &ArgMatches,
    text: impl Fn(&str, OsString) -> Result<String, Failure>,
) -> Result<CommandWords, Failure> {
    let program = Cli::command();
    let (command, given) = matches
        .subcommand()
        .and_then(|(name, given)| Some((program.find_subcommand(name)?, given)))
        .ok_or_else(|| Failure::new("no command was given"))?;
    let mut arguments = Vec::new();
    for argument in command.get_arguments() {
        let (id, Some(name)) = (argument.get_id().as_str(), argument.get_long()) else { continue };
        let values: Vec<OsString> =
            given.try_get_raw(id).or_fail()?.into_iter().flatten().map(OsString::from).collect();
        if LEFT_OUT.contains(&id) || values.as_slice() == argument.get_default_values() {
            continue;
        }
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            arguments.extend(given.get_flag(id).then(|| format!("--{name}")));
            continue;
        }
        for value in values {
            arguments.push(format!("--{name}={}", text(name, value)?));
        }
    }
    Ok(CommandWords { command: command.get_name().to_owned(), arguments })
}
