//! A figure of the evidence over time: the state of the rule at each review.

use rarely_live::event::{CutPoint, Drawing};
use rarely_live::{TimedReviewPoint, Version};
use rarely_plot::{Axis, Colour, Figure, Legend, Mark, Panel, Style};
use rarely_policy::{PolicyDocument, WrittenRule};
use rarely_review::RunningVariable;
use rarely_review::findings::running_unit;

const IN_FORCE: Style = Style::dashed(Colour::BLACK).wide(2.2);
const OPEN: Style = Style::solid(Colour::GREY).faint(0.3);
const STRAIN: Style = Style::solid(Colour::BLUE).wide(2.2);
const LIMIT: Style = Style::dashed(Colour::VERMILION);
const CHANGE: Style = Style::dotted(Colour::GREY);
/// With more versions than this, the figure does not label them.
const NAMED: usize = 8;

/// The figure, if there were two reviews on different numbers of outcomes.
pub(super) fn picture(document: &PolicyDocument, points: &[TimedReviewPoint], versions: &[Version]) -> Option<Drawing> {
    let first = points.first()?.point.outcomes;
    let last = points.last()?.point.outcomes;
    if points.len() < 2 || first == last {
        return None;
    }
    let pairs = pairs(points);
    let changes = changes(points, versions);
    let (panels, caption) = if pairs.is_empty() {
        let caption = "The distance of the rule's boundaries from the estimates, relative to what the data allow. Above 1 a boundary is \
                       implausible, and a change is proposed. Each point is a review."
            .to_owned();
        (vec![strain(points)], caption)
    } else {
        let another = if matches!(document.rule(), WrittenRule::Score(_)) && versions.len() > 1 {
            " If a version has other weights, its cuts are on another score."
        } else {
            ""
        };
        let caption = format!(
            "Dashed: the cut in force. Grey: the cuts that the data allow, at each review. A cut outside the grey band is implausible, \
             and a change is proposed.{another}"
        );
        (pairs.iter().map(|pair| cut(document, points, pair)).collect(), caption)
    };
    let panels = panels.into_iter().map(|panel: Panel| Panel {
        x: Axis::linear("outcomes").between(first as f64, last as f64),
        marks: panel.marks.into_iter().chain(changes.iter().cloned()).collect(),
        ..panel
    });
    let title = "The rule at each review".to_owned();
    let panels: Vec<Panel> = panels.collect();
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let figure = Figure { title: title.clone(), columns, panels, legend: Legend::Below, note: None };
    Some(Drawing { svg: figure.svg(), title, caption })
}

/// The pairs of options that had a cut between them at two reviews or more.
fn pairs(points: &[TimedReviewPoint]) -> Vec<[String; 2]> {
    let mut pairs: Vec<([String; 2], usize)> = Vec::new();
    for cut in points.iter().flat_map(|timed| &timed.point.cuts) {
        match pairs.iter_mut().find(|(pair, _)| *pair == cut.options) {
            Some((_, reviews)) => *reviews += 1,
            None => pairs.push((cut.options.clone(), 1)),
        }
    }
    pairs.into_iter().filter(|(_, reviews)| *reviews > 1).map(|(pair, _)| pair).collect()
}

fn cut(document: &PolicyDocument, points: &[TimedReviewPoint], pair: &[String; 2]) -> Panel {
    let own = |timed: &TimedReviewPoint| timed.point.cuts.iter().find(|cut| cut.options == *pair).cloned();
    let found: Vec<(f64, CutPoint)> =
        points.iter().filter_map(|timed| Some((timed.point.outcomes as f64, own(timed)?))).collect();
    let (low, high) = ends(document, &found);
    let band = |end: fn(&CutPoint) -> Option<f64>, open: f64| {
        found.iter().map(move |(x, cut)| (*x, end(cut).unwrap_or(open).clamp(low, high)))
    };
    let outline: Vec<(f64, f64)> =
        band(|cut| cut.low, low).chain(band(|cut| cut.high, high).collect::<Vec<_>>().into_iter().rev()).collect();
    let mut steps = Vec::new();
    let mut before: Option<&TimedReviewPoint> = None;
    for timed in points {
        if let Some(cut) = own(timed) {
            // A version that is reviewed for the first time has been in force since the previous review.
            steps.extend(
                before
                    .filter(|before| before.version != timed.version)
                    .map(|before| (before.point.outcomes as f64, cut.at)),
            );
            steps.push((timed.point.outcomes as f64, cut.at));
        }
        before = Some(timed);
    }
    let unit = running_unit(document);
    let name = match document.rule() {
        WrittenRule::Threshold(threshold) => threshold.feature.as_str(),
        _ if document.features().len() == 1 => document.features()[0].column.as_str(),
        _ => "score",
    };
    let label = if unit.is_empty() { name.to_owned() } else { format!("{name}, {unit}") };
    Panel {
        title: format!("Between {} and {}", pair[0], pair[1]),
        y: Axis::linear(label).between(low, high),
        marks: vec![
            Mark::Area { name: "cuts that the data allow".to_owned(), style: OPEN, outline },
            Mark::Step { name: "the cut in force".to_owned(), style: IN_FORCE, points: steps },
        ],
        ..Panel::default()
    }
}

/// The range of a panel: all cuts in force and the finite ends of the bands, within the range of the feature.
fn ends(document: &PolicyDocument, found: &[(f64, CutPoint)]) -> (f64, f64) {
    let cuts = found.iter().map(|(_, cut)| cut.at);
    let given = found.iter().flat_map(|(_, cut)| [cut.low, cut.high]).flatten();
    let (least, most) = possible(document).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let given: Vec<f64> = given.filter(|value| (least..=most).contains(value)).collect();
    if given.is_empty() && least.is_finite() && most.is_finite() {
        return (least, most);
    }
    let values = cuts.chain(given);
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    // Margins, so that a band without an end visibly continues.
    let room = (0.25 * (high - low)).max(0.02 * high.abs()).max(1e-6);
    ((low - room).max(least), (high + room).min(most))
}

/// The range of the feature, or of the score, that the rule compares with its cuts.
fn possible(document: &PolicyDocument) -> Option<(f64, f64)> {
    let feature = match document.rule() {
        WrittenRule::Threshold(threshold) => document.feature(&threshold.feature).map(|(_, feature)| feature),
        _ => document.features().first().filter(|_| document.features().len() == 1),
    };
    feature.and_then(rarely_policy::Feature::range).or_else(|| {
        let running = RunningVariable::of(document, document.rule())?;
        let (low, high) = running.span();
        Some((low + running.offset, high + running.offset))
    })
}

fn strain(points: &[TimedReviewPoint]) -> Panel {
    let line: Vec<(f64, f64)> = points.iter().map(|timed| (timed.point.outcomes as f64, timed.point.strain)).collect();
    let most = line.iter().fold(1.0_f64, |most, point| most.max(point.1));
    Panel {
        y: Axis::linear("relative distance").between(0.0, 1.08 * most),
        marks: vec![Mark::line("the rule in force", STRAIN, line), Mark::horizontal("above: implausible", LIMIT, 1.0)],
        ..Panel::default()
    }
}

/// A line where a version came into force: after the last review of the version before it.
fn changes(points: &[TimedReviewPoint], versions: &[Version]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for version in versions.iter().skip(1) {
        let Some(at) = points.iter().rev().find(|timed| timed.version < version.number) else { continue };
        let label = if versions.len() <= NAMED { format!("version {}", version.number) } else { String::new() };
        marks.push(Mark::vertical(label, CHANGE, at.point.outcomes as f64));
    }
    marks
}
