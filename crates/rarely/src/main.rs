//! The binary: parse, resolve, call one function, print.
//!
//! stdout is data, stderr is messages. Exit codes: 0 done, 1 the answer is "no", 2 could not run. A broken pipe is silent.

mod algorithms;
mod archive_file;
mod audit;
mod completions;
mod desk;
mod doctor;
mod erase;
mod failure;
mod frontier;
mod grid;
mod health;
mod ihdp;
mod import;
mod lab;
mod log;
mod offline;
mod options;
mod output;
mod policy;
mod postgres;
mod progress;
mod replay;
mod reproduce;
mod review;
mod running_server;
mod serve;
mod shard;
mod sign;
mod simulate;
mod state;
mod store;
mod sums;
mod sweep;
mod token;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use failure::Failure;
use serve::configuration::Unreadable;
use shard::Work;

/// For every decision one thread frees what another allocated; the system's allocator takes a lock for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Decision policies that change seldom, and only on evidence.
#[derive(Debug, Parser)]
#[command(name = "rarely", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Review a policy document against a log: keep the rule or change it, to what, and on what evidence
    Review(review::Arguments),
    /// Open a page in the browser, on this machine alone: a file in, a review out, without a shell
    Desk(desk::Arguments),
    /// Replay a log in time order: when the rule would have changed, and what that would have gained
    Replay(replay::Arguments),
    /// Draft, check, show and compare policy documents
    Policy(policy::Arguments),
    /// Merge saved statistics of several logs
    State(state::Arguments),
    /// Print the SQL by which the engine that has a log computes what a review needs of it
    Sums(sums::Arguments),
    /// Serve live policies: decisions, outcomes, proposals and signatures over HTTP, and a dashboard
    Serve(Box<serve::Arguments>),
    /// Ask a service whether it can serve requests: exit code 0 if it can, 1 if not
    Health(health::Arguments),
    /// Check an installation: limits, disk, store, keys and clock; exit code 1 if something is bad
    Doctor(doctor::Arguments),
    /// Erase a person: what the log has about them cannot be read any more
    Erase(erase::Arguments),
    /// Import decisions of the past with their outcomes into a policy of a running service
    Import(import::Arguments),
    /// Create, list and revoke access tokens of a service
    Token(token::Arguments),
    /// Sign a proposal or a rollback with your own key, or create that key
    Sign(sign::Arguments),
    /// Check a service's log from the first event to the last, or report its changes
    Audit(audit::Arguments),
    /// Back up, restore and recover a service's store, or replace its signing key
    Store(store::Arguments),
    #[command(flatten)]
    Experiments(Experiments),
    /// Merge the shards of a command that was divided with --shard
    Lab(lab::Arguments),
    /// List every algorithm and environment: what it plays, when it acts, what it changes to, and its source
    Algorithms(algorithms::Arguments),
    /// Print the completions of a shell: `source <(rarely completions bash)`
    Completions(completions::CompletionArguments),
    /// Write the manual as pages for `man`
    Man(completions::ManArguments),
}

/// The commands that play runs, and can be divided into shards.
#[derive(Debug, Subcommand)]
enum Experiments {
    /// Reproduce the paper: every figure, every claim checked, every erratum shown, in one report
    Reproduce(reproduce::Arguments),
    /// Run algorithms against each other in a simulated world
    Simulate(simulate::Arguments),
    /// Run algorithms on the IHDP data, the paper's Figure 4
    Ihdp(ihdp::Arguments),
    /// Run algorithms over a range of one or two settings
    Sweep(sweep::Arguments),
    /// Plot regret against the number of changes over algorithms and settings: the Pareto frontier
    Frontier(frontier::Arguments),
    /// Run our default beside LinUCB and Thompson sampling on the whole grid of arms, variables, noise and starts
    Grid(grid::Arguments),
}

impl Experiments {
    fn run(&self, work: Work) -> Result<(), Failure> {
        match self {
            Self::Reproduce(arguments) => reproduce::run(arguments, work),
            Self::Simulate(arguments) => simulate::run(arguments, work),
            Self::Ihdp(arguments) => ihdp::run(arguments, work),
            Self::Sweep(arguments) => sweep::run(arguments, work),
            Self::Frontier(arguments) => frontier::run(arguments, work),
            Self::Grid(arguments) => grid::run(arguments, work),
        }
    }
}

fn main() -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    let read = command_line(&given).map_err(|unreadable| match unreadable {
        Unreadable::Usage(error) if error.use_stderr() => {
            drop(error.print());
            format!("see: {}", page_of(&given))
        }
        Unreadable::Usage(error) => error.exit(),
        Unreadable::File(failure) => failure.to_string(),
    });
    match read.and_then(|cli| run(&cli.command).map_err(|failure| failure.to_string())) {
        Ok(code) => code,
        Err(said) => {
            output::say(&said);
            ExitCode::from(2)
        }
    }
}

/// Where the book has all options of the command that was given.
fn page_of(given: &[OsString]) -> String {
    let (program, mut page) = (Cli::command(), "docs/reference/commands.md#rarely".to_owned());
    let mut command = &program;
    for word in given.iter().skip(1) {
        let Some(named) = command.find_subcommand(word) else { break };
        page = format!("{page}-{}", named.get_name());
        command = named;
    }
    page
}

/// The command line, with what `rarely serve` takes from elsewhere.
fn command_line(given: &[OsString]) -> Result<Cli, Unreadable> {
    let program = serve::configuration::with_environment(Cli::command());
    let matches = serve::configuration::read(&program, given)?;
    Cli::from_arg_matches(&matches).map_err(Unreadable::Usage)
}

/// The options of `rarely serve`, read again.
fn serve_arguments(given: &[OsString]) -> Result<serve::Arguments, String> {
    match command_line(given).map(|cli| cli.command) {
        Ok(Command::Serve(arguments)) => Ok(*arguments),
        Ok(_) => Err("the program was not started with `rarely serve`".to_owned()),
        Err(Unreadable::Usage(error)) => Err(error.to_string()),
        Err(Unreadable::File(failure)) => Err(failure.to_string()),
    }
}

fn run(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Review(arguments) => return review::run(arguments),
        Command::Policy(arguments) => return policy::run(arguments),
        Command::Audit(arguments) => return audit::run(arguments),
        Command::Health(arguments) => return health::run(arguments),
        Command::Doctor(arguments) => return doctor::run(arguments),
        Command::Import(arguments) => return import::run(arguments),
        Command::Desk(arguments) => desk::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Erase(arguments) => erase::run(arguments),
        Command::Token(arguments) => token::run(arguments),
        Command::Sign(arguments) => sign::run(arguments),
        Command::Store(arguments) => store::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::State(arguments) => state::run(arguments),
        Command::Sums(arguments) => sums::run(arguments),
        Command::Experiments(command) => command.run(Work::Given),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Algorithms(arguments) => algorithms::run(arguments),
        Command::Completions(arguments) => completions::run_completions(arguments, Cli::command()),
        Command::Man(arguments) => completions::run_man(arguments, Cli::command()),
    }?;
    Ok(ExitCode::SUCCESS)
}
