//! The chapter on evidence: coverage and width of every set and interval.

use super::figures::ReportFigure;
use super::verdicts::short;
use crate::report::results::words::percent;
use crate::reproduction::{ArmDesign, EvidenceRow, EvidenceStudy, EvidenceWorld, GainMethod};
use rarely_plot::{Axis, Bar, Colour, Direction, Figure, Legend, Mark, Page, PageCell, Panel, Style, Tone};

/// Both figures.
pub(super) fn figures(study: &EvidenceStudy) -> Vec<ReportFigure> {
    let (runs, cases) = (study.runs, study.cases);
    vec![
        ReportFigure {
            name: "evidence-coverage",
            figure: coverage(study),
            caption: format!(
                "How often each interval missed the true gain of the declared change at some look, in {runs} runs of {cases} cases, with 95 % \
                 intervals; the line is the stated error probability. The people, the noise and the best line are the same in all panels. \
                 What differs: above the means are linear, below they are bent; on the left arms are drawn by a fair coin, in the middle by \
                 Thompson sampling, on the right by somebody who wants to mislead. Grey: the method promises nothing there."
            ),
        },
        ReportFigure {
            name: "evidence-width",
            figure: width(study),
            caption: format!(
                "Median half-width of the interval by number of cases, linear truth, the same {runs} runs. What differs: arms are drawn by a fair coin on the left, by \
                 Thompson sampling on the right. Points: looks that were planned. A gain is certified once the half-width is below about the \
                 gain itself, {}.",
                short(EvidenceWorld { bent: false, design: ArmDesign::Coin }.true_gain())
            ),
        },
    ]
}

/// The section, with its figures.
pub(super) fn section(page: &mut Page, study: &EvidenceStudy, figures: &[ReportFigure]) {
    let [linear, bent] = [false, true].map(|bent| EvidenceWorld { bent, design: ArmDesign::Coin }.true_gain());
    let percent_of = 100.0 * study.error_probability;
    page.paragraph(&format!(
        "Which intervals can be trusted, and how many cases do they need? One change of rule is declared before anything is seen: give arm 1 to \
         people from x = 0.4 on instead of from x = 0.8 (two arms, s = (1, x), x uniform on [0,1], noise of standard deviation 0.4). Every method puts an \
         interval around its gain at a stated error probability of {percent_of:.0} %, on the same {} runs of {} cases. Under the linear truth the change \
         gains {} per case. Under the bent truth both arms' best lines are the same, yet between 0.4 and 0.8 arm 1 does worse than its line says: the \
         change truly loses {} per case. Thompson sampling gives every arm a propensity of at least 0.1, the misleading design of at least 0.02, so \
         that model-free scores exist.",
        study.runs,
        study.cases,
        short(linear),
        short(-bent),
    ));
    for shown in figures.iter().filter(|shown| shown.name.starts_with("evidence")) {
        page.figure(&shown.figure, &shown.caption);
    }
    page.subheading("Linear truth: what the guarantees cost");
    linear_table(page, study);
    page.paragraph(
        "“Missed” is the share of runs in which the interval missed the true gain at any look (planned methods: at any of their four planned \
         looks), with its 95 % interval. “Half-width” is the median after the last case, “cases” the median number of cases until the lower end \
         was above 0, so that the gain was certified.",
    );
    page.paragraph(&adaptive(study));
    set_table(page, study);
    page.subheading("Bent truth: where linear certificates lie");
    bent_table(page, study);
    page.paragraph(&lies(study));
}

/// What adaptive designs do to methods that are for fixed ones, in words.
fn adaptive(study: &EvidenceStudy) -> String {
    let missed = |design: ArmDesign, method: GainMethod| {
        let row = study.row(EvidenceWorld { bent: false, design }, method);
        row.map_or_else(String::new, |row| format!("{} %", percent(row.missed)))
    };
    let [coin, thompson, misleading] = ArmDesign::ALL.map(|design| missed(design, GainMethod::Confirmed));
    format!(
        "Planned sets, confirmation and anytime t are for fixed designs, and promise nothing under the others. Confirmation missed in {coin} of the runs \
         with a fair coin, in {thompson} with Thompson sampling, and in {misleading} with a design that was made to break it: it knows the truth, and hardly \
         tries arm 1 any more while a planned interval would miss. (Of four such designs that were tried, none broke it clearly.) That is what was measured here, with two arms, two coefficients and propensities kept \
         above 0; it is no guarantee elsewhere. Looking too often does far more damage: the same interval, looked at again and again, missed in {}.",
        missed(ArmDesign::Coin, GainMethod::Peeked),
    )
}

/// What the bent truth shows, in words.
fn lies(study: &EvidenceStudy) -> String {
    let rows = |linear: bool| study.rows.iter().filter(move |row| row.world.bent && row.method.is_linear() == linear);
    let most = |rows: &mut dyn Iterator<Item = &EvidenceRow>| rows.map(|row| row.certified.mean).fold(0.0, f64::max);
    let sharp = study.row(EvidenceWorld { bent: true, design: ArmDesign::Coin }, GainMethod::Sharp);
    let (missed, certified) = sharp.map_or((0.0, 0.0), |row| (row.missed.mean, row.certified.mean));
    format!(
        "A gain that is certified here is a lie: the change loses. Under the fixed design sharp sets miss the true gain in {missed:.0} % of the runs and \
         certify a gain in {certified:.0} %; of the methods that rest on linear means some does so in up to {:.0} %, of the model-free ones in at most {:.1} %. \
         More cases make it worse, since the interval closes in on the wrong number. A valid set does not protect against a wrong model; logged \
         propensities do.",
        most(&mut rows(true)),
        most(&mut rows(false)),
    )
}

/// A row for each method that has one: its name, and what `cells` gives.
fn table(page: &mut Page, header: &[&str], cells: impl Fn(GainMethod) -> Option<Vec<PageCell>>) {
    let rows = GainMethod::ALL.into_iter().filter_map(|method| {
        let name = vec![PageCell::Text(method.words().to_owned())];
        Some([name, cells(method)?].concat())
    });
    page.table(header, rows);
}

/// Of every design under one truth, what `cell` makes of a method's row.
fn each(
    study: &EvidenceStudy,
    bent: bool,
    method: GainMethod,
    cell: impl Fn(&EvidenceRow) -> PageCell,
) -> Vec<PageCell> {
    let rows = ArmDesign::ALL.into_iter().filter_map(|design| study.row(EvidenceWorld { bent, design }, method));
    rows.map(cell).collect()
}

fn linear_table(page: &mut Page, study: &EvidenceStudy) {
    let header = [
        "method",
        "needs",
        "missed, %: fair coin",
        "Thompson",
        "misleading",
        "half-width: fair coin",
        "Thompson",
        "cases: fair coin",
        "Thompson",
    ];
    table(page, &header, |method| {
        let mut cells = vec![PageCell::Text(method.needs().to_owned())];
        cells.extend(each(study, false, method, |row| missed(row, study.error_probability)));
        let width = |row: &EvidenceRow| PageCell::Number(last_width(row).map_or_else(|| "–".to_owned(), short));
        cells.extend(each(study, false, method, width).into_iter().take(2));
        cells.extend(each(study, false, method, |row| PageCell::Number(cases(row))).into_iter().take(2));
        Some(cells)
    });
}

fn set_table(page: &mut Page, study: &EvidenceStudy) {
    page.paragraph("The whole set of parameters lost the truth at some look, % of the runs:");
    table(page, &["set", "fair coin", "Thompson", "misleading"], |method| {
        let lost = |row: &EvidenceRow| PageCell::Number(row.set_missed.map_or_else(String::new, percent));
        let has_set = study.rows.iter().any(|row| row.method == method && row.set_missed.is_some());
        has_set.then(|| each(study, false, method, lost))
    });
}

fn bent_table(page: &mut Page, study: &EvidenceStudy) {
    let header = ["method", "missed, %: fair coin", "Thompson", "falsely certified, %: fair coin", "Thompson"];
    table(page, &header, |method| {
        let mut cells = each(study, true, method, |row| missed(row, study.error_probability));
        let tone = |row: &EvidenceRow| {
            if row.certified.low > 100.0 * study.error_probability { Tone::Bad } else { Tone::Good }
        };
        cells.extend(each(study, true, method, |row| PageCell::Badge(tone(row), percent(row.certified))));
        Some(cells)
    });
}

/// Good if it keeps its promise, bad if it breaks it; what promises nothing is fair, or bad if it misses too often.
fn missed(row: &EvidenceRow, error_probability: f64) -> PageCell {
    let allowed = 100.0 * error_probability;
    let tone = match (row.method.promises(row.world), row.missed.low <= allowed) {
        (true, true) => Tone::Good,
        (false, true) => Tone::Fair,
        (_, false) => Tone::Bad,
    };
    PageCell::Badge(tone, percent(row.missed))
}

fn last_width(row: &EvidenceRow) -> Option<f64> {
    row.half_widths.last().map(|&(_, half_width)| half_width)
}

fn cases(row: &EvidenceRow) -> String {
    row.cases.map_or_else(|| format!("never ({:.0} % did)", row.certified.mean), |cases| cases.to_string())
}

fn style(method: GainMethod) -> Style {
    match method {
        GainMethod::Joint => Style::solid(Colour::BLACK),
        GainMethod::PerArm => Style::dashed(Colour::BLACK),
        GainMethod::Sharp => Style::solid(Colour::VERMILION).wide(2.6),
        GainMethod::Planned => Style::solid(Colour::SKY),
        GainMethod::Confirmed => Style::solid(Colour::BLUE),
        GainMethod::Peeked => Style::dotted(Colour::GREY),
        GainMethod::AnytimeT => Style::dashed(Colour::BLUE),
        GainMethod::ScoreMean => Style::solid(Colour::GREEN),
        GainMethod::Asymptotic => Style::dashed(Colour::GREEN),
        GainMethod::Bernstein => Style::solid(Colour::PURPLE),
    }
}

fn coverage(study: &EvidenceStudy) -> Figure {
    let panel = |(letter, world): (char, EvidenceWorld)| {
        let bars: Vec<Bar> = GainMethod::ALL
            .into_iter()
            .filter_map(|method| {
                let row = study.row(world, method)?;
                let style = if method.promises(world) { style(method) } else { Style::solid(Colour::GREY) };
                Some(Bar::new(method.words(), style, row.missed.mean).between(row.missed.low, row.missed.high))
            })
            .collect();
        let names = bars.iter().map(|bar| bar.name.clone()).collect();
        let promised = Mark::Rule {
            direction: Direction::Vertical,
            at: 100.0 * study.error_probability,
            style: Style::dashed(Colour::BLACK).wide(1.0),
            label: "δ".to_owned(),
        };
        Panel {
            title: format!("{letter}) {}", world.words()),
            x: Axis::linear("% of runs in which it missed").between(0.0, 100.0),
            y: Axis::names("", names),
            marks: vec![Mark::Bars { bars }, promised],
            ..Panel::default()
        }
    };
    Figure {
        title: "How often intervals miss the true gain".to_owned(),
        columns: 3,
        panels: "abcdef".chars().zip(EvidenceWorld::all()).map(panel).collect(),
        legend: Legend::None,
        note: None,
    }
}

fn width(study: &EvidenceStudy) -> Figure {
    let panel = |(letter, world): (char, EvidenceWorld)| {
        let marks = GainMethod::ALL.into_iter().filter(|&method| method != GainMethod::Peeked).filter_map(|method| {
            let points = study.row(world, method)?.half_widths.clone();
            let points: Vec<(f64, f64)> = points.into_iter().map(|(cases, width)| (cases as f64, width)).collect();
            let (name, style) = (method.words().to_owned(), style(method));
            Some(if method.is_planned() {
                let points = points.into_iter().map(|(x, y)| rarely_plot::Point::new(x, y)).collect();
                Mark::Points { name, style, points }
            } else {
                Mark::Line { name, style, points, band: None }
            })
        });
        Panel {
            title: format!("{letter}) {}", world.words()),
            x: Axis::log("cases"),
            y: Axis::log("half-width of the gain").between(0.01, 2.0),
            marks: marks.collect(),
            ..Panel::default()
        }
    };
    let worlds = EvidenceWorld::all().filter(|world| !world.bent);
    Figure {
        title: "How wide intervals are".to_owned(),
        columns: 2,
        panels: "ab".chars().zip(worlds).map(panel).collect(),
        legend: Legend::Below,
        note: None,
    }
}
