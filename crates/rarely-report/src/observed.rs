//! What was observed: the mean outcome of each option in each band of a feature, with the number of cases.

use rarely_core::Interval;
use rarely_plot::{Axis, Figure, Legend, Mark, Panel, Point, style_of_arm};
use rarely_policy::PolicyDocument;
use rarely_review::findings::numbers::count;
use rarely_review::{Bands, EvidenceBase, Members};

use crate::Picture;
use crate::foot::Foot;
use crate::owner::{axis, of_outcome, outcome, outcome_range, within_range};

/// Beyond this many heights of what is drawn in full, bands and whiskers are off the picture.
const TALLEST: f64 = 1.0;
/// Points of options stand beside each other, this share of a band apart.
const APART: f64 = 0.14;
/// Panels that can be read on one page.
const MOST_FEATURES: usize = 6;
/// Rows of cases that can be told apart.
const MOST_ROWS: usize = 7;
/// How points are explained.
pub(crate) const POINTS: &str = "Points: the mean of the cases that got the option, by band, with its 95 % interval; an outline stands for a single case.";
/// How rows of cases are explained.
pub(crate) const CASES: &str = "Rows below: how many cases got each option; grey where it was never tried, so that the line there is the model's alone.";

/// The bands of a feature, along its axis.
pub(crate) struct FeatureBands {
    /// The number of the first band.
    first: usize,
    /// Where each band starts, and where the last ends.
    pub(crate) edges: Vec<f64>,
    /// The levels, if it has some: one at each whole number.
    levels: Option<Vec<String>>,
}

impl FeatureBands {
    pub(crate) fn of(document: &PolicyDocument, feature: usize) -> Self {
        let bands = Bands::of(document);
        let first = bands.all().iter().position(|band| band.feature == feature).unwrap_or(0);
        let mut edges = Vec::new();
        for band in bands.all().iter().filter(|band| band.feature == feature) {
            match band.members {
                Members::Between { low, high } if edges.is_empty() => edges.extend([low, high]),
                Members::Between { high, .. } => edges.push(high),
                Members::Level(_) if edges.is_empty() => edges.extend([-0.5, 0.5]),
                Members::Level(_) => edges.push(edges.len() as f64 - 0.5),
            }
        }
        Self { first, edges, levels: document.features()[feature].levels().map(<[String]>::to_vec) }
    }

    fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// The cases of an option in each band.
    pub(crate) fn cases(&self, base: &EvidenceBase<'_>, option: usize) -> Vec<u64> {
        (0..self.count()).map(|band| base.observed(option, self.first + band).rows).collect()
    }

    /// The mean outcome of an option in each band, with its interval.
    fn means(&self, base: &EvidenceBase<'_>, option: usize) -> Vec<Option<Interval>> {
        let mean = |band: usize| {
            let found = base.observed(option, self.first + band).mean?;
            Some(within_range(base.document, of_outcome(base.document, found)))
        };
        (0..self.count()).map(mean).collect()
    }

    /// The observed means of an option as points. Those of several options stand beside each other.
    pub(crate) fn points(&self, base: &EvidenceBase<'_>, option: usize) -> Mark {
        let options = base.document.options().len() as f64;
        let apart = APART.min(0.7 / options) * (option as f64 - 0.5 * (options - 1.0));
        let cases = self.cases(base, option);
        let means = self.means(base, option).into_iter().enumerate();
        let points = means.filter_map(|(band, mean)| {
            let (Interval { estimate, lower, upper }, width) = (mean?, self.edges[band + 1] - self.edges[band]);
            let point = Point::new(0.5 * (self.edges[band] + self.edges[band + 1]) + apart * width, estimate);
            Some(if cases[band] > 1 { point.y_between(lower, upper) } else { point.outlined() })
        });
        Mark::Points { name: String::new(), style: style_of_arm(option), points: points.collect() }
    }

    /// All observed means, and the ends of their intervals.
    pub(crate) fn heights(&self, base: &EvidenceBase<'_>) -> (Vec<f64>, Vec<f64>) {
        let options = 0..base.document.options().len();
        let means: Vec<Interval> = options.flat_map(|option| self.means(base, option)).flatten().collect();
        let ends = means.iter().flat_map(|mean| [mean.lower, mean.upper]).collect();
        (means.iter().map(|mean| mean.estimate).collect(), ends)
    }

    /// Adds a row of cases for each option.
    pub(crate) fn rows(&self, base: &EvidenceBase<'_>, foot: &mut Foot) {
        let options = base.document.options();
        let cases: Vec<Vec<u64>> = (0..options.len()).map(|option| self.cases(base, option)).collect();
        let most = cases.iter().flatten().copied().max().unwrap_or(0);
        for (option, (name, cases)) in options.iter().zip(&cases).enumerate().take(MOST_ROWS) {
            let name = format!("{name}: {}", count(cases.iter().sum()));
            foot.cases(name, option, (&self.edges, cases), most);
        }
    }
}

/// The lowest and the highest outcome of a picture: everything of the first numbers, and of the second what is not many times farther away;
/// never beyond the outcome's range.
pub(crate) fn heights(document: &PolicyDocument, whole: &[f64], ends: &[f64]) -> (f64, f64) {
    let around = |numbers: &[f64], start: (f64, f64)| {
        let finite = numbers.iter().filter(|number| number.is_finite());
        finite.fold(start, |(low, high), &number| (low.min(number), high.max(number)))
    };
    let whole = around(whole, (f64::INFINITY, f64::NEG_INFINITY));
    let whole = if whole.0 <= whole.1 { whole } else { outcome_range(document).unwrap_or((0.0, 1.0)) };
    let span = (whole.1 - whole.0).max(1e-9 * whole.1.abs()).max(1e-9);
    let ends = around(ends, whole);
    let room = 0.03 * span;
    let shown = (ends.0.max(whole.0 - TALLEST * span) - room, ends.1.min(whole.1 + TALLEST * span) + room);
    let (low, high) = outcome_range(document).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    // A line may lie beyond the range as a whole; then the range is shown.
    let inside = (shown.0.clamp(low, high), shown.1.clamp(low, high));
    if inside.0 < inside.1 { inside } else { (low.max(shown.0 - 1.0), high.min(shown.1 + 1.0)) }
}

/// The picture by feature; `None` if nothing was kept of the outcomes.
pub(super) fn picture(base: &EvidenceBase<'_>) -> Option<Picture> {
    let document = base.document;
    let features = document.feature_columns();
    let bands: Vec<FeatureBands> =
        (0..features.len().min(MOST_FEATURES)).map(|feature| FeatureBands::of(document, feature)).collect();
    if bands.iter().all(|bands| bands.heights(base).0.is_empty()) {
        return None;
    }
    let predicted: Vec<Predicted> = bands.iter().map(|bands| Predicted::new(base, bands)).collect();
    let (mut whole, mut ends) = (Vec::new(), Vec::new());
    for (bands, predicted) in bands.iter().zip(&predicted) {
        let (means, intervals) = bands.heights(base);
        whole.extend(means);
        whole.extend(predicted.means.iter().flatten().flatten());
        ends.extend(intervals);
    }
    let height = heights(document, &whole, &ends);
    let panels = bands.iter().zip(&predicted).enumerate();
    let panels: Vec<Panel> =
        panels.map(|(feature, (bands, predicted))| panel(base, feature, bands, predicted, height)).collect();
    let left_out = features.len().saturating_sub(MOST_FEATURES);
    let rest = if left_out == 0 { String::new() } else { format!(" The last {left_out} features are left out.") };
    let weights =
        if document.log_columns().weight.is_some() { " Every case counts once, whatever its weight." } else { "" };
    let title = format!("{} as observed, by each feature", document.outcome().column);
    Some(Picture {
        name: "observed-outcomes",
        caption: format!(
            "{POINTS} Lines: what the model says on average for the people of each band. {CASES} Options that were given to different \
             people differ for that reason too.{weights}{rest}"
        ),
        figure: Figure {
            title: title.clone(),
            columns: panels.len().min(2),
            panels,
            legend: Legend::Below,
            note: None,
        },
        title,
    })
}

/// What the model says on average for the people of each band, by option.
struct Predicted {
    means: Vec<Vec<Option<f64>>>,
}

impl Predicted {
    fn new(base: &EvidenceBase<'_>, bands: &FeatureBands) -> Self {
        let (document, all) = (base.document, Bands::of(base.document));
        let options = document.options().len();
        let mut sums = vec![vec![0.0; bands.count()]; options];
        let mut people = vec![0_u64; bands.count()];
        for person in base.contexts().iter() {
            let own = bands.first..bands.first + bands.count();
            let Some(band) = all.of_person(person.values()).find(|band| own.contains(band)) else { continue };
            let band = band - bands.first;
            people[band] += 1;
            for (sums, ridge) in sums.iter_mut().zip(base.statistics.arms()) {
                sums[band] += document.outcome_sign() * ridge.predict(person.values());
            }
        }
        let mean = |(sum, &people): (f64, &u64)| (people > 0).then(|| sum / people as f64);
        Self { means: sums.into_iter().map(|sums| sums.into_iter().zip(&people).map(mean).collect()).collect() }
    }

    /// Those of an option, as lines: through the middles of numeric bands, across each level.
    fn lines(&self, option: usize, name: &str, bands: &FeatureBands, height: (f64, f64)) -> Vec<Mark> {
        let style = style_of_arm(option);
        let inside = |mean: &Option<f64>| mean.filter(|mean| (height.0..=height.1).contains(mean)).unwrap_or(f64::NAN);
        let middle = |band: usize| 0.5 * (bands.edges[band] + bands.edges[band + 1]);
        let means = self.means[option].iter().enumerate();
        if bands.levels.is_none() {
            return vec![Mark::line(name, style, means.map(|(band, mean)| (middle(band), inside(mean))).collect())];
        }
        let across = |(band, mean): (usize, &Option<f64>)| {
            let ends = vec![(middle(band) - 0.38, inside(mean)), (middle(band) + 0.38, inside(mean))];
            Mark::line(if band == 0 { name } else { "" }, style, ends)
        };
        means.map(across).collect()
    }
}

fn panel(
    base: &EvidenceBase<'_>,
    feature: usize,
    bands: &FeatureBands,
    predicted: &Predicted,
    height: (f64, f64),
) -> Panel {
    let document = base.document;
    let mut foot = Foot::below(height);
    bands.rows(base, &mut foot);
    let mut marks = Vec::new();
    for (option, name) in document.options().iter().enumerate() {
        marks.extend(predicted.lines(option, name, bands, height));
        marks.push(bands.points(base, option));
    }
    let described = &document.features()[feature];
    let x = match &bands.levels {
        Some(levels) => Axis::names(axis(described), levels.clone()),
        None => Axis::linear(axis(described)).between(bands.edges[0], bands.edges[bands.count()]),
    };
    let mut y = Axis::linear(outcome(document)).between(foot.floor(), height.1);
    marks.extend(std::mem::take(&mut foot.marks));
    y.ticks = Some(foot.ticks);
    Panel { title: String::new(), x, y, marks, ..Panel::default() }
}
