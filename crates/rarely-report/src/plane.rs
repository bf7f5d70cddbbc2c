//! Two numbers: the plane of both, divided as the rule in force does, with the boundary that is proposed and the part that the data
//! leave open.

use rarely_core::{Context, Parameters};
use rarely_policy::Feature;
use rarely_review::{EvidenceBase, Review};

use crate::owner::axis;
use crate::stretch::where_holds;
use crate::{IN_FORCE, OPEN, PROPOSED, Picture};
use rarely_plot::{Axis, Colour, Figure, Legend, Mark, Panel, Point, Style, style_of_arm};

/// Columns of the part that the data leave open, and looks up and down in each.
const COLUMNS: u32 = 120;
const LOOKS: u32 = 40;
/// People who are drawn.
const DOTS: usize = 300;

/// A place in the plane, both coordinates in `[0, 1]`.
type Place = (f64, f64);

/// The plane of both features.
pub(super) fn picture(base: &EvidenceBase<'_>, review: &Review) -> Picture {
    let document = base.document;
    let (across, up) = (&document.features()[0], &document.features()[1]);
    let raw = |(x, y): Place| (value(across, x), value(up, y));
    let outline = |places: &[Place]| places.iter().map(|&place| raw(place)).collect::<Vec<_>>();
    let in_force = document.rule().parameters(document);
    let mut marks = Vec::new();
    for (option, name) in document.options().iter().enumerate() {
        let region = region(&in_force, option);
        if region.len() > 2 {
            let style = style_of_arm(option).faint(0.3);
            marks.push(Mark::Area { name: format!("{name} now"), style, outline: outline(&region) });
        }
    }
    let open = open(base);
    let dark = Style { opacity: 0.5, ..OPEN };
    let name = |at: usize| if at == 0 { "more than one option is plausible" } else { "" };
    let shaded = open.iter().enumerate();
    marks.extend(shaded.map(|(at, part)| Mark::Area {
        name: name(at).to_owned(),
        style: dark,
        outline: outline(part),
    }));
    marks.push(people(base, raw));
    let mut draw = |name: &str, style: Style, policy: &Parameters| {
        for (at, ends) in boundaries(policy).into_iter().enumerate() {
            marks.push(Mark::line(if at == 0 { name } else { "" }, style, outline(&ends)));
        }
    };
    draw("boundary in force", IN_FORCE, &in_force);
    if let Some(proposal) = &review.judgement.proposal {
        draw("proposed boundary", PROPOSED, &proposal.rule.parameters(document));
    }
    let range = |feature: &Feature| feature.range().unwrap_or((0.0, 1.0));
    let fixed = |feature: &Feature| Axis::linear(axis(feature)).between(range(feature).0, range(feature).1);
    let panel = Panel { x: fixed(across), y: fixed(up), marks, ..Panel::default() };
    let title = format!("Who gets which option, by {} and {}", across.column, up.column);
    let leaves = if open.is_empty() {
        "The data leave no one with more than one plausible option."
    } else {
        "Grey: people for whom the data leave more than one option plausible; elsewhere the data say which is best."
    };
    let proposed = if review.judgement.proposal.is_some() { "; solid line: as proposed" } else { "" };
    Picture {
        name: "decision-boundary",
        caption: format!(
            "Colours: the option that the rule in force gives. Dots: a sample of the people. Dashed line: where the option changes{proposed}. {leaves}"
        ),
        figure: Figure { title: title.clone(), columns: 1, panels: vec![panel], legend: Legend::Below, note: None },
        title,
    }
}

/// Some of the people, as dots.
fn people(base: &EvidenceBase<'_>, raw: impl Fn(Place) -> (f64, f64)) -> Mark {
    let count = base.people.len() / 3;
    let shown = base.people.chunks_exact(3).step_by(count.div_ceil(DOTS).max(1));
    let points = shown.map(|person| raw((person[1], person[2]))).map(|(x, y)| Point::new(x, y));
    let style = Style::solid(Colour::BLACK).wide(0.6).faint(0.45);
    Mark::Points { name: "people".to_owned(), style, points: points.collect() }
}

fn value(feature: &Feature, share: f64) -> f64 {
    let (low, high) = feature.range().unwrap_or((0.0, 1.0));
    low + share * (high - low)
}

/// By how much an option is ahead of another, as a function of the place.
fn lead(policy: &Parameters, first: usize, second: usize) -> [f64; 3] {
    let (first, second) = (policy.arm(first), policy.arm(second));
    [first[0] - second[0], first[1] - second[1], first[2] - second[2]]
}

fn at(lead: &[f64; 3], place: Place) -> f64 {
    lead[0] + lead[1] * place.0 + lead[2] * place.1
}

/// The corners of the part of the plane in which a policy gives an option; none if there is no such part.
fn region(policy: &Parameters, option: usize) -> Vec<Place> {
    let mut corners = vec![(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    for other in (0..policy.shape().arms()).filter(|&other| other != option) {
        let lead = lead(policy, option, other);
        // Ties go to the option named first.
        let wins_ties = option < other;
        if lead == [0.0; 3] && !wins_ties {
            return Vec::new();
        }
        corners = halved(&corners, &lead);
    }
    corners
}

/// The part of a convex polygon in which a linear function is not negative.
fn halved(corners: &[Place], lead: &[f64; 3]) -> Vec<Place> {
    let mut kept = Vec::new();
    for (index, &from) in corners.iter().enumerate() {
        let to = corners[(index + 1) % corners.len()];
        let (here, there) = (at(lead, from), at(lead, to));
        if here >= 0.0 {
            kept.push(from);
        }
        if here * there < 0.0 {
            let share = here / (here - there);
            kept.push((from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)));
        }
    }
    kept
}

/// Where one option gives way to another: the ends of each such line.
fn boundaries(policy: &Parameters) -> Vec<[Place; 2]> {
    let options = policy.shape().arms();
    let pairs = (0..options).flat_map(|first| (first + 1..options).map(move |second| (first, second)));
    let lines = pairs.filter_map(|(first, second)| {
        let between = lead(policy, first, second);
        let others = (0..options).filter(|&other| other != first && other != second);
        let mut limits = vec![[0.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, -1.0]];
        limits.extend(others.map(|other| lead(policy, first, other)));
        segment(&between, &limits)
    });
    lines.collect()
}

/// The part of the line on which a linear function is 0 and none of the others is negative.
fn segment(line: &[f64; 3], limits: &[[f64; 3]]) -> Option<[Place; 2]> {
    let squared = line[1] * line[1] + line[2] * line[2];
    if squared == 0.0 {
        return None;
    }
    let foot = (-line[0] * line[1] / squared, -line[0] * line[2] / squared);
    let along = (-line[2] / squared.sqrt(), line[1] / squared.sqrt());
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for limit in limits {
        let (start, slope) = (at(limit, foot), limit[1] * along.0 + limit[2] * along.1);
        if slope > 0.0 {
            from = from.max(-start / slope);
        } else if slope < 0.0 {
            to = to.min(-start / slope);
        } else if start < 0.0 {
            return None;
        }
    }
    let place = |share: f64| (foot.0 + share * along.0, foot.1 + share * along.1);
    (from < to).then(|| [place(from), place(to)])
}

/// The part of the plane at which more than one option is plausible, as polygons.
fn open(base: &EvidenceBase<'_>) -> Vec<Vec<Place>> {
    let region = base.region();
    let is_open = |place: Place| {
        let context = [1.0, place.0, place.1];
        let plausible = Context::new(&context).and_then(|context| region.plausible_arms(context));
        plausible.is_ok_and(|options| options.len() > 1)
    };
    let columns = (0..=COLUMNS).map(|column| {
        let x = f64::from(column) / f64::from(COLUMNS);
        (x, where_holds(LOOKS, |y| is_open((x, y))))
    });
    let mut done: Vec<Vec<Place>> = Vec::new();
    // Pieces that reach the last column: their lower and upper edges.
    let mut growing: Vec<(Vec<Place>, Vec<Place>)> = Vec::new();
    let mut finish = |(lower, upper): (Vec<Place>, Vec<Place>)| {
        if lower.len() > 1 {
            done.push(lower.into_iter().chain(upper.into_iter().rev()).collect());
        }
    };
    for (x, runs) in columns {
        let mut next = Vec::new();
        for (low, high) in runs {
            let touches = |piece: &(Vec<Place>, Vec<Place>)| {
                piece.0.last().is_some_and(|end| end.1 <= high) && piece.1.last().is_some_and(|end| end.1 >= low)
            };
            // The first piece that touches goes on here; another that does ends.
            let (mut lower, mut upper) = growing
                .iter()
                .position(touches)
                .map_or_else(|| (Vec::new(), Vec::new()), |found| growing.remove(found));
            lower.push((x, low));
            upper.push((x, high));
            next.push((lower, upper));
        }
        growing.drain(..).for_each(&mut finish);
        growing = next;
    }
    growing.into_iter().for_each(&mut finish);
    done
}
