//! `rarely simulate`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rarely_lab::report::results;
use rarely_lab::{Contestant, ContestantResult, CounterfactualTable, Experiment, ExperimentDescription, WorldSource};
use serde_json::{Value, json};

use crate::failure::{Failure, OrFail as _};
use crate::options::{Algorithms, AssumptionOptions, PropertyOptions, RunOptions, WorldOptions, count, true_noise};
use crate::output::{TableFormat, print, print_json, print_table, width};
use crate::progress::RunSession;
use crate::shard::{Work, parts};

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// World: linear, quadratic, logistic, binary, heavy-tailed, understated-noise, drifting, late-failures (`rarely algorithms` lists them)
    #[arg(long, default_value = "linear", conflicts_with = "table")]
    environment: String,
    /// CSV file of people whose outcome under every arm is known (columns `outcome:<arm>`, optionally `mean:<arm>`), instead of
    /// a simulated world
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arms", "dim", "noise", "strength"])]
    table: Option<PathBuf>,
    /// Strength of what is unusual in the environment
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    strength: f64,
    #[command(flatten)]
    world: WorldOptions,
    /// Standard deviation σ of the world's noise, which is also declared to the algorithms; of a table it is estimated
    #[arg(long, value_name = "σ", default_value_t = 0.1, allow_negative_numbers = true)]
    noise: f64,
    /// Rounds T of each run [default: 10000, or as many as there are people]
    #[arg(long, value_parser = count(1, 1_000_000_000))]
    rounds: Option<u64>,
    /// Runs, each with its own draw of the arms
    #[arg(long, default_value_t = 50, value_parser = count(1, 1_000_000))]
    runs: u64,
    /// Algorithms: all, or names joined by commas
    #[arg(long, default_value = "all")]
    algorithms: Algorithms,
    #[command(flatten)]
    properties: PropertyOptions,
    #[command(flatten)]
    assumptions: AssumptionOptions,
    #[command(flatten)]
    options: RunOptions,
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { environment, table, strength, world, noise, rounds, runs, algorithms, options, .. } = arguments;
    let source = match table {
        Some(path) => of_table(path)?,
        None => world.source(environment, *noise, *strength)?,
    };
    let assumptions = arguments.assumptions.resolve();
    let algorithms = algorithms.of(&source);
    assumptions.check(&algorithms)?;
    let (noise, noise_source) = true_noise(&source, &assumptions)?;
    let contestants = assumptions.contestants(&algorithms, noise);
    let experiment = Experiment {
        rounds: *rounds,
        certificates: options.certificates(),
        properties: arguments.properties.resolve(),
        ..Experiment::new(source, *runs, options.seed)
    };
    experiment.check(&contestants)?;
    let Some(session) = work.start(options.place(), parts([(&experiment, contestants.as_slice())])?)? else {
        return Ok(());
    };
    let outcomes = play(&session, "simulating", &experiment, &contestants)?;
    let mut settings = experiment.describe(session.command(), &assumptions, &outcomes)?;
    settings.declared_noise_source = noise_source;
    if let Some(directory) = session.directory() {
        results::write(directory, &settings, &outcomes, options.run_traces)?;
    }
    report(options.format, &settings, &outcomes)?;
    session.finish()
}

/// The people of a CSV file.
pub(crate) fn of_table(path: &Path) -> Result<WorldSource, Failure> {
    let table = rarely_data::table::read(path)?;
    Ok(WorldSource::Tables(Arc::new(CounterfactualTable::new(vec![table])?)))
}

/// Runs one experiment.
pub(crate) fn play(
    session: &RunSession,
    what: &str,
    experiment: &Experiment,
    contestants: &[Contestant],
) -> Result<Vec<ContestantResult>, Failure> {
    let total = experiment.runs * contestants.len() as u64;
    let finished = experiment.finished(contestants, session.journal())?;
    Ok(session.watch(what, (total, finished), |context| experiment.run(contestants, context))?)
}

/// Prints one experiment.
pub(crate) fn report(
    format: TableFormat,
    settings: &ExperimentDescription,
    outcomes: &[ContestantResult],
) -> Result<(), Failure> {
    match format {
        TableFormat::Table => print(&results::text::experiment(settings, outcomes, width())),
        TableFormat::Json => print_json(&object(settings, outcomes)?),
        other => print_table(other, rarely_lab::results::summary(outcomes), &settings.made_by()),
    }
}

/// One experiment as one object.
pub(crate) fn object(settings: &ExperimentDescription, outcomes: &[ContestantResult]) -> Result<Value, Failure> {
    Ok(json!({ "settings": settings, "algorithms": rows(outcomes)? }))
}

pub(crate) fn rows(outcomes: &[ContestantResult]) -> Result<Vec<Value>, Failure> {
    let row = |outcome: &ContestantResult| {
        let mut row = serde_json::to_value(outcome.summary())?;
        row["rounds_per_second"] = json!(outcome.rounds_per_second());
        row["seconds"] = json!(outcome.seconds);
        Ok(row)
    };
    outcomes.iter().map(row).collect::<Result<_, serde_json::Error>>().or_fail()
}
