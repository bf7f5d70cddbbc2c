//! `rarely simulate`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use miette::{IntoDiagnostic as _, Report};
use rarely_core::Algorithm;
use rarely_figures::results;
use rarely_lab::{Contestant, CounterfactualTable, Folder, Outcome, Source, Task};
use serde_json::{Value, json};

use crate::options::{Algorithms, Assumptions, Size, World, count};
use crate::output::{
    Format, changes, coverage, improving, json_text, percent, plain_table, plus_minus, print, print_json, render, runs,
    thousands,
};
use crate::progress::Session;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// World: linear, quadratic, logistic, heavy-tailed, understated-noise, drifting (`rarely algorithms` lists them)
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
    world: World,
    /// Standard deviation σ of the world's noise, which is also declared to the algorithms
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
    assumptions: Assumptions,
    #[command(flatten)]
    size: Size,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Report> {
    let Arguments { environment, table, strength, world, noise, rounds, runs, algorithms, assumptions, size } =
        arguments;
    let (source, true_noise) = if let Some(path) = table {
        let table = rarely_data::table::read(path).into_diagnostic()?;
        (Source::Tables(Arc::new(CounterfactualTable::new(vec![table]).into_diagnostic()?)), 1.0)
    } else {
        (world.source(environment, *noise, *strength)?, *noise)
    };
    let contestants = assumptions.contestants(&algorithms.0, true_noise);
    let certificates = size.certificates();
    let task = Task { rounds: *rounds, certificates, ..Task::new(source, *runs, size.seed) };
    let rounds = task.check(&contestants).into_diagnostic()?;
    let session = Session::start(size.threads, size.out.as_deref())?;
    let outcomes = play(&session, "simulating", &task, &contestants)?;
    let mut settings = describe(&task, rounds, assumptions, &algorithms.0)?;
    settings["command"] = json!("simulate");
    if let Some(folder) = session.folder() {
        write(folder, &settings, &outcomes)?;
    }
    report(size.format, &settings, &outcomes)?;
    session.finish()
}

/// Runs one task in a session.
pub(crate) fn play(
    session: &Session,
    what: &str,
    task: &Task,
    contestants: &[Contestant],
) -> Result<Vec<Outcome>, Report> {
    let total = task.runs * contestants.len() as u64;
    let finished = task.finished(contestants, session.journal()).into_diagnostic()?;
    session.watch(what, (total, finished), |bench| task.run(contestants, bench)).into_diagnostic()
}

/// What was run, as plain data.
pub(crate) fn describe(
    task: &Task,
    rounds: u64,
    assumptions: &Assumptions,
    algorithms: &[Algorithm],
) -> Result<Value, Report> {
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "environment": task.source.environment().into_diagnostic()?.describe(),
        "rounds": rounds,
        "runs": task.runs,
        "seed": task.seed,
        "algorithms": algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>(),
        "assumptions": assumptions.describe(),
    }))
}

/// The files of one experiment.
pub(crate) fn write(folder: &Folder, settings: &Value, outcomes: &[Outcome]) -> Result<(), Report> {
    use rarely_lab::results::{changes, summary, traces};
    folder.write("summary.csv", summary(outcomes).to_csv()).into_diagnostic()?;
    folder.write("traces.parquet", traces(outcomes).to_parquet().into_diagnostic()?).into_diagnostic()?;
    folder.write("changes.parquet", changes(outcomes).to_parquet().into_diagnostic()?).into_diagnostic()?;
    folder.write("run.json", json_text(settings)?).into_diagnostic()?;
    let figure = results::four_panels(&title(settings), outcomes, Some(note(settings)));
    write_figure(folder, "figure", &figure)
}

/// A figure as SVG and PNG.
pub(crate) fn write_figure(folder: &Folder, name: &str, figure: &rarely_figures::Figure) -> Result<(), Report> {
    folder.write(&format!("{name}.svg"), figure.svg()).into_diagnostic()?;
    folder.write(&format!("{name}.png"), figure.png(2.0).into_diagnostic()?).into_diagnostic()
}

/// Prints one experiment.
pub(crate) fn report(format: Format, settings: &Value, outcomes: &[Outcome]) -> Result<(), Report> {
    match format {
        Format::Table => print(&format!("{}\n{}\n\n{}", title(settings), note(settings), table(outcomes))),
        Format::Json => print_json(&object(settings, outcomes)?),
        Format::Csv => print(&rarely_lab::results::summary(outcomes).to_csv()),
    }
}

/// One experiment as one object.
pub(crate) fn object(settings: &Value, outcomes: &[Outcome]) -> Result<Value, Report> {
    Ok(json!({ "settings": settings, "algorithms": rows(outcomes)? }))
}

pub(crate) fn rows(outcomes: &[Outcome]) -> Result<Vec<Value>, Report> {
    let row = |outcome: &Outcome| {
        let mut row = serde_json::to_value(outcome.summary())?;
        row["rounds_per_second"] = json!(outcome.rounds_per_second());
        row["seconds"] = json!(outcome.seconds);
        Ok(row)
    };
    outcomes.iter().map(row).collect::<Result<_, serde_json::Error>>().into_diagnostic()
}

pub(crate) fn title(settings: &Value) -> String {
    let world = &settings["environment"];
    let synthetic = if world["synthetic"] == true { "SYNTHETIC data, " } else { "" };
    format!(
        "rarely {}: {synthetic}{}, {} arms, {} context variables, {} rounds, {}, seed {}",
        settings["version"].as_str().unwrap_or_default(),
        world["label"].as_str().or_else(|| world["environment"].as_str()).unwrap_or_default(),
        world["arms"],
        world["dimension"],
        settings["rounds"],
        runs(settings["runs"].as_u64().unwrap_or(0)),
        settings["seed"],
    )
}

pub(crate) fn note(settings: &Value) -> String {
    let assumptions = &settings["assumptions"];
    let mut text = format!("profile {}", assumptions["profile"].as_str().unwrap_or_default());
    if let Some(all) = assumptions.as_object() {
        for (name, value) in all.iter().filter(|(name, value)| *name != "profile" && !value.is_null()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = write!(text, ", {} {value}", name.replace('_', " "));
        }
    }
    if let Some(noise) = settings["environment"]["noise"].as_f64() {
        let _ = write!(text, ", true noise {noise}");
    }
    text + ". Mean ± standard error over the runs; percentages with 95 % intervals."
}

/// A row for each algorithm.
pub(crate) fn table(outcomes: &[Outcome]) -> String {
    let rounds = outcomes.first().map_or(0, Outcome::rounds);
    let mut table = plain_table(
        &[
            "algorithm",
            &format!("regret a step at {}", (rounds / 10).max(1)),
            &format!("at {rounds}"),
            "changes",
            "that improve, %",
            "rounds below best arm, %",
            "below 0.9 × best arm, %",
            "sets held, %",
            "seconds",
            "rounds/s",
        ],
        &[],
    );
    for outcome in outcomes {
        let row = outcome.summary();
        let runs = outcome.runs.len();
        table.add_row([
            row.name.clone(),
            plus_minus(row.regret_per_step_tenth, 4, runs),
            plus_minus(row.regret_per_step, 4, runs),
            changes(&row, runs),
            improving(&row),
            percent(row.below_baseline_percent),
            percent(row.below_nine_tenths_percent),
            coverage(&row),
            format!("{:.2}", outcome.seconds),
            thousands(outcome.rounds_per_second()),
        ]);
    }
    render(&table)
}
