//! Formats the numbers of a result.

use std::fmt::Write as _;

use rarely_core::Exploration;

use crate::{Comparison, ContestantResult, Estimate, Interval95, Quantiles, Summary, runs_text};

/// `0.0074 ± 0.0004`; without an error, if there was one run.
pub(crate) fn plus_minus(estimate: Estimate, digits: usize, runs: usize) -> String {
    let Estimate { mean, standard_error } = estimate;
    if runs < 2 { format!("{mean:.digits$}") } else { format!("{mean:.digits$} ± {standard_error:.digits$}") }
}

/// The head of a column with [`spread`].
pub(crate) const MEDIAN: &str = "median (10–90 %)";

/// `0.0061 (0.0052–0.0131)`.
pub(crate) fn spread(quantiles: Quantiles, digits: usize) -> String {
    let Quantiles { low, median, high } = quantiles;
    format!("{median:.digits$} ({low:.digits$}–{high:.digits$})")
}

/// The first contestant against each of the others, world by world; nothing if there is one contestant or one run.
pub(crate) fn compared(results: &[ContestantResult]) -> Option<String> {
    let (first, others) = results.split_first()?;
    if others.is_empty() || first.runs.len() < 2 {
        return None;
    }
    let mut text = format!("Regret per step, world by world. {} has less regret than", first.name());
    for (at, other) in others.iter().enumerate() {
        let Comparison { other, worlds, better, difference, sign_test, .. } = Comparison::of(first, other);
        let Interval95 { mean, low, high } = difference;
        let p = if sign_test < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {sign_test:.2}") };
        let signed = |value: f64| format!("{value:+.4}").replace('-', "−");
        let _ = write!(
            text,
            "{} {other} in {better} of {worlds} worlds ({}, 95 % interval {} to {}; sign test {p})",
            if at == 0 { "" } else { ";" },
            signed(mean),
            signed(low),
            signed(high)
        );
    }
    Some(text + ".")
}

/// `97 (95–99)`.
pub(crate) fn percent(between: Interval95) -> String {
    let Interval95 { mean, low, high } = between;
    let digits = usize::from(mean > 0.0 && mean < 9.95);
    format!("{mean:.digits$} ({low:.digits$}–{high:.digits$})")
}

/// The number of changes, or `every round`.
fn changes(row: &Summary, runs: usize) -> String {
    if row.every_round { "every round".to_owned() } else { plus_minus(row.changes, 1, runs) }
}

/// What changes and renewals must be read with: see [`held`].
pub(crate) const HELD: [&str; 3] = ["changes", "renewals", "off the rule, %"];

/// Changes of the rule, renewals of the randomisation around it, and the percentage of cases given another option than the
/// rule's: always together, since a rule that few people get is a fiction (mathematics §15).
pub(crate) fn held(row: &Summary, runs: usize) -> [String; 3] {
    let none = || "–".to_owned();
    let renewals = if row.renewals.mean > 0.0 { plus_minus(row.renewals, 1, runs) } else { none() };
    [changes(row, runs), renewals, row.off_rule_percent.map_or_else(none, percent)]
}

/// Who ended with an arm that is plausible and hardly ever played; nothing if nobody did. Without exploration that is being stuck: the
/// arm will not be tried. With it the arm is tried again when it becomes likely enough.
pub(crate) fn stuck(results: &[ContestantResult]) -> Option<String> {
    let explores = |result: &ContestantResult| {
        result.contestant.exploration().is_some_and(|exploration| exploration != Exploration::NONE)
    };
    let said = |exploring: bool| {
        let own = results.iter().filter(|result| explores(result) == exploring);
        let of = |result: &ContestantResult| {
            let (stuck, runs) = (result.summary().stuck_runs, result.runs.len());
            (stuck > 0).then(|| format!("{} in {stuck} of {}", result.name(), runs_text(runs as u64)))
        };
        own.filter_map(of).collect::<Vec<_>>().join(", ")
    };
    let parts = [
        ("Ended stuck, with an arm that is plausible and hardly ever played, and no exploration", said(false)),
        ("Explores, and ended with such an arm", said(true)),
    ];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let text: Vec<String> = parts.map(|(what, names)| format!("{what}: {names}.")).collect();
    (!text.is_empty()).then(|| text.join(" "))
}

/// How many outcomes had not been learned by the end, where outcomes come late; nothing if all had.
pub(crate) fn waiting(results: &[ContestantResult]) -> Option<String> {
    let of = |result: &ContestantResult| {
        let waiting: u64 = result.runs.iter().map(|run| run.outcomes_waiting).sum();
        waiting as f64 / result.runs.len().max(1) as f64
    };
    let (least, most) =
        results.iter().map(of).fold((f64::MAX, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
    let per_run = if format!("{least:.0}") == format!("{most:.0}") {
        format!("{most:.0}")
    } else {
        format!("{least:.0} to {most:.0}")
    };
    (most > 0.0).then(|| format!("Outcomes come late: {per_run} per run had not been learned by the end."))
}

/// The percentage of changes that improve, if there are any.
pub(crate) fn improving(row: &Summary) -> String {
    row.improving_percent.map_or_else(|| "–".to_owned(), percent)
}

/// The percentage of runs whose sets held, if the truth is linear.
pub(crate) fn coverage(row: &Summary) -> String {
    row.coverage.map_or_else(|| "–".to_owned(), |share| format!("{:.0}", 100.0 * share))
}

/// `1.2 M` rounds per second.
pub(crate) fn thousands(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.1} M", value / 1e6),
        value if value >= 1e3 => format!("{:.0} k", value / 1e3),
        value => format!("{value:.0}"),
    }
}
