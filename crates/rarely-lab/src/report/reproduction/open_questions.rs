//! The chapter on what the paper leaves open.

use super::figures::ReportFigure;
use super::verdicts::short;
use crate::report::results::words::{HELD, held, plus_minus};
use crate::report::style::style_of;
use crate::reproduction::{ChangeGrowth, OpenQuestions, ScheduleComparison};
use crate::{Estimate, Interval95};
use rarely_core::Algorithm;
use rarely_plot::{Axis, Figure, Legend, Mark, Page, PageCell, Panel, Point, Tone};

/// How the number of changes grows, as a figure.
pub(super) fn figures(answers: &OpenQuestions) -> Vec<ReportFigure> {
    vec![ReportFigure {
        name: "open-growth",
        figure: growth(&answers.growth),
        caption: "Changes of the rule against one number at a time, all others as in the main setting (k = 4, d = 5, σ = 0.1) at the largest T. Whiskers: one \
                  standard error. T: the same runs, counted up to an eighth, a quarter, a half and all of the rounds."
            .to_owned(),
    }]
}

/// The section, with its figure.
pub(super) fn section(page: &mut Page, answers: &OpenQuestions, figures: &[ReportFigure]) {
    bounds(page, answers);
    page.subheading("How does the number of changes grow?");
    for shown in figures.iter().filter(|shown| shown.name.starts_with("open")) {
        page.figure(&shown.figure, &shown.caption);
    }
    exponents(page, &answers.growth);
    schedules(page, &answers.schedules);
    distances(page, answers);
}

fn bounds(page: &mut Page, answers: &OpenQuestions) {
    page.subheading("Is there a bound on the number of changes?");
    page.paragraph(
        "Yes, where the owner declares one list S of people and a minimum gain ε: with probability at least 1 − δ there are at most \
         ⌊(V* − V)/ε⌋ changes, with V the value of the first rule on S and V* that of the best, whatever the number of rounds, arms and context variables and \
         whatever the noise. Each change gains more than ε on the same list, and the gains add up to at most V* − V. Our default in the main setting, \
         1,000 people declared:",
    );
    let rows = answers.bounds.iter().map(|row| {
        let none = |count: usize| PageCell::Badge(if count == 0 { Tone::Good } else { Tone::Bad }, count.to_string());
        vec![
            PageCell::Number(row.minimum_gain.to_string()),
            PageCell::Number(row.runs.to_string()),
            PageCell::Number(plus_minus(row.bound, 1, row.runs)),
            PageCell::Number(row.least_bound.to_string()),
            PageCell::Number(plus_minus(row.changes, 1, row.runs)),
            PageCell::Number(row.most_changes.to_string()),
            none(row.broken),
            none(row.too_small),
            PageCell::Number(plus_minus(row.regret_per_step, 4, row.runs)),
        ]
    });
    let header = [
        "ε",
        "runs",
        "bound",
        "smallest bound",
        "changes",
        "most changes",
        "runs above their bound",
        "gains of at most ε",
        "regret per step",
    ];
    page.table(&header, rows);
    page.paragraph(
        "The bound holds for any way in which small gains add up; where each change gains much more than ε, far fewer are made. A larger ε lowers the \
         bound, and can forbid changes that are worth making.",
    );
}

fn exponents(page: &mut Page, growth: &[ChangeGrowth]) {
    let rows = growth.iter().map(|fit| {
        let points = fit.points.iter().map(|(x, changes)| format!("{x}: {:.1}", changes.mean));
        let Interval95 { mean, low, high } = fit.exponent;
        vec![
            PageCell::Text(fit.algorithm.name().to_owned()),
            PageCell::Text(fit.varied.to_owned()),
            PageCell::Text(points.collect::<Vec<_>>().join(", ")),
            PageCell::Number(format!("{mean:.2}")),
            PageCell::Number(format!("{low:.2} to {high:.2}")),
        ]
    });
    page.table(&["algorithm", "what varies", "changes at each value", "exponent b", "95 % interval"], rows);
    page.paragraph(
        "The fit is changes ∝ xᵇ by least squares on logarithms; intervals are from resampled runs. An exponent near 0 says that the number hardly \
         depends on x over this range; it is no law beyond it.",
    );
}

fn schedules(page: &mut Page, schedules: &[ScheduleComparison]) {
    let Some(first) = schedules.first() else { return };
    page.subheading("Which schedule is best in the simplest case?");
    page.paragraph(&format!(
        "Two arms, no context, σ = 1, {} rounds, a gap Δ that is known while the better arm and the level are not. The best schedule of the kind “play both \
         in turn, then commit” follows by dynamic programming over the pairs played and the sum of their differences; with a number of exploring rounds \
         fixed beforehand it follows by search. Either changes the rule at most once. Beside them the total regret of algorithms that do not know Δ; the arm \
         in force at the start is the better one in half of the runs.",
        first.trial.rounds
    ));
    let names: Vec<String> = first.measured.iter().map(|row| row.name.clone()).collect();
    let mut header =
        vec!["Δ".to_owned(), "optimum".to_owned(), "rounds it explores".to_owned(), "fixed length".to_owned()];
    header.extend(names.iter().map(|name| format!("{name} (changes)")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = schedules.iter().map(|row| {
        let mut cells = vec![
            PageCell::Number(row.trial.gap.to_string()),
            PageCell::Number(short(row.best.regret)),
            PageCell::Number(format!("{:.0}", row.best.explored)),
            PageCell::Number(format!("{} ({})", short(row.best.fixed_regret), row.best.fixed_explored)),
        ];
        cells.extend(row.measured.iter().map(|found| {
            let changes =
                found.changes.map_or_else(|| "every round".to_owned(), |Estimate { mean, .. }| format!("{mean:.1}"));
            PageCell::Number(format!("{} ({changes})", plus_minus(found.regret, 1, found.runs)))
        }));
        cells
    });
    page.table(&header, rows);
    let times = |algorithm: Algorithm| {
        let of = |row: &ScheduleComparison| {
            let own = row.measured.iter().find(|found| found.name == algorithm.name())?;
            Some(format!("{:.1} × at Δ = {}", own.regret.mean / row.best.regret, row.trial.gap))
        };
        schedules.iter().filter_map(of).collect::<Vec<_>>().join(", ")
    };
    page.paragraph(&format!(
        "Our default has {} the optimum's regret, rarely-quick, which does not wait for certainty, {}. The optimum is over schedules of this kind only: \
         an algorithm that plays the arms unevenly while it learns could be below it.",
        times(Algorithm::Rarely),
        times(Algorithm::RarelyQuick),
    ));
}

fn distances(page: &mut Page, answers: &OpenQuestions) {
    page.subheading("How far is each algorithm from the frontier?");
    page.paragraph(
        "Each algorithm with the setting in which it is nearest to the frontier of regret and changes (main setting). “Regret ×” is its regret over the least of all \
         others that do not change more often; “changes ×” its changes over the fewest of all others without more regret, with 95 % intervals. Both are 1 \
         on the frontier.",
    );
    let times = |ratio: Option<Interval95>| {
        let text =
            |Interval95 { mean, low, high }: Interval95| format!("{} ({} to {})", short(mean), short(low), short(high));
        PageCell::Number(ratio.map_or_else(|| "1".to_owned(), text))
    };
    let rows = answers.distances.iter().map(|row| {
        let mut cells = vec![PageCell::Text(row.summary.name.clone())];
        cells.extend(held(&row.summary, row.runs).map(PageCell::Number));
        cells.push(PageCell::Number(plus_minus(row.summary.regret_per_step, 4, row.runs)));
        cells.extend([times(row.regret), times(row.changes)]);
        cells
    });
    let mut header = vec!["algorithm and setting"];
    header.extend(HELD);
    header.extend(["regret per step", "regret ×", "changes ×"]);
    page.table(&header, rows);
}

fn growth(fits: &[ChangeGrowth]) -> Figure {
    let label = |varied: &str| match varied {
        "d" => "d, context variables",
        "k" => "k, arms",
        "σ" => "σ, noise",
        _ => "T, rounds",
    };
    let panels = ["d", "k", "σ", "T"].into_iter().zip("abcd".chars()).map(|(varied, letter)| {
        let marks = fits.iter().filter(|fit| fit.varied == varied).flat_map(|fit| {
            let style = style_of(fit.algorithm.name());
            let name = fit.algorithm.name().to_owned();
            let line = fit.points.iter().map(|&(x, changes)| (x, changes.mean)).collect();
            let points = fit.points.iter().map(|&(x, Estimate { mean, standard_error })| {
                Point::new(x, mean).y_between(mean - standard_error, mean + standard_error)
            });
            [Mark::line(&name, style, line), Mark::Points { name: name.clone(), style, points: points.collect() }]
        });
        Panel {
            title: format!("{letter}) Changes by {}", label(varied)),
            x: Axis::log(label(varied)),
            y: Axis::linear("changes"),
            marks: marks.collect(),
            ..Panel::default()
        }
    });
    Figure {
        title: "How the number of changes grows".to_owned(),
        columns: 2,
        panels: panels.collect(),
        legend: Legend::Below,
        note: None,
    }
}
