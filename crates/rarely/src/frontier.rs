//! `rarely frontier`.

use clap::Args;
use rarely_lab::frontier::{self, FrontierPoint};
use rarely_lab::report::results;
use rarely_lab::{Experiment, runs_text};
use serde_json::json;

use crate::failure::{Failure, OrFail as _};
use crate::options::{RunOptions, WorldOptions, count};
use crate::output::{TableFormat, print, print_json, width};
use crate::shard::{Work, parts};
use crate::simulate;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    world: WorldOptions,
    /// Rounds T of each run
    #[arg(long, default_value_t = 10_000, value_parser = count(1, 1_000_000_000))]
    rounds: u64,
    /// Runs, each with its own draw of the arms
    #[arg(long, default_value_t = 20, value_parser = count(1, 1_000_000))]
    runs: u64,
    #[command(flatten)]
    options: RunOptions,
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { world, rounds, runs, options } = arguments;
    let contestants = frontier::candidates();
    let source = world.source("linear", 0.1, 1.0)?;
    let experiment = Experiment { rounds: Some(*rounds), ..Experiment::new(source, *runs, options.seed) };
    experiment.check(&contestants)?;
    let Some(session) = work.start(options.place(), parts([(&experiment, contestants.as_slice())])?)? else {
        return Ok(());
    };
    let outcomes = simulate::play(&session, "frontier", &experiment, &contestants)?;
    let points = frontier::points(&outcomes);
    let frame = frontier::frame(&points);
    let title = format!(
        "rarely {}: regret against changes, {} arms, {} context variables, {rounds} rounds, {}, seed {}",
        env!("CARGO_PKG_VERSION"),
        world.arms,
        world.dim,
        runs_text(*runs),
        options.seed
    );
    let settings = json!({
        "command": "frontier", "version": env!("CARGO_PKG_VERSION"), "arms": world.arms, "dimension": world.dim,
        "rounds": rounds, "runs": runs, "seed": options.seed,
    });
    if let Some(directory) = session.directory() {
        directory.write("frontier.csv", frame.to_csv())?;
        directory.write_json("run.json", &settings)?;
        let figure = results::frontier(&title, &points, None);
        directory.write_all("figure", figure.files("figure"))?;
    }
    match options.format {
        TableFormat::Csv => print(&frame.to_csv())?,
        TableFormat::Json => {
            let row = |point: &FrontierPoint| {
                let (algorithm, summary) = (point.algorithm.name(), &point.summary);
                json!({ "algorithm": algorithm, "on_frontier": point.on_frontier, "summary": summary })
            };
            let rows: Vec<_> = points.iter().map(row).collect();
            print_json(&json!({ "settings": settings, "points": rows }))?;
        }
        TableFormat::Table => {
            let runs = usize::try_from(*runs).or_fail()?;
            print(&format!("{title}\n\n{}", results::text::frontier(&points, runs, width())))?;
        }
    }
    session.finish()
}
