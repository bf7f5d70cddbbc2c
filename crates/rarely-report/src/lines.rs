//! One number, or one number at each level of something else: every option's estimated outcome along it, the cuts in force and
//! proposed, and where the data allow them.

use rarely_core::{Context, Interval, Parameters, Thresholds};
use rarely_policy::{PolicyDocument, WrittenRule};
use rarely_review::{EvidenceBase, PairBoundary, Review};

use crate::foot::{Foot, rectangle, runs};
use crate::observed::{self, CASES, FeatureBands, POINTS};
use crate::owner::{axis, of_outcome, outcome, with_unit, within_range};
use crate::stretch::{Stretch, along, where_holds};
use crate::{IN_FORCE, OPEN, PROPOSED, Picture};
use rarely_plot::{Axis, Dash, Figure, Legend, Mark, Panel, Style, style_of_arm};

const STEPS: u32 = 80;
/// More cuts than this are not labelled one by one.
const MOST_LABELS: usize = 6;
/// Bins of the density of people.
const PEOPLE_BINS: usize = 40;

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
    let bands = FeatureBands::of(document, numeric);
    let height = heights(base, &slices, &bands);
    let panels: Vec<Panel> =
        slices.iter().map(|slice| Scene { base, review, numeric, slice, bands: &bands, height }.panel()).collect();
    let (open, data) = if levels.is_none() {
        ("grey: cuts that the data have not ruled out", format!(" {POINTS} {CASES}"))
    } else {
        (
            "grey: there the data leave more than one option open",
            " Dotted: there the option was never tried. Row below: how many people there are.".to_owned(),
        )
    };
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
            "Lines: the estimated mean {} of each option, with the range that the data allow around it; {open}.{data} {strips}",
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

/// Share, and the outcome of one option there, within the range of outcomes; also at the edges of the bands.
fn band(base: &EvidenceBase<'_>, slice: &Slice, bands: &FeatureBands, option: usize) -> Vec<(f64, Interval)> {
    let (low, high) = (bands.edges[0], bands.edges[bands.edges.len() - 1]);
    let edges = bands.edges.iter().map(|edge| (edge - low) / (high - low));
    let mut shares: Vec<f64> = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS)).chain(edges).collect();
    shares.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let interval = of_outcome(base.document, base.region().arm_interval(&slice.at(share), option));
        (share, within_range(base.document, interval))
    };
    shares.into_iter().map(at).collect()
}

/// The lowest and the highest outcome to show: the lines and what was observed, and as much of the bands around them as there is room for.
fn heights(base: &EvidenceBase<'_>, slices: &[Slice], observed: &FeatureBands) -> (f64, f64) {
    let (mut whole, mut ends) = if slices.len() == 1 { observed.heights(base) } else { (Vec::new(), Vec::new()) };
    for slice in slices {
        for (_, found) in (0..base.document.options().len()).flat_map(|option| band(base, slice, observed, option)) {
            whole.push(found.estimate);
            ends.extend([found.lower, found.upper]);
        }
    }
    observed::heights(base.document, &whole, &ends)
}

/// What one panel is drawn from.
struct Scene<'a> {
    base: &'a EvidenceBase<'a>,
    review: &'a Review,
    numeric: usize,
    slice: &'a Slice,
    bands: &'a FeatureBands,
    height: (f64, f64),
}

impl Scene<'_> {
    fn panel(&self) -> Panel {
        let document = self.base.document;
        let feature = &document.features()[self.numeric];
        let mut marks = Vec::new();
        for (from, to) in self.open() {
            let outline = rectangle((from, to), self.height);
            marks.push(Mark::Area { name: self.open_name().to_owned(), style: OPEN, outline });
        }
        for (option, name) in document.options().iter().enumerate() {
            marks.extend(self.line(option, name));
        }
        if self.is_alone() {
            marks.extend((0..document.options().len()).map(|option| self.bands.points(self.base, option)));
        }
        marks.extend(self.cuts());
        let mut foot = Foot::below(self.height);
        if self.is_alone() {
            self.bands.rows(self.base, &mut foot);
        } else {
            foot.people((self.raw(0.0), self.raw(1.0)), &self.people());
        }
        for (name, rule) in self.rules() {
            let ends = foot.row(name.to_owned());
            marks.extend(self.strip(rule, ends));
        }
        let mut y = Axis::linear(outcome(document)).between(foot.floor(), self.height.1);
        marks.extend(foot.marks);
        y.ticks = Some(foot.ticks);
        Panel {
            title: self.slice.title.clone(),
            x: Axis::linear(axis(feature)).between(self.raw(0.0), self.raw(1.0)),
            y,
            marks,
            ..Panel::default()
        }
    }

    /// The line of an option with its band: dotted where the option was never tried.
    fn line(&self, option: usize, name: &str) -> Vec<Mark> {
        let cases = self.bands.cases(self.base, option);
        let points = band(self.base, self.slice, self.bands, option);
        let tried = runs(&cases, |rows| rows > 0).into_iter().map(|run| (run, Dash::Solid));
        let untried = runs(&cases, |rows| rows == 0).into_iter().map(|run| (run, Dash::Dotted));
        let mut parts: Vec<((usize, usize), Dash)> = untried.chain(tried).collect();
        parts.sort_by_key(|(run, _)| *run);
        let last = parts.len();
        let mark = |(at, (run, dash)): (usize, ((usize, usize), Dash))| {
            let style = Style { dash, ..style_of_arm(option) };
            Mark::banded(if at + 1 == last { name } else { "" }, style, &self.part(&points, run))
        };
        parts.into_iter().enumerate().map(mark).collect()
    }

    /// The part of a line between the edges of two bands, inside the picture.
    fn part(&self, points: &[(f64, Interval)], (from, to): (usize, usize)) -> Vec<(f64, f64, f64, f64)> {
        let (low, high) = (self.bands.edges[from], self.bands.edges[to]);
        let hair = 1e-9 * (self.raw(1.0) - self.raw(0.0));
        let shown = |end: f64| end.clamp(self.height.0, self.height.1);
        let point = |&(share, found): &(f64, Interval)| {
            let x = self.raw(share);
            let estimate =
                if (self.height.0..=self.height.1).contains(&found.estimate) { found.estimate } else { f64::NAN };
            (low - hair <= x && x <= high + hair).then(|| (x, estimate, shown(found.lower), shown(found.upper)))
        };
        points.iter().filter_map(point).collect()
    }

    /// The people of the slice, in bins.
    fn people(&self) -> Vec<f64> {
        let d = self.base.document.shape().dimension();
        let mut counts = vec![0.0; PEOPLE_BINS];
        let others = |person: &[f64]| {
            person.iter().zip(&self.slice.base).enumerate().all(|(at, (a, b))| at == self.slice.coordinate || a == b)
        };
        for person in self.base.people.chunks_exact(d).filter(|person| others(person)) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let bin = (PEOPLE_BINS as f64 * person[self.slice.coordinate]) as usize;
            counts[bin.min(PEOPLE_BINS - 1)] += 1.0;
        }
        counts
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
