//! Printing: tables for people, JSON and CSV for programs.

use std::io::{self, Write as _};

use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use miette::{IntoDiagnostic as _, Report, WrapErr as _};
use rarely_lab::{Between, Estimate, Summary};

/// What stdout gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// Writes a part of the answer as soon as it is known. A reader that has gone away is no reason to stop: files may be still to be
/// written.
pub(crate) fn print(text: &str) -> Result<(), Report> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.into_diagnostic().wrap_err("could not write to standard output"),
    }
}

/// Prints an object.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Report> {
    print(&json_text(value)?)
}

/// An object as text that ends with a line.
pub(crate) fn json_text(value: &impl serde::Serialize) -> Result<String, Report> {
    Ok(serde_json::to_string_pretty(value).into_diagnostic()? + "\n")
}

/// Talks to whoever reads stderr, if anybody does.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// `1 run`, `2 runs`.
pub(crate) fn runs(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// A table with a header, plain enough for a pipe and a terminal alike; on a terminal it is as wide as that. All columns but the
/// first are numbers, unless `words` names them.
pub(crate) fn plain_table(header: &[&str], words: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header.iter().copied());
    for at in (1..header.len()).filter(|at| !words.contains(at)) {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table's text without the blanks at the ends of its lines.
pub(crate) fn render(table: &Table) -> String {
    let mut text = String::new();
    for line in table.to_string().lines() {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// `0.0074 ± 0.0004`; without an error, if there was one run.
pub(crate) fn plus_minus(estimate: Estimate, digits: usize, runs: usize) -> String {
    let Estimate { mean, standard_error } = estimate;
    if runs < 2 { format!("{mean:.digits$}") } else { format!("{mean:.digits$} ± {standard_error:.digits$}") }
}

/// `97 (95–99)`.
pub(crate) fn percent(between: Between) -> String {
    let Between { mean, low, high } = between;
    let digits = usize::from(mean > 0.0 && mean < 9.95);
    format!("{mean:.digits$} ({low:.digits$}–{high:.digits$})")
}

/// The number of changes, or that there are too many to count.
pub(crate) fn changes(row: &Summary, runs: usize) -> String {
    if row.every_round { "every round".to_owned() } else { plus_minus(row.changes, 1, runs) }
}

/// The percentage of changes that improve, if there are any.
pub(crate) fn improving(row: &Summary) -> String {
    row.improving_percent.map_or_else(|| "–".to_owned(), percent)
}

/// The percentage of runs whose sets held, if that means anything.
pub(crate) fn coverage(row: &Summary) -> String {
    row.coverage.map_or_else(|| "–".to_owned(), |share| format!("{:.0}", 100.0 * share))
}

/// `1.2 M` rounds a second.
pub(crate) fn thousands(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.1} M", value / 1e6),
        value if value >= 1e3 => format!("{:.0} k", value / 1e3),
        value => format!("{value:.0}"),
    }
}
