//! The binary: parse, resolve, call one function, print.
//!
//! stdout is data, stderr is talk. Exit codes: 0 done, 1 the answer is "no", 2 could not run; a broken pipe is silent.

mod algorithms;
mod frontier;
mod ihdp;
mod options;
mod output;
mod progress;
mod reproduce;
mod simulate;
mod sweep;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Decision policies that change seldom, and only on evidence.
#[derive(Debug, Parser)]
#[command(name = "rarely", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce the paper: every figure, every claim checked, every erratum shown, in one report
    Reproduce(reproduce::Arguments),
    /// Run algorithms against each other in a simulated world
    Simulate(simulate::Arguments),
    /// Run algorithms on the IHDP data, the paper's Figure 4
    Ihdp(ihdp::Arguments),
    /// Run algorithms over a range of one or two settings
    Sweep(sweep::Arguments),
    /// Regret against number of changes over algorithms and settings: the Pareto frontier
    Frontier(frontier::Arguments),
    /// List every algorithm and environment: what it plays, when it acts, what it changes to, where it is from
    Algorithms,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Ihdp(arguments) => ihdp::run(arguments),
        Command::Sweep(arguments) => sweep::run(arguments),
        Command::Frontier(arguments) => frontier::run(arguments),
        Command::Algorithms => output::print(&algorithms::table()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            output::say(&format!("{report:?}"));
            ExitCode::from(2)
        }
    }
}
