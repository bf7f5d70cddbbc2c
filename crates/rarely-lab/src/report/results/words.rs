//! Formats the numbers of a result.

use crate::{Estimate, Interval95, Summary};

/// `0.0074 ± 0.0004`; without an error, if there was one run.
pub(crate) fn plus_minus(estimate: Estimate, digits: usize, runs: usize) -> String {
    let Estimate { mean, standard_error } = estimate;
    if runs < 2 { format!("{mean:.digits$}") } else { format!("{mean:.digits$} ± {standard_error:.digits$}") }
}

/// `97 (95–99)`.
pub(crate) fn percent(between: Interval95) -> String {
    let Interval95 { mean, low, high } = between;
    let digits = usize::from(mean > 0.0 && mean < 9.95);
    format!("{mean:.digits$} ({low:.digits$}–{high:.digits$})")
}

/// The number of changes, or `every round`.
pub(crate) fn changes(row: &Summary, runs: usize) -> String {
    if row.every_round { "every round".to_owned() } else { plus_minus(row.changes, 1, runs) }
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
