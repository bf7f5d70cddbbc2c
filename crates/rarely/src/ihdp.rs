//! `rarely ihdp`: the paper's Figure 4.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use miette::{IntoDiagnostic as _, Report, miette};
use rarely_core::Certificates;
use rarely_data::{Counterfactuals, ihdp};
use rarely_figures::results;
use rarely_lab::{CounterfactualTable, Outcome, Source, Task};
use serde_json::{Value, json};

use crate::options::{Algorithms, Assumptions, Size};
use crate::output::{Format, print};
use crate::progress::Session;
use crate::simulate::{self, count};

/// Synthetic realisations, as many as there are in the CSV set.
pub(crate) const SYNTHETIC_REALISATIONS: u64 = 10;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder or files of the IHDP data: ihdp_npci_*.csv or ihdp_npci_*.npz
    #[arg(long, value_name = "DIR|FILE", num_args = 1.., env = "RARELY_IHDP")]
    data: Vec<PathBuf>,
    /// Instead of the data, 747 children drawn from published marginals with Hill's response surface B
    #[arg(long, conflicts_with = "data")]
    synthetic: bool,
    /// Runs: run r plays realisation r mod n in its own random order
    #[arg(long, default_value_t = 100, value_parser = count(1, 1_000_000))]
    runs: u64,
    /// Children of each run [default: all]
    #[arg(long, value_parser = count(1, 1_000_000))]
    rounds: Option<u64>,
    /// Algorithms: all, or names joined by commas
    #[arg(long, default_value = "all")]
    algorithms: Algorithms,
    /// Only this one of the two: with an intercept, or without
    #[arg(long, value_name = "yes|no")]
    intercept: Option<Choice>,
    #[command(flatten)]
    assumptions: Assumptions,
    #[command(flatten)]
    size: Size,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Choice {
    Yes,
    No,
}

/// The data that were named, or synthetic ones if those were asked for.
pub(crate) fn read(data: &[PathBuf], synthetic: bool, seed: u64) -> Result<Vec<Counterfactuals>, Report> {
    if synthetic {
        return Ok((0..SYNTHETIC_REALISATIONS).map(|realisation| ihdp::synthetic(seed, realisation)).collect());
    }
    if data.is_empty() {
        return Err(miette!(help = ihdp::HOW_TO_GET, "the IHDP data are not part of rarely: name them with --data"));
    }
    ihdp::read(data).into_diagnostic()
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Report> {
    let Arguments { data, synthetic, runs, rounds, algorithms, intercept, assumptions, size } = arguments;
    let tables = read(data, *synthetic, size.seed)?;
    let session = Session::start(size.threads, size.out.as_deref())?;
    let certificates = if session.folder().is_some() { Certificates::Full } else { Certificates::Brief };
    // σ = 1 is the noise of the response surface.
    let contestants = assumptions.contestants(&algorithms.0, 1.0);
    let mut objects = Vec::new();
    for with_intercept in [false, true] {
        if intercept.is_some_and(|choice| (choice == Choice::Yes) != with_intercept) {
            continue;
        }
        let tables: Vec<Counterfactuals> =
            tables.iter().cloned().map(|table| if with_intercept { table.with_intercept() } else { table }).collect();
        let environment = Arc::new(CounterfactualTable::new(tables).into_diagnostic()?);
        let source = Source::Tables(environment);
        let task = Task { rounds: *rounds, certificates, ..Task::new(source, *runs, size.seed) };
        let what = if with_intercept { "with an intercept" } else { "without an intercept" };
        let total = runs * contestants.len() as u64;
        let outcomes = session.watch(what, total, |bench| task.run(&contestants, bench)).into_diagnostic()?;
        let settings = describe(arguments, &task, &outcomes, what)?;
        if let Some(folder) = session.folder() {
            let name = if with_intercept { "intercept" } else { "no-intercept" };
            let folder = rarely_lab::Folder::create(&folder.path().join(name)).into_diagnostic()?;
            simulate::write(&folder, &settings, &outcomes)?;
            let figure = results::two_panels(&simulate::title(&settings), &outcomes, Some(simulate::note(&settings)));
            simulate::write_figure(&folder, "figure-4", &figure)?;
        }
        match size.format {
            Format::Json => objects.push(simulate::object(&settings, &outcomes)?),
            format => {
                simulate::report(format, &settings, &outcomes)?;
                print("\n")?;
            }
        }
    }
    if size.format == Format::Json {
        print(&(serde_json::to_string_pretty(&objects).into_diagnostic()? + "\n"))?;
    }
    session.finish()
}

fn describe(arguments: &Arguments, task: &Task, outcomes: &[Outcome], what: &str) -> Result<Value, Report> {
    let label = format!("{}, {what}", if arguments.synthetic { "IHDP-like children" } else { "IHDP" });
    let mut environment = task.source.environment().into_diagnostic()?.describe();
    environment["label"] = json!(label);
    Ok(json!({
        "command": "ihdp",
        "version": env!("CARGO_PKG_VERSION"),
        "environment": environment,
        "rounds": outcomes.first().map(Outcome::rounds),
        "runs": arguments.runs,
        "seed": arguments.size.seed,
        "algorithms": arguments.algorithms.0.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>(),
        "assumptions": arguments.assumptions.describe(),
    }))
}
