//! The reproduction of the paper as figures, as one page, as text, and as a directory of files.

mod captions;
mod evidence;
mod figures;
mod open_questions;
mod page;
mod verdicts;

use crate::report::files::ResultFiles;
use crate::reproduction::{Claim, GRID_DIMENSIONS, Reading, Reproduced, WIDE};
use crate::results::LabelledResults;
use crate::{frontier, results, sweep};
use rarely_output::{ColumnTable, OutputDirectory, OutputError, Provenance};

use rarely_output::TextTable;

pub use figures::{ReportFigure, figures};
pub use page::page;

/// Trials whose summaries are tables of their own.
const SUMMARISED: [&str; 7] = [
    "main/published",
    "main/rigorous",
    "ihdp/authors",
    "ihdp/repaired",
    "ihdp/published",
    "ihdp/rigorous",
    "ihdp/rigorous-intercept",
];

/// Writes the whole report: the page (`report.html`), every figure as SVG and PNG, the tables, and claims and errata for programs
/// (`claims.json`). `command` is what the reader can run to make it again, in the words of the front end.
///
/// # Errors
/// [`OutputError`] of the first file that cannot be written.
pub fn write(directory: &OutputDirectory, reproduced: &Reproduced, command: &str) -> Result<(), OutputError> {
    let (version, seed) = (env!("CARGO_PKG_VERSION").to_owned(), reproduced.trials.size.seed);
    let files = ResultFiles::new(directory, Provenance { command: command.to_owned(), seed, version });
    let all = figures(reproduced);
    for shown in &all {
        files.figure(&format!("figures/{}", shown.name), &shown.figure)?;
    }
    write_tables(&files, reproduced)?;
    files.json("claims", &reproduced.document())?;
    files.other("report.html", page(reproduced, &all, command))
}

fn write_tables(files: &ResultFiles<'_>, reproduced: &Reproduced) -> Result<(), OutputError> {
    let trials = &reproduced.trials;
    let write = |name: &str, frame: &ColumnTable| files.table(&format!("tables/{name}"), frame);
    for id in SUMMARISED {
        let results = trials.results(id);
        if !results.is_empty() {
            write(&id.replace('/', "-"), &results::summary(results))?;
        }
    }
    let house: Vec<usize> = GRID_DIMENSIONS.into_iter().chain([WIDE]).collect();
    for (family, dimensions) in
        [("grid", &GRID_DIMENSIONS[..]), ("grid-rigorous", &GRID_DIMENSIONS[..]), ("house", &house)]
    {
        let (axes, cells) = figures::grid_cells(trials, family, dimensions);
        write(family, &sweep::frame(&axes, &cells))?;
    }
    for setting in ["tolerance", "penalty"] {
        for profile in [Reading::Published, Reading::Repaired, Reading::Rigorous] {
            let (axes, cells) = figures::swept_cells(trials, setting, profile);
            write(&format!("{setting}-{}", profile.name()), &sweep::frame(&axes, &cells))?;
        }
    }
    for (id, results) in trials.all() {
        let runs = results::runs(&[LabelledResults::plain(trials.size.seed, results)]);
        files.parquet(&format!("runs/{}", id.replace('/', "-")), &runs)?;
    }
    write("evidence", &results::evidence(&reproduced.evidence_study.rows))?;
    write("frontier", &frontier::frame(&frontier::points(trials.results("frontier"))))?;
    write("variants", &results::summary(trials.results("variants")))
}

/// A line for each claim, and their count; lines are no longer than `width`, if there is one.
pub fn text(reproduced: &Reproduced, width: Option<u16>) -> String {
    let mut table = TextTable::new(&["verdict", "as published", "where", "claim"], &[0, 1, 2, 3]);
    for claim in &reproduced.claims {
        table.row([claim.judgement.words().as_str(), &as_published(claim), claim.figure, claim.text]);
    }
    format!(
        "{}\n{} {} errata, {} of them shown by an experiment.\n",
        table.text(width),
        verdicts::count(&reproduced.claims),
        reproduced.errata.len(),
        reproduced.errata.iter().filter(|erratum| erratum.shown.is_some()).count(),
    )
}

/// What the readings of the authors' own program say, where they are not what the claim is judged by.
fn as_published(claim: &Claim) -> String {
    let word = |profile| claim.reading(profile).map(|reading| reading.judgement.verdict.words());
    match (word(Reading::Published), word(Reading::Repaired)) {
        (Some(published), Some(repaired)) => format!("{published}; pairing repaired: {repaired}"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => String::new(),
    }
}
