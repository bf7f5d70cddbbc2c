//! The binary: parse, resolve, call one function, print.
//!
//! stdout is data, stderr is talk. Exit codes: 0 done, 1 the answer is "no", 2 could not run; a broken pipe is silent.

mod algorithms;
mod reproduce;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use comfy_table::ContentArrangement;
use miette::{IntoDiagnostic as _, Report, WrapErr as _};

/// Decision policies that change seldom, and only on evidence.
#[derive(Debug, Parser)]
#[command(name = "rarely", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce the paper: for now the counter-example to its Theorem 1, and the house default beside its rivals
    Reproduce(reproduce::Arguments),
    /// List every algorithm: what it plays, when it acts, what it changes to, where it is from
    Algorithms,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Algorithms => print(&algorithms::table()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

/// Writes a part of the answer as soon as it is known. A reader that has gone away ends the program, in silence.
fn print(text: &str) -> Result<(), Report> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        result => result.into_diagnostic().wrap_err("could not write to standard output"),
    }
}

/// A table with a header, plain enough for a pipe and a terminal alike; on a terminal it is as wide as that.
fn plain_table(header: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header.iter().copied());
    table
}

/// A table's text without the blanks at the ends of its lines.
fn render(table: &comfy_table::Table) -> String {
    let mut text = String::new();
    for line in table.to_string().lines() {
        text += line.trim_end();
        text.push('\n');
    }
    text
}
