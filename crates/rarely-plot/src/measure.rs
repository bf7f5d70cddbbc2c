//! What a panel needs before it has a place: its axes, its labels, and the margins they take.

use crate::figure::{Aspect, Bar, Direction, Legend, Mark, Panel};
use crate::number::value_text;
use crate::scale::{Extent, Scaled, Way};
use crate::style::Style;
use crate::text;

pub(crate) const TITLE_SIZE: f64 = 15.0;
pub(crate) const PANEL_TITLE_SIZE: f64 = 13.0;
pub(crate) const LABEL_SIZE: f64 = 12.0;
pub(crate) const TICK_SIZE: f64 = 11.0;
pub(crate) const NOTE_SIZE: f64 = 11.5;
/// From one line of words to the next.
pub(crate) const LINE_HEIGHT: f64 = 15.0;
/// From one tick to the next where the figure chooses them.
const TICK_ROW: f64 = 27.0;
/// From one line of a tick's label to the next.
pub(crate) const TICK_LINE: f64 = 12.0;
/// Between the labels of line ends.
pub(crate) const END_GAP: f64 = 14.0;
/// From the end of a line to its label.
pub(crate) const END_LEAD: f64 = 20.0;
/// The angle of slanted names under a panel, in degrees.
pub(crate) const SLANT: f64 = 40.0;

/// The label of a line, or of a horizontal rule, in the right margin.
pub(crate) struct End<'a> {
    pub(crate) name: &'a str,
    pub(crate) style: Style,
    /// Where the line ends, as shares of the axes.
    pub(crate) at: (f64, f64),
}

/// The label of a vertical rule, above the panel.
pub(crate) struct RuleLabel<'a> {
    pub(crate) label: &'a str,
    pub(crate) style: Style,
    /// Share of the x axis.
    pub(crate) at: f64,
    /// The left end of the label, in pixels from the left of the panel.
    pub(crate) left: f64,
    /// Counted upwards from the panel.
    pub(crate) row: usize,
}

/// Room around a panel, in pixels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Margins {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// A panel with its axes and labels, not yet placed.
pub(crate) struct Measured<'a> {
    pub(crate) panel: &'a Panel,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Scaled,
    pub(crate) y: Scaled,
    pub(crate) title: Vec<String>,
    /// Lines of the labels of the axes; none where a neighbour says the same.
    pub(crate) x_label: Vec<String>,
    pub(crate) y_label: Vec<String>,
    pub(crate) ends: Vec<End<'a>>,
    pub(crate) above: Vec<RuleLabel<'a>>,
    /// Lines of the labels at the ticks of the y axis.
    pub(crate) y_ticks: Vec<Vec<String>>,
    /// Whether the names under the panel slant.
    pub(crate) slanting: bool,
    /// Whether there is nothing to draw.
    pub(crate) empty: bool,
}

/// How large panels are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PanelSize {
    /// Panels in a row.
    pub(crate) columns: usize,
    /// The width of the inside of a panel, where the figure must have a certain width.
    pub(crate) width: Option<f64>,
}

impl PanelSize {
    /// Width and height of the inside of a panel.
    fn of(self, panel: &Panel) -> (f64, f64) {
        if let Some(width) = self.width {
            let square = width.min(420.0);
            return match (panel.aspect, &panel.y.categories) {
                (Aspect::Equal, _) => (square, square),
                (_, Some(names)) => (width, (44.0 * names.len() as f64).clamp(90.0, 300.0)),
                (_, None) => (width, (0.52 * width).clamp(200.0, 300.0)),
            };
        }
        let (width, height) = match self.columns {
            0 | 1 => (470.0, 290.0),
            2 => (310.0, 215.0),
            3 => (265.0, 190.0),
            _ => (225.0, 165.0),
        };
        match panel.aspect {
            Aspect::Equal if self.columns <= 1 => (360.0, 360.0),
            Aspect::Equal => (width, width),
            Aspect::Wide if self.columns <= 1 => (780.0, 340.0),
            Aspect::Wide | Aspect::Free => (width, height),
        }
    }

    /// How wide a label at a tick of the y axis may be.
    fn tick_limit(self) -> f64 {
        self.width.map_or(f64::INFINITY, |width| (0.6 * width).clamp(90.0, 190.0))
    }

    /// The lines of a label at a tick of the y axis.
    fn tick_lines(self, label: &str) -> Vec<String> {
        text::wrap(label, self.tick_limit(), |line| text::width(line, TICK_SIZE))
    }
}

impl<'a> Measured<'a> {
    pub(crate) fn new(
        legend: Legend,
        panel: &'a Panel,
        size: PanelSize,
        height: f64,
        (show_x, show_y): (bool, bool),
    ) -> Self {
        let (width, _) = size.of(panel);
        let (x, y, empty) = axes(panel, width, height);
        let title_limit = width + 24.0;
        let title = text::wrap(&panel.title, title_limit, |line| text::bold_width(line, PANEL_TITLE_SIZE));
        let label = |shown: bool, label: &str, limit: f64| {
            if shown { text::wrap(label, limit, |line| text::width(line, LABEL_SIZE)) } else { Vec::new() }
        };
        let x_label = label(show_x && !panel.x.hidden, &panel.x.label, width + 40.0);
        let y_label = label(show_y && !panel.y.hidden, &panel.y.label, height + 10.0);
        let slanting = x
            .slot(width)
            .is_some_and(|slot| x.ticks.iter().any(|tick| text::width(&tick.label, TICK_SIZE) > slot - 4.0));
        let y_ticks = y.ticks.iter().map(|tick| size.tick_lines(&tick.label)).collect();
        let ends = line_ends(panel, legend, &x, &y);
        let above = rule_labels(panel, legend, &x, width);
        Self { panel, width, height, x, y, title, x_label, y_label, ends, above, y_ticks, slanting, empty }
    }

    /// Pixels by which the values of bars reach over the top and the right side, where the axis has fixed ends.
    pub(crate) fn value_overhang(&self) -> (f64, f64) {
        let lying = self.y.slot(self.height).is_some();
        let (scaled, length) = if lying { (&self.x, self.width) } else { (&self.y, self.height) };
        let stand = self.x.slot(self.width).is_some_and(|slot| values_stand(self.panel, slot));
        let reach = |bar: &Bar| {
            let wide = text::width(&bar_text(bar), TICK_SIZE);
            let end = bar.interval.map_or(bar.value, |(_, high)| bar.value.max(high));
            let tip = scaled.share(end)?.clamp(0.0, 1.0) * length;
            Some(tip + if lying || stand { wide + 7.0 } else { 15.0 } - length)
        };
        let most = bar_sets(self.panel).flatten().filter_map(reach).fold(0.0, f64::max);
        if lying { (0.0, most) } else { (most, 0.0) }
    }

    pub(crate) fn margins(&self) -> Margins {
        let tick_width = |label: &str| text::width(label, TICK_SIZE);
        let mut margins = Margins { left: 4.0, right: 10.0, top: 6.0, bottom: 6.0 };
        if !self.panel.y.hidden {
            let widest = self.y_ticks.iter().flatten().map(|line| tick_width(line)).fold(0.0, f64::max);
            margins.left = widest + 12.0 + self.y_label.len() as f64 * LINE_HEIGHT;
        }
        if !self.panel.x.hidden {
            margins.bottom = 22.0;
            for tick in &self.x.ticks {
                let at = self.x.share(tick.at).unwrap_or(0.5) * self.width;
                let wide = tick_width(&tick.label);
                if self.slanting {
                    let (sine, cosine) = SLANT.to_radians().sin_cos();
                    margins.bottom = margins.bottom.max(wide * sine + 22.0);
                    margins.left = margins.left.max(wide * cosine + 6.0 - at);
                } else {
                    margins.left = margins.left.max(0.5 * wide - at);
                    margins.right = margins.right.max(0.5 * wide + at - self.width);
                }
            }
        }
        if !self.x_label.is_empty() {
            margins.bottom += 3.0 + self.x_label.len() as f64 * LINE_HEIGHT;
        }
        for end in &self.ends {
            margins.right = margins.right.max(END_LEAD + 4.0 + text::width(end.name, TICK_SIZE));
        }
        for label in &self.above {
            margins.left = margins.left.max(-label.left);
            margins.right = margins.right.max(label.left + text::width(label.label, TICK_SIZE) - self.width);
        }
        let rows = self.above.iter().map(|label| label.row + 1).max().unwrap_or(0);
        margins.top += rows as f64 * END_GAP;
        let (over, beside) = self.value_overhang();
        margins.top += over;
        margins.right = margins.right.max(beside);
        if !self.title.is_empty() {
            margins.top += 4.0 + self.title.len() as f64 * 17.0;
        }
        margins
    }
}

/// The least height at which the labels of the line ends and the names of lying bars have room.
pub(crate) fn least_height(legend: Legend, panel: &Panel, size: PanelSize) -> f64 {
    let (_, height) = size.of(panel);
    let ends = panel.marks.iter().filter(|mark| end_name(mark, legend).is_some()).count();
    // Bars side by side need more room for their values.
    let slot = if bar_sets(panel).count() > 1 { 26.0 } else { 20.0 };
    let names = names_of(panel).1.unwrap_or_default();
    let tallest = names.iter().map(|name| size.tick_lines(name).len()).max().unwrap_or(0);
    let slot = slot + tallest.saturating_sub(1) as f64 * TICK_LINE;
    // Rows that the figure names itself.
    let rows = panel.y.ticks.as_ref().map_or(0, Vec::len);
    height.max(ends as f64 * END_GAP).max(names.len() as f64 * slot).max(rows as f64 * TICK_ROW)
}

/// Names along x and along y: those of the axis, or those of upright bars.
pub(crate) fn names_of(panel: &Panel) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let across = panel.x.categories.clone();
    let up = panel.y.categories.clone();
    if across.is_some() || up.is_some() {
        return (across, up);
    }
    let bars = panel.marks.iter().find_map(|mark| match mark {
        Mark::Bars { bars } => Some(bars.iter().map(|bar| bar.name.clone()).collect()),
        _ => None,
    });
    (bars, None)
}

/// What is printed at the end of a bar.
pub(crate) fn bar_text(bar: &Bar) -> String {
    bar.label.clone().unwrap_or_else(|| value_text(bar.value))
}

/// The bars of a panel, set by set.
pub(crate) fn bar_sets(panel: &Panel) -> impl Iterator<Item = &[Bar]> {
    panel.marks.iter().filter_map(|mark| match mark {
        Mark::Bars { bars } => Some(bars.as_slice()),
        _ => None,
    })
}

/// Whether the values of upright bars must be turned to fit above them.
pub(crate) fn values_stand(panel: &Panel, slot: f64) -> bool {
    let room = slot * 0.96 / bar_sets(panel).count().max(1) as f64;
    bar_sets(panel).flatten().any(|bar| text::width(&bar_text(bar), TICK_SIZE) > room)
}

fn axes(panel: &Panel, width: f64, height: f64) -> (Scaled, Scaled, bool) {
    let (x_names, y_names) = names_of(panel);
    let (x_extent, y_extent) = extents(panel, y_names.is_some());
    let empty = x_extent.is_empty() || y_extent.is_empty();
    let mut x = Scaled::new(&panel.x, x_names.as_deref(), &x_extent, Way::Across, width);
    let mut y = Scaled::new(&panel.y, y_names.as_deref(), &y_extent, Way::Up, height);
    if panel.aspect == Aspect::Equal {
        let unit = (x.span() / width).max(y.span() / height);
        x.widen_to(&panel.x, Way::Across, width, unit * width);
        y.widen_to(&panel.y, Way::Up, height, unit * height);
    }
    let widest = |sign: f64| {
        let bars = bar_sets(panel).flatten().filter(|bar| bar.value.is_finite() && bar.value * sign >= 0.0);
        bars.map(|bar| text::width(&bar_text(bar), TICK_SIZE)).fold(0.0, f64::max)
    };
    let negative = bar_sets(panel).flatten().any(|bar| bar.value < 0.0);
    if y.slot(height).is_some() {
        let below = if negative { widest(-1.0) + 6.0 } else { 0.0 };
        x.make_room(&panel.x, Way::Across, width, (below, widest(1.0) + 6.0));
    } else if let Some(slot) = x.slot(width)
        && widest(1.0) + widest(-1.0) > 0.0
    {
        let room = |sign: f64| if values_stand(panel, slot) { widest(sign) + 6.0 } else { 16.0 };
        y.make_room(&panel.y, Way::Up, height, (if negative { room(-1.0) } else { 0.0 }, room(1.0)));
    }
    (x, y, empty)
}

/// All numbers along x and y. `lying` swaps them for bars.
fn extents(panel: &Panel, lying: bool) -> (Extent, Extent) {
    let (mut x, mut y) = (Extent::default(), Extent::default());
    y.padded = true;
    for mark in &panel.marks {
        match mark {
            Mark::Line { points, band, .. } => {
                add_points(&mut x, &mut y, points);
                band.iter().flatten().flat_map(|&(low, high)| [low, high]).for_each(|end| y.add_end(end));
            }
            Mark::Step { points, .. } | Mark::Area { outline: points, .. } => add_points(&mut x, &mut y, points),
            Mark::Points { points, .. } => {
                x.padded = true;
                for point in points.iter().filter(|point| point.x.is_finite() && point.y.is_finite()) {
                    x.add(point.x);
                    y.add(point.y);
                    point
                        .x_interval
                        .iter()
                        .for_each(|&(low, high)| [low, high].into_iter().for_each(|end| x.add_end(end)));
                    point
                        .y_interval
                        .iter()
                        .for_each(|&(low, high)| [low, high].into_iter().for_each(|end| y.add_end(end)));
                }
            }
            Mark::Bars { bars } => {
                let (along, across) = if lying { (&mut x, &mut y) } else { (&mut y, &mut x) };
                along.add_zero();
                for (at, bar) in bars.iter().enumerate().filter(|(_, bar)| bar.value.is_finite()) {
                    across.add(at as f64);
                    along.add(bar.value);
                    bar.interval
                        .iter()
                        .for_each(|&(low, high)| [low, high].into_iter().for_each(|end| along.add_end(end)));
                }
            }
            Mark::Rule { direction: Direction::Vertical, at, .. } => x.add(*at),
            Mark::Rule { direction: Direction::Horizontal, at, .. } => y.add(*at),
            Mark::Arrow { from, to, .. } => add_points(&mut x, &mut y, &[*from, *to]),
            Mark::Text { at, .. } => add_points(&mut x, &mut y, &[*at]),
        }
    }
    (x, y)
}

fn add_points(x: &mut Extent, y: &mut Extent, points: &[(f64, f64)]) {
    for point in points.iter().filter(|point| point.0.is_finite() && point.1.is_finite()) {
        x.add(point.0);
        y.add(point.1);
    }
}

/// The name that a mark has in the right margin.
fn end_name(mark: &Mark, legend: Legend) -> Option<&str> {
    let name = match mark {
        Mark::Line { name, .. } | Mark::Step { name, .. } if legend == Legend::LineEnds => name,
        Mark::Rule { direction: Direction::Horizontal, label, .. } if legend != Legend::Below => label,
        _ => return None,
    };
    (!name.is_empty()).then_some(name)
}

fn line_ends<'a>(panel: &'a Panel, legend: Legend, x: &Scaled, y: &Scaled) -> Vec<End<'a>> {
    let inside = |share: f64| (0.0..=1.000_001).contains(&share);
    let ends = panel.marks.iter().filter_map(|mark| {
        let name = end_name(mark, legend)?;
        match mark {
            Mark::Line { style, points, .. } | Mark::Step { style, points, .. } => {
                let last = points.iter().rev().find_map(|&(at, value)| {
                    Some((x.share(at)?, y.share(value)?)).filter(|&(across, up)| inside(across) && inside(up))
                });
                Some(End { name, style: *style, at: last? })
            }
            Mark::Rule { at, style, .. } => {
                Some(End { name, style: *style, at: (1.0, y.share(*at).filter(|&up| inside(up))?) })
            }
            _ => None,
        }
    });
    ends.collect()
}

/// Labels of vertical rules, in as many rows as they need not to overlap.
fn rule_labels<'a>(panel: &'a Panel, legend: Legend, x: &Scaled, width: f64) -> Vec<RuleLabel<'a>> {
    if legend == Legend::Below {
        return Vec::new();
    }
    let labels = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Rule { direction: Direction::Vertical, at, style, label } if !label.is_empty() && x.contains(*at) => {
            let at = x.share(*at)?;
            let half = 0.5 * text::width(label, TICK_SIZE);
            Some(RuleLabel { label, style: *style, at, left: at * width - half, row: 0 })
        }
        _ => None,
    });
    let mut labels: Vec<RuleLabel<'a>> = labels.collect();
    labels.sort_by(|a, b| a.at.total_cmp(&b.at));
    let end = |label: &RuleLabel<'_>| label.left + text::width(label.label, TICK_SIZE);
    if labels.windows(2).all(|pair| end(&pair[0]) + 8.0 <= pair[1].left) {
        return labels;
    }
    // Flags: each begins at its rule, above all flags whose rules it passes over; so none crosses the pole of another.
    for at in (0..labels.len()).rev() {
        labels[at].left = labels[at].at * width + 3.0;
        let reach = end(&labels[at]) + 4.0;
        let passed = labels[at + 1..].iter().filter(|other| other.at * width < reach);
        labels[at].row = passed.map(|other| other.row + 1).max().unwrap_or(0);
    }
    labels
}
