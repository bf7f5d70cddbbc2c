//! One number, or one number at each level of something else: every option's estimated outcome along it, the cuts in force and
//! proposed, and where the data allow them.

use rarely_core::{Context, Parameters, Thresholds};
use rarely_policy::{PolicyDocument, WrittenRule};
use rarely_review::{EvidenceBase, PairBoundary, Review};

use crate::owner::{axis, of_outcome, outcome, with_unit};
use crate::stretch::{Stretch, along, where_holds};
use crate::{IN_FORCE, OPEN, PROPOSED, Picture};
use rarely_plot::style_of_arm;
use rarely_plot::vertical_ticks;
use rarely_plot::{Axis, Figure, Legend, Mark, Panel};

const STEPS: u32 = 80;
/// Beyond this many heights of the lines a band is off the picture.
const TALLEST: f64 = 2.0;
/// Height of a strip and of the gap above it, as shares of the height of the lines.
const STRIP: (f64, f64) = (0.075, 0.025);
/// More cuts than this are not labelled one by one.
const MOST_LABELS: usize = 6;
/// About how many pixels the lines have.
const LINES_HEIGHT: f64 = 230.0;

/// Contexts along one coordinate.
struct Slice {
    title: String,
    base: Vec<f64>,
    coordinate: usize,
}

/// The picture along a numeric feature, for each level of another one if it is given.
pub(super) fn picture(base: &EvidenceBase<'_>, review: &Review, numeric: usize, levels: Option<usize>) -> Picture {
    let document = base.document;
    let feature = &document.features()[numeric];
    let slices = slices(document, numeric, levels);
    let height = heights(base, &slices);
    let panels: Vec<Panel> =
        slices.iter().map(|slice| Scene { base, review, numeric, slice, height }.panel()).collect();
    let open = "grey: cuts that the data have not ruled out";
    let open = if levels.is_none() { open } else { "grey: there the data leave more than one option open" };
    let strips = if review.judgement.proposal.is_some() {
        "Strips at the foot: who gets which option, now and as proposed."
    } else {
        "The strip at the foot: who gets which option."
    };
    let title = format!("{} by {}", document.outcome().column, feature.column);
    Picture {
        name: "decision-boundary",
        title: title.clone(),
        caption: format!(
            "Lines: the estimated mean {} of each option, with the range that the data allow around it; {open}. {strips}",
            document.outcome().column
        ),
        figure: Figure { title, columns: panels.len().min(2), panels, legend: Legend::LineEnds, note: None },
    }
}

fn slices(document: &PolicyDocument, numeric: usize, levels: Option<usize>) -> Vec<Slice> {
    let mut base = vec![0.0; document.shape().dimension()];
    base[0] = 1.0;
    let coordinate = document.offset(numeric);
    let Some(other) = levels else { return vec![Slice { title: String::new(), base, coordinate }] };
    let feature = &document.features()[other];
    let names = feature.levels().unwrap_or_default().iter().enumerate();
    let slice = |(at, level): (usize, &String)| {
        let mut base = base.clone();
        if at > 0 {
            base[document.offset(other) + at - 1] = 1.0;
        }
        Slice { title: format!("{} = {level}", feature.column), base, coordinate }
    };
    names.map(slice).collect()
}

impl Slice {
    /// The context at a share of the feature's range.
    fn at(&self, share: f64) -> Vec<f64> {
        let mut context = self.base.clone();
        context[self.coordinate] = share;
        context
    }

    fn along(&self, policy: &Parameters) -> Vec<Stretch> {
        along(policy, &self.base, self.coordinate)
    }
}

/// Share, estimate, low and high of one option's outcome.
fn band(base: &EvidenceBase<'_>, slice: &Slice, option: usize) -> Vec<(f64, f64, f64, f64)> {
    let shares = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let ends = shares.map(|share| {
        let interval = of_outcome(base.document, base.region().arm_interval(&slice.at(share), option));
        (share, interval.estimate, interval.lower, interval.upper)
    });
    ends.collect()
}

/// The lowest and the highest outcome to show: the bands, unless they are many times as tall as the lines.
fn heights(base: &EvidenceBase<'_>, slices: &[Slice]) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut lines, mut bands) = (none, none);
    for slice in slices {
        for (_, estimate, lower, upper) in
            (0..base.document.options().len()).flat_map(|option| band(base, slice, option))
        {
            lines = (lines.0.min(estimate), lines.1.max(estimate));
            bands = (bands.0.min(lower), bands.1.max(upper));
        }
    }
    let span = (lines.1 - lines.0).max(1e-9 * lines.1.abs()).max(1e-9);
    (bands.0.max(lines.0 - TALLEST * span), bands.1.min(lines.1 + TALLEST * span))
}

/// What one panel is drawn from.
struct Scene<'a> {
    base: &'a EvidenceBase<'a>,
    review: &'a Review,
    numeric: usize,
    slice: &'a Slice,
    height: (f64, f64),
}

impl Scene<'_> {
    fn panel(&self) -> Panel {
        let document = self.base.document;
        let feature = &document.features()[self.numeric];
        let (low, high) = feature.range().unwrap_or((0.0, 1.0));
        let span = self.height.1 - self.height.0;
        let rules = self.rules();
        let floor = self.height.0 - (STRIP.0 + STRIP.1) * span * rules.len() as f64 - STRIP.1 * span;
        let mut marks = Vec::new();
        let mut y = Axis::linear(outcome(document)).between(floor, self.height.1);
        let mut ticks = vertical_ticks(self.height, LINES_HEIGHT);
        for (from, to) in self.open() {
            let outline = rectangle((from, to), (self.height.0, self.height.1));
            marks.push(Mark::Area { name: self.open_name().to_owned(), style: OPEN, outline });
        }
        for (option, name) in document.options().iter().enumerate() {
            // Ends beyond the picture, or none, are cut off there.
            let shown = |end: f64| end.clamp(floor - span, self.height.1 + span);
            let points: Vec<(f64, f64, f64, f64)> = band(self.base, self.slice, option)
                .into_iter()
                .map(|(share, estimate, lower, upper)| {
                    (low + share * (high - low), estimate, shown(lower), shown(upper))
                })
                .collect();
            marks.push(Mark::banded(name, style_of_arm(option), &points));
        }
        marks.extend(self.cuts());
        for (at, (name, rule)) in rules.into_iter().enumerate() {
            let top = self.height.0 - span * (STRIP.1 + at as f64 * (STRIP.0 + STRIP.1));
            marks.extend(self.strip(rule, (top - STRIP.0 * span, top)));
            ticks.push((top - 0.5 * STRIP.0 * span, name.to_owned()));
        }
        y.ticks = Some(ticks);
        Panel {
            title: self.slice.title.clone(),
            x: Axis::linear(axis(feature)).between(low, high),
            y,
            marks,
            ..Panel::default()
        }
    }

    /// The rules to show, by name.
    fn rules(&self) -> Vec<(&'static str, &WrittenRule)> {
        let proposed = self.review.judgement.proposal.as_ref().map(|proposal| ("proposed", &proposal.rule));
        [("in force", self.base.document.rule())].into_iter().chain(proposed).collect()
    }

    fn raw(&self, share: f64) -> f64 {
        let (low, high) = self.base.document.features()[self.numeric].range().unwrap_or((0.0, 1.0));
        low + share * (high - low)
    }

    fn is_alone(&self) -> bool {
        self.base.document.shape().dimension() == 2
    }

    fn open_name(&self) -> &'static str {
        if self.is_alone() { "cuts that the data allow" } else { "more than one option is plausible" }
    }

    /// Where the data allow a cut that matters; beside another feature, where they leave more than one option open.
    fn open(&self) -> Vec<(f64, f64)> {
        if self.is_alone() {
            let range = (self.raw(0.0), self.raw(1.0));
            let pairs = self.pairs();
            let matters = |pair: &&PairBoundary| {
                pairs.contains(&pair.options) || self.review.judgement.standing.boundaries.len() == 1
            };
            let allowed = self
                .review
                .judgement
                .standing
                .boundaries
                .iter()
                .filter(matters)
                .filter_map(|pair| pair.interval.as_ref());
            return joined(allowed.flat_map(|allowed: &Thresholds| allowed.within(range)).collect());
        }
        let region = self.base.region();
        let open = where_holds(STEPS, |share| {
            let context = self.slice.at(share);
            let plausible = Context::new(&context).and_then(|context| region.plausible_arms(context));
            plausible.is_ok_and(|options| options.len() > 1)
        });
        open.into_iter().map(|(from, to)| (self.raw(from), self.raw(to))).collect()
    }

    /// The pairs of options between which the rule in force, the proposal or the estimate passes.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let document = self.base.document;
        let rules = self.rules().into_iter().map(|(_, rule)| rule.parameters(document));
        let policies: Vec<Parameters> = rules.chain([self.review.judgement.standing.estimates.clone()]).collect();
        let stretches = policies.iter().map(|policy| self.slice.along(policy));
        let pairs = stretches.flat_map(|stretches| {
            let pairs = stretches
                .windows(2)
                .map(|pair| (pair[0].option.min(pair[1].option), pair[0].option.max(pair[1].option)));
            pairs.collect::<Vec<_>>()
        });
        pairs.collect()
    }

    fn places(&self, rule: &WrittenRule) -> Vec<f64> {
        let stretches = self.slice.along(&rule.parameters(self.base.document));
        stretches.iter().skip(1).map(|stretch| self.raw(stretch.from)).collect()
    }

    fn cuts(&self) -> Vec<Mark> {
        let unit = self.base.document.features()[self.numeric].unit();
        let hair = 1e-9 * (self.raw(1.0) - self.raw(0.0));
        let cuts: Vec<(&str, Vec<f64>)> =
            self.rules().into_iter().map(|(name, rule)| (name, self.places(rule))).collect();
        let many = cuts.iter().map(|(_, places)| places.len()).sum::<usize>() > MOST_LABELS;
        let mut marks = Vec::new();
        for (name, places) in &cuts {
            for (at, &place) in places.iter().enumerate() {
                let stays = cuts.len() > 1
                    && cuts.iter().all(|(_, others)| others.iter().any(|other| (other - place).abs() <= hair));
                let label = match (stays, many) {
                    // One label, and the old look, for a cut that does not move.
                    (true, _) if *name == "proposed" => continue,
                    (true, _) => format!("stays {}", with_unit(place, unit)),
                    (false, true) if at > 0 => String::new(),
                    (false, true) => (*name).to_owned(),
                    (false, false) => format!("{name} {}", with_unit(place, unit)),
                };
                marks.push(Mark::vertical(label, if *name == "proposed" { PROPOSED } else { IN_FORCE }, place));
            }
        }
        marks
    }

    fn strip(&self, rule: &WrittenRule, ends: (f64, f64)) -> Vec<Mark> {
        let stretches = self.slice.along(&rule.parameters(self.base.document));
        let area = |stretch: &Stretch| Mark::Area {
            name: String::new(),
            style: style_of_arm(stretch.option).faint(0.75),
            outline: rectangle((self.raw(stretch.from), self.raw(stretch.to)), ends),
        };
        stretches.iter().map(area).collect()
    }
}

fn rectangle((left, right): (f64, f64), (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    vec![(left, low), (right, low), (right, high), (left, high)]
}

/// Stretches that overlap as one, so that none is shaded twice.
fn joined(mut stretches: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (from, to) in stretches {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}
