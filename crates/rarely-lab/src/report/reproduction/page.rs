//! The report as one page that opens offline.

use crate::ContestantResult;
use crate::frontier::FrontierPlace;
use crate::reproduction::{ErratumOrigin, Reproduced};

use super::figures::{ReportFigure, house_cells};
use super::verdicts::{self, short};
use super::{evidence, open_questions};
use crate::report::results::text::frontier_place;
use crate::report::results::words::{HELD, coverage, held, improving, percent, plus_minus, stuck};
use rarely_core::Algorithm;
use rarely_plot::{Page, PageCell, Tone};

/// The whole page, with the figures of the same trials.
pub fn page(reproduced: &Reproduced, figures: &[ReportFigure], command: &str) -> String {
    let mut page = Page::of_figures("Rarely-switching linear bandits, reproduced");
    let trials = &reproduced.trials;
    page.paragraph(&format!(
        "What the paper of Lansdell, Triantafillou and Kording (2019, arXiv 1905.13121) shows and claims, run again by rarely {} with \
         seed {}: {}. Every number here follows from the seed. “Published” is what the authors' program does; “rigorous” \
         has valid confidence sets, exact updates and our penalty λ = 0.01.",
        env!("CARGO_PKG_VERSION"),
        trials.size.seed,
        trials.size.extent(),
    ));
    page.paragraph(&format!("Figure 4, Δ and λ are on IHDP: {}.", reproduced.children.words()));
    verdicts::section(&mut page, &reproduced.claims);
    for (heading, prefix) in [
        ("Figures 1 and 2: the geometry", &["figure-1b", "figure-2"][..]),
        ("Figure 3: simulations", &["figure-3", "schedule"][..]),
        ("The k × d grid", &["grid"][..]),
        ("Figure 4: IHDP", &["figure-4"][..]),
        ("Δ and λ", &["tolerance", "penalty"][..]),
        ("Theorem 1", &["theorem-1"][..]),
        ("How close to the Pareto frontier?", &["frontier"][..]),
    ] {
        page.heading(heading);
        for shown in figures.iter().filter(|shown| prefix.iter().any(|prefix| shown.name.starts_with(prefix))) {
            page.figure(&shown.figure, &shown.caption);
            let id = match shown.name {
                "figure-3-published" => "main/published",
                "figure-3-ours" => "main/rigorous",
                "figure-4-authors" => "ihdp/authors",
                "figure-4-repaired" => "ihdp/repaired",
                "figure-4-published" => "ihdp/published",
                "figure-4-rigorous" => "ihdp/rigorous",
                "figure-4-rigorous-intercept" => "ihdp/rigorous-intercept",
                _ => continue,
            };
            page.collapsed("The numbers", |page| results(page, trials.results(id)));
        }
        if heading.starts_with("The k") {
            house(&mut page, reproduced);
        }
        if heading.starts_with("How close") {
            frontier(&mut page, reproduced);
        }
    }
    page.heading("Evidence: which intervals hold, and what they cost");
    evidence::section(&mut page, &reproduced.evidence_study, figures);
    page.heading("What the paper leaves open");
    open_questions::section(&mut page, &reproduced.open_questions, figures);
    errata(&mut page, reproduced);
    page.heading("Run it again");
    page.command(command);
    page.paragraph(
        "Tables are in tables/, figures as SVG and PNG in figures/, claims and errata for programs in claims.json.",
    );
    page.html()
}

fn results(page: &mut Page, results: &[ContestantResult]) {
    let rows = results.iter().map(|result| {
        let (row, runs) = (result.summary(), result.runs.len());
        let mut cells = vec![
            PageCell::Text(row.name.clone()),
            PageCell::Number(plus_minus(row.regret_per_step_tenth, 4, runs)),
            PageCell::Number(plus_minus(row.regret_per_step, 4, runs)),
        ];
        cells.extend(held(&row, runs).map(PageCell::Number));
        cells.extend(
            [
                improving(&row),
                percent(row.below_baseline_percent),
                percent(row.below_nine_tenths_percent),
                coverage(&row),
            ]
            .map(PageCell::Number),
        );
        cells
    });
    let mut header = vec!["algorithm", "regret per step at a tenth", "at the end"];
    header.extend(HELD);
    header.extend(["improving, %", "below best arm, %", "below 0.9 ×, %", "sets held, %"]);
    page.table(&header, rows);
    if let Some(note) = stuck(results) {
        page.paragraph(&note);
    }
}

fn house(page: &mut Page, reproduced: &Reproduced) {
    page.subheading("Our default against LinUCB");
    let rows = house_cells(&reproduced.trials).into_iter().filter_map(|(arms, dimension, results)| {
        let find = |name: &str| results.iter().find(|result| result.name() == name);
        let (own, theirs) = (find("rarely")?, find("linucb")?);
        let (row, other, runs) = (own.summary(), theirs.summary(), own.runs.len());
        let ratio = row.regret_per_step.mean / other.regret_per_step.mean;
        let tone = if ratio <= 1.1 { Tone::Good } else { Tone::Bad };
        let mut cells = vec![
            PageCell::Number(arms.to_string()),
            PageCell::Number(dimension.to_string()),
            PageCell::Number(runs.to_string()),
            PageCell::Number(plus_minus(row.regret_per_step, 4, runs)),
            PageCell::Number(plus_minus(other.regret_per_step, 4, runs)),
            PageCell::Badge(tone, format!("{ratio:.2}")),
        ];
        cells.extend(held(&row, runs).map(PageCell::Number));
        cells.push(PageCell::Number(improving(&row)));
        Some(cells)
    });
    let mut header = vec!["k", "d", "runs", "regret per step, rarely", "LinUCB", "ratio"];
    header.extend(HELD);
    header.push("improving, %");
    page.table(&header, rows);
    let claim = reproduced.claims.iter().find(|claim| claim.id == "house-default");
    let missed = claim.into_iter().flat_map(|claim| &claim.measured).filter(|found| !found.holds);
    let missed: Vec<String> =
        missed.map(|found| format!("{}: {} (should be {})", found.what, short(found.value), found.holds_if)).collect();
    if missed.is_empty() {
        page.paragraph("It does, in every cell of the grid.");
    } else {
        page.paragraph("Where it does not reach LinUCB's regret with a handful of changes, nearly all improvements:");
        page.list(missed);
    }
}

fn frontier(page: &mut Page, reproduced: &Reproduced) {
    let results = reproduced.trials.results("frontier");
    let runs = results.first().map_or(0, |result| result.runs.len());
    if let Some(place) = FrontierPlace::of(results, Algorithm::Rarely.name()) {
        page.paragraph(&format!("Our default: {}", frontier_place(&place)));
    }
    let mut points = crate::frontier::points(results);
    points.retain(|point| point.on_frontier);
    points.sort_by(|one, other| one.summary.changes.mean.total_cmp(&other.summary.changes.mean));
    page.paragraph(&format!("The frontier, from few changes to many ({runs} runs; points are compared by their means, so neighbours within an error may swap):"));
    let rows = points.iter().map(|point| {
        let row = &point.summary;
        let mut cells = vec![PageCell::Text(row.name.clone())];
        cells.extend(held(row, runs).map(PageCell::Number));
        cells.extend([plus_minus(row.regret_per_step, 4, runs), improving(row)].map(PageCell::Number));
        cells
    });
    let mut header = vec!["contestant"];
    header.extend(HELD);
    header.extend(["regret per step", "improving, %"]);
    page.table(&header, rows);
}

fn errata(page: &mut Page, reproduced: &Reproduced) {
    page.heading("Errata");
    let rows = reproduced.errata.iter().map(|erratum| {
        let origin = if erratum.origin == ErratumOrigin::Paper { "paper" } else { "program" };
        vec![
            PageCell::Number(erratum.number.to_string()),
            PageCell::Text(origin.to_owned()),
            PageCell::Text(erratum.text.to_owned()),
            PageCell::Text(erratum.shown.clone().unwrap_or_else(|| "By reading; no experiment.".to_owned())),
        ]
    });
    page.table(&["", "in the", "what is wrong", "shown by"], rows);
}
