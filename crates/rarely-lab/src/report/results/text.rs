//! Result tables as text, for people. Lines are no longer than `width`, if there is one.

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::assumptions::profile_name;
use crate::frontier::{BetterPoint, FrontierPlace, FrontierPoint};
use crate::sweep::{Setting, SweepAxis, SweepCell};
use crate::{
    ContestantResult, EnvironmentDescription, ExperimentDescription, Interval95, NormBound, ValueRange, runs_text,
};

use super::words::{
    HELD, MEDIAN, compared, coverage, held, improving, percent, plus_minus, spread, stuck, thousands, waiting,
};
use rarely_output::TextTable;

/// What was run, in a line: the title of its figure.
pub fn title(description: &ExperimentDescription) -> String {
    let ExperimentDescription { environment, rounds, runs, seed, version, .. } = description;
    let EnvironmentDescription { arms, dimension, .. } = environment;
    let name = environment.label.as_deref().unwrap_or(environment.environment);
    let runs = runs_text(*runs);
    // What is varied is not what is fixed.
    let fixed = |setting: Setting, text: String| {
        let varied = description.vary.iter().any(|axis| axis.setting == setting);
        if varied { String::new() } else { format!(", {text}") }
    };
    let varied: Vec<String> = description.vary.iter().map(ToString::to_string).collect();
    let varied = if varied.is_empty() { String::new() } else { format!(", varying {}", varied.join(" and ")) };
    format!(
        "rarely {version}: {name}{}{}{}, {runs}, seed {seed}{varied}",
        fixed(Setting::Arms, format!("{arms} arms")),
        fixed(Setting::Dimension, format!("{dimension} context variables")),
        fixed(Setting::Rounds, format!("{rounds} rounds")),
    )
}

/// The title of a frontier's figure.
pub fn frontier_title(description: &ExperimentDescription) -> String {
    format!("{}: regret against changes", title(description))
}

/// What the algorithms were told, and how to read the numbers: the note under its figure.
pub fn note(description: &ExperimentDescription) -> String {
    let told = &description.assumptions;
    let mut text = format!("profile {}", profile_name(told.profile));
    let norm_bound = told.norm_bound.map(|bound| match (bound, told.norm_bound_values) {
        (NormBound::Value(value), _) => format!("{value:?}"),
        (NormBound::Auto, None) => "auto".to_owned(),
        (NormBound::Auto, Some(ValueRange { least, most })) if least == most => format!("auto ({least:.3})"),
        (NormBound::Auto, Some(ValueRange { least, most })) => format!("auto ({least:.3} to {most:.3})"),
    });
    let source = description.declared_noise_source.map(|source| format!(" ({source})")).unwrap_or_default();
    let number = |value: Option<f64>| value.map(|value| format!("{value:?}"));
    let assumptions = [
        ("declared noise", told.declared_noise.map(|noise| format!("{}{source}", significant(noise)))),
        ("noise", told.unknown_noise.map(|unknown| unknown.to_string())),
        ("error probability", number(told.error_probability)),
        ("explore", told.explore.map(|explore| explore.to_string())),
        ("norm bound", norm_bound),
        ("penalty", number(told.penalty)),
        ("prior mean", number(told.prior_mean)),
        ("tolerance", number(told.tolerance)),
        ("true noise", description.environment.noise.map(|noise| noise.to_string())),
    ];
    for (name, value) in assumptions {
        if let Some(value) = value {
            let _ = write!(text, ", {name} {value}");
        }
    }
    text + ". Mean ± standard error over the runs, and the median with the 10 % and 90 % quantiles; percentages with 95 % intervals. \
            Bands hold the middle 80 % of the runs."
}

/// A number with as many digits as it needs, at most four that count.
fn significant(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// One experiment: what was run, and a row for each contestant.
pub fn experiment(description: &ExperimentDescription, results: &[ContestantResult], width: Option<u16>) -> String {
    under(description, &outcome_table(results, width))
}

/// A sweep: what was run, and a row for each combination of values and each contestant.
pub fn sweep(
    description: &ExperimentDescription,
    axes: &[SweepAxis],
    cells: &[SweepCell],
    width: Option<u16>,
) -> String {
    under(description, &sweep_table(axes, cells, width))
}

fn under(description: &ExperimentDescription, table: &str) -> String {
    format!("{}\n{}\n\n{table}", title(description), note(description))
}

fn outcome_table(results: &[ContestantResult], width: Option<u16>) -> String {
    let rounds = results.first().map_or(0, ContestantResult::rounds);
    let (at_tenth, at_end) = (format!("regret per step at {}", (rounds / 10).max(1)), format!("at {rounds}"));
    let mut header = vec!["algorithm", &at_tenth, &at_end, MEDIAN];
    header.extend(HELD);
    header.extend([
        "that improve, %",
        "rounds below best arm, %",
        "below 0.9 × best arm, %",
        "sets held, %",
        "seconds",
        "rounds/s",
    ]);
    let mut table = TextTable::new(&header, &[]);
    for result in results {
        let row = result.summary();
        let runs = result.runs.len();
        let mut line = vec![
            row.name.clone(),
            plus_minus(row.regret_per_step_tenth, 4, runs),
            plus_minus(row.regret_per_step, 4, runs),
            spread(row.regret_quantiles, 4),
        ];
        line.extend(held(&row, runs));
        line.extend([
            improving(&row),
            percent(row.below_baseline_percent),
            percent(row.below_nine_tenths_percent),
            coverage(&row),
            format!("{:.2}", result.seconds),
            thousands(result.rounds_per_second()),
        ]);
        table.row(line);
    }
    let notes =
        [compared(results), stuck(results), waiting(results)].into_iter().flatten().map(|note| format!("\n{note}\n"));
    table.text(width) + &notes.collect::<String>()
}

fn sweep_table(axes: &[SweepAxis], cells: &[SweepCell], width: Option<u16>) -> String {
    let names: Vec<String> = axes.iter().map(|axis| axis.setting.to_string()).collect();
    let mut header: Vec<&str> = names.iter().map(String::as_str).collect();
    header.extend(["algorithm", "regret per step", MEDIAN]);
    header.extend(HELD);
    header.extend(["that improve, %", "sets held, %"]);
    let mut table = TextTable::new(&header, &[axes.len()]);
    for cell in cells {
        for result in &cell.results {
            let (row, runs) = (result.summary(), result.runs.len());
            let mut line: Vec<String> = cell.values.iter().map(ToString::to_string).collect();
            line.extend([row.name.clone(), plus_minus(row.regret_per_step, 4, runs), spread(row.regret_quantiles, 4)]);
            line.extend(held(&row, runs));
            line.extend([improving(&row), coverage(&row)]);
            table.row(line);
        }
    }
    table.text(width)
}

/// Where a contestant lies relative to the frontier, in a few sentences.
pub fn frontier_place(place: &FrontierPlace) -> String {
    let FrontierPlace { summary, runs, .. } = place;
    let own = format!(
        "{} changes {} times with a regret per step of {}.",
        summary.name,
        plus_minus(summary.changes, 1, *runs),
        plus_minus(summary.regret_per_step, 4, *runs)
    );
    if place.is_on_frontier() {
        return format!(
            "{own} It is on the frontier: nothing else has less regret without more changes, or fewer changes without more regret."
        );
    }
    let compared = |better: &BetterPoint, what: &str| {
        let Interval95 { mean, low, high } = better.ratio;
        let told = if *runs < 2 || low <= 1.0 { " (these runs do not tell them apart)" } else { "" };
        format!("{mean:.2} × {what} (95 % interval {low:.2} to {high:.2}){told}")
    };
    let less_regret = place.less_regret.as_ref().map(|better| {
        let (other, regret) = (&better.summary.name, plus_minus(better.summary.regret_per_step, 4, *runs));
        let times = compared(better, "that");
        format!(" Without more changes, {other} has a regret per step of {regret}: {}'s is {times}.", summary.name)
    });
    let fewer_changes = place.fewer_changes.as_ref().map(|better| {
        let (other, changes) = (&better.summary.name, plus_minus(better.summary.changes, 1, *runs));
        let times = compared(better, "as often");
        format!(" Without more regret, {other} changes {changes} times: {} changes {times}.", summary.name)
    });
    let better: String = [less_regret, fewer_changes].into_iter().flatten().collect();
    format!("{own} It is not on the frontier.{better}")
}

/// The frontier from few changes to many, then the other points; `runs` is the number of runs of each.
pub fn frontier(points: &[FrontierPoint], runs: usize, width: Option<u16>) -> String {
    let mut rows: Vec<&FrontierPoint> = points.iter().collect();
    rows.sort_by(|one, other| {
        let key = |point: &FrontierPoint| (!point.on_frontier, point.summary.changes.mean);
        key(one).partial_cmp(&key(other)).unwrap_or(Ordering::Equal)
    });
    let mut header = vec!["contestant", "on the frontier"];
    header.extend(HELD);
    header.extend(["regret per step", MEDIAN, "that improve, %"]);
    let mut table = TextTable::new(&header, &[1]);
    for point in rows {
        let row = &point.summary;
        let mut line = vec![row.name.clone(), if point.on_frontier { "yes" } else { "" }.to_owned()];
        line.extend(held(row, runs));
        line.extend([plus_minus(row.regret_per_step, 4, runs), spread(row.regret_quantiles, 4), improving(row)]);
        table.row(line);
    }
    table.text(width)
}
