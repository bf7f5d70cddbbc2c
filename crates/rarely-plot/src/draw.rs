//! Places the panels, then draws them.

use crate::clip::Rectangle;
use crate::figure::{Anchor, Figure, Legend, Panel};
use crate::frame;
use crate::legend::Rows;
use crate::marks;
use crate::measure::{LINE_HEIGHT, Margins, Measured, NOTE_SIZE, PanelSize, TITLE_SIZE, least_height};
use crate::style::Colour;
use crate::svg::{Canvas, Medium, Words};
use crate::text;

const PADDING: f64 = 14.0;
const COLUMN_GAP: f64 = 18.0;
const ROW_GAP: f64 = 16.0;
/// Below this width there is one panel in a row, and nothing is named beside it.
const NARROW: f64 = 520.0;
/// How much wider bold letters of DejaVu Sans are than the estimate. Systems with neither Helvetica nor a font like it draw with them.
const WIDER_FONT: f64 = 1.16;
/// The least width of the inside of a panel.
const LEAST_WIDTH: f64 = 130.0;
const INK: Colour = Colour::new(0x22, 0x22, 0x22);
const PALE_INK: Colour = Colour::new(0x55, 0x55, 0x55);

impl Figure {
    /// The figure as an SVG document: text as text, no outside resources, the same bytes for the same figure.
    ///
    /// It has a `viewBox` and a natural size; `max-width: 100%; height: auto` in a page's style sheet fits it to a
    /// column.
    pub fn svg(&self) -> String {
        self.draw(Medium::Browser)
    }

    /// The figure as an SVG document of this width, in pixels, for a column of text or a narrow screen: words keep their size, panels are as
    /// wide as there is room, and below each other where they would be too narrow. A little wider where the words beside a panel need it.
    pub fn svg_within(&self, width: f64) -> String {
        let narrow = width < NARROW;
        let columns = if narrow { 1 } else { self.in_a_row(self.columns) };
        let legend = if narrow && self.legend == Legend::LineEnds { Legend::Below } else { self.legend };
        let inside = width - 2.0 * PADDING;
        let mut size = PanelSize { columns, width: Some(inside / columns as f64 - 90.0) };
        // The words beside a panel depend a little on its width.
        for _ in 0..4 {
            let taken = Grid::new(&self.measured(legend, size), columns).width;
            let more = (inside - taken) / columns as f64;
            size.width = size.width.map(|width| (width + more).max(LEAST_WIDTH));
        }
        self.draw_sized(Medium::Browser, legend, size)
    }

    pub(crate) fn draw(&self, medium: Medium) -> String {
        self.draw_sized(medium, self.legend, PanelSize { columns: self.columns, width: None })
    }

    fn draw_sized(&self, medium: Medium, legend: Legend, size: PanelSize) -> String {
        let panels = self.measured(legend, size);
        let grid = Grid::new(&panels, self.in_a_row(size.columns));
        let width = grid.width.max(240.0) + 2.0 * PADDING;
        let inside = width - 2.0 * PADDING;
        // A page has room for other fonts' letters in its title, which is as wide as the figure.
        let room = if size.width.is_some() { inside / WIDER_FONT } else { inside };
        let title = text::wrap(&self.title, room, |line| text::bold_width(line, TITLE_SIZE));
        let note = self.note.as_deref().unwrap_or("");
        let note_lines = text::wrap(note, inside, |line| text::width(line, NOTE_SIZE));
        let legend = Rows::new(self, legend, inside - grid.first_left());

        let mut canvas = Canvas::new(medium);
        let mut y = PADDING;
        for line in &title {
            y += 20.0;
            canvas.words(&Words::new((PADDING, y - 5.0), line, TITLE_SIZE, INK).bold());
        }
        if !title.is_empty() {
            y += 10.0;
        }
        for (at, panel) in panels.iter().enumerate() {
            let (area, margins) = grid.place(at, (PADDING, y), panel);
            frame::behind(&mut canvas, panel, &area);
            marks::draw(&mut canvas, panel, &area);
            frame::before(&mut canvas, panel, &area, &margins);
        }
        y += grid.height;
        legend.draw(&mut canvas, PADDING + grid.first_left(), y + 4.0);
        y += legend.height();
        if !note_lines.is_empty() {
            y += 4.0;
        }
        for line in &note_lines {
            y += LINE_HEIGHT;
            canvas.words(&Words::new((PADDING, y - 3.0), line, NOTE_SIZE, PALE_INK).anchored(Anchor::Start));
        }
        canvas.finish((width, y + PADDING), &self.title, note)
    }

    /// Panels in a row, of so many that are wanted.
    fn in_a_row(&self, wanted: usize) -> usize {
        wanted.clamp(1, self.panels.len().max(1))
    }

    fn measured(&self, legend: Legend, size: PanelSize) -> Vec<Measured<'_>> {
        let columns = self.in_a_row(size.columns);
        let same = |first: Option<&Panel>, label: fn(&Panel) -> &str, own: &Panel| {
            first.is_some_and(|other| label(other) == label(own))
        };
        let mut measured = Vec::with_capacity(self.panels.len());
        for row in self.panels.chunks(columns) {
            let height = row.iter().map(|panel| least_height(legend, panel, size)).fold(0.0, f64::max);
            for panel in row {
                let at = measured.len();
                // A label that the next panel in the row or column repeats is said once.
                let left = if at % columns > 0 { self.panels.get(at - 1) } else { None };
                let below = self.panels.get(at + columns);
                let shown = (!same(below, |p| &p.x.label, panel), !same(left, |p| &p.y.label, panel));
                measured.push(Measured::new(legend, panel, size, height, shown));
            }
        }
        measured
    }
}

/// Columns and rows.
struct Grid {
    columns: usize,
    /// Left margin, inside and right margin of each column.
    across: Vec<(f64, f64, f64)>,
    /// Top margin, inside and bottom margin of each row.
    down: Vec<(f64, f64, f64)>,
    width: f64,
    height: f64,
}

impl Grid {
    fn new(panels: &[Measured<'_>], columns: usize) -> Self {
        let rows = panels.len().div_ceil(columns);
        let mut across = vec![(0.0_f64, 0.0_f64, 0.0_f64); columns];
        let mut down = vec![(0.0_f64, 0.0_f64, 0.0_f64); rows];
        for (at, panel) in panels.iter().enumerate() {
            let margins = panel.margins();
            widen(&mut across[at % columns], (margins.left, panel.width, margins.right));
            widen(&mut down[at / columns], (margins.top, panel.height, margins.bottom));
        }
        let total = |parts: &[(f64, f64, f64)], gap: f64| {
            let lengths: f64 = parts.iter().map(|part| part.0 + part.1 + part.2).sum();
            lengths + gap * parts.len().saturating_sub(1) as f64
        };
        let (width, height) = (total(&across, COLUMN_GAP), total(&down, ROW_GAP));
        Self { columns, across, down, width, height }
    }

    fn first_left(&self) -> f64 {
        self.across.first().map_or(0.0, |column| column.0.min(40.0))
    }

    /// The inside of a panel, and its margins.
    fn place(&self, at: usize, (left, top): (f64, f64), panel: &Measured<'_>) -> (Rectangle, Margins) {
        let (column, row) = (at % self.columns, at / self.columns);
        let before = |parts: &[(f64, f64, f64)], gap: f64| -> f64 {
            parts.iter().map(|part| part.0 + part.1 + part.2 + gap).sum()
        };
        let (sides, ends) = (self.across[column], self.down[row]);
        let area = Rectangle {
            left: left + before(&self.across[..column], COLUMN_GAP) + sides.0,
            top: top + before(&self.down[..row], ROW_GAP) + ends.0,
            width: panel.width,
            height: panel.height,
        };
        (area, Margins { left: sides.0, right: sides.2, top: ends.0, bottom: ends.2 })
    }
}

fn widen(part: &mut (f64, f64, f64), by: (f64, f64, f64)) {
    *part = (part.0.max(by.0), part.1.max(by.1), part.2.max(by.2));
}
