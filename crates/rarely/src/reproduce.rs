//! `rarely reproduce`.

use std::fmt::Write as _;
use std::time::Instant;

use clap::Args;
use comfy_table::CellAlignment;
use miette::{IntoDiagnostic as _, Report, WrapErr as _, miette};
use rarely_core::{Algorithm, Certificates, Settings, Shape};
use rarely_lab::{Contestant, CounterExample, Estimate, Experiment, Linear, Outcome, World, printed_bound};

use crate::{plain_table, print, render};

const ARMS: usize = 4;
const DIMENSION: usize = 5;
const NOISE: f64 = 0.1;
const EQUIPOISE: f64 = 0.05;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Draws of the arms
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// Rounds of each run
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=100_000_000))]
    rounds: u64,
    /// Seed of every random number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Runs everything; prints each table when it is done.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Report> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.map_or(0, usize::from)).build();
    let pool = pool.into_diagnostic().wrap_err("could not start the threads; try --threads 1")?;
    pool.install(|| {
        let started = Instant::now();
        print(&format!("rarely {}, seed {}, valid confidence sets\n\n", env!("CARGO_PKG_VERSION"), arguments.seed))?;
        print(&counter_example(arguments)?)?;
        print(&comparison(arguments)?)?;
        eprintln!("done in {:.1} s", started.elapsed().as_secs_f64());
        Ok(())
    })
}

/// The smallest counter-example to Theorem 1, and its repair.
fn counter_example(arguments: &Arguments) -> Result<String, Report> {
    let mut text = String::from(
        "Theorem 1 of the paper does not hold.\n\
         Two arms that give 0.5 and 0.9, one constant context, a policy that starts with the worse arm. The better arm is\n\
         never played, so it is never ruled out and never chosen: every decision is feasible and loses 0.4. With equipoise, one\n\
         decision in twenty is drawn among the arms that the data do not rule out, and the regret a step falls.\n\n",
    );
    let (without, with) = ("regret a step, rs-greedy", format!("with equipoise {EQUIPOISE}"));
    let mut table = plain_table(&["rounds", without, "total", "Theorem 1's bound", "", &with, "changes"]);
    for rounds in [1_000, 10_000, 100_000] {
        let play = |equipoise| {
            let example = CounterExample { equipoise, algorithm: Algorithm::RsGreedy, rounds, seed: arguments.seed };
            example.run().map_err(|error| miette!("the counter-example: {error}"))
        };
        let (stuck, repaired) = (play(0.0)?, play(EQUIPOISE)?);
        let bound = printed_bound(rounds);
        table.add_row([
            rounds.to_string(),
            format!("{:.4}", stuck.regret[0] / rounds as f64),
            format!("{:.0}", stuck.regret[0]),
            format!("{bound:.0}"),
            if stuck.regret[0] > bound { "exceeded" } else { "" }.to_owned(),
            format!("{:.4}", repaired.regret[0] / rounds as f64),
            repaired.changes.len().to_string(),
        ]);
    }
    align_right(&mut table, &[0, 1, 2, 3, 5, 6]);
    writeln!(text, "{}", render(&table)).into_diagnostic()?;
    Ok(text)
}

/// The house default beside LinUCB, RS-LinUCB, greedy and RS-greedy.
fn comparison(arguments: &Arguments) -> Result<String, Report> {
    let Arguments { runs, rounds, seed, .. } = *arguments;
    let shape = Shape::new(ARMS, DIMENSION).into_diagnostic()?;
    let environment = Linear { shape, noise: NOISE };
    let experiment = Experiment { environment: &environment, rounds, runs, seed, judged_on: 20_000 };
    let mut table = plain_table(&[
        "algorithm",
        &format!("regret a step at {}", (rounds / 10).max(1)),
        &format!("at {rounds}"),
        "changes",
        "that improve",
        "sets held",
    ]);
    for algorithm in [Algorithm::Rarely, Algorithm::LinUcb, Algorithm::RsLinUcb, Algorithm::Greedy, Algorithm::RsGreedy]
    {
        eprintln!("{algorithm} …");
        let contestant = contestant(algorithm, rounds);
        let outcome = experiment.run(&contestant).map_err(|error| miette!("{error}"))?;
        table.add_row(row(algorithm, &outcome));
    }
    align_right(&mut table, &[1, 2, 3, 4, 5]);
    Ok(format!(
        "The house default, `rarely`, beside its rivals: {ARMS} arms, {DIMENSION} context variables, {rounds} rounds, {} of the arms (the paper: 50),\n\
         the same for every algorithm. λ = 0.01, σ = {NOISE}, δ = 1/{rounds}, L = the true norm. Mean ± standard error over the draws.\n\
         A change counts if it alters a decision on 20,000 contexts and improves if it raises the expected reward on them.\n\
         Sets held: draws in which the truth never left the confidence set.\n\n{}",
        if runs == 1 { "1 draw".to_owned() } else { format!("{runs} draws") },
        render(&table)
    ))
}

fn contestant(algorithm: Algorithm, rounds: u64) -> Contestant {
    let build = move |world: &World, _: &_| {
        let norm = world.truth.iter().map(|value| value * value).sum::<f64>().sqrt();
        Settings::new(ARMS, DIMENSION)?
            .algorithm(algorithm)
            .noise(NOISE)?
            .norm_bound(norm)?
            .error_probability(1.0 / rounds as f64)?
            .deployed(world.initial.clone())?
            .certificates(Certificates::Brief)
            .build()
    };
    Contestant { name: algorithm.name().to_owned(), build: Box::new(build) }
}

fn row(algorithm: Algorithm, outcome: &Outcome) -> Vec<String> {
    let estimate = |estimate: Estimate, digits: usize| {
        if outcome.runs.len() == 1 {
            return format!("{:.digits$}", estimate.mean);
        }
        format!("{:.digits$} ± {:.digits$}", estimate.mean, estimate.standard_error)
    };
    let follows = matches!(algorithm, Algorithm::LinUcb | Algorithm::Greedy);
    let (changes, improving) = outcome.improving();
    vec![
        algorithm.to_string(),
        estimate(outcome.regret_per_step_tenth(), 4),
        estimate(outcome.regret_per_step(), 4),
        if follows { "every round".to_owned() } else { estimate(outcome.changes(), 1) },
        if changes == 0 { "–".to_owned() } else { format!("{:.0} %", 100.0 * improving as f64 / changes as f64) },
        format!("{:.0} %", 100.0 * outcome.coverage()),
    ]
}

fn align_right(table: &mut comfy_table::Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
