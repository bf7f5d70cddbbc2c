//! Two arms and one variable: estimated lines with their bands, the cutoff in force, and the cutoffs that the data
//! allow.

use rarely_core::{ConfidenceSet, Parameters};

use crate::report::planar::{Stretch, along, name_of};
use rarely_plot::{Aspect, Axis, Figure, Mark, Panel};
use rarely_plot::{Colour, Style, style_of_arm};

/// What [`threshold_picture`] draws: contexts are `(1, x)`.
#[derive(Debug, Clone)]
pub struct ThresholdState<'a> {
    /// What the data allow.
    pub set: ConfidenceSet<'a>,
    /// The policy in force.
    pub deployed: &'a Parameters,
    /// The policy before the change, if the picture is of one.
    pub before: Option<&'a Parameters>,
    /// The true parameters, where they are known.
    pub truth: Option<&'a Parameters>,
    /// The values of `x` to show.
    pub range: (f64, f64),
    /// What `x` is.
    pub variable: String,
    /// What the reward is.
    pub outcome: String,
    /// The arms' names; "arm 0", "arm 1" where there are none.
    pub arms: Vec<String>,
}

const STEPS: u32 = 80;
/// Beyond this many band heights an interval is off the picture.
const TALLEST: f64 = 3.0;

/// The paper's Figure 1b from real state: each arm's estimated mean with its confidence band, the cutoffs of the
/// policy in force, of the one before and of the truth, and in grey the cutoffs that the data allow.
///
/// Without two context variables, or with an empty range, the figure says "no data".
pub fn threshold_picture(state: &ThresholdState<'_>) -> Figure {
    let (low, high) = state.range;
    let planar = state.set.statistics().shape().dimension() == 2 && state.deployed.shape().dimension() == 2;
    let (x, y) = (Axis::linear(&state.variable), Axis::linear(&state.outcome));
    let mut panel = Panel { x, y, aspect: Aspect::Wide, ..Panel::default() };
    if planar && low < high && (high - low).is_finite() {
        let height = heights(state);
        let room = 0.07 * (height.1 - height.0);
        let floor = height.0 - room;
        panel.x.range = Some(state.range);
        panel.y.range = Some((floor, height.1));
        panel.marks = marks(state, (floor, height.0 - 0.3 * room), height.1);
    }
    let note = "Lines: estimated mean outcome of each arm, with its confidence band. \
                Grey: cutoffs that the data have not ruled out. \
                The strip at the foot shows which arm the policy in force plays.";
    Figure {
        title: "The cutoff in force, and the cutoffs that the data allow".into(),
        panels: vec![panel],
        note: Some(note.into()),
        ..Figure::default()
    }
}

fn marks(state: &ThresholdState<'_>, strip: (f64, f64), top: f64) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (from, to) in plausible(state) {
        let outline = rectangle((from, to), (strip.1, top));
        marks.push(area("plausible cutoffs", Style::solid(Colour::SHADE).faint(0.55), outline));
    }
    for stretch in along(state.deployed, state.range) {
        let outline = rectangle((stretch.from, stretch.to), strip);
        marks.push(area("", style_of_arm(stretch.arm).faint(0.8), outline));
    }
    for arm in 0..state.set.statistics().shape().arms() {
        marks.push(Mark::banded(name_of(&state.arms, arm), style_of_arm(arm), &band(state, arm)));
    }
    let cuts = |policy: &Parameters| -> Vec<f64> { cutoffs(&along(policy, state.range)) };
    let mut rule = |label: &str, style: Style, policy: &Parameters| {
        for (at, cut) in cuts(policy).into_iter().enumerate() {
            marks.push(Mark::vertical(if at == 0 { label } else { "" }, style, cut));
        }
    };
    if let Some(truth) = state.truth {
        rule("true cutoff", Style::solid(Colour::BLACK).wide(1.6), truth);
    }
    if let Some(before) = state.before {
        rule("before", Style::dotted(Colour::INDIGO).wide(2.2), before);
    }
    let label = if state.before.is_some() { "after" } else { "in force" };
    rule(label, Style::dashed(Colour::INDIGO).wide(2.2), state.deployed);
    if let Some(before) = state.before {
        let (old, new) = (cuts(before), cuts(state.deployed));
        if old.len() == new.len() {
            let y = top - 0.07 * (top - strip.0);
            let arrow = |(from, to)| Mark::Arrow { from: (from, y), to: (to, y), style: Style::solid(Colour::INDIGO) };
            marks.extend(old.into_iter().zip(new).map(arrow));
        }
    }
    marks
}

fn area(name: &str, style: Style, outline: Vec<(f64, f64)>) -> Mark {
    Mark::Area { name: name.into(), style, outline }
}

fn rectangle((left, right): (f64, f64), (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    vec![(left, low), (right, low), (right, high), (left, high)]
}

/// Where one arm follows another.
fn cutoffs(stretches: &[Stretch]) -> Vec<f64> {
    stretches.iter().skip(1).map(|stretch| stretch.from).collect()
}

/// x, estimate, low and high of one arm.
fn band(state: &ThresholdState<'_>, arm: usize) -> Vec<(f64, f64, f64, f64)> {
    let (low, high) = state.range;
    let places = (0..=STEPS).map(|step| low + (high - low) * f64::from(step) / f64::from(STEPS));
    let ends = places.map(|x| {
        let interval = state.set.arm_interval(&[1.0, x], arm);
        (x, interval.estimate, interval.lower, interval.upper)
    });
    ends.collect()
}

/// The lowest and highest value to show: the bands, unless they are many times as tall as the lines.
fn heights(state: &ThresholdState<'_>) -> (f64, f64) {
    let bands = (0..state.set.statistics().shape().arms()).flat_map(|arm| band(state, arm));
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (lines, bands) = bands.fold((none, none), |(lines, bands), (_, estimate, lower, upper)| {
        ((lines.0.min(estimate), lines.1.max(estimate)), (bands.0.min(lower), bands.1.max(upper)))
    });
    let span = (lines.1 - lines.0).max(1e-9);
    (bands.0.max(lines.0 - TALLEST * span), bands.1.min(lines.1 + TALLEST * span))
}

/// Plausible cutoffs inside the picture, for every pair of arms whose boundary the estimated policy has; for two arms
/// in any case.
fn plausible(state: &ThresholdState<'_>) -> Vec<(f64, f64)> {
    let estimates = state.set.statistics().estimates();
    let stretches = along(&estimates, state.range);
    let mut pairs: Vec<(usize, usize)> = stretches.windows(2).map(|pair| (pair[0].arm, pair[1].arm)).collect();
    if estimates.shape().arms() == 2 {
        pairs = vec![(0, 1)];
    }
    let thresholds = pairs.into_iter().filter_map(|(i, j)| state.set.thresholds(i, j));
    thresholds.flat_map(|thresholds| thresholds.within(state.range)).collect()
}
