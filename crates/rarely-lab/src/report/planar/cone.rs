//! Several arms and two variables: parameters and their hull, the policy as a circle of directions, and its
//! uncertainty.

use std::f64::consts::{PI, TAU};

use rarely_core::{ConfidenceSet, Parameters};

use crate::report::planar::{Stretch, around, hull, name_of};
use rarely_plot::{Anchor, Aspect, Axis, Figure, Legend, Mark, Panel, Point};
use rarely_plot::{Colour, Style, style_of_arm};

/// What [`cone_picture`] draws: two context variables.
#[derive(Debug, Clone)]
pub struct ConeState<'a> {
    /// What the data allow.
    pub set: ConfidenceSet<'a>,
    /// The policy in force.
    pub deployed: &'a Parameters,
    /// The policy after the update, if there is one.
    pub next: Option<&'a Parameters>,
    /// The true parameters, where they are known; panels a and b are of the estimates otherwise.
    pub truth: Option<&'a Parameters>,
    /// The arms' names; "arm 0", "arm 1" where there are none.
    pub arms: Vec<String>,
}

const HULL: Style = Style::solid(Colour::GREY).wide(1.2);
const PLAUSIBLE: Style = Style::solid(Colour::SHADE).faint(0.75);
const IN_FORCE: Style = Style::solid(Colour::BLACK).wide(1.8);
const AFTER: Style = Style::dashed(Colour::INDIGO).wide(2.2);
const TRUE: Style = Style::dotted(Colour::BLACK).wide(1.6);
/// Steps of the scan around the circle.
const SCAN: u32 = 1440;

/// The paper's Figure 2 from real state: (a) the arms' parameters and their convex hull, (b) the policy they make,
/// (c) the estimates with each arm's uncertainty, (d) the plausible ranges of the boundaries, with those of the
/// policy in force and of the next.
///
/// Without two context variables every panel says "no data".
pub fn cone_picture(state: &ConeState<'_>) -> Figure {
    let estimates = state.set.statistics().estimates();
    let planar = estimates.shape().dimension() == 2 && state.deployed.shape() == estimates.shape();
    let (whose, main) = state.truth.map_or(("Estimated", &estimates), |truth| ("True", truth));
    let [hulls, optimum, ellipses, changes] = if planar {
        [polytope(state, main), policy(state, main), uncertainty(state, &estimates), change(state, &estimates)]
    } else {
        Default::default()
    };
    let panel = |title: &str, axis: [Axis; 2], marks| {
        let [x, y] = axis;
        Panel { title: title.into(), x, y, marks, aspect: Aspect::Equal }
    };
    let plane = || [Axis::linear("coefficient of the first variable"), Axis::linear("coefficient of the second")];
    let circle = || [Axis::hidden().between(-1.3, 1.3), Axis::hidden().between(-1.3, 1.3)];
    let panels = vec![
        panel(&format!("a) {whose} parameters and their hull"), plane(), hulls),
        panel("b) The policy they make", circle(), optimum),
        panel("c) Estimates and their uncertainty", plane(), ellipses),
        panel("d) The policy in force and what is plausible", circle(), changes),
    ];
    let truth = if state.truth.is_some() { "; hollow points: the truth" } else { "" };
    let update = if state.next.is_some() {
        " Inner ring: policy in force; outer ring: after the update."
    } else {
        " Ring: policy in force."
    };
    let note = format!(
        "a) Arrows: normals of the faces, at which the policy passes from one arm to another. \
         b) The arm played for each direction of the context. c) Ellipses: the confidence set seen by one arm{truth}. d){update}"
    );
    Figure {
        title: "The geometry of a linear policy".into(),
        columns: 2,
        panels,
        legend: Legend::Below,
        note: Some(note),
    }
}

fn corners(parameters: &Parameters) -> Vec<(f64, f64)> {
    parameters.iter().map(|vector| (vector[0], vector[1])).collect()
}

fn ring_line(style: Style, mut corners: Vec<(f64, f64)>) -> Mark {
    corners.extend(corners.first().copied());
    Mark::line("", style, corners)
}

/// Points of arms with their names.
fn dots(state: &ConeState<'_>, parameters: &Parameters) -> Vec<Mark> {
    let dot = |(arm, vector): (usize, &[f64])| Mark::Points {
        name: String::new(),
        style: style_of_arm(arm),
        points: vec![Point::new(vector[0], vector[1]).labelled(name_of(&state.arms, arm))],
    };
    parameters.iter().enumerate().map(dot).collect()
}

/// Panel a.
fn polytope(state: &ConeState<'_>, parameters: &Parameters) -> Vec<Mark> {
    let outline = hull(&corners(parameters));
    let reach = outline
        .iter()
        .fold(0.0_f64, |most, a| outline.iter().fold(most, |most, b| most.max((a.0 - b.0).hypot(a.1 - b.1))));
    let mut marks = vec![
        Mark::Area { name: String::new(), style: HULL.faint(0.14), outline: outline.clone() },
        ring_line(HULL, outline.clone()),
    ];
    if outline.len() > 2 {
        for (at, from) in outline.iter().enumerate() {
            let to = outline[(at + 1) % outline.len()];
            let middle = (0.5 * (from.0 + to.0), 0.5 * (from.1 + to.1));
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            let normal = ((to.1 - from.1) / length, (from.0 - to.0) / length);
            let tip = (middle.0 + 0.16 * reach * normal.0, middle.1 + 0.16 * reach * normal.1);
            marks.push(Mark::Arrow { from: middle, to: tip, style: Style::solid(Colour::BLACK).wide(1.2) });
        }
    }
    marks.extend(dots(state, parameters));
    marks
}

/// Panel b.
fn policy(state: &ConeState<'_>, parameters: &Parameters) -> Vec<Mark> {
    let stretches = whole(around(parameters), parameters);
    let mut marks: Vec<Mark> =
        stretches.iter().map(|stretch| wedge("", style_of_arm(stretch.arm).faint(0.55), stretch, (0.0, 1.0))).collect();
    marks.extend(rays("", IN_FORCE, parameters, (0.0, 1.12)));
    marks.extend(names(state, &stretches, 0.66));
    marks
}

/// Panel c.
fn uncertainty(state: &ConeState<'_>, estimates: &Parameters) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut extreme = hull(&corners(estimates));
    extreme.truncate(estimates.shape().arms());
    for arm in 0..estimates.shape().arms() {
        let outline = ellipse(&state.set, arm);
        let style = style_of_arm(arm);
        marks.push(Mark::Area { name: String::new(), style: style.faint(0.2), outline: outline.clone() });
        marks.push(ring_line(style.wide(1.0).faint(0.8), outline));
    }
    marks.push(ring_line(HULL, extreme));
    marks.extend(dots(state, estimates));
    if let Some(truth) = state.truth {
        for (arm, vector) in truth.iter().enumerate() {
            let points = vec![Point::new(vector[0], vector[1]).outlined()];
            marks.push(Mark::Points { name: String::new(), style: style_of_arm(arm).wide(1.0), points });
        }
    }
    marks
}

/// Panel d.
fn change(state: &ConeState<'_>, estimates: &Parameters) -> Vec<Mark> {
    let mut marks = Vec::new();
    let ranges = boundaries(&around(estimates)).into_iter();
    let ranges = ranges.map(|(pair, boundary)| plausible_range(&state.set, pair, boundary)).collect();
    for (from, to) in union(ranges) {
        let stretch = Stretch { arm: 0, from, to };
        marks.push(wedge("plausible range of a boundary", PLAUSIBLE, &stretch, (0.0, 0.84)));
    }
    let stretches = whole(around(state.deployed), state.deployed);
    let ring = |stretch: &Stretch, radii| wedge("", style_of_arm(stretch.arm).faint(0.75), stretch, radii);
    marks.extend(stretches.iter().map(|stretch| ring(stretch, (0.86, 0.97))));
    if let Some(next) = state.next {
        marks.extend(whole(around(next), next).iter().map(|stretch| ring(stretch, (1.0, 1.11))));
    }
    if let Some(truth) = state.truth {
        marks.extend(rays("true boundary", TRUE, truth, (0.0, 0.84)));
    }
    marks.extend(rays("policy in force", IN_FORCE, state.deployed, (0.0, 0.97)));
    if let Some(next) = state.next {
        marks.extend(rays("after the update", AFTER, next, (0.0, 1.11)));
    }
    let shown = state.next.map_or(stretches, |next| whole(around(next), next));
    marks.extend(names(state, &shown, 1.2));
    marks
}

/// A policy that plays one arm everywhere still fills the circle.
fn whole(stretches: Vec<Stretch>, policy: &Parameters) -> Vec<Stretch> {
    if stretches.is_empty() {
        vec![Stretch { arm: crate::report::planar::best(policy, [1.0, 0.0]), from: 0.0, to: TAU }]
    } else {
        stretches
    }
}

fn on_circle(angle: f64, radius: f64) -> (f64, f64) {
    (radius * angle.cos(), radius * angle.sin())
}

/// The part of a ring over a stretch of directions.
fn wedge(name: &str, style: Style, stretch: &Stretch, (inner, outer): (f64, f64)) -> Mark {
    let steps = 120;
    let angle = |step: u32| stretch.from + (stretch.to - stretch.from) * f64::from(step) / f64::from(steps);
    let mut outline: Vec<(f64, f64)> = (0..=steps).map(|step| on_circle(angle(step), outer)).collect();
    if inner > 0.0 {
        outline.extend((0..=steps).rev().map(|step| on_circle(angle(step), inner)));
    } else {
        outline.push((0.0, 0.0));
    }
    Mark::Area { name: name.into(), style, outline }
}

/// The boundaries of a policy.
fn rays(name: &str, style: Style, policy: &Parameters, (inner, outer): (f64, f64)) -> Vec<Mark> {
    let ray = |stretch: &Stretch| {
        Mark::line(name, style, vec![on_circle(stretch.from, inner), on_circle(stretch.from, outer)])
    };
    around(policy).iter().map(ray).collect()
}

/// The names of the arms in the middle of their stretches.
fn names(state: &ConeState<'_>, stretches: &[Stretch], radius: f64) -> Vec<Mark> {
    let name = |stretch: &Stretch| Mark::Text {
        at: on_circle(0.5 * (stretch.from + stretch.to), radius),
        text: name_of(&state.arms, stretch.arm),
        anchor: Anchor::Middle,
        colour: style_of_arm(stretch.arm).colour,
    };
    stretches.iter().map(name).collect()
}

/// Each boundary of a circle of stretches: the arms before and after it, and its angle.
fn boundaries(stretches: &[Stretch]) -> Vec<((usize, usize), f64)> {
    let before = |at: usize| stretches[(at + stretches.len() - 1) % stretches.len()].arm;
    stretches.iter().enumerate().map(|(at, stretch)| ((before(at), stretch.arm), stretch.from)).collect()
}

/// The directions around an estimated boundary at which the data do not say which of its two arms is better: the
/// pairwise test of Theorem 2, since a boundary at `s` is plausible if the interval of `sᵀ(θ_i−θ_j)` holds 0. At most
/// a half turn either way.
fn plausible_range(set: &ConfidenceSet<'_>, (i, j): (usize, usize), boundary: f64) -> (f64, f64) {
    let undecided = |angle: f64| set.difference_interval(&[angle.cos(), angle.sin()], i, j).contains(0.0);
    let reach = |sign: f64| {
        let step = PI / f64::from(SCAN / 2);
        let outside = (1..=SCAN / 2).map(|at| f64::from(at) * step).find(|&turn| !undecided(boundary + sign * turn));
        let Some(outside) = outside else { return PI };
        let (mut near, mut far) = (outside - step, outside);
        for _ in 0..30 {
            let middle = 0.5 * (near + far);
            if undecided(boundary + sign * middle) { near = middle } else { far = middle }
        }
        near
    };
    (boundary - reach(-1.0), boundary + reach(1.0))
}

/// Ranges of angles that do not overlap and cover the same directions.
fn union(mut ranges: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
            _ => joined.push(range),
        }
    }
    // The last may reach round to the first.
    while joined.len() > 1 && joined[joined.len() - 1].1 >= joined[0].0 + TAU {
        let first = joined.remove(0);
        if let Some(last) = joined.last_mut() {
            last.1 = last.1.max(first.1 + TAU);
        }
    }
    joined.into_iter().map(|(from, to)| (from, to.min(from + TAU))).collect()
}

/// `‖θ_a − θ̂_a‖_{V_a} = r`: the edge of the joint set seen by one arm.
fn ellipse(set: &ConfidenceSet<'_>, arm: usize) -> Vec<(f64, f64)> {
    let ridge = set.statistics().arm(arm);
    let (estimate, inverse, radius) = (ridge.estimate(), ridge.inverse(), set.radius());
    // V⁻¹ = LLᵀ; the edge is θ̂ + r·L·(unit circle).
    let corner = inverse[0].max(0.0).sqrt();
    let side = if corner > 0.0 { inverse[1] / corner } else { 0.0 };
    let last = (inverse[2] - side * side).max(0.0).sqrt();
    let point = |step: u32| {
        let (sine, cosine) = (TAU * f64::from(step) / 120.0).sin_cos();
        (estimate[0] + radius * corner * cosine, estimate[1] + radius * (side * cosine + last * sine))
    };
    (0..120).map(point).collect()
}
