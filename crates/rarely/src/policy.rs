//! `rarely policy`: draft, check, show and compare policy documents.

mod init;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use rarely_policy::{DocumentError, PolicyDocument, schema};

use crate::failure::Failure;
use crate::log::PopulationOptions;
use crate::output::{OutputFormat, print, print_json, say};

use self::init::Init;

/// What to do with policy documents.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Draft a document from the columns of a file, with a comment for every setting
    Init(Init),
    /// Check a document: exit 0 if it is valid, 1 if it is not
    Check {
        /// The document
        #[arg(value_name = "FILE")]
        policy: PathBuf,
    },
    /// Print a document's rule in words
    Show {
        /// The document
        #[arg(value_name = "FILE")]
        policy: PathBuf,
        /// What stdout gets
        #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
        format: OutputFormat,
    },
    /// Describe what changed between two documents, and for how many people
    Diff {
        /// The old document
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// The new document
        #[arg(value_name = "NEW")]
        new: PathBuf,
        #[command(flatten)]
        population: PopulationOptions,
    },
    /// Print the JSON Schema of documents, for editors
    Schema,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Init(init) => init.run()?,
        Command::Check { policy } => return check(policy),
        Command::Show { policy, format } => show(policy, *format)?,
        Command::Diff { old, new, population } => diff(old, new, population)?,
        Command::Schema => print_json(&schema())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(path: &Path) -> Result<ExitCode, Failure> {
    match PolicyDocument::read(path) {
        Ok(document) => {
            let (shape, features) = (document.shape(), document.features().len());
            print(&format!(
                "{}: valid; {}: {} options, {features} feature{}, {} context variables\n",
                path.display(),
                document.policy(),
                shape.arms(),
                if features == 1 { "" } else { "s" },
                shape.dimension()
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ DocumentError::Io { .. }) => Err(error.into()),
        Err(error) => {
            say(&Failure::from(error).to_string());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn show(path: &Path, format: OutputFormat) -> Result<(), Failure> {
    let document = PolicyDocument::read(path)?;
    match format {
        OutputFormat::Json => print_json(&serde_json::json!({
            "policy": document.policy(),
            "options": document.options(),
            "coordinates": document.coordinates(),
            "rule": document.rule(),
            "words": document.rule_words(),
            "parameters": document.rule().parameters(&document).iter().map(<[f64]>::to_vec).collect::<Vec<_>>(),
            "noise": document.noise(),
            "norm_bound": document.norm_bound(),
        })),
        OutputFormat::Table => {
            let words = document.rule_words();
            print(&format!("{}\n  {}\n", document.policy(), words.join("\n  ")))
        }
    }
}

fn diff(old: &Path, new: &Path, population: &PopulationOptions) -> Result<(), Failure> {
    let (before, after) = (PolicyDocument::read(old)?, PolicyDocument::read(new)?);
    let mut lines = before.difference(&after);
    if !population.population.is_empty() {
        // People of a population have no group, so that the rules of groups could not be followed.
        if before.groups().or(after.groups()).is_some() {
            return Err(Failure::new("the people who change cannot be counted where groups have rules of their own")
                .help("leave --population out: `rarely review` counts the people of each group"));
        }
        let decide = |document: &PolicyDocument| -> Result<Vec<String>, Failure> {
            let people = population.read(document)?.unwrap_or_default();
            let contexts = rarely_core::Contexts::new(&people, document.shape().dimension())?;
            let rule = rarely_core::Rule::new(document.rule().parameters(document));
            let arms = rule.choose_many(contexts)?;
            Ok(arms.into_iter().map(|arm| document.options()[arm.index()].clone()).collect())
        };
        let (first, second) = (decide(&before)?, decide(&after)?);
        let changed = first.iter().zip(&second).filter(|(old, new)| old != new).count();
        lines.push(format!("{:.1} % of people change option", 100.0 * changed as f64 / first.len().max(1) as f64));
    }
    if lines.is_empty() {
        lines.push("the two documents say the same".to_owned());
    }
    print(&(lines.join("\n") + "\n"))
}
