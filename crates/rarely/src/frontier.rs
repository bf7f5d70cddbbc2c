//! `rarely frontier`.

use clap::Args;
use miette::{IntoDiagnostic as _, Report};
use rarely_figures::results;
use rarely_lab::frontier::{self, Point};
use rarely_lab::{Source, Task};
use serde_json::json;

use crate::options::Size;
use crate::output::{Format, percent, plain_table, plus_minus, print, render};
use crate::progress::Session;
use crate::simulate::{self, count};

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Arms k
    #[arg(long, default_value_t = 4, value_parser = count(2, 1_000))]
    arms: u64,
    /// Context variables d
    #[arg(long, default_value_t = 5, value_parser = count(1, 1_000))]
    dim: u64,
    /// Rounds T of each run
    #[arg(long, default_value_t = 10_000, value_parser = count(1, 1_000_000_000))]
    rounds: u64,
    /// Runs, each with its own draw of the arms
    #[arg(long, default_value_t = 20, value_parser = count(1, 1_000_000))]
    runs: u64,
    #[command(flatten)]
    size: Size,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Report> {
    let Arguments { arms, dim, rounds, runs, size } = arguments;
    let (arms, dimension) = (usize::try_from(*arms).into_diagnostic()?, usize::try_from(*dim).into_diagnostic()?);
    let session = Session::start(size.threads, size.out.as_deref())?;
    let contestants = frontier::candidates();
    let source = Source::linear(arms, dimension);
    let task = Task { rounds: Some(*rounds), ..Task::new(source, *runs, size.seed) };
    let total = runs * contestants.len() as u64;
    let outcomes = session.watch("frontier", total, |bench| task.run(&contestants, bench)).into_diagnostic()?;
    let points = frontier::points(&outcomes);
    let frame = frontier::frame(&points);
    let title = format!(
        "rarely {}: regret against changes, {arms} arms, {dimension} context variables, {rounds} rounds, {runs} runs, seed {}",
        env!("CARGO_PKG_VERSION"),
        size.seed
    );
    let settings = json!({
        "command": "frontier", "version": env!("CARGO_PKG_VERSION"), "arms": arms, "dimension": dimension, "rounds": rounds,
        "runs": runs, "seed": size.seed,
    });
    if let Some(folder) = session.folder() {
        folder.write("frontier.csv", frame.to_csv()).into_diagnostic()?;
        let text = serde_json::to_string_pretty(&settings).into_diagnostic()? + "\n";
        folder.write("run.json", text).into_diagnostic()?;
        simulate::write_figure(folder, "figure", &results::frontier(&title, &points, None))?;
    }
    match size.format {
        Format::Csv => print(&frame.to_csv())?,
        Format::Json => {
            let rows: Vec<_> = points
                .iter()
                .map(|point| json!({ "algorithm": point.algorithm.name(), "on_frontier": point.on_frontier, "summary": point.summary }))
                .collect();
            let object = json!({ "settings": settings, "points": rows });
            print(&(serde_json::to_string_pretty(&object).into_diagnostic()? + "\n"))?;
        }
        Format::Table => print(&format!("{title}\n\n{}", table(&points, usize::try_from(*runs).into_diagnostic()?)))?,
    }
    session.finish()
}

/// The frontier from few changes to many, then what each algorithm does best beside it.
pub(crate) fn table(points: &[Point], runs: usize) -> String {
    let mut rows: Vec<&Point> = points.iter().collect();
    rows.sort_by(|one, other| {
        let key = |point: &Point| (!point.on_frontier, point.summary.changes.mean);
        key(one).partial_cmp(&key(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut table =
        plain_table(&["contestant", "on the frontier", "changes", "regret a step", "that improve, %"], &[1]);
    for point in rows {
        let row = &point.summary;
        table.add_row([
            row.name.clone(),
            if point.on_frontier { "yes" } else { "" }.to_owned(),
            if row.every_round { "every round".to_owned() } else { plus_minus(row.changes, 1, runs) },
            plus_minus(row.regret_per_step, 4, runs),
            row.improving_percent.map_or_else(|| "–".to_owned(), percent),
        ]);
    }
    render(&table)
}
