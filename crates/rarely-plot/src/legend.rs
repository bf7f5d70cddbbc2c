//! The legend below the panels.

use crate::clip::Rectangle;
use crate::figure::{Figure, Legend, Mark, Panel};
use crate::measure::{LABEL_SIZE, LINE_HEIGHT, names_of};
use crate::style::{Colour, Style};
use crate::svg::{Canvas, Words};
use crate::text;

const SAMPLE: f64 = 26.0;
const GAP: f64 = 20.0;
const ROW: f64 = 19.0;

/// How a series is shown beside its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    Line,
    Banded,
    Block,
    Point,
    Outline,
}

struct Entry<'a> {
    name: &'a str,
    /// The name, in as many lines as it needs.
    lines: Vec<String>,
    style: Style,
    sample: Sample,
}

impl Entry<'_> {
    fn width(&self) -> f64 {
        let widest = self.lines.iter().map(|line| text::width(line, LABEL_SIZE)).fold(0.0, f64::max);
        SAMPLE + 6.0 + widest
    }

    fn height(&self) -> f64 {
        ROW + self.lines.len().saturating_sub(1) as f64 * LINE_HEIGHT
    }
}

/// Names with samples, in columns.
pub(crate) struct Rows<'a> {
    entries: Vec<Entry<'a>>,
    /// Width of each column.
    columns: Vec<f64>,
}

impl<'a> Rows<'a> {
    /// As few rows as fit into `limit`, as even as can be.
    pub(crate) fn new(figure: &'a Figure, legend: Legend, limit: f64) -> Self {
        let mut entries = entries(figure, legend);
        for entry in &mut entries {
            entry.lines = text::wrap(entry.name, limit - SAMPLE - 6.0, |line| text::width(line, LABEL_SIZE));
        }
        let widths = |columns: usize| -> Vec<f64> {
            let widest =
                |column: usize| entries.iter().skip(column).step_by(columns).map(Entry::width).fold(0.0, f64::max);
            (0..columns).map(widest).collect()
        };
        let fits = |columns: &usize| widths(*columns).iter().map(|width| width + GAP).sum::<f64>() - GAP <= limit;
        let most = (1..=entries.len()).rev().find(fits).unwrap_or(1);
        let rows = entries.len().div_ceil(most).max(1);
        let even = entries.len().div_ceil(rows).max(1);
        let columns = widths(if fits(&even) { even } else { most });
        Self { entries, columns }
    }

    pub(crate) fn height(&self) -> f64 {
        let rows: f64 = self.rows().map(row_height).sum();
        if rows == 0.0 { 0.0 } else { rows + 10.0 }
    }

    fn rows(&self) -> impl Iterator<Item = &[Entry<'a>]> {
        self.entries.chunks(self.columns.len().max(1))
    }

    /// Draws the rows with their left ends at `left`.
    pub(crate) fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let mut y = top + 14.0;
        for entries in self.rows() {
            let mut x = left;
            for (entry, width) in entries.iter().zip(&self.columns) {
                entry.draw(canvas, x, y);
                x += width + GAP;
            }
            y += row_height(entries);
        }
    }
}

/// The height of a row of entries.
fn row_height(entries: &[Entry<'_>]) -> f64 {
    entries.iter().map(Entry::height).fold(0.0, f64::max)
}

impl Entry<'_> {
    fn draw(&self, canvas: &mut Canvas, x: f64, y: f64) {
        let style = &self.style;
        let block = Rectangle { left: x, top: y - 6.0, width: SAMPLE, height: 12.0 };
        match self.sample {
            Sample::Block => canvas.rectangle(&block, style.colour, style.opacity),
            Sample::Point => canvas.marker((x + 0.5 * SAMPLE, y), style, false),
            Sample::Outline => canvas.marker((x + 0.5 * SAMPLE, y), style, true),
            Sample::Line | Sample::Banded => {
                if self.sample == Sample::Banded {
                    canvas.rectangle(&block, style.colour, 0.18 * style.opacity);
                }
                canvas.line(&[(x, y), (x + SAMPLE, y)], style);
            }
        }
        for (at, line) in self.lines.iter().enumerate() {
            let place = (x + SAMPLE + 6.0, y + 4.0 + at as f64 * LINE_HEIGHT);
            canvas.words(&Words::new(place, line, LABEL_SIZE, Colour::new(0x22, 0x22, 0x22)));
        }
    }
}

/// Every name once, in order of first appearance.
fn entries(figure: &Figure, legend: Legend) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    if legend == Legend::None {
        return entries;
    }
    for entry in figure.panels.iter().flat_map(|panel| entries_of(panel, legend)) {
        if !entry.name.is_empty() && !entries.iter().any(|other| other.name == entry.name) {
            entries.push(entry);
        }
    }
    entries
}

fn entries_of(panel: &Panel, legend: Legend) -> Vec<Entry<'_>> {
    let below = legend == Legend::Below;
    let (across, up) = names_of(panel);
    let names = across.or(up).unwrap_or_default();
    let mut entries = Vec::new();
    for mark in &panel.marks {
        let one = |name, style: &Style, sample| Entry { name, lines: Vec::new(), style: *style, sample };
        match mark {
            Mark::Line { name, style, band, .. } if below => {
                entries.push(one(name, style, if band.is_some() { Sample::Banded } else { Sample::Line }));
            }
            Mark::Step { name, style, .. } | Mark::Rule { label: name, style, .. } if below => {
                entries.push(one(name, style, Sample::Line));
            }
            Mark::Area { name, style, .. } => entries.push(one(name, style, Sample::Block)),
            Mark::Points { name, style, points } if below || points.iter().any(|point| point.label.is_none()) => {
                let outline = !points.is_empty() && points.iter().all(|point| point.hollow);
                entries.push(one(name, style, if outline { Sample::Outline } else { Sample::Point }));
            }
            Mark::Bars { bars } => {
                let other = bars.iter().enumerate().filter(|(at, bar)| names.get(*at) != Some(&bar.name));
                entries.extend(other.map(|(_, bar)| one(&bar.name, &bar.style, Sample::Block)));
            }
            _ => {}
        }
    }
    entries
}
