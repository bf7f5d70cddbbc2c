//! Result tables as text, for people. Lines are no longer than `width`, if there is one.

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::frontier::Point;
use crate::sweep::{Axis, Cell};
use crate::{Outcome, runs_text};
use serde_json::Value;

use super::words::{changes, coverage, improving, percent, plus_minus, thousands};
use rarely_output::TextTable;

/// What was run, in a line: the title of its figure. The settings are those of [`crate::Task::describe`].
pub fn title(settings: &Value) -> String {
    let world = &settings["environment"];
    let synthetic = if world["synthetic"] == true { "SYNTHETIC data, " } else { "" };
    format!(
        "rarely {}: {synthetic}{}, {} arms, {} context variables, {} rounds, {}, seed {}",
        settings["version"].as_str().unwrap_or_default(),
        world["label"].as_str().or_else(|| world["environment"].as_str()).unwrap_or_default(),
        world["arms"],
        world["dimension"],
        settings["rounds"],
        runs_text(settings["runs"].as_u64().unwrap_or(0)),
        settings["seed"],
    )
}

/// What the algorithms were told, and how to read the numbers: the note under its figure.
pub fn note(settings: &Value) -> String {
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

/// One experiment: what was run, and a row for each contestant.
pub fn experiment(settings: &Value, outcomes: &[Outcome], width: Option<u16>) -> String {
    under(settings, &outcome_table(outcomes, width))
}

/// A sweep: what was run, and a row for each combination of values and each contestant.
pub fn sweep(settings: &Value, axes: &[Axis], cells: &[Cell], width: Option<u16>) -> String {
    under(settings, &sweep_table(axes, cells, width))
}

fn under(settings: &Value, table: &str) -> String {
    format!("{}\n{}\n\n{table}", title(settings), note(settings))
}

fn outcome_table(outcomes: &[Outcome], width: Option<u16>) -> String {
    let rounds = outcomes.first().map_or(0, Outcome::rounds);
    let mut table = TextTable::new(
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
        table.row([
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
    table.text(width)
}

fn sweep_table(axes: &[Axis], cells: &[Cell], width: Option<u16>) -> String {
    let names: Vec<String> = axes.iter().map(|axis| axis.setting.to_string()).collect();
    let mut header: Vec<&str> = names.iter().map(String::as_str).collect();
    header.extend(["algorithm", "regret a step", "changes", "that improve, %", "sets held, %"]);
    let mut table = TextTable::new(&header, &[axes.len()]);
    for cell in cells {
        for outcome in &cell.outcomes {
            let (row, runs) = (outcome.summary(), outcome.runs.len());
            let mut line: Vec<String> = cell.values.iter().map(ToString::to_string).collect();
            line.extend([
                row.name.clone(),
                plus_minus(row.regret_per_step, 4, runs),
                changes(&row, runs),
                improving(&row),
                coverage(&row),
            ]);
            table.row(line);
        }
    }
    table.text(width)
}

/// The frontier from few changes to many, then what each algorithm does best beside it; `runs` is how many there were of each.
pub fn frontier(points: &[Point], runs: usize, width: Option<u16>) -> String {
    let mut rows: Vec<&Point> = points.iter().collect();
    rows.sort_by(|one, other| {
        let key = |point: &Point| (!point.on_frontier, point.summary.changes.mean);
        key(one).partial_cmp(&key(other)).unwrap_or(Ordering::Equal)
    });
    let mut table =
        TextTable::new(&["contestant", "on the frontier", "changes", "regret a step", "that improve, %"], &[1]);
    for point in rows {
        let row = &point.summary;
        table.row([
            row.name.clone(),
            if point.on_frontier { "yes" } else { "" }.to_owned(),
            changes(row, runs),
            plus_minus(row.regret_per_step, 4, runs),
            improving(row),
        ]);
    }
    table.text(width)
}
