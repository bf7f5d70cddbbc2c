//! Where the options of `rarely serve` come from: the command line, then the environment, then a file. Each option has one name,
//! `--listen`, `RARELY_LISTEN` and `listen = …`, and one definition, that of the command line.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml_edit::{DocumentMut, Item, Value};

use crate::failure::{Failure, OrFail as _};

/// The command whose options these are.
const COMMAND: &str = "serve";
/// The option that names the file.
const FILE: &str = "config";
const UNUSABLE: &str = "is neither a text, nor a number, nor true or false, nor a list of them";
const ABOUT: &str = "Every option can also be given by an environment variable (RARELY_LISTEN for --listen; several values with commas) or in the \
                     file of --config (listen = \"127.0.0.1:8080\"; several values as a list). The command line wins over the environment, \
                     and that over the file. SIGHUP reads the file and the certificate again.";

/// Lets the options come from the environment too.
pub(crate) fn with_environment(program: Command) -> Command {
    program.mut_subcommand(COMMAND, |serve| serve.after_help(ABOUT).mut_args(from_environment))
}

fn from_environment(argument: Arg) -> Arg {
    let Some(name) = argument.get_long().filter(|name| *name != "help") else { return argument };
    let variable = format!("RARELY_{}", name.to_uppercase().replace('-', "_"));
    let argument = argument.env(variable).hide_env(true);
    if matches!(argument.get_action(), ArgAction::Append) { argument.value_delimiter(',') } else { argument }
}

/// Why the options cannot be read.
pub(crate) enum Unreadable {
    /// What the command line's reader says: what is wrong with it, or the help that was asked for.
    Usage(clap::Error),
    /// What is wrong with the file.
    File(Failure),
}

impl From<Failure> for Unreadable {
    fn from(failure: Failure) -> Self {
        Self::File(failure)
    }
}

/// Reads the command line of the program, and for `rarely serve` its file.
///
/// # Errors
/// [`Unreadable`] says what is wrong with either.
pub(crate) fn read(program: &Command, given: &[OsString]) -> Result<ArgMatches, Unreadable> {
    let given_by_hand = || program.clone().try_get_matches_from(given).map_err(Unreadable::Usage);
    // Without the file options may be missing, so that errors count only with it.
    let Ok(first) = program.clone().ignore_errors(true).try_get_matches_from(given) else { return given_by_hand() };
    let Some((COMMAND, serve)) = first.subcommand() else { return given_by_hand() };
    let Ok(Some(file)) = serve.try_get_one::<PathBuf>(FILE) else { return given_by_hand() };
    let known = program.find_subcommand(COMMAND).map(|serve| serve.get_arguments().collect::<Vec<_>>());
    let known = known.unwrap_or_default();
    let mut all = given.to_vec();
    for (key, value) in contents(file)?.iter() {
        if key == FILE || key == "help" {
            return Err(Failure::new(format!("{key} cannot stand in the file")).at(file.display()).into());
        }
        let argument = known.iter().find(|argument| argument.get_long() == Some(key));
        let source = argument.and_then(|argument| serve.value_source(argument.get_id().as_str()));
        if !matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            let is_switch = argument.is_some_and(|argument| matches!(argument.get_action(), ArgAction::SetTrue));
            all.extend(written(file, key, value, is_switch)?);
        }
    }
    match program.clone().try_get_matches_from(&all) {
        Ok(matches) => Ok(matches),
        // Help, and what is wrong with the command line itself.
        Err(error) => Err(match of_file(&error, given, file) {
            Some(failure) => failure.into(),
            None => Unreadable::Usage(error),
        }),
    }
}

fn contents(file: &Path) -> Result<DocumentMut, Failure> {
    let text = fs::read_to_string(file).or_fail_with(|| format!("{}: cannot be read", file.display()))?;
    text.parse::<DocumentMut>()
        .map_err(|error| Failure::new(error.to_string().trim_end().to_owned()).at(file.display()))
}

/// A key of the file as it would stand on the command line.
fn written(file: &Path, key: &str, value: &Item, is_switch: bool) -> Result<Vec<OsString>, Failure> {
    let failure = |problem: &str| Failure::new(format!("{key} {problem}")).at(file.display());
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.value().clone()),
        Value::Integer(number) => Ok(number.value().to_string()),
        Value::Float(number) => Ok(number.value().to_string()),
        Value::Boolean(truth) => Ok(truth.value().to_string()),
        _ => Err(failure(UNUSABLE)),
    };
    let value = value.as_value().ok_or_else(|| failure(UNUSABLE))?;
    if is_switch {
        return match value {
            Value::Boolean(truth) if *truth.value() => Ok(vec![format!("--{key}").into()]),
            Value::Boolean(_) => Ok(Vec::new()),
            _ => Err(failure("is neither true nor false")),
        };
    }
    let values = match value {
        Value::Array(values) => values.iter().map(one).collect::<Result<Vec<_>, _>>()?,
        value => vec![one(value)?],
    };
    Ok(values.into_iter().map(|value| format!("--{key}={value}").into()).collect())
}

/// An error of the command line that is about a key of the file.
fn of_file(error: &clap::Error, given: &[OsString], file: &Path) -> Option<Failure> {
    let Some(ContextValue::String(named)) = error.get(ContextKind::InvalidArg) else { return None };
    let key = named.trim_start_matches("--").split([' ', '=']).next().unwrap_or_default().to_owned();
    let by_hand = given.iter().any(|word| word.to_string_lossy().starts_with(&format!("--{key}")));
    if by_hand {
        return None;
    }
    let place = file.display();
    if error.kind() == ErrorKind::UnknownArgument {
        let failure = Failure::new(format!("the key {key:?} is unknown")).at(place);
        return Some(match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(meant)) => {
                failure.help(format!("did you mean {:?}?", meant.trim_start_matches("--")))
            }
            _ => failure.help("`rarely serve --help` lists the options; a key is an option without its dashes"),
        });
    }
    let text = error.render().to_string();
    let said = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default().trim().to_owned();
    Some(Failure::new(said).at(place))
}
