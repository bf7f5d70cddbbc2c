//! `rarely reproduce`: everything in the paper, in one report.

use std::path::PathBuf;

use clap::Args;
use rarely_lab::report::reproduction::{text, write};
use rarely_lab::reproduction::{Reproduced, ReproductionSize, Trial, TrialResults, studies, trials};
use rarely_lab::{ROUNDS, RunContext, Shard, shell_word};

use crate::failure::{Failure, parse};
use crate::ihdp;
use crate::options::count;
use crate::output::{print, say, width};
use crate::shard::{Place, Work, parts};

/// More runs than any experiment has.
const MOST_RUNS: u64 = 1_000_000;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The paper's size and more: 50 runs of everything, 500 on IHDP [default: 100 on IHDP, fewer than 50 where the interval
    /// allows it]
    #[arg(long)]
    full: bool,
    /// Directory or files of other IHDP realisations than the first 100, which are part of this program [default: $RARELY_IHDP]
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
    /// Play one part of the runs, such as 3/100, and keep it in --out; `rarely lab merge` makes one report of all parts
    #[arg(long, value_name = "NUMBER/COUNT", value_parser = parse::<Shard>)]
    shard: Option<Shard>,
}

impl Arguments {
    /// The command that gives the same report, with the data that were found. Threads and directory do not change it.
    fn command(&self, data: &[PathBuf]) -> String {
        let mut words = vec![format!("rarely reproduce --seed {} --rounds {}", self.seed, self.rounds)];
        words.extend(self.full.then(|| "--full".to_owned()));
        words.extend((self.runs < MOST_RUNS).then(|| format!("--runs {}", self.runs)));
        words.extend(data.iter().map(|path| format!("--data {}", shell_word(&path.to_string_lossy()))));
        words.join(" ")
    }
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { full, runs, rounds, seed, threads, shard, .. } = *arguments;
    let children = ihdp::children(&arguments.data, None)?;
    let size = ReproductionSize { full, at_most: runs, rounds, seed };
    let trials = trials(size, &children)?;
    for trial in &trials {
        trial.experiment.check(&trial.contestants)?;
    }
    let all = trials.iter().map(|trial| (&trial.experiment, trial.contestants.as_slice()));
    let place = Place { threads, out: Some(&arguments.out), shard };
    let mut all = parts(all)?;
    all.extend(studies(size)?);
    let Some(session) = work.start(place, all)? else { return Ok(()) };
    say(&format!("rarely {}, seed {seed}: {}", env!("CARGO_PKG_VERSION"), size.extent()));
    let studies = studies(size)?;
    let total = trials.iter().map(Trial::runs).sum::<u64>() + studies.iter().map(|study| study.runs()).sum::<u64>();
    let finished = trials.iter().map(|trial| trial.experiment.finished(&trial.contestants, session.journal()));
    let finished = finished.sum::<Result<usize, _>>()?
        + studies.iter().map(|study| study.finished(session.journal())).sum::<usize>();
    let work = |context: &RunContext<'_>| -> Result<Reproduced, Failure> {
        let results = TrialResults::of(size, &trials, context)?;
        Ok(Reproduced::judge(results, children, context)?)
    };
    let reproduced = session.watch("reproducing", (total, finished), work)?;
    if let Some(directory) = session.directory() {
        write(directory, &reproduced, &arguments.command(&ihdp::files(&arguments.data)))?;
    }
    print(&text(&reproduced, width()))?;
    say(&format!("the report is {}", arguments.out.join("report.html").display()));
    session.finish()
}
