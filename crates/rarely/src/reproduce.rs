//! `rarely reproduce`: everything in the paper, in one report.

use std::path::PathBuf;

use clap::Args;
use rarely_lab::report::reproduction::{text, write};
use rarely_lab::reproduction::{Reproduced, ReproductionSize, Trial, TrialResults, synthetic_children, trials};
use rarely_lab::{ROUNDS, RunContext};

use crate::failure::Failure;
use crate::ihdp;
use crate::options::count;
use crate::output::{print, say, width};
use crate::progress::RunSession;

/// More runs than any experiment has.
const MOST_RUNS: u64 = 1_000_000;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The paper's size: 50 runs of everything, 100 on IHDP [default: fewer where the interval allows it]
    #[arg(long)]
    full: bool,
    /// Directory or files of the IHDP data; without them, synthetic children are used and labelled as such [default: $RARELY_IHDP]
    #[arg(long, value_name = "DIR|FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Directory for the report, its figures and tables; a command that was stopped resumes from there
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Limit on the runs of every experiment
    #[arg(long, default_value_t = MOST_RUNS, value_parser = count(1, MOST_RUNS), hide_default_value = true)]
    runs: u64,
    /// Rounds of the synthetic experiments
    #[arg(long, default_value_t = ROUNDS, value_parser = count(10, 100_000_000))]
    rounds: u64,
    /// Seed of every random number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Arguments {
    /// The command that gives the same report, with the data that were found. Threads and directory do not change it.
    fn command(&self, data: &[PathBuf]) -> String {
        let mut command = format!("rarely reproduce --seed {} --rounds {}", self.seed, self.rounds);
        if self.full {
            command += " --full";
        }
        if self.runs < MOST_RUNS {
            command += &format!(" --runs {}", self.runs);
        }
        for path in data {
            command += &format!(" --data {}", quoted(&path.to_string_lossy()));
        }
        command
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { full, runs, rounds, seed, .. } = *arguments;
    let data = ihdp::named(&arguments.data);
    let synthetic = data.is_empty();
    let children = if synthetic { synthetic_children(seed) } else { rarely_data::ihdp::read(&data)? };
    let size = ReproductionSize { full, at_most: runs, rounds, seed };
    let trials = trials(size, &children)?;
    for trial in &trials {
        trial.experiment.check(&trial.contestants)?;
    }
    let session = RunSession::start(arguments.threads, Some(&arguments.out))?;
    say(&format!("rarely {}, seed {seed}: {}", env!("CARGO_PKG_VERSION"), size.extent()));
    if synthetic {
        say("no --data: SYNTHETIC children replace the IHDP data (`rarely ihdp` says how to get the data)");
    }
    let total = trials.iter().map(Trial::runs).sum();
    let finished = trials.iter().map(|trial| trial.experiment.finished(&trial.contestants, session.journal()));
    let finished = finished.sum::<Result<usize, _>>()?;
    let work = |context: &RunContext<'_>| TrialResults::of(size, synthetic, &trials, context);
    let results = session.watch("reproducing", (total, finished), work)?;
    let reproduced = Reproduced::judge(results, children)?;
    if let Some(directory) = session.directory() {
        write(directory, &reproduced, &arguments.command(&data))?;
    }
    print(&text(&reproduced, width()))?;
    say(&format!("the report is {}", arguments.out.join("report.html").display()));
    session.finish()
}
