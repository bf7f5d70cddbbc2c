//! `rarely grid`: the claim of our default on the whole grid.

use clap::Args;
use rarely_core::{MAX_ARMS, MAX_DIMENSION};
use rarely_lab::default_grid::{DefaultGrid, GridAxes, grid_claims, grid_rows};
use rarely_lab::report::{ResultFiles, default_grid};
use rarely_lab::runs_text;
use rarely_output::Provenance;

use crate::failure::{Failure, OrFail as _};
use crate::options::{RunOptions, count};
use crate::output::{TableFormat, print, print_json, print_table, width};
use crate::shard::{Work, parts};

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Arms k of the cells, joined by commas [default: 2,4,6,8]
    #[arg(long, value_delimiter = ',', value_parser = count(2, MAX_ARMS as u64))]
    arms: Vec<u64>,
    /// Context variables d of the cells [default: 2,5,20,50]
    #[arg(long, value_delimiter = ',', value_parser = count(1, MAX_DIMENSION as u64))]
    dim: Vec<u64>,
    /// Standard deviations σ of the cells [default: 0.1,0.5,1,3]
    #[arg(long, value_delimiter = ',', value_name = "σ")]
    noise: Vec<f64>,
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

impl Arguments {
    /// The axes that were chosen, the grid's own where none were.
    fn axes(&self) -> Result<GridAxes, Failure> {
        let whole = GridAxes::default();
        let counts = |given: &[u64], own: Vec<usize>| -> Result<Vec<usize>, Failure> {
            if given.is_empty() {
                Ok(own)
            } else {
                given.iter().map(|&count| usize::try_from(count).or_fail()).collect()
            }
        };
        Ok(GridAxes {
            arms: counts(&self.arms, whole.arms)?,
            dimensions: counts(&self.dim, whole.dimensions)?,
            noise: if self.noise.is_empty() { whole.noise } else { self.noise.clone() },
        })
    }

    /// The options that choose cells, as they were given.
    fn chosen_cells(&self) -> String {
        let counts = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let noise = self.noise.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let options = [("arms", counts(&self.arms)), ("dim", counts(&self.dim)), ("noise", noise)];
        let given = options.iter().filter(|(_, values)| !values.is_empty());
        given.map(|(name, values)| format!(" --{name} {values}")).collect::<Vec<_>>().concat()
    }
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { runs, rounds, realisations, options, .. } = arguments;
    let axes = arguments.axes()?;
    if options.run_traces {
        return Err(
            Failure::new("the grid has no traces of runs").help("leave out --run-traces, or use `rarely simulate`")
        );
    }
    let grid = DefaultGrid::new(&axes, *runs, Some(*rounds), options.seed, *realisations)?;
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
    let command = format!(
        "rarely grid{} --runs {runs} --rounds {rounds} --realisations {realisations} --seed {}",
        arguments.chosen_cells(),
        options.seed
    );
    let made_by = Provenance { command, seed: options.seed, version: env!("CARGO_PKG_VERSION").to_owned() };
    if let Some(directory) = session.directory() {
        default_grid::write(&ResultFiles::new(directory, made_by.clone()), &title, &rows, &claims)?;
    }
    match options.format {
        TableFormat::Json => print_json(&default_grid::document(&title, &rows, &claims))?,
        TableFormat::Table => print(&default_grid::text(&title, &rows, &claims, width()))?,
        other => print_table(other, default_grid::frame(&rows), &made_by)?,
    }
    session.finish()
}
