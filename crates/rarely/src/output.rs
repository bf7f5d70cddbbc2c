//! Printing: tables for people, JSON and CSV for programs.

use std::io::{self, Write as _};

use clap::ValueEnum;
use rarely_output::{ColumnTable, Provenance};

use crate::failure::{Failure, OrFail as _};

/// What stdout gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

/// What stdout gets where the answer is one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For people
    Table,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
    /// For papers: a tabular with the rules of booktabs
    Latex,
    /// For notes
    Markdown,
}

/// Prints an answer that is one table, in a format for programs, spreadsheets or papers, with what made it.
pub(crate) fn print_table(format: TableFormat, table: ColumnTable, made_by: &Provenance) -> Result<(), Failure> {
    print(&match format {
        TableFormat::Latex => table.to_latex(made_by),
        TableFormat::Markdown => table.to_markdown(made_by),
        TableFormat::Table | TableFormat::Json | TableFormat::Csv => table.made_by(made_by).to_csv(),
    })
}

/// Writes a part of the answer. A closed pipe is not an error: files may still have to be written.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.or_fail_with(|| "standard output cannot be written to".to_owned()),
    }
}

/// Prints an object.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&json_text(value)?)
}

/// An object as text that ends with a line.
pub(crate) fn json_text(value: &impl serde::Serialize) -> Result<String, Failure> {
    rarely_output::json_text(value).or_fail()
}

/// Writes a line to stderr. A failure is ignored: there is nowhere to report it.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// How wide tables may be: as wide as the terminal, if there is one.
pub(crate) fn width() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0)
}
