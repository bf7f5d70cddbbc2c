//! Many features: the people along the score by which a rule divides them, with its cuts and where the data allow them.

use rarely_core::{Above, Arm, Thresholds};
use rarely_policy::{PolicyDocument, WrittenRule};
use rarely_review::{EvidenceBase, Review, RunningVariable};

use crate::owner::{axis, given, with_unit};
use crate::stacked_bins::StackedBins;
use crate::{IN_FORCE, OPEN, PROPOSED, Picture};
use rarely_plot::{Axis, Figure, Legend, Mark, Panel};
use rarely_plot::{Style, style_of_arm};

const BINS: usize = 48;

/// A score, in the owner's units, with the cuts on it.
struct Track {
    title: String,
    label: String,
    unit: Option<String>,
    running: RunningVariable,
    in_force: Vec<f64>,
    proposed: Vec<f64>,
    allowed: Vec<Thresholds>,
}

/// The people by score, coloured by the option that the rule in force gives; `None` if no rule has a score.
pub(super) fn picture(base: &EvidenceBase<'_>, review: &Review) -> Option<Picture> {
    let document = base.document;
    let tracks = tracks(base, review);
    let given = given(base, document.rule());
    let panels: Vec<Panel> = tracks.iter().map(|track| panel(base, track, &given)).collect();
    let first = tracks.first()?;
    let title =
        if first.in_force.is_empty() { "People by the proposed score" } else { "People by the score that decides" };
    let weighs = if tracks.len() > 1 {
        " The proposed rule weighs the features differently, so it has its own score (below)."
    } else {
        ""
    };
    let nowhere = |track: &Track| {
        !track.allowed.is_empty() && track.allowed.iter().all(|allowed| *allowed == Thresholds::Nothing)
    };
    let grey = match (tracks.iter().all(nowhere), tracks.iter().any(nowhere)) {
        (true, _) => "The data rule out every cut of this score.",
        (false, true) => {
            "Grey: cuts that the data have not ruled out; where there is none, they rule out every cut of that score."
        }
        (false, false) => "Grey: cuts of this score that the data have not ruled out.",
    };
    let solid = if review.judgement.proposal.is_some() { "; solid line: as proposed" } else { "" };
    Some(Picture {
        name: "score-distribution",
        title: title.to_owned(),
        caption: format!(
            "Height: how many people have this score. Colour: the option that the rule in force gives them. Dashed line: its cut{solid}. \
             {grey}{weighs}"
        ),
        figure: Figure { title: title.to_owned(), columns: 1, panels, legend: Legend::LineEnds, note: None },
    })
}

/// The score of the rule in force; and that of the proposal, if it is another.
fn tracks(base: &EvidenceBase<'_>, review: &Review) -> Vec<Track> {
    let document = base.document;
    let now = RunningVariable::of(document, document.rule());
    let then =
        review.judgement.proposal.as_ref().and_then(|proposal| {
            RunningVariable::of(document, &proposal.rule).map(|running| (&proposal.rule, running))
        });
    let mut tracks = Vec::new();
    let mut shared = None;
    if let Some(running) = now {
        shared = then.as_ref().and_then(|(_, other)| same_direction(&running, other).map(|factor| (factor, other)));
        let proposed = shared.map_or_else(Vec::new, |(factor, other)| {
            other.ladder.cuts.iter().map(|cut| cut / factor + running.offset).collect()
        });
        let title = if then.is_some() && shared.is_none() { "The score in force" } else { "" };
        let places = |running: &RunningVariable| running.ladder.cuts.iter().map(|cut| cut + running.offset).collect();
        tracks.push(Track {
            title: title.to_owned(),
            in_force: places(&running),
            proposed,
            allowed: allowed(base, &running),
            ..Track::of(document, document.rule(), running)
        });
    }
    if let Some((rule, running)) = then.as_ref().filter(|_| shared.is_none()) {
        tracks.push(Track {
            title: if tracks.is_empty() { String::new() } else { "The proposed score".to_owned() },
            proposed: running.ladder.cuts.iter().map(|cut| cut + running.offset).collect(),
            allowed: allowed(base, running),
            ..Track::of(document, rule, running.clone())
        });
    }
    tracks
}

impl Track {
    fn of(document: &PolicyDocument, rule: &WrittenRule, running: RunningVariable) -> Self {
        let (label, unit) = match rule {
            WrittenRule::Threshold(threshold) => {
                let feature = document.feature(&threshold.feature).map(|(_, feature)| feature);
                (feature.map_or_else(|| threshold.feature.clone(), axis), feature.and_then(|feature| feature.unit()))
            }
            WrittenRule::Score(_) => (rule.words(document).swap_remove(0), None),
            WrittenRule::Linear(_) => {
                let options = document.options();
                (format!("score of {} minus score of {}", options[1], options[0]), None)
            }
        };
        Self {
            title: String::new(),
            label,
            unit: unit.map(str::to_owned),
            running,
            in_force: Vec::new(),
            proposed: Vec::new(),
            allowed: Vec::new(),
        }
    }
}

/// By what a direction must be multiplied to give another; `None` if they differ in more than length.
fn same_direction(one: &RunningVariable, other: &RunningVariable) -> Option<f64> {
    let (one, other) = (&one.ladder.direction, &other.ladder.direction);
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let factor = dot(one, other) / dot(one, one);
    let largest = other.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let alike = one.iter().zip(other).all(|(one, other)| (factor * one - other).abs() <= 1e-9 * largest);
    (alike && factor != 0.0).then_some(factor)
}

/// Where the data allow each cut of a score, in the owner's units.
fn allowed(base: &EvidenceBase<'_>, running: &RunningVariable) -> Vec<Thresholds> {
    if !base.document.has_intercept() {
        return Vec::new();
    }
    let region = base.region();
    let offset = running.offset;
    let allowed = running.steps().map(|(lower, upper, _)| {
        match region.oriented_cuts(lower, upper, &running.ladder.direction, Above::Second) {
            Thresholds::Between { low, high } => Thresholds::Between { low: low + offset, high: high + offset },
            Thresholds::AtMost { high } => Thresholds::AtMost { high: high + offset },
            Thresholds::AtLeast { low } => Thresholds::AtLeast { low: low + offset },
            Thresholds::Outside { low, high } => Thresholds::Outside { low: low + offset, high: high + offset },
            same @ (Thresholds::Everything | Thresholds::Nothing) => same,
        }
    });
    allowed.collect()
}

fn panel(base: &EvidenceBase<'_>, track: &Track, given: &[Arm]) -> Panel {
    let d = base.document.shape().dimension();
    let scores: Vec<f64> =
        base.people.chunks_exact(d).map(|person| track.running.at(person) + track.running.offset).collect();
    let range = range(track, &scores);
    let bins = stacked(&scores, given, range, base.document.options().len());
    let top = 1.08 * bins.highest();
    let mut marks = Vec::new();
    for (from, to) in track.allowed.iter().flat_map(|allowed| allowed.within(range)) {
        let outline = vec![(from, 0.0), (to, 0.0), (to, top), (from, top)];
        marks.push(Mark::Area { name: "cuts that the data allow".to_owned(), style: OPEN, outline });
    }
    for (option, name) in base.document.options().iter().enumerate() {
        for outline in bins.outlines(option) {
            marks.push(Mark::Area { name: format!("{name} now"), style: style_of_arm(option).faint(0.65), outline });
        }
    }
    let unit = track.unit.as_deref();
    let mut rules = |name: &str, style: Style, cuts: &[f64]| {
        marks.extend(cuts.iter().map(|&cut| Mark::vertical(format!("{name} {}", with_unit(cut, unit)), style, cut)));
    };
    rules("in force", IN_FORCE, &track.in_force);
    rules("proposed", PROPOSED, &track.proposed);
    Panel {
        title: track.title.clone(),
        x: Axis::linear(&track.label).between(range.0, range.1),
        y: Axis::linear("% of people").between(0.0, top),
        marks,
        ..Panel::default()
    }
}

/// From the lowest to the highest score or cut, with some room.
fn range(track: &Track, scores: &[f64]) -> (f64, f64) {
    let shown = scores.iter().chain(&track.in_force).chain(&track.proposed);
    let (low, high) =
        shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &score| (low.min(score), high.max(score)));
    let room = if high > low { 0.02 * (high - low) } else { 0.5 * low.abs().max(1.0) };
    (low - room, high + room)
}

/// The people by score, for each option apart, in per cent.
fn stacked(scores: &[f64], given: &[Arm], range: (f64, f64), options: usize) -> StackedBins {
    let mut heights = vec![vec![0.0; options]; BINS];
    let each = 100.0 / scores.len() as f64;
    for (score, option) in scores.iter().zip(given) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bin = (BINS as f64 * (score - range.0) / (range.1 - range.0)) as usize;
        heights[bin.min(BINS - 1)][option.index()] += each;
    }
    StackedBins::within(range, heights)
}
