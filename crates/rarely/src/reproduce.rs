//! `rarely reproduce`: everything in the paper, in one report.

mod figures;
mod report;

use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic as _, Report};
use rarely_core::Algorithm;
use rarely_data::Counterfactuals;
use rarely_lab::reproduction::{
    self, Claim, CounterRow, Erratum, Evidence, Findings, PlanarMoment, TheoremTwo, Verdict, claims, counter_example,
    errata, planar_moment, theorem_three_gap, theorem_two,
};
use rarely_lab::{Bench, CounterfactualTable, Environment, Frame, ROUNDS, results, sweep};
use serde_json::{Value, json};

use crate::ihdp;
use crate::options::count;
use crate::output::{json_text, plain_table, print, render, runs, say};
use crate::progress::Session;
use crate::simulate::write_figure;

const EQUIPOISE: f64 = 0.05;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The paper's size: 50 runs of everything, 100 on IHDP [default: fewer where the interval allows it]
    #[arg(long)]
    full: bool,
    /// Folder or files of the IHDP data; without them, synthetic children stand in and are labelled so [default: $RARELY_IHDP]
    #[arg(long, value_name = "DIR|FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Folder for the report, its figures and tables; a command that was stopped goes on from what is there
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// At most this many runs of anything
    #[arg(long, default_value_t = 1_000_000, value_parser = count(1, 1_000_000), hide_default_value = true)]
    runs: u64,
    /// Rounds of the synthetic tasks
    #[arg(long, default_value_t = ROUNDS, value_parser = count(10, 100_000_000))]
    rounds: u64,
    /// Seed of every random number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Everything that the report is made of.
struct Reproduced {
    findings: Findings,
    counter: Vec<CounterRow>,
    threshold: Option<PlanarMoment>,
    cone: Option<PlanarMoment>,
    claims: Vec<Claim>,
    errata: Vec<Erratum>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Report> {
    let Arguments { full, runs, rounds, seed, .. } = *arguments;
    let data = ihdp::named(&arguments.data);
    let synthetic = data.is_empty();
    let children = if synthetic { ihdp::synthetic(seed) } else { rarely_data::ihdp::read(&data).into_diagnostic()? };
    let size = reproduction::Size { full, at_most: runs, rounds, seed };
    let trials = reproduction::trials(size, &children).into_diagnostic()?;
    for trial in &trials {
        trial.task.check(&trial.contestants).into_diagnostic()?;
    }
    let session = Session::start(arguments.threads, Some(&arguments.out))?;
    say(&format!("rarely {}, seed {seed}: {}", env!("CARGO_PKG_VERSION"), extent(arguments)));
    if synthetic {
        say("no --data: SYNTHETIC children stand in for IHDP (`rarely ihdp` says how to get the data)");
    }
    let total = trials.iter().map(reproduction::Trial::runs).sum();
    let finished = trials.iter().map(|trial| trial.task.finished(&trial.contestants, session.journal()));
    let finished = finished.sum::<Result<usize, _>>().into_diagnostic()?;
    let work = |bench: &Bench<'_>| Findings::of(size, synthetic, &trials, bench);
    let findings = session.watch("reproducing", (total, finished), work).into_diagnostic()?;
    let reproduced = judge(findings, children)?;

    write(&session, arguments, &reproduced)?;
    print(&summary(&reproduced))?;
    say(&format!("the report is {}", arguments.out.join("report.html").display()));
    session.finish()
}

/// How much was run, in words.
fn extent(arguments: &Arguments) -> String {
    let Arguments { full, runs: most, rounds, .. } = *arguments;
    let how_many = match (most, full) {
        (..50, _) => format!("at most {} of everything (the paper has 50)", runs(most)),
        (_, true) => "the paper's size, 50 runs of every simulation and 100 of IHDP".to_owned(),
        (_, false) => {
            "50 runs of the main experiment and of the house default, 100 of IHDP, fewer of the paper's grid and the frontier \
                       (--full runs the paper's size)"
                .to_owned()
        }
    };
    format!("{rounds} rounds, {how_many}")
}

/// Theorems, claims and errata.
fn judge(findings: Findings, children: Vec<Counterfactuals>) -> Result<Reproduced, Report> {
    let size = findings.size;
    let counter = counter_example(size.seed, EQUIPOISE).into_diagnostic()?;
    let looked_at =
        [Algorithm::BoundaryGreedy, Algorithm::BoundaryConservative, Algorithm::RsGreedy, Algorithm::RsConservative];
    let feasible: Result<Vec<TheoremTwo>, _> = looked_at
        .into_iter()
        .map(|algorithm| theorem_two(algorithm, size.seed, size.at_most.min(20), size.rounds.min(2_000)))
        .collect();
    let feasible = feasible.into_diagnostic()?;
    let threshold = planar_moment(2, size.seed, 60).into_diagnostic()?;
    let cone = planar_moment(4, size.seed, 60).into_diagnostic()?;
    let table = CounterfactualTable::new(children).into_diagnostic()?;
    let evidence = Evidence {
        findings: &findings,
        counter: &counter,
        feasible: &feasible,
        gap: theorem_three_gap().into_diagnostic()?,
        children: Some(&table as &dyn Environment),
    };
    let errata = errata(&evidence).into_diagnostic()?;
    let claims = claims(&evidence);
    Ok(Reproduced { findings, counter, threshold, cone, claims, errata })
}

fn write(session: &Session, arguments: &Arguments, reproduced: &Reproduced) -> Result<(), Report> {
    let Some(folder) = session.folder() else { return Ok(()) };
    let kind = if reproduced.findings.synthetic { "synthetic" } else { "ihdp" };
    let labelled = |frame: Frame| frame.labelled("data", kind);
    let all = figures::all(reproduced);
    for figure in &all {
        write_figure(folder, &format!("figures/{}", figure.name), &figure.figure)?;
    }
    for id in [
        "main/published",
        "main/rigorous",
        "ihdp/authors",
        "ihdp/published",
        "ihdp/rigorous",
        "ihdp/rigorous-intercept",
    ] {
        let outcomes = reproduced.findings.outcomes(id);
        if !outcomes.is_empty() {
            let name = format!("tables/{}.csv", id.replace('/', "-"));
            let frame = results::summary(outcomes);
            let frame = if id.starts_with("ihdp") { labelled(frame) } else { frame };
            folder.write(&name, frame.to_csv()).into_diagnostic()?;
        }
    }
    let grid = &reproduction::GRID_DIMENSIONS[..];
    for (family, dimensions) in [("grid", grid), ("grid-rigorous", grid), ("house", &[2, 5, 20, 50, 200][..])] {
        let (axes, cells) = figures::grid_cells(&reproduced.findings, family, dimensions);
        folder.write(&format!("tables/{family}.csv"), sweep::frame(&axes, &cells).to_csv()).into_diagnostic()?;
    }
    for setting in ["tolerance", "penalty"] {
        for profile in ["published", "rigorous"] {
            let (axes, cells) = figures::swept_cells(&reproduced.findings, setting, profile);
            let name = format!("tables/{setting}-{profile}.csv");
            folder.write(&name, labelled(sweep::frame(&axes, &cells)).to_csv()).into_diagnostic()?;
        }
    }
    let points = rarely_lab::frontier::points(reproduced.findings.outcomes("frontier"));
    folder.write("tables/frontier.csv", rarely_lab::frontier::frame(&points).to_csv()).into_diagnostic()?;
    let variants = results::summary(reproduced.findings.outcomes("variants"));
    folder.write("tables/variants.csv", variants.to_csv()).into_diagnostic()?;
    folder.write("claims.json", json_text(&document(arguments, reproduced))?).into_diagnostic()?;
    folder.write("report.html", report::page(&extent(arguments), reproduced, &all)).into_diagnostic()
}

fn document(arguments: &Arguments, reproduced: &Reproduced) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "seed": arguments.seed,
        "full": arguments.full,
        "rounds": arguments.rounds,
        "ihdp": if reproduced.findings.synthetic { "synthetic" } else { "data" },
        "claims": reproduced.claims,
        "errata": reproduced.errata,
    })
}

/// What stdout says: a line for each claim.
fn summary(reproduced: &Reproduced) -> String {
    let mut table = plain_table(&["verdict", "where", "claim"], &[1, 2]);
    for claim in &reproduced.claims {
        let close = if claim.close { ", close" } else { "" };
        table.add_row([&format!("{}{close}", claim.verdict.words()), claim.figure, claim.text]);
    }
    let count =
        |verdict: Verdict| reproduced.claims.iter().filter(|claim| !claim.ours && claim.verdict == verdict).count();
    let children = if reproduced.findings.synthetic {
        "Verdicts on IHDP (Figure 4, Δ, λ) are on SYNTHETIC children: give the data with --data.\n"
    } else {
        ""
    };
    format!(
        "{}\n{children}Of the paper's {} claims {} hold, {} hold only as published, {} do not hold. {} errata, {} of them shown by an experiment.\n",
        render(&table),
        reproduced.claims.iter().filter(|claim| !claim.ours).count(),
        count(Verdict::Holds),
        count(Verdict::OnlyAsPublished),
        count(Verdict::DoesNotHold),
        reproduced.errata.len(),
        reproduced.errata.iter().filter(|erratum| erratum.shown.is_some()).count(),
    )
}
