//! Draws the marks of a panel.

use crate::clip::{self, Pixel, Rectangle};
use crate::figure::{Anchor, Bar, Direction, Mark, Point};
use crate::frame::{across, up};
use crate::labels::{Wish, beside};
use crate::measure::{Measured, TICK_SIZE, bar_sets, bar_text, values_stand};
use crate::style::{Colour, Dash, Style};
use crate::svg::{Canvas, Words};
use crate::text;

const INK: Colour = Colour::new(0x22, 0x22, 0x22);
const PAPER: Colour = Colour::new(0xFF, 0xFF, 0xFF);
/// A line may be simplified by this much, in pixels.
const TOLERANCE: f64 = 0.2;
/// Lines on the edge of a panel keep their width.
const EDGE: f64 = 1.5;

/// Draws all marks: areas and bands first, so that they tint no line; labels of points last, so that nothing covers
/// them.
pub(crate) fn draw(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle) {
    let mut brush = Brush { canvas, panel, area, set: 0 };
    for mark in &panel.panel.marks {
        brush.ground(mark);
    }
    for mark in &panel.panel.marks {
        brush.mark(mark);
    }
    brush.point_labels();
}

struct Brush<'a> {
    canvas: &'a mut Canvas,
    panel: &'a Measured<'a>,
    area: &'a Rectangle,
    /// Sets of bars drawn.
    set: usize,
}

impl Brush<'_> {
    fn ground(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { style, points, band: Some(band), .. } => self.band(style, points, band),
            Mark::Area { style, outline, .. } => {
                let corners: Vec<Pixel> = outline.iter().filter_map(|&point| self.pixel(point)).collect();
                let inside = clip::polygon(&corners, self.area);
                self.canvas.polygon(&inside, style.colour, style.opacity);
            }
            _ => {}
        }
    }

    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Area { .. } => {}
            Mark::Line { name, style, points, .. } => {
                self.canvas.open(name);
                self.line(style, points);
                self.canvas.close();
            }
            Mark::Step { name, style, points } => {
                self.canvas.open(name);
                self.line(style, &stairs(points));
                self.canvas.close();
            }
            Mark::Points { name, style, points } => {
                self.canvas.open(name);
                for point in points {
                    self.point(style, point);
                }
                self.canvas.close();
            }
            Mark::Rule { direction, at, style, .. } => self.rule(*direction, *at, style),
            Mark::Arrow { from, to, style } => self.arrow(*from, *to, style),
            Mark::Text { at, text, anchor, colour } => {
                if let Some((x, y)) = self.pixel(*at).filter(|&at| self.is_inside(at)) {
                    let words = Words::new((x, y + 4.0), text, TICK_SIZE, colour.for_text());
                    self.canvas.words(&words.anchored(*anchor).haloed());
                }
            }
            Mark::Bars { bars } => self.bars(bars),
        }
    }

    fn pixel(&self, point: (f64, f64)) -> Option<Pixel> {
        Some((across(&self.panel.x, point.0, self.area)?, up(&self.panel.y, point.1, self.area)?))
    }

    fn is_inside(&self, (x, y): Pixel) -> bool {
        self.area.grown(0.5).contains(&Rectangle { left: x, top: y, width: 0.0, height: 0.0 })
    }

    fn line(&mut self, style: &Style, points: &[(f64, f64)]) {
        for run in runs(points.iter().map(|&point| self.pixel(point))) {
            if let [only] = run[..] {
                if self.is_inside(only) {
                    self.canvas.marker(only, &Style { width: 1.0, ..*style }, false);
                }
                continue;
            }
            for part in clip::line(&run, &self.area.grown(EDGE)) {
                self.canvas.line(&clip::simplify(&part, TOLERANCE), style);
            }
        }
    }

    fn band(&mut self, style: &Style, points: &[(f64, f64)], band: &[(f64, f64)]) {
        let edges = points.iter().zip(band).map(|(&(x, _), &(low, high))| {
            let (low, high) = (self.pixel((x, low))?, self.pixel((x, high))?);
            Some((low, high))
        });
        for run in runs(edges) {
            let lower: Vec<Pixel> = run.iter().map(|edge| edge.0).collect();
            let upper: Vec<Pixel> = run.iter().map(|edge| edge.1).collect();
            let mut outline = clip::simplify(&upper, TOLERANCE);
            outline.extend(clip::simplify(&lower, TOLERANCE).into_iter().rev());
            self.canvas.polygon(&clip::polygon(&outline, self.area), style.colour, 0.18 * style.opacity);
        }
    }

    fn rule(&mut self, direction: Direction, at: f64, style: &Style) {
        let (panel, area) = (self.panel, self.area);
        let (scaled, ends) = match direction {
            Direction::Vertical => (&panel.x, across(&panel.x, at, area).map(|x| [(x, area.top), (x, area.bottom())])),
            Direction::Horizontal => (&panel.y, up(&panel.y, at, area).map(|y| [(area.left, y), (area.right(), y)])),
        };
        if let Some(ends) = ends.filter(|_| scaled.contains(at)) {
            self.canvas.line(&ends, style);
        }
    }

    fn arrow(&mut self, from: (f64, f64), to: (f64, f64), style: &Style) {
        let (Some(from), Some(to)) = (self.pixel(from), self.pixel(to)) else { return };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length < 0.5 || !self.is_inside(from) || !self.is_inside(to) {
            return;
        }
        let (dx, dy) = (dx / length, dy / length);
        let head = (5.0 + style.width).min(length);
        let base = (to.0 - head * dx, to.1 - head * dy);
        let half = 0.5 * head;
        self.canvas.line(&[from, base], style);
        let corners = [to, (base.0 - half * dy, base.1 + half * dx), (base.0 + half * dy, base.1 - half * dx)];
        self.canvas.polygon(&corners, style.colour, style.opacity);
    }

    fn point(&mut self, style: &Style, point: &Point) {
        let Some(at) = self.pixel((point.x, point.y)).filter(|&at| self.is_inside(at)) else { return };
        let thin = Style { dash: Dash::Solid, width: 1.3, ..*style };
        let across = point.x_interval.map(|(low, high)| [(low, point.y), (high, point.y)]);
        let upright = point.y_interval.map(|(low, high)| [(point.x, low), (point.x, high)]);
        for ends in [across, upright].into_iter().flatten() {
            if let (Some(low), Some(high)) = (self.pixel(ends[0]), self.pixel(ends[1])) {
                self.whisker(low, high, 3.0, &thin);
            }
        }
        self.canvas.marker(at, style, point.hollow);
    }

    /// A thin line with caps where its ends are inside the panel.
    fn whisker(&mut self, low: Pixel, high: Pixel, cap: f64, style: &Style) {
        let mut lines: Vec<(Pixel, Pixel)> =
            clip::line(&[low, high], self.area).iter().map(|part| (part[0], part[part.len() - 1])).collect();
        let upright = (low.0 - high.0).abs() < (low.1 - high.1).abs();
        for (x, y) in [low, high] {
            if self.is_inside((x, y)) {
                lines.push(if upright { ((x - cap, y), (x + cap, y)) } else { ((x, y - cap), (x, y + cap)) });
            }
        }
        self.canvas.segments(&lines, style);
    }

    fn bars(&mut self, bars: &[Bar]) {
        let (panel, area) = (self.panel, self.area);
        let sets = bar_sets(panel.panel).count().max(1) as f64;
        let lying = panel.y.slot(area.height);
        let Some(slot) = lying.or_else(|| panel.x.slot(area.width)) else { return };
        let thickness = (0.74 * slot / sets).min(46.0);
        let offset = (self.set as f64 + 0.5 - 0.5 * sets) * thickness;
        self.set += 1;
        let stand = lying.is_none() && values_stand(panel.panel, slot);
        for (at, bar) in bars.iter().enumerate() {
            let middle =
                if lying.is_some() { up(&panel.y, at as f64, area) } else { across(&panel.x, at as f64, area) };
            if let Some(middle) = middle.map(|middle| middle + offset) {
                self.canvas.open(&bar.name);
                self.bar(bar, middle, 0.5 * thickness * if sets > 1.0 { 0.92 } else { 1.0 }, lying.is_some(), stand);
                self.canvas.close();
            }
        }
    }

    fn bar(&mut self, bar: &Bar, middle: f64, half: f64, lying: bool, stand: bool) {
        let (panel, area) = (self.panel, *self.area);
        let scaled = if lying { &panel.x } else { &panel.y };
        let share = |value: f64| scaled.share(value).map(|share| share.clamp(0.0, 1.0));
        let Some(end) = share(bar.value) else { return };
        // A place from a share of the bar's axis and a distance from its middle line.
        let place = |share: f64, aside: f64| {
            if lying {
                (area.left + share * area.width, middle + aside)
            } else {
                (middle + aside, area.bottom() - share * area.height)
            }
        };
        let foot = scaled.foot();
        let corners = [place(foot, -half), place(end, -half), place(end, half), place(foot, half)];
        self.canvas.polygon(&corners, bar.style.colour, 0.85 * bar.style.opacity);
        if bar.style.dash != Dash::Solid {
            stripes(self.canvas, &corners, lying, bar.style.dash);
        }
        let upwards = end >= foot;
        let mut tip = end;
        if let Some((low, high)) = bar.interval.and_then(|(low, high)| Some((share(low)?, share(high)?))) {
            let thin = Style::solid(INK).wide(1.2);
            self.canvas.line(&[place(low, 0.0), place(high, 0.0)], &Style::solid(PAPER).wide(3.2).faint(0.8));
            self.whisker(place(low, 0.0), place(high, 0.0), (0.5 * half).clamp(2.0, 5.0), &thin);
            tip = if upwards { tip.max(high) } else { tip.min(low) };
        }
        let (x, y) = place(tip, 0.0);
        let value = bar_text(bar);
        let words = |at, anchor| Words::new(at, &value, TICK_SIZE, INK).anchored(anchor).haloed();
        let words = match (lying, upwards, stand) {
            (true, true, _) => words((x + 5.0, y + 4.0), Anchor::Start),
            (true, false, _) => words((x - 5.0, y + 4.0), Anchor::End),
            (false, true, false) => words((x, y - 5.0), Anchor::Middle),
            (false, false, false) => words((x, y + 13.0), Anchor::Middle),
            (false, true, true) => words((x + 4.0, y - 5.0), Anchor::Start).turned(-90.0),
            (false, false, true) => words((x + 4.0, y + 5.0), Anchor::End).turned(-90.0),
        };
        self.canvas.words(&words);
    }

    /// Labels beside points, clear of points, whiskers and one another.
    fn point_labels(&mut self) {
        let mut obstacles = Vec::new();
        let mut labels = Vec::new();
        for mark in &self.panel.panel.marks {
            let (style, points) = match mark {
                Mark::Points { style, points, .. } => (style, points),
                Mark::Line { points, .. } => {
                    self.line_boxes(points, &mut obstacles);
                    continue;
                }
                Mark::Step { points, .. } => {
                    self.line_boxes(&stairs(points), &mut obstacles);
                    continue;
                }
                _ => continue,
            };
            for point in points {
                let Some(at) = self.pixel((point.x, point.y)).filter(|&at| self.is_inside(at)) else { continue };
                obstacles.push(Rectangle { left: at.0, top: at.1, width: 0.0, height: 0.0 }.grown(5.0));
                obstacles.extend(self.whisker_boxes(point));
                labels.extend(point.label.as_deref().map(|label| (label, at, style.colour)));
            }
        }
        let wish = |&(label, near, _): &(&str, Pixel, Colour)| Wish {
            near,
            clearance: 9.0,
            width: text::width(label, TICK_SIZE),
            height: 13.0,
        };
        let wishes: Vec<Wish> = labels.iter().map(wish).collect();
        let places = beside(&wishes, &obstacles, self.area);
        for ((label, near, colour), place) in labels.into_iter().zip(places) {
            let nearest = (near.0.clamp(place.left, place.right()), near.1.clamp(place.top, place.bottom()));
            if (nearest.0 - near.0).hypot(nearest.1 - near.1) > 15.0 {
                self.canvas.line(&[near, nearest], &Style::solid(colour).wide(0.8).faint(0.6));
            }
            let at = (place.left, place.top + 10.5);
            self.canvas.words(&Words::new(at, label, TICK_SIZE, colour.for_text()).haloed());
        }
    }

    /// Small boxes along a line.
    fn line_boxes(&self, points: &[(f64, f64)], boxes: &mut Vec<Rectangle>) {
        const STEP: f64 = 5.0;
        for run in runs(points.iter().map(|&point| self.pixel(point))) {
            for part in clip::line(&clip::simplify(&run, 1.0), self.area) {
                for pair in part.windows(2) {
                    let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
                    let mut along = 0.0;
                    let length = dx.hypot(dy).max(STEP);
                    while along <= length {
                        let (left, top) = (pair[0].0 + dx * along / length, pair[0].1 + dy * along / length);
                        boxes.push(Rectangle { left, top, width: 0.0, height: 0.0 }.grown(1.5));
                        along += STEP;
                    }
                }
            }
        }
    }

    fn whisker_boxes(&self, point: &Point) -> Vec<Rectangle> {
        let across = point.x_interval.map(|(low, high)| [(low, point.y), (high, point.y)]);
        let upright = point.y_interval.map(|(low, high)| [(point.x, low), (point.x, high)]);
        let boxes = [across, upright].into_iter().flatten().filter_map(|ends| {
            let (low, high) = (self.pixel(ends[0])?, self.pixel(ends[1])?);
            let (left, top) = (low.0.min(high.0), low.1.min(high.1));
            Some(Rectangle { left, top, width: (low.0 - high.0).abs(), height: (low.1 - high.1).abs() }.grown(1.5))
        });
        boxes.collect()
    }
}

/// White stripes across a bar, so that a family's dashed member differs from its solid one without colour.
fn stripes(canvas: &mut Canvas, corners: &[Pixel; 4], lying: bool, dash: Dash) {
    let (from, to) = if lying { (corners[0].0, corners[1].0) } else { (corners[0].1, corners[1].1) };
    let (low, high) = (from.min(to), from.max(to));
    let step = if dash == Dash::Dashed { 7.0 } else { 4.0 };
    let style = Style::solid(PAPER).wide(1.3).faint(0.75);
    let mut at = if lying { low + step } else { high - step };
    let mut lines = Vec::new();
    while low < at && at < high {
        lines.push(if lying {
            ((at, corners[0].1), (at, corners[2].1))
        } else {
            ((corners[0].0, at), (corners[2].0, at))
        });
        at += if lying { step } else { -step };
    }
    canvas.segments(&lines, &style);
}

/// The corners of a staircase.
fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut stairs: Vec<(f64, f64)> = Vec::new();
    for &point in points.iter().filter(|point| point.0.is_finite() && point.1.is_finite()) {
        stairs.extend(stairs.last().map(|&(_, level)| (point.0, level)));
        stairs.push(point);
    }
    stairs
}

/// The stretches of a sequence without gaps.
fn runs<T>(items: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut runs = vec![Vec::new()];
    for item in items {
        match (item, runs.last_mut()) {
            (Some(item), Some(run)) => run.push(item),
            (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}
