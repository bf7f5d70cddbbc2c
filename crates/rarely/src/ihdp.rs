//! `rarely ihdp`: the paper's Figure 4.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use rarely_data::{Counterfactuals, ihdp};
use rarely_lab::report::ResultFiles;
use rarely_lab::report::results::{text, two_panels, write};
use rarely_lab::reproduction::FIGURE_FOUR_REALISATIONS;
use rarely_lab::{ContestantResult, CounterfactualTable, Experiment, ExperimentDescription, WorldSource};
use rarely_output::OutputDirectory;

use crate::failure::Failure;
use crate::options::{Algorithms, AssumptionOptions, RunOptions, count};
use crate::output::{TableFormat, print, print_json};
use crate::shard::{Work, parts};
use crate::simulate;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Play the first N of the 1,000 published realisations, which are part of this program [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(ihdp::REALISATIONS)))]
    realisations: Option<u32>,
    /// Read other realisations from a directory or files, ihdp_npci_*.csv or ihdp_npci_*.npz [default: $RARELY_IHDP]
    #[arg(long, value_name = "DIR|FILE", num_args = 1.., conflicts_with = "realisations")]
    data: Vec<PathBuf>,
    /// Runs: run r plays realisation r mod n in its own random order
    #[arg(long, default_value_t = 100, value_parser = count(1, 1_000_000))]
    runs: u64,
    /// Children of each run [default: all]
    #[arg(long, value_parser = count(1, 1_000_000))]
    rounds: Option<u64>,
    /// Algorithms: all, or names joined by commas
    #[arg(long, default_value = "all")]
    algorithms: Algorithms,
    /// Run only with an intercept (yes) or only without (no) [default: both]
    #[arg(long, value_name = "yes|no")]
    intercept: Option<YesNo>,
    #[command(flatten)]
    assumptions: AssumptionOptions,
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum YesNo {
    Yes,
    No,
}

/// The children: those in the files named, or the first realisations, as many as were asked for. If neither is given, those in the
/// files that the environment variable names, or the realisations of Figure 4.
pub(crate) fn children(data: &[PathBuf], realisations: Option<u32>) -> Result<Vec<Counterfactuals>, Failure> {
    let data = if realisations.is_some() { data.to_vec() } else { files(data) };
    Ok(match data.as_slice() {
        &[] => ihdp::realisations(realisations.unwrap_or(FIGURE_FOUR_REALISATIONS))?,
        data => ihdp::read(data)?,
    })
}

/// The files that were named, or that `RARELY_IHDP` names.
pub(crate) fn files(data: &[PathBuf]) -> Vec<PathBuf> {
    let variable = || std::env::var_os("RARELY_IHDP").filter(|value| !value.is_empty()).map(PathBuf::from);
    if data.is_empty() { variable().into_iter().collect() } else { data.to_vec() }
}

pub(crate) fn run(arguments: &Arguments, work: Work) -> Result<(), Failure> {
    let Arguments { realisations, data, runs, rounds, algorithms, intercept, assumptions, options } = arguments;
    let tables = children(data, *realisations)?;
    // σ = 1 is the noise of the response surface.
    let assumptions = assumptions.resolve();
    let algorithms = algorithms.of_any_outcome();
    assumptions.check(&algorithms)?;
    let contestants = assumptions.contestants(&algorithms, 1.0);
    let mut experiments = Vec::new();
    for with_intercept in [false, true] {
        if intercept.is_some_and(|choice| (choice == YesNo::Yes) != with_intercept) {
            continue;
        }
        let tables: Vec<Counterfactuals> =
            tables.iter().cloned().map(|table| if with_intercept { table.with_intercept() } else { table }).collect();
        let source = WorldSource::Tables(Arc::new(CounterfactualTable::new(tables)?));
        let experiment = Experiment {
            rounds: *rounds,
            certificates: options.certificates(),
            ..Experiment::new(source, *runs, options.seed)
        };
        experiment.check(&contestants)?;
        experiments.push((with_intercept, experiment));
    }
    let all = experiments.iter().map(|(_, experiment)| (experiment, contestants.as_slice()));
    let Some(session) = work.start(options.place(), parts(all)?)? else { return Ok(()) };
    let mut answers = Vec::new();
    for (with_intercept, experiment) in &experiments {
        let what = if *with_intercept { "with an intercept" } else { "without an intercept" };
        let outcomes = simulate::play(&session, what, experiment, &contestants)?;
        let mut settings = experiment.describe(session.command(), &assumptions, &outcomes)?;
        settings.environment.label = Some(format!("IHDP, {what}"));
        if let Some(directory) = session.directory() {
            let name = if *with_intercept { "intercept" } else { "no-intercept" };
            let directory = OutputDirectory::create(&directory.path().join(name))?;
            write(&directory, &settings, &outcomes, options.run_traces)?;
            let figure = two_panels(&text::title(&settings), &outcomes, Some(text::note(&settings)));
            ResultFiles::new(&directory, settings.made_by()).figure("figure-4", &figure)?;
        }
        answers.push((*with_intercept, settings, outcomes));
    }
    print_answers(options.format, &answers)?;
    session.finish()
}

fn print_answers(
    format: TableFormat,
    answers: &[(bool, ExperimentDescription, Vec<ContestantResult>)],
) -> Result<(), Failure> {
    match format {
        TableFormat::Json => {
            let objects = answers.iter().map(|(_, settings, outcomes)| simulate::object(settings, outcomes));
            print_json(&objects.collect::<Result<Vec<_>, Failure>>()?)
        }
        TableFormat::Csv => {
            for (at, (with_intercept, settings, outcomes)) in answers.iter().enumerate() {
                let text = rarely_lab::results::summary(outcomes)
                    .labelled("intercept", if *with_intercept { "yes" } else { "no" })
                    .made_by(&settings.made_by())
                    .to_csv();
                // One table: one header.
                let skipped = if at == 0 { 0 } else { text.find('\n').map_or(0, |end| end + 1) };
                print(&text[skipped..])?;
            }
            Ok(())
        }
        TableFormat::Table | TableFormat::Latex | TableFormat::Markdown => {
            for (at, (_, settings, outcomes)) in answers.iter().enumerate() {
                print(if at == 0 { "" } else { "\n" })?;
                simulate::report(format, settings, outcomes)?;
            }
            Ok(())
        }
    }
}
