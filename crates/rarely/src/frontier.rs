//! `rarely frontier`.

use std::path::PathBuf;

use clap::Args;
use rarely_lab::frontier::{self, FrontierPoint};
use rarely_lab::report::results;
use rarely_lab::{Assumptions, Experiment};
use serde_json::json;

use crate::failure::{Failure, OrFail as _};
use crate::options::{Algorithms, PropertyOptions, RunOptions, WorldOptions, count, true_noise};
use crate::output::{TableFormat, print, print_json, print_table, width};
use crate::shard::{Work, parts};
use crate::simulate;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// World
    #[arg(long, default_value = "linear")]
    environment: String,
    /// CSV file of people whose outcome under every arm is known, instead of a simulated world
    #[arg(long, value_name = "FILE", conflicts_with_all = ["environment", "arms", "dim", "noise", "strength"])]
    table: Option<PathBuf>,
    /// Noise σ declared to the algorithms in a table [default: estimated]
    #[arg(long, value_name = "σ", requires = "table")]
    declared_noise: Option<f64>,
    /// Strength of what is unusual in the environment
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    strength: f64,
    #[command(flatten)]
    world: WorldOptions,
    /// Standard deviation σ of the world's noise, which is also declared to the algorithms
    #[arg(long, value_name = "σ", default_value_t = 0.1, allow_negative_numbers = true)]
    noise: f64,
    /// Algorithms: all, or names joined by commas; each over the settings that trade regret for changes [default: those of the paper and ours]
    #[arg(long)]
    algorithms: Option<Algorithms>,
    /// Rounds T of each run [default: 10000, or as many as there are people]
    #[arg(long, value_parser = count(1, 1_000_000_000))]
    rounds: Option<u64>,
    /// Runs, each with its own draw of the arms
    #[arg(long, default_value_t = 20, value_parser = count(1, 1_000_000))]
    runs: u64,
    #[command(flatten)]
    properties: PropertyOptions,
    #[command(flatten)]
    options: RunOptions,
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { environment, strength, world, noise, rounds, runs, options, .. } = arguments;
    let source = match &arguments.table {
        Some(path) => simulate::of_table(path)?,
        None => world.source(environment, *noise, *strength)?,
    };
    let assumptions = Assumptions { declared_noise: arguments.declared_noise, ..Assumptions::default() };
    let (declared, noise_source) = true_noise(&source, &assumptions)?;
    let contestants = match &arguments.algorithms {
        Some(algorithms) => frontier::candidates_of(&algorithms.of(&source), declared),
        None => frontier::candidates().into_iter().map(|contestant| contestant.declaring_noise(declared)).collect(),
    };
    let properties = arguments.properties.resolve();
    let experiment = Experiment { rounds: *rounds, properties, ..Experiment::new(source, *runs, options.seed) };
    experiment.check(&contestants)?;
    let Some(session) = work.start(options.place(), parts([(&experiment, contestants.as_slice())])?)? else {
        return Ok(());
    };
    let outcomes = simulate::play(&session, "frontier", &experiment, &contestants)?;
    let points = frontier::points(&outcomes);
    let mut settings = experiment.describe(session.command(), &assumptions, &outcomes)?;
    settings.declared_noise_source = noise_source;
    if let Some(directory) = session.directory() {
        results::write_frontier(directory, &settings, &outcomes, options.run_traces)?;
    }
    match options.format {
        TableFormat::Json => {
            let row = |point: &FrontierPoint| {
                let (algorithm, summary) = (point.algorithm, &point.summary);
                json!({ "algorithm": algorithm, "on_frontier": point.on_frontier, "summary": summary })
            };
            let rows: Vec<_> = points.iter().map(row).collect();
            print_json(&json!({ "settings": settings, "points": rows }))?;
        }
        TableFormat::Table => {
            let runs = usize::try_from(*runs).or_fail()?;
            let title = results::text::frontier_title(&settings);
            print(&format!("{title}\n\n{}", results::text::frontier(&points, runs, width())))?;
        }
        other => print_table(other, frontier::frame(&points), &settings.made_by())?,
    }
    session.finish()
}
