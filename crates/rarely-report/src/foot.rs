//! Rows below the lines of a panel: how many cases each option had, and who gets which option.

use rarely_plot::{Colour, Mark, Style, style_of_arm, vertical_ticks};

use crate::stacked_bins::StackedBins;

/// Height of a row and of the gap above it, as shares of the height of the lines.
const ROW: f64 = 0.085;
const GAP: f64 = 0.022;
/// About how many pixels the lines have.
const LINES_HEIGHT: f64 = 200.0;
/// Where an option was never tried.
const UNTRIED: Style = Style::solid(Colour::SHADE).faint(0.75);
/// What that is called.
pub(crate) const UNTRIED_NAME: &str = "grey in a row: never tried there";

/// The rows below the lines.
pub(crate) struct Foot {
    /// The lowest and the highest outcome of the lines.
    height: (f64, f64),
    /// The lower end of the last row.
    low: f64,
    pub(crate) marks: Vec<Mark>,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Foot {
    /// No rows yet, below lines of this height.
    pub(crate) fn below(height: (f64, f64)) -> Self {
        Self { height, low: height.0, marks: Vec::new(), ticks: vertical_ticks(height, LINES_HEIGHT) }
    }

    /// Where the axis ends.
    pub(crate) fn floor(&self) -> f64 {
        self.low - GAP * self.span()
    }

    fn span(&self) -> f64 {
        self.height.1 - self.height.0
    }

    /// The lower and the upper end of a new row.
    pub(crate) fn row(&mut self, name: String) -> (f64, f64) {
        let high = self.low - GAP * self.span();
        self.low = high - ROW * self.span();
        self.ticks.push((0.5 * (self.low + high), name));
        (self.low, high)
    }

    /// A row with the cases of an option, bin by bin between the edges; grey where there are none. A full row has `most` cases.
    pub(crate) fn cases(&mut self, name: String, option: usize, (edges, cases): (&[f64], &[u64]), most: u64) {
        let (low, high) = self.row(name);
        let never = runs(cases, |rows| rows == 0);
        self.marks.extend(never.into_iter().map(|(from, to)| Mark::Area {
            name: UNTRIED_NAME.to_owned(),
            style: UNTRIED,
            outline: rectangle((edges[from], edges[to]), (low, high)),
        }));
        let heights = cases.iter().map(|&rows| vec![(high - low) * rows as f64 / most.max(1) as f64]);
        self.bars(
            &StackedBins { edges: edges.to_vec(), heights: heights.collect() },
            low,
            style_of_arm(option).faint(0.7),
        );
    }

    /// A row with the density of people, as shares of the highest.
    pub(crate) fn people(&mut self, range: (f64, f64), counts: &[f64]) {
        let (low, high) = self.row("people".to_owned());
        let most = counts.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let heights = counts.iter().map(|count| vec![(high - low) * count / most]);
        self.bars(&StackedBins::within(range, heights.collect()), low, Style::solid(Colour::GREY).faint(0.8));
    }

    fn bars(&mut self, bins: &StackedBins, foot: f64, style: Style) {
        let lifted = |outline: Vec<(f64, f64)>| outline.into_iter().map(|(x, y)| (x, foot + y)).collect();
        let area = |outline| Mark::Area { name: String::new(), style, outline: lifted(outline) };
        self.marks.extend(bins.outlines(0).into_iter().map(area));
    }
}

/// The stretches of bins for which something holds: the first, and the one after the last.
pub(crate) fn runs(cases: &[u64], holds: impl Fn(u64) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in (0..cases.len()).filter(|&at| holds(cases[at])) {
        match found.last_mut() {
            Some(last) if last.1 == at => last.1 = at + 1,
            _ => found.push((at, at + 1)),
        }
    }
    found
}

pub(crate) fn rectangle((left, right): (f64, f64), (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    vec![(left, low), (right, low), (right, high), (left, high)]
}
