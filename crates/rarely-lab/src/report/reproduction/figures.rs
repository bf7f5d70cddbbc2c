//! The figures of the report.

use crate::ContestantResult;
use crate::reproduction::{
    CounterRow, GRID_ARMS, GRID_DIMENSIONS, PlanarMoment, Reading, Reproduced, SWEPT, TrialResults, WIDE, grid_id,
    swept_id,
};
use crate::sweep::{Setting, SweepAxis, SweepCell};
use rarely_core::Parameters;

use super::captions::Captions;
use crate::report::planar::{ConeState, ThresholdState, cone_picture, threshold_picture};
use crate::report::results::{four_panels, frontier, grid, sweep as sweep_figure, two_panels};
use crate::report::style::style_of;
use rarely_plot::{Aspect, Axis, Figure, Legend, Mark, Panel};
use rarely_plot::{Colour, Style};

/// A figure with its file name and what it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportFigure {
    /// What its file is called, without the ending.
    pub name: &'static str,
    /// The figure.
    pub figure: Figure,
    /// What it shows.
    pub caption: String,
}

/// Every figure, in the order of the report.
pub fn figures(reproduced: &Reproduced) -> Vec<ReportFigure> {
    let trials = &reproduced.trials;
    let mut figures = Vec::new();
    let mut show =
        |name, figure: Figure, caption: &str| figures.push(ReportFigure { name, figure, caption: caption.to_owned() });
    if let Some(moment) = &reproduced.threshold {
        show(
            "figure-1b-threshold",
            threshold(moment),
            "The paper's Figure 1b from a real run: boundary-conservative moves the cutoff just to the edge of what the data allow.",
        );
    }
    if let Some(moment) = &reproduced.cone {
        show(
            "figure-2-cones",
            cones(moment),
            "The paper's Figure 2 from a real run: parameters and their hull, the policy, their uncertainty, and the boundaries that the data allow, before and after a change.",
        );
    }
    let captions = Captions::of(reproduced);
    let main = |id: &str| chosen(trials.results(id), &FIGURE_THREE);
    show(
        "figure-3-published",
        four_panels("Figure 3, as published", &main("main/published"), None),
        &captions.figure_three_published(),
    );
    show(
        "figure-3-rigorous",
        four_panels("Figure 3, valid sets", &main("main/rigorous"), None),
        &captions.figure_three_rigorous(),
    );
    let ours = chosen(trials.results("main/rigorous"), &OURS);
    show(
        "figure-3-ours",
        four_panels("Figure 3, our algorithms, valid sets", &ours, None),
        &captions.figure_three_ours(),
    );
    let schedule = chosen(trials.results("main/published"), &SCHEDULE);
    let title = "Deterministic schedule, as published";
    show("schedule-published", two_panels(title, &schedule, None), &captions.schedule());
    for (name, family, title) in GRIDS {
        show(name, grid_figure(trials, family, &GRID_DIMENSIONS, title), &captions.grid(family, &GRID_DIMENSIONS));
    }
    for (name, id, title) in CHILDREN {
        show(name, two_panels(title, trials.results(id), None), &captions.children(id));
    }
    for (name, setting, profile, title) in SWEEPS {
        let (axes, cells) = swept_cells(trials, setting, profile);
        show(name, sweep_figure(title, &axes, &cells, None), &captions.sweep(setting, profile));
    }
    show(
        "theorem-1",
        counter_example(reproduced),
        "The counter-example to Theorem 1: total regret of a feasible algorithm passes the printed bound, whether its β is a radius or a squared \
         radius; with equipoise it does not.",
    );
    let points = crate::frontier::points(trials.results("frontier"));
    show(
        "frontier",
        frontier("Regret against number of changes, valid sets", &points, None),
        "Every point is an algorithm with one setting; no point is better in both regret and changes than a filled one.",
    );
    figures.extend(super::evidence::figures(&reproduced.evidence_study));
    figures.extend(super::open_questions::figures(&reproduced.open_questions));
    figures
}

const GRIDS: [(&str, &str, &str); 3] = [
    ("grid-published", "grid", "The k × d grid, as published"),
    ("grid-rigorous", "grid-rigorous", "The k × d grid, valid sets"),
    ("grid-house", "house", "Our default against LinUCB, valid sets"),
];
const CHILDREN: [(&str, &str, &str); 5] = [
    ("figure-4-authors", "ihdp/authors", "Figure 4, as the authors ran it"),
    ("figure-4-repaired", "ihdp/repaired", "Figure 4, as published, pairing repaired"),
    ("figure-4-published", "ihdp/published", "Figure 4, as published, pairing repaired, all realisations"),
    ("figure-4-rigorous", "ihdp/rigorous", "Figure 4, valid sets, without an intercept"),
    ("figure-4-rigorous-intercept", "ihdp/rigorous-intercept", "Figure 4, valid sets, with an intercept"),
];
const SWEEPS: [(&str, &str, Reading, &str); 6] = [
    ("tolerance-published", "tolerance", Reading::Published, "Δ on IHDP, as published"),
    (
        "tolerance-repaired",
        "tolerance",
        Reading::Repaired,
        "Δ on IHDP, as published, pairing repaired, all realisations",
    ),
    ("tolerance-rigorous", "tolerance", Reading::Rigorous, "Δ on IHDP, valid sets"),
    ("penalty-published", "penalty", Reading::Published, "λ on IHDP, as published"),
    ("penalty-repaired", "penalty", Reading::Repaired, "λ on IHDP, as published, pairing repaired, all realisations"),
    ("penalty-rigorous", "penalty", Reading::Rigorous, "λ on IHDP, valid sets"),
];
const FIGURE_THREE: [&str; 8] = [
    "greedy",
    "linucb",
    "rs-linucb",
    "feasible-greedy",
    "feasible-conservative",
    "rs-greedy",
    "rs-conservative",
    "clucb",
];
const OURS: [&str; 8] = [
    "rarely",
    "rarely-quick",
    "boundary-greedy",
    "boundary-conservative",
    "population-greedy",
    "certified",
    "linucb",
    "rs-linucb",
];
const SCHEDULE: [&str; 4] = ["scheduled", "rs-greedy", "rs-conservative", "greedy"];

fn chosen(results: &[ContestantResult], names: &[&str]) -> Vec<ContestantResult> {
    names.iter().filter_map(|name| results.iter().find(|result| result.name() == *name)).cloned().collect()
}

fn threshold(moment: &PlanarMoment) -> Figure {
    let Some(learner) = moment.policy.learner() else { return Figure::default() };
    threshold_picture(&ThresholdState {
        set: learner.set(),
        deployed: &moment.to,
        before: Some(&moment.from),
        truth: Some(&moment.truth),
        range: (0.0, 1.0),
        variable: "context variable x".to_owned(),
        outcome: "mean reward".to_owned(),
        arms: Vec::new(),
    })
}

fn cones(moment: &PlanarMoment) -> Figure {
    let Some(learner) = moment.policy.learner() else { return Figure::default() };
    let next: Option<&Parameters> = Some(&moment.to);
    cone_picture(&ConeState {
        set: learner.set(),
        deployed: &moment.from,
        next,
        truth: Some(&moment.truth),
        arms: Vec::new(),
    })
}

fn counter_example(reproduced: &Reproduced) -> Figure {
    let line = |name: &str, style: Style, value: fn(&CounterRow) -> f64| {
        let points = reproduced.counter.iter().map(|row| (row.rounds as f64, value(row)));
        Mark::line(name, style, points.collect())
    };
    let marks = vec![
        line("rs-greedy", style_of("rs-greedy"), |row| row.regret),
        line("with equipoise", style_of("rarely"), |row| row.repaired),
        line("bound, β a radius", Style::dashed(Colour::BLACK), |row| row.bound),
        line("bound, β a squared radius", Style::dashed(Colour::GREY), |row| row.bound_squared),
    ];
    let panel =
        Panel { x: Axis::log("rounds"), y: Axis::log("total regret"), marks, aspect: Aspect::Wide, ..Panel::default() };
    Figure {
        title: "Theorem 1 does not hold".to_owned(),
        panels: vec![panel],
        legend: Legend::LineEnds,
        ..Figure::default()
    }
}

fn grid_figure(trials: &TrialResults, family: &str, dimensions: &[usize], title: &str) -> Figure {
    let rows: Vec<Vec<(String, &[ContestantResult])>> = GRID_ARMS
        .iter()
        .map(|&arms| {
            let cell = |&dimension: &usize| {
                (format!("k={arms}, d={dimension}"), trials.results(&grid_id(family, arms, dimension)))
            };
            dimensions.iter().map(cell).collect()
        })
        .collect();
    grid(title, &rows, None)
}

/// A grid as a sweep over k and d.
pub(super) fn grid_cells(
    trials: &TrialResults,
    family: &str,
    dimensions: &[usize],
) -> (Vec<SweepAxis>, Vec<SweepCell>) {
    let numbers = |values: &[usize]| values.iter().map(|&value| value as f64).collect::<Vec<_>>();
    let axes = vec![
        SweepAxis { setting: Setting::Arms, values: numbers(&GRID_ARMS) },
        SweepAxis { setting: Setting::Dimension, values: numbers(dimensions) },
    ];
    let cells = GRID_ARMS.iter().flat_map(|&arms| {
        dimensions.iter().map(move |&dimension| SweepCell {
            values: vec![arms as f64, dimension as f64],
            results: trials.results(&grid_id(family, arms, dimension)).to_vec(),
        })
    });
    (axes, cells.collect())
}

/// The cells of a sweep on IHDP.
pub(super) fn swept_cells(trials: &TrialResults, setting: &str, profile: Reading) -> (Vec<SweepAxis>, Vec<SweepCell>) {
    let axis = SweepAxis {
        setting: if setting == "tolerance" { Setting::Tolerance } else { Setting::Penalty },
        values: SWEPT.to_vec(),
    };
    let cell = |&value: &f64| SweepCell {
        values: vec![value],
        results: trials.results(&swept_id(setting, profile, value)).to_vec(),
    };
    (vec![axis], SWEPT.iter().map(cell).collect())
}

/// The cells of the house grid with its widest column.
pub(super) fn house_cells(trials: &TrialResults) -> Vec<(usize, usize, &[ContestantResult])> {
    let shapes = GRID_ARMS.iter().flat_map(|&arms| GRID_DIMENSIONS.into_iter().chain([WIDE]).map(move |d| (arms, d)));
    shapes.map(|(arms, d)| (arms, d, trials.results(&grid_id("house", arms, d)))).collect()
}
