//! Result tables as figures, as text, and as a folder of files.

pub mod text;
pub(crate) mod words;

use std::fmt::Write as _;

use crate::frontier::{FrontierPoint, frame as frontier_table, points as frontier_points};
use crate::report::files::ResultFiles;
use crate::report::style::style_of;
use crate::results::LabelledResults;
use crate::sweep::{SweepAxis, SweepCell, frame as sweep_table, labelled as sweep_runs};
use crate::{ContestantResult, ExperimentDescription, Interval95, Quantiles, Summary, results as tables};
use rarely_core::Algorithm;
use rarely_output::{OutputDirectory, OutputError};

use rarely_plot::{Aspect, Axis, Bar, Figure, Legend, Mark, Panel, Point, Scale};
use rarely_plot::{Colour, Style};

/// Writes the files of one experiment: its tables, every run by itself, its description, and its figure; with `run_traces` the traces of
/// every run too.
///
/// # Errors
/// [`OutputError`] of the first file that cannot be written.
pub fn write(
    directory: &OutputDirectory,
    description: &ExperimentDescription,
    results: &[ContestantResult],
    run_traces: bool,
) -> Result<(), OutputError> {
    let files = ResultFiles::new(directory, description.made_by());
    files.table("summary", &tables::summary(results))?;
    write_runs(&files, &[LabelledResults::plain(description.seed, results)], run_traces)?;
    files.parquet("traces", &tables::traces(results))?;
    files.parquet("changes", &tables::changes(results))?;
    files.json("run", description)?;
    files.other("traces.dat", pgf_columns(description, results))?;
    files.figure("figure", &four_panels(&text::title(description), results, Some(text::note(description))))
}

/// The same for a sweep.
///
/// # Errors
/// [`OutputError`] of the first file that cannot be written.
pub fn write_sweep(
    directory: &OutputDirectory,
    description: &ExperimentDescription,
    cells: &[SweepCell],
    run_traces: bool,
) -> Result<(), OutputError> {
    let (files, axes) = (ResultFiles::new(directory, description.made_by()), &description.vary);
    files.table("sweep", &sweep_table(axes, cells))?;
    write_runs(&files, &sweep_runs(axes, cells, description.seed), run_traces)?;
    files.json("run", description)?;
    files.figure("figure", &sweep(&text::title(description), axes, cells, Some(text::note(description))))
}

/// The same for a frontier.
///
/// # Errors
/// [`OutputError`] of the first file that cannot be written.
pub fn write_frontier(
    directory: &OutputDirectory,
    description: &ExperimentDescription,
    results: &[ContestantResult],
    run_traces: bool,
) -> Result<(), OutputError> {
    let files = ResultFiles::new(directory, description.made_by());
    let points = frontier_points(results);
    files.table("frontier", &frontier_table(&points))?;
    write_runs(&files, &[LabelledResults::plain(description.seed, results)], run_traces)?;
    files.json("run", description)?;
    files.figure("figure", &frontier(&text::frontier_title(description), &points, None))
}

/// Traces as plain columns for pgfplots, gnuplot or a spreadsheet: the round, and for each algorithm its mean regret per step, the 10 % and
/// 90 % quantiles of its runs, and its mean changes. The first line says what was run; these programs skip it.
fn pgf_columns(description: &ExperimentDescription, results: &[ContestantResult]) -> String {
    let mut text = format!("# {}\nround", description.made_by().to_string().replace('\n', " "));
    let traces: Vec<_> = results.iter().map(ContestantResult::trace).collect();
    for result in results {
        let name: String = result.name().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        for part in ["", "-p10", "-p90", "-changes"] {
            // Writing to a string cannot fail.
            let _ = write!(text, " {name}{part}");
        }
    }
    text.push('\n');
    for (at, first) in traces.first().into_iter().flatten().enumerate() {
        let _ = write!(text, "{}", first.round);
        for point in traces.iter().filter_map(|trace| trace.get(at)) {
            let quantiles = &point.regret_quantiles;
            let parts = [point.regret_per_step.mean, quantiles.low, quantiles.high, point.changes.mean];
            for part in parts {
                let _ = write!(text, " {part}");
            }
        }
        text.push('\n');
    }
    text
}

/// Writes every run by itself (`runs.parquet`), every pair of contestants against each other (`comparisons`) and, where asked for, the
/// trace of every run (`run-traces.parquet`).
fn write_runs(files: &ResultFiles<'_>, parts: &[LabelledResults<'_>], run_traces: bool) -> Result<(), OutputError> {
    files.parquet("runs", &tables::runs(parts))?;
    files.table("comparisons", &tables::comparisons(parts))?;
    if run_traces {
        files.parquet("run-traces", &tables::run_traces(parts))?;
    }
    Ok(())
}

/// The paper's Figure 3: regret per step and changes by round, rounds below the best fixed arm, changes that improve.
pub fn four_panels(title: &str, results: &[ContestantResult], note: Option<String>) -> Figure {
    let panels = vec![
        regret_panel("a) Regret per step", results),
        changes_panel("b) Policy changes", results),
        below_panel("c) Rounds below the best fixed arm (paler: below 0.9 × it)", results),
        improving_panel("d) Changes that improve", results),
    ];
    Figure { title: title.to_owned(), columns: 2, panels, legend: Legend::LineEnds, note }
}

/// The paper's Figure 4: regret per step and changes by round.
pub fn two_panels(title: &str, results: &[ContestantResult], note: Option<String>) -> Figure {
    let panels = vec![regret_panel("a) Regret per step", results), changes_panel("b) Policy changes", results)];
    Figure { title: title.to_owned(), columns: 2, panels, legend: Legend::LineEnds, note }
}

/// Regret and changes of several experiments side by side, such as a grid of shapes: two rows of panels for each row of
/// the grid, the regret above and the changes below.
pub fn grid(title: &str, rows: &[Vec<(String, &[ContestantResult])>], note: Option<String>) -> Figure {
    let mut panels = Vec::new();
    for row in rows {
        panels.extend(row.iter().map(|(name, results)| regret_panel(&format!("{name}: regret per step"), results)));
        panels.extend(row.iter().map(|(name, results)| changes_panel(&format!("{name}: changes"), results)));
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1);
    Figure { title: title.to_owned(), columns, panels, legend: Legend::Below, note }
}

/// Mean regret per step by round, with a band that holds the middle 80 % of the runs.
pub fn regret_panel(title: &str, results: &[ContestantResult]) -> Panel {
    let marks = results.iter().map(|result| {
        let trace = result.trace();
        let points = trace.iter().map(|point| (point.round as f64, point.regret_per_step.mean)).collect();
        let band = trace.iter().map(|point| (point.regret_quantiles.low, point.regret_quantiles.high));
        Mark::Line { name: result.name().to_owned(), style: style(result), points, band: Some(band.collect()) }
    });
    let marks: Vec<Mark> = marks.collect();
    Panel { title: title.to_owned(), x: Axis::log("round"), y: Axis::log("regret per step"), marks, ..Panel::default() }
}

/// Mean changes by round, of contestants whose changes are counted, with a band that holds the middle 80 % of the runs.
pub fn changes_panel(title: &str, results: &[ContestantResult]) -> Panel {
    let counted = results.iter().filter(|result| counts_changes(result));
    let marks: Vec<Mark> = counted
        .map(|result| {
            let trace = result.trace();
            let points = trace.iter().map(|point| (point.round as f64, point.changes.mean)).collect();
            let band = trace.iter().map(|point| (point.change_quantiles.low, point.change_quantiles.high));
            Mark::Line { name: result.name().to_owned(), style: style(result), points, band: Some(band.collect()) }
        })
        .collect();
    // A few changes beside thousands need a logarithmic axis; a few alone do not. Below a tenth, nothing is drawn.
    let means = results.iter().filter(|result| counts_changes(result)).map(|result| mean(&result.change_counts()));
    let most = means.fold(0.0, f64::max);
    let y = if most > 60.0 { Axis::log("changes").between(0.1, 1.5 * most) } else { Axis::linear("changes") };
    Panel { title: title.to_owned(), x: Axis::log("round"), y, marks, ..Panel::default() }
}

/// Percentage of rounds below the best fixed arm's cumulative reward, and paler below 0.9 times it.
pub fn below_panel(title: &str, results: &[ContestantResult]) -> Panel {
    let rows: Vec<(&ContestantResult, Summary)> = results.iter().map(|result| (result, result.summary())).collect();
    let below = rows.iter().map(|(result, row)| bar(result, row.below_baseline_percent));
    let far_below = rows.iter().map(|(result, row)| {
        let bar = bar(result, row.below_nine_tenths_percent);
        Bar { style: bar.style.faint(0.45), ..bar }
    });
    let mut panel = bars_panel(title, "% of rounds", below.collect());
    panel.marks.push(Mark::Bars { bars: far_below.collect() });
    panel
}

/// Percentage of changes that lower expected regret, of those that alter a decision.
pub fn improving_panel(title: &str, results: &[ContestantResult]) -> Panel {
    let bars = results.iter().filter_map(|result| Some(bar(result, Interval95::share(&result.improving())?)));
    bars_panel(title, "% of changes that alter a decision", bars.collect())
}

fn bar(result: &ContestantResult, share: Interval95) -> Bar {
    Bar::new(result.name(), style(result), share.mean).between(share.low, share.high)
}

fn bars_panel(title: &str, label: &str, bars: Vec<Bar>) -> Panel {
    let names = bars.iter().map(|bar| bar.name.clone()).collect();
    Panel {
        title: title.to_owned(),
        x: Axis::linear(label).between(0.0, 100.0),
        y: Axis::names("", names),
        marks: vec![Mark::Bars { bars }],
        ..Panel::default()
    }
}

/// Regret and changes over a range of settings: a line for each contestant and, with two axes, each value of the second.
pub fn sweep(title: &str, axes: &[SweepAxis], cells: &[SweepCell], note: Option<String>) -> Figure {
    let Some(first) = axes.first() else {
        return Figure { title: title.to_owned(), note, ..Figure::default() };
    };
    let positive = first.values.iter().all(|&value| value > 0.0);
    let spread = first.values.iter().copied().fold(0.0, f64::max)
        / first.values.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let scale = if positive && spread >= 20.0 { Scale::Log } else { Scale::Linear };
    let seconds: Vec<Option<f64>> =
        axes.get(1).map_or_else(|| vec![None], |axis| axis.values.iter().map(|&value| Some(value)).collect());
    let mut panels = Vec::new();
    for second in seconds {
        let cells: Vec<&SweepCell> =
            cells.iter().filter(|cell| second.is_none_or(|value| cell.values.get(1) == Some(&value))).collect();
        let suffix = match (second, axes.get(1)) {
            (Some(value), Some(axis)) => format!(", {} = {value}", axis.setting),
            _ => String::new(),
        };
        let x = Axis { label: first.setting.to_string(), scale, ..Axis::default() };
        panels.push(sweep_panel(format!("Regret per step{suffix}"), x.clone(), "regret per step", &cells, |row| {
            Some((row.regret_per_step.mean, row.regret_quantiles))
        }));
        panels.push(sweep_panel(format!("Policy changes{suffix}"), x, "changes", &cells, |row| {
            (!row.every_round).then_some((row.changes.mean, row.change_quantiles))
        }));
    }
    Figure { title: title.to_owned(), columns: 2, panels, legend: Legend::LineEnds, note }
}

fn sweep_panel(
    title: String,
    x: Axis,
    label: &str,
    cells: &[&SweepCell],
    value: impl Fn(&Summary) -> Option<(f64, Quantiles)>,
) -> Panel {
    let contestants = cells.first().map_or(0, |cell| cell.results.len());
    let mut marks = Vec::new();
    for at in 0..contestants {
        let rows: Vec<(f64, (f64, Quantiles))> =
            cells.iter().filter_map(|cell| Some((cell.values[0], value(&cell.results[at].summary())?))).collect();
        if !rows.is_empty() {
            marks.push(Mark::Line {
                name: cells[0].results[at].name().to_owned(),
                style: style(&cells[0].results[at]),
                points: rows.iter().map(|&(x, (mean, _))| (x, mean)).collect(),
                band: Some(rows.iter().map(|(_, (_, quantiles))| (quantiles.low, quantiles.high)).collect()),
            });
        }
    }
    Panel { title, x, y: Axis::log(label), marks, ..Panel::default() }
}

/// Regret against number of changes, with the frontier that none of the points beats.
pub fn frontier(title: &str, points: &[FrontierPoint], note: Option<String>) -> Figure {
    let place = |point: &FrontierPoint| (point.summary.changes.mean, point.summary.regret_per_step.mean);
    // A logarithmic axis has no 0: it is drawn at 0.1.
    let shown = |(changes, regret): (f64, f64)| (changes.max(0.1), regret);
    let mut steps: Vec<(f64, f64)> =
        points.iter().filter(|point| point.on_frontier).map(|point| shown(place(point))).collect();
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut marks =
        vec![Mark::Step { name: "frontier".to_owned(), style: Style::solid(Colour::GREY).wide(1.2), points: steps }];
    for name in Algorithm::all().map(Algorithm::name).chain(["custom"]) {
        let own: Vec<&FrontierPoint> = points.iter().filter(|point| point.algorithm == name).collect();
        if own.is_empty() {
            continue;
        }
        let points = own.iter().map(|point| {
            let (x, y) = shown(place(point));
            let error = point.summary.regret_per_step.standard_error;
            let drawn = Point::new(x, y).y_between((y - error).max(y * 0.05), y + error);
            if point.on_frontier { drawn } else { drawn.outlined() }
        });
        marks.push(Mark::Points { name: name.to_owned(), style: style_of(name), points: points.collect() });
    }
    let panel = Panel {
        title: "filled: on the frontier".to_owned(),
        x: Axis::log("policy changes (0 is drawn at 0.1)"),
        y: Axis::log("regret per step"),
        marks,
        aspect: Aspect::Wide,
    };
    Figure { title: title.to_owned(), columns: 1, panels: vec![panel], legend: Legend::Below, note }
}

fn style(result: &ContestantResult) -> Style {
    style_of(result.contestant.algorithm.name())
}

fn counts_changes(result: &ContestantResult) -> bool {
    let never = [Algorithm::Random, Algorithm::Fixed].map(Some);
    !result.every_round() && !never.contains(&result.contestant.algorithm.core())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
