//! `rarely review`.

mod database_log;
mod groups;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rarely_data::Columns;
use rarely_output::OutputDirectory;
use rarely_policy::PolicyDocument;
use rarely_report::{ReviewSources, text, write};
use rarely_review::{EvidenceBase, Findings, Review, ReviewJson, Tally, Verdict, review};

use crate::failure::{Failure, OrFail as _};
use crate::log::{LogOptions, PopulationOptions, WalkedLog, is_standard_input};
use crate::output::{OutputFormat, print, print_json, say, width};
use crate::{postgres, state};
use database_log::{DatabaseLog, DatabaseOptions};

/// What to review.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The policy document (`rarely policy init` drafts one)
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    #[command(flatten)]
    log: LogOptions,
    #[command(flatten)]
    engine: DatabaseOptions,
    #[command(flatten)]
    population: PopulationOptions,
    /// Column with the date or the time, so that further cases are told in months as well; rows must be in its order unless the
    /// document says order = "any"
    #[arg(long, value_name = "COLUMN", help_heading = "The log")]
    time_column: Option<String>,
    /// Column with the group of a case, such as its department: every group is judged, and all share the error probability [default: the
    /// document's groups]
    #[arg(long, value_name = "COLUMN", help_heading = "The log")]
    by: Option<String>,
    /// Saved statistics to continue from; several are merged
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "The log")]
    state: Vec<PathBuf>,
    /// Save the statistics, so that next month's log can be added to them
    #[arg(long, value_name = "FILE", help_heading = WRITES)]
    save_state: Option<PathBuf>,
    /// Write the policy document with the proposed rule to a new file, if a change is proposed
    #[arg(long, value_name = "FILE", help_heading = WRITES)]
    apply: Option<PathBuf>,
    /// Directory for the report (review.html), its figures and its numbers
    #[arg(long, value_name = "DIR", help_heading = WRITES)]
    out: Option<PathBuf>,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = OutputFormat::Table, help_heading = WRITES)]
    format: OutputFormat,
}

const WRITES: &str = "What it writes";

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let document = arguments.log.document(&arguments.policy)?;
    check_targets(arguments)?;
    if let Some(document) = groups::grouped(arguments, &document)? {
        return groups::run(arguments, &document);
    }
    let directory = arguments.out.as_deref().map(OutputDirectory::create).transpose()?;
    let engine = DatabaseLog::open(&arguments.engine, &arguments.log.data)?;
    let (mut tally, read_as) = first_reading(arguments, &document, engine.as_ref())?;
    let people = arguments.population.read(&document)?;
    tally.look(&document)?;
    let base = second_reading(arguments, EvidenceBase::of(&document, &tally, people)?, engine.as_ref())?;
    let found = review(&base, &tally)?;
    if let Some(directory) = &directory {
        write(directory, &base, &found, &sources(arguments, &read_as))?;
        say(&format!("the report is {}", directory.path().join("review.html").display()));
    }
    match arguments.format {
        OutputFormat::Table => print(&text(&Findings::new(&document, &found), width()))?,
        OutputFormat::Json => print_json(&ReviewJson::new(&Findings::new(&document, &found)))?,
    }
    apply(arguments, &found)?;
    // Saved last, so that a command that fails leaves the state as it was.
    if let Some(path) = &arguments.save_state {
        state::write(path, &tally)?;
    }
    Ok(if found.judgement.verdict == Verdict::Keep { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The statistics of everything that was given, and how files are read that are not written as programs write them.
fn first_reading(
    arguments: &Arguments,
    document: &PolicyDocument,
    engine: Option<&DatabaseLog<'_>>,
) -> Result<(Tally, Vec<(PathBuf, String)>), Failure> {
    let mut read_as = Vec::new();
    let mut tally = Tally::keeping_rows(document);
    for path in &arguments.state {
        let saved = state::read(path, document)?;
        tally.merge(&saved).map_err(|error| state::at(path, error))?;
    }
    if let Some(engine) = engine {
        if arguments.time_column.is_some() {
            let failure = Failure::new("--time-column is for logs in files");
            return Err(failure.help("name the column in the policy document: time = \"COLUMN\" under [evidence]"));
        }
        tally.absorb(engine.first(document, arguments.log.reject_limit)?)?;
    } else if !arguments.log.data.is_empty() {
        let columns = LogOptions::columns(document);
        let time = arguments.time_column.clone().or(columns.time.clone());
        let (read, walked) = gather(&arguments.log, document, &Columns { time, ..columns })?;
        tally.absorb(read)?;
        read_as = walked.read_as;
    } else if arguments.state.is_empty() {
        let failure = Failure::new("there is nothing to review");
        return Err(failure.help("give a log with --data, its sums with --sums, or saved statistics with --state"));
    }
    Ok((tally, read_as))
}

/// Robust errors need the residuals of every row: they are read again, where they can be.
fn second_reading<'a>(
    arguments: &Arguments,
    base: EvidenceBase<'a>,
    engine: Option<&DatabaseLog<'_>>,
) -> Result<EvidenceBase<'a>, Failure> {
    if !arguments.state.is_empty() {
        return Ok(base);
    }
    if let Some(engine) = engine {
        return engine.second(base);
    }
    if !arguments.log.can_be_read_again() {
        return Ok(base);
    }
    let Some(mut second) = base.second_reading() else { return Ok(base) };
    let columns = LogOptions::columns(base.document);
    arguments.log.walk_again(base.document, &columns, |case| second.add_row(&case.row()))?;
    Ok(base.with_second_reading(second))
}

/// The statistics of the log, read by as many threads as there are processors.
fn gather(log: &LogOptions, document: &PolicyDocument, columns: &Columns) -> Result<(Tally, WalkedLog), Failure> {
    let mut shares = Tally::shared(document);
    let walked = log.share(document, columns, &mut shares, |tally, case| tally.add_row(&case.row()))?;
    let mut tally = Tally::joined(shares, walked.rejected)?;
    tally.add_missing(&walked.missing);
    Ok((tally, walked))
}

/// Refuses to overwrite a file, except a state that this command continues from.
fn check_targets(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = arguments.apply.as_ref().filter(|path| path.exists()) {
        return Err(state::exists(path).help("give --apply the name of a new file"));
    }
    let is_continued = |path: &&PathBuf| arguments.state.iter().any(|state| same_file(state, path));
    if let Some(path) = arguments.save_state.as_ref().filter(|path| path.exists() && !is_continued(path)) {
        let shown = path.display();
        return Err(if path.is_dir() {
            Failure::new(format!("{shown}: is a directory")).help("give --save-state the name of a file")
        } else {
            state::exists(path).help(format!("continue from it with --state {shown}, or save under another name"))
        });
    }
    Ok(())
}

fn same_file(first: &Path, second: &Path) -> bool {
    matches!((first.canonicalize(), second.canonicalize()), (Ok(first), Ok(second)) if first == second)
}

/// Puts the proposed rule into a copy of the document.
fn apply(arguments: &Arguments, found: &Review) -> Result<(), Failure> {
    let Some(path) = &arguments.apply else {
        return Ok(());
    };
    let Some(proposal) = &found.judgement.proposal else {
        say(&format!("there is no change to apply; {} was not written", path.display()));
        return Ok(());
    };
    let original = fs::read_to_string(&arguments.policy)
        .or_fail_with(|| format!("{}: cannot be read", arguments.policy.display()))?;
    let text = rarely_policy::apply(&original, &proposal.rule)?;
    state::write_new(path, text.as_bytes())?;
    say(&format!("the document with the proposed rule is in {}", path.display()));
    Ok(())
}

/// What the page names as its sources.
fn sources(arguments: &Arguments, read_as: &[(PathBuf, String)]) -> ReviewSources {
    let name = |path: &PathBuf| {
        let name =
            if is_standard_input(path) { "standard input".to_owned() } else { shown(&path.display().to_string()) };
        let way = read_as.iter().find(|(file, _)| file == path || is_standard_input(path));
        way.map_or(name.clone(), |(_, way)| format!("{name}, read as: {way}"))
    };
    let files = |paths: &[PathBuf]| -> Vec<String> { paths.iter().map(name).collect() };
    let (data, population) = (&arguments.log.data, files(&arguments.population.population));
    ReviewSources {
        command: command(),
        data: files(&[data.as_slice(), arguments.engine.sums.as_slice(), &arguments.state].concat()),
        population: (!population.is_empty()).then(|| population.join(", ")),
    }
}

/// The command line, so that it can be run again.
fn command() -> String {
    let words = std::env::args()
        .skip(1)
        .map(|word| shown(&word))
        .map(|word| if word.contains(char::is_whitespace) { format!("'{word}'") } else { word });
    std::iter::once("rarely".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word of the command line; an address of a database without its password.
fn shown(word: &str) -> String {
    if postgres::is_address(Path::new(word)) { postgres::without_password(word) } else { word.to_owned() }
}
