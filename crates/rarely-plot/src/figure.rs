//! The grammar: a figure is panels, a panel is two axes and marks.

use crate::style::{Colour, Style};

/// A picture of one or more panels, in rows of `columns`.
///
/// ```
/// use rarely_plot::{Axis, Figure, Mark, Panel, style_of_arm};
/// let marks = vec![Mark::line("rarely", style_of_arm(0), vec![(0.0, 0.0), (100.0, 2.0)])];
/// let (x, y) = (Axis::linear("round"), Axis::linear("changes"));
/// let panel = Panel { title: "a) Changes".into(), x, y, marks, ..Panel::default() };
/// let figure = Figure { title: "A run".into(), panels: vec![panel], ..Figure::default() };
/// assert!(figure.svg().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Above the panels; also what a screen reader says.
    pub title: String,
    /// Panels in a row: 1 to 4 stay readable.
    pub columns: usize,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Where series are named.
    pub legend: Legend,
    /// Small text under the figure; wraps.
    pub note: Option<String>,
}

impl Default for Figure {
    fn default() -> Self {
        Self { title: String::new(), columns: 1, panels: Vec::new(), legend: Legend::LineEnds, note: None }
    }
}

/// Where series are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Legend {
    /// Lines at their ends, in a margin as wide as the names; rules above or beside the panel; areas and points below.
    #[default]
    LineEnds,
    /// Everything once, below all panels.
    Below,
    /// Nowhere, except rules above or beside the panel.
    None,
}

/// Two axes and what is drawn between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// Above the panel, such as "a) Regret".
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first lowest; areas and bands lie under all else.
    pub marks: Vec<Mark>,
    /// Whether a unit of x is as long as a unit of y.
    pub aspect: Aspect,
}

/// Whether a unit of x is as long as a unit of y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Aspect {
    /// Axes are scaled apart, to fill the panel.
    #[default]
    Free,
    /// A circle is a circle; the panel is square.
    Equal,
    /// Axes are scaled apart; a panel alone in its row is as wide as two.
    Wide,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Its ends; chosen from the data if absent.
    pub range: Option<(f64, f64)>,
    /// Names instead of numbers: category `i` is at `i`. On the y axis the first is at the top, and bars lie.
    pub categories: Option<Vec<String>>,
    /// Ticks with their labels; chosen if absent.
    pub ticks: Option<Vec<(f64, String)>>,
    /// Whether to leave out the line, ticks, grid and label.
    pub hidden: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ..Self::default() }
    }

    /// An axis of names.
    pub fn names(label: impl Into<String>, categories: Vec<String>) -> Self {
        Self { label: label.into(), categories: Some(categories), ..Self::default() }
    }

    /// An axis that is not drawn.
    pub fn hidden() -> Self {
        Self { hidden: true, ..Self::default() }
    }

    /// The same with fixed ends.
    #[must_use]
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }
}

/// How numbers are laid out along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scale {
    /// Equal differences are equal lengths. Starts at 0 if no number is below.
    #[default]
    Linear,
    /// Equal ratios are equal lengths. Numbers of 0 or less are drawn at the low end.
    Log,
}

/// Something drawn. Names that are empty are not listed in a legend. Numbers that are not finite are left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points, with a band around it.
    Line {
        /// Of the series.
        name: String,
        /// Its look; the band is paler.
        style: Style,
        /// In the order they are joined.
        points: Vec<(f64, f64)>,
        /// Low and high end at each point.
        band: Option<Vec<(f64, f64)>>,
    },
    /// One bar for each category, in the order of the axis's names. Several of these in a panel stand side by side.
    Bars {
        /// The bars.
        bars: Vec<Bar>,
    },
    /// Single points.
    Points {
        /// Of the series.
        name: String,
        /// Its look.
        style: Style,
        /// The points.
        points: Vec<Point>,
    },
    /// A staircase: each value holds until the next point.
    Step {
        /// Of the series.
        name: String,
        /// Its look.
        style: Style,
        /// In order of x.
        points: Vec<(f64, f64)>,
    },
    /// A polygon, filled without an edge.
    Area {
        /// Of the series.
        name: String,
        /// Its look: colour and opacity.
        style: Style,
        /// Its corners.
        outline: Vec<(f64, f64)>,
    },
    /// A line right across the panel.
    Rule {
        /// Which way it runs.
        direction: Direction,
        /// Where it crosses the other axis.
        at: f64,
        /// Its look.
        style: Style,
        /// Its name; above the panel if vertical, beside it if horizontal, or in the legend below.
        label: String,
    },
    /// An arrow.
    Arrow {
        /// Its tail.
        from: (f64, f64),
        /// Its head.
        to: (f64, f64),
        /// Its look.
        style: Style,
    },
    /// Words at a place.
    Text {
        /// The place, in data.
        at: (f64, f64),
        /// The words.
        text: String,
        /// Which part of them is at the place.
        anchor: Anchor,
        /// Their colour; darkened if it cannot be read.
        colour: Colour,
    },
}

impl Mark {
    /// A line without a band.
    pub fn line(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        Self::Line { name: name.into(), style, points, band: None }
    }

    /// A line with a band; `points` are x, y, low, high.
    pub fn banded(name: impl Into<String>, style: Style, points: &[(f64, f64, f64, f64)]) -> Self {
        let band = points.iter().map(|&(_, _, low, high)| (low, high)).collect();
        let points = points.iter().map(|&(x, y, _, _)| (x, y)).collect();
        Self::Line { name: name.into(), style, points, band: Some(band) }
    }

    /// A vertical rule.
    pub fn vertical(label: impl Into<String>, style: Style, at: f64) -> Self {
        Self::Rule { direction: Direction::Vertical, at, style, label: label.into() }
    }

    /// A horizontal rule.
    pub fn horizontal(label: impl Into<String>, style: Style, at: f64) -> Self {
        Self::Rule { direction: Direction::Horizontal, at, style, label: label.into() }
    }
}

/// Which way a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Up and down, at an x.
    Vertical,
    /// From side to side, at a y.
    Horizontal,
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    #[default]
    Middle,
    /// Its end.
    End,
}

/// One bar, with its value printed at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Of its category, if the axis gives no names; listed in the legend if it differs from the axis's name.
    pub name: String,
    /// Its look.
    pub style: Style,
    /// Its length. Not finite: no bar.
    pub value: f64,
    /// The ends of its whisker.
    pub interval: Option<(f64, f64)>,
    /// What is printed at its end, instead of the value.
    pub label: Option<String>,
}

impl Bar {
    /// A bar without a whisker.
    pub fn new(name: impl Into<String>, style: Style, value: f64) -> Self {
        Self { name: name.into(), style, value, interval: None, label: None }
    }

    /// The same with a whisker.
    #[must_use]
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { interval: Some((low, high)), ..self }
    }

    /// The same with words at its end instead of the value.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }
}

/// One point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// Low and high end of its horizontal whisker.
    pub x_interval: Option<(f64, f64)>,
    /// Low and high end of its vertical whisker.
    pub y_interval: Option<(f64, f64)>,
    /// Beside it.
    pub label: Option<String>,
    /// Only an outline.
    pub hollow: bool,
}

impl Point {
    /// A filled point.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }

    /// The same with a label beside it.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }

    /// The same with a horizontal whisker.
    #[must_use]
    pub fn x_between(self, low: f64, high: f64) -> Self {
        Self { x_interval: Some((low, high)), ..self }
    }

    /// The same with a vertical whisker.
    #[must_use]
    pub fn y_between(self, low: f64, high: f64) -> Self {
        Self { y_interval: Some((low, high)), ..self }
    }

    /// The same as an outline.
    #[must_use]
    pub fn outlined(self) -> Self {
        Self { hollow: true, ..self }
    }
}
