//! `rarely sweep`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use rarely_lab::report::results::{self, text};
use rarely_lab::sweep::{self, Sweep, SweepAxis};
use rarely_lab::{CounterfactualTable, Experiment, WorldSource};
use serde_json::json;

use crate::failure::{Failure, parse};
use crate::ihdp;
use crate::options::{Algorithms, AssumptionOptions, PropertyOptions, RunOptions, WorldOptions, count, true_noise};
use crate::output::{TableFormat, print, print_json, print_table, width};
use crate::shard::{Work, parts};
use crate::simulate;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A setting and its values, such as penalty=0.001,0.01,0.1; once or twice. Of the world: arms (k), dim (d), noise (σ), rounds (T),
    /// strength, curvature (of a non-linear truth), late, missing, drift, batch. Of the algorithms: penalty (λ), prior-mean (θ₀),
    /// declared-noise (× the true σ), norm-bound (L), error-probability (δ), pilot, equipoise (ε), cap, tolerance (Δ), growth (C),
    /// excluded-share (τ), z, minimum-gain, renewal (c), safety (α), posterior-scale (v), epsilon, alpha, gap-scale,
    /// discount, window, bandwidth
    #[arg(long, value_name = "SETTING=VALUES", required = true, value_parser = parse::<SweepAxis>)]
    vary: Vec<SweepAxis>,
    /// World
    #[arg(long, default_value = "linear")]
    environment: String,
    /// CSV file of people whose outcome under every arm is known, instead of a simulated world
    #[arg(long, value_name = "FILE", conflicts_with_all = ["environment", "arms", "dim", "noise", "strength", "ihdp", "data"])]
    table: Option<PathBuf>,
    /// Strength of what is unusual in the environment
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    strength: f64,
    /// IHDP instead of a simulated world: run r plays realisation r mod 100 of the published ones
    #[arg(long)]
    ihdp: bool,
    /// IHDP instead of a simulated world, with realisations from a directory or files [default with --ihdp: $RARELY_IHDP]
    #[arg(long, value_name = "DIR|FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    #[command(flatten)]
    world: WorldOptions,
    /// Standard deviation σ of the world's noise
    #[arg(long, value_name = "σ", default_value_t = 0.1, allow_negative_numbers = true)]
    noise: f64,
    /// Rounds T of each run [default: 10000, or as many as there are people]
    #[arg(long, value_parser = count(1, 1_000_000_000))]
    rounds: Option<u64>,
    /// Runs of each combination
    #[arg(long, default_value_t = 20, value_parser = count(1, 1_000_000))]
    runs: u64,
    /// Algorithms: all, or names joined by commas
    #[arg(long, default_value = "rarely,rs-greedy,rs-conservative,linucb")]
    algorithms: Algorithms,
    #[command(flatten)]
    properties: PropertyOptions,
    #[command(flatten)]
    assumptions: AssumptionOptions,
    #[command(flatten)]
    options: RunOptions,
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { vary, environment, data, world, noise, rounds, runs, algorithms, options, .. } = arguments;
    if vary.len() > 2 {
        return Err(Failure::new(format!("--vary was given {} times", vary.len())).help("give it once or twice"));
    }
    let assumptions = arguments.assumptions.resolve();
    let (source, (noise, noise_source)) = if arguments.ihdp || !data.is_empty() {
        let tables = ihdp::children(data, None)?;
        // σ = 1 is the noise of the response surface.
        (WorldSource::Tables(Arc::new(CounterfactualTable::new(tables)?)), (1.0, None))
    } else {
        let source = match &arguments.table {
            Some(path) => simulate::of_table(path)?,
            None => world.source(environment, *noise, arguments.strength)?,
        };
        let noise = true_noise(&source, &assumptions)?;
        (source, noise)
    };
    let algorithms = algorithms.of(&source);
    assumptions.check(&algorithms)?;
    let contestants = assumptions.contestants(&algorithms, noise);
    let properties = arguments.properties.resolve();
    let experiment = Experiment { rounds: *rounds, properties, ..Experiment::new(source, *runs, options.seed) };
    experiment.check(&contestants)?;
    let sweep = Sweep::new(&experiment, &contestants, vary)?;
    let Some(session) = work.start(options.place(), parts(sweep.experiments())?)? else { return Ok(()) };
    let progress = (sweep.runs(), sweep.finished(session.journal())?);
    let cells = session.watch("sweeping", progress, |context| sweep.run(context))?;
    let played = cells.iter().flat_map(|cell| &cell.results);
    let mut settings = experiment.describe(session.command(), &assumptions, played)?;
    settings.declared_noise_source = noise_source;
    settings.vary.clone_from(vary);
    if let Some(directory) = session.directory() {
        results::write_sweep(directory, &settings, &cells, options.run_traces)?;
    }
    match options.format {
        TableFormat::Json => {
            let cells: Result<Vec<_>, Failure> = cells
                .iter()
                .map(|cell| Ok(json!({ "values": cell.values, "algorithms": simulate::rows(&cell.results)? })))
                .collect();
            print_json(&json!({ "settings": settings, "cells": cells? }))?;
        }
        TableFormat::Table => print(&text::sweep(&settings, vary, &cells, width()))?,
        other => print_table(other, sweep::frame(vary, &cells), &settings.made_by())?,
    }
    session.finish()
}
