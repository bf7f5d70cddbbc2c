//! `rarely grid`: the claim of our default on the whole grid.

use clap::Args;
use rarely_lab::default_grid::{DefaultGrid, grid_claims, grid_rows};
use rarely_lab::report::default_grid;
use rarely_lab::runs_text;

use crate::failure::Failure;
use crate::options::{RunOptions, count};
use crate::output::{TableFormat, print, print_json, width};
use crate::shard::{Work, parts};

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Runs in each cell of the grid
    #[arg(long, default_value_t = 80, value_parser = count(1, 1_000_000))]
    runs: u64,
    /// Rounds T of each run
    #[arg(long, default_value_t = 10_000, value_parser = count(1, 1_000_000_000))]
    rounds: u64,
    /// Realisations of IHDP
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    realisations: u32,
    #[command(flatten)]
    options: RunOptions,
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { runs, rounds, realisations, options } = arguments;
    let grid = DefaultGrid::new(*runs, Some(*rounds), options.seed, *realisations)?;
    let Some(session) = work.start(options.place(), parts(grid.experiments())?)? else { return Ok(()) };
    let finished = grid.finished(session.journal())?;
    let cells = session.watch("grid", (grid.runs(), finished), |context| grid.run(context))?;
    let (rows, claims) = (grid_rows(&cells), grid_claims(&cells));
    let title = format!(
        "rarely {}: our default on the grid, {rounds} rounds, {} per cell, {realisations} realisations of IHDP, seed {}",
        env!("CARGO_PKG_VERSION"),
        runs_text(*runs),
        options.seed
    );
    if let Some(directory) = session.directory() {
        let command = format!(
            "rarely grid --runs {runs} --rounds {rounds} --realisations {realisations} --seed {}",
            options.seed
        );
        default_grid::write(directory, &title, &rows, &claims, &command)?;
    }
    match options.format {
        TableFormat::Csv => print(&default_grid::frame(&rows).to_csv())?,
        TableFormat::Json => print_json(&default_grid::document(&title, &rows, &claims))?,
        TableFormat::Table => print(&default_grid::text(&title, &rows, &claims, width()))?,
    }
    session.finish()
}
