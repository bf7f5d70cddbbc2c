//! `rarely_simulate`: algorithms against each other in a simulated world.
#![allow(unsafe_code, reason = "what #[extendr] expands to")]

mod setup;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use extendr_api::prelude::*;
use rarely_core::Algorithm;
use rarely_error::Explain;
use rarely_lab::environment::REGISTRY;
use rarely_lab::report::results as figures;
use rarely_lab::results::{self, LabelledResults};
use rarely_lab::{ContestantResult, RunContext, RunJournal};
use rarely_output::OutputDirectory;

use self::setup::Setup;
use crate::arguments::Arguments;
use crate::figure::figure;
use crate::problem::{self, Problem, answer};
use crate::values::{named_list, plain, table};
use crate::watch::watched;

fn failed(error: &impl Explain) -> Problem {
    Problem::explain(problem::EXPERIMENT, error)
}

/// The names of the algorithms and of the environments.
#[extendr]
fn known_names() -> Robj {
    let algorithms: Vec<&str> = Algorithm::all().map(Algorithm::name).collect();
    let environments: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
    named_list(["algorithms", "environments"], [algorithms.into(), environments.into()])
}

/// Runs algorithms against each other.
#[extendr]
fn simulate(arguments: List, listen: Function) -> Robj {
    answer(simulated(&Arguments::new(arguments), &listen))
}

fn simulated(arguments: &Arguments, listen: &Function) -> Result<Robj, Problem> {
    let setup = Setup::of(arguments)?;
    let threads = arguments.within("threads", (0, 1024))?.unwrap_or(0);
    let run_traces = arguments.flag("run_traces")?;
    let out = arguments.text("out")?.map(PathBuf::from);
    let directory = out.as_deref().map(OutputDirectory::create).transpose().map_err(|error| failed(&error))?;
    let journal = directory.as_ref().map_or_else(|| Ok(RunJournal::none()), RunJournal::open);
    let journal = journal.map_err(|error| failed(&error))?;
    let outcomes = watched(listen, |stop| play(&setup, &journal, threads, stop))??;
    let settings = setup.describe(&outcomes)?;
    if let Some(directory) = &directory {
        figures::write(directory, &settings, &outcomes, run_traces).map_err(|error| failed(&error))?;
    }
    journal.finish().map_err(|error| Problem::new(problem::EXPERIMENT, error.to_string()))?;
    let (title, note) = (figures::text::title(&settings), figures::text::note(&settings));
    let drawn = figures::four_panels(&title, &outcomes, Some(note.clone()));
    let parts = [LabelledResults::plain(settings.seed, &outcomes)];
    let mut fields: Vec<(&str, Robj)> = vec![
        ("settings", plain(&settings)?),
        ("summary", table(&results::summary(&outcomes))),
        ("traces", table(&results::traces(&outcomes))),
        ("changes", table(&results::changes(&outcomes))),
        ("runs", table(&results::runs(&parts))),
        ("comparisons", table(&results::comparisons(&parts))),
        ("text", figures::text::experiment(&settings, &outcomes, None).into()),
        ("figure", figure("figure", &note, drawn, settings.made_by().to_string())),
    ];
    if run_traces {
        fields.push(("run_traces", table(&results::run_traces(&parts))));
    }
    let (names, values): (Vec<&str>, Vec<Robj>) = fields.into_iter().unzip();
    Ok(named_list(names, values))
}

fn play(
    setup: &Setup,
    journal: &RunJournal,
    threads: u64,
    stop: &AtomicBool,
) -> Result<Vec<ContestantResult>, Problem> {
    let threads = usize::try_from(threads).unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let cannot = |error| Problem::new(problem::EXPERIMENT, format!("the threads cannot be started: {error}"));
    let context = RunContext { journal, progress: &|| {}, stop };
    let played = pool.map_err(cannot)?.install(|| setup.experiment.run(&setup.contestants, &context));
    played.map_err(|error| failed(&error))
}

extendr_module! {
    mod lab;
    fn known_names;
    fn simulate;
}
