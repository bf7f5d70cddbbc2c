//! What is around the marks: grid, axes, titles, and the labels in the margins.

use crate::clip::Rectangle;
use crate::figure::Anchor;
use crate::labels::spread;
use crate::measure::{
    END_GAP, END_LEAD, LABEL_SIZE, LINE_HEIGHT, Margins, Measured, PANEL_TITLE_SIZE, SLANT, TICK_LINE, TICK_SIZE,
};
use crate::scale::{Scaled, Tick};
use crate::style::{Colour, Dash, Style};
use crate::svg::{Canvas, Words};
use crate::text;

const INK: Colour = Colour::new(0x22, 0x22, 0x22);
const AXIS: Colour = Colour::new(0x55, 0x55, 0x55);
const GRID: Colour = Colour::new(0xE8, 0xE8, 0xE8);

fn hair(colour: Colour) -> Style {
    Style::solid(colour).wide(1.0)
}

/// The place of a number on a panel's x axis.
pub(crate) fn across(scaled: &Scaled, value: f64, area: &Rectangle) -> Option<f64> {
    scaled.share(value).map(|share| area.left + share * area.width)
}

/// The place of a number on a panel's y axis.
pub(crate) fn up(scaled: &Scaled, value: f64, area: &Rectangle) -> Option<f64> {
    scaled.share(value).map(|share| area.bottom() - share * area.height)
}

/// The grid.
pub(crate) fn behind(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle) {
    let mut lines = Vec::new();
    if !panel.panel.x.hidden && panel.x.slot(area.width).is_none() {
        let places = panel.x.ticks.iter().filter_map(|tick| across(&panel.x, tick.at, area));
        lines.extend(places.map(|x| ((x, area.top), (x, area.bottom()))));
    }
    if !panel.panel.y.hidden && panel.y.slot(area.height).is_none() {
        let places = panel.y.ticks.iter().filter_map(|tick| up(&panel.y, tick.at, area));
        lines.extend(places.map(|y| ((area.left, y), (area.right(), y))));
    }
    canvas.segments(&lines, &hair(GRID));
}

/// Axes, titles and labels.
pub(crate) fn before(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle, margins: &Margins) {
    if panel.empty {
        let middle = (area.left + 0.5 * area.width, area.top + 0.5 * area.height);
        canvas.words(&Words::new(middle, "no data", LABEL_SIZE, AXIS).anchored(Anchor::Middle).haloed());
    }
    if !panel.panel.x.hidden {
        x_axis(canvas, panel, area);
    }
    if !panel.panel.y.hidden {
        y_axis(canvas, panel, area);
    }
    // Titles of a row begin at one height, whatever is between them and their panels.
    let left = if panel.panel.y.hidden { area.left } else { area.left - margins.left.min(30.0) };
    for (at, line) in panel.title.iter().enumerate() {
        let place = (left, area.top - margins.top + 16.0 + at as f64 * 17.0);
        canvas.words(&Words::new(place, line, PANEL_TITLE_SIZE, INK).bold());
    }
    rule_labels(canvas, panel, area);
    line_ends(canvas, panel, area);
}

fn x_axis(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle) {
    let foot = area.bottom();
    let mut lines = vec![((area.left, foot), (area.right(), foot))];
    let small = panel.x.minor.iter().filter_map(|&at| across(&panel.x, at, area));
    lines.extend(small.map(|x| ((x, foot), (x, foot + 3.0))));
    let named = panel.x.slot(area.width).is_some();
    let stride = if named { 1 } else { stride(&panel.x.ticks, &panel.x, area.width) };
    for (at, tick) in panel.x.ticks.iter().enumerate() {
        let Some(x) = across(&panel.x, tick.at, area) else { continue };
        if !named {
            lines.push(((x, foot), (x, foot + 5.0)));
        }
        if panel.slanting {
            let words = Words::new((x + 3.0, foot + 13.0), &tick.label, TICK_SIZE, INK);
            canvas.words(&words.anchored(Anchor::End).turned(-SLANT));
        } else if at % stride == 0 {
            canvas.words(&Words::new((x, foot + 17.0), &tick.label, TICK_SIZE, INK).anchored(Anchor::Middle));
        }
    }
    canvas.segments(&lines, &hair(AXIS));
    let depth = panel.margins().bottom - panel.x_label.len() as f64 * LINE_HEIGHT;
    for (at, line) in panel.x_label.iter().enumerate() {
        let place = (area.left + 0.5 * area.width, foot + depth + 11.0 + at as f64 * LINE_HEIGHT);
        canvas.words(&Words::new(place, line, LABEL_SIZE, INK).anchored(Anchor::Middle));
    }
}

fn y_axis(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle) {
    let side = area.left;
    let mut lines = vec![((side, area.top), (side, area.bottom()))];
    let small = panel.y.minor.iter().filter_map(|&at| up(&panel.y, at, area));
    lines.extend(small.map(|y| ((side - 3.0, y), (side, y))));
    let named = panel.y.slot(area.height).is_some();
    for (tick, words) in panel.y.ticks.iter().zip(&panel.y_ticks) {
        let Some(y) = up(&panel.y, tick.at, area) else { continue };
        if !named {
            lines.push(((side - 5.0, y), (side, y)));
        }
        let first = y + 4.0 - 0.5 * words.len().saturating_sub(1) as f64 * TICK_LINE;
        for (at, line) in words.iter().enumerate() {
            let place = (side - 8.0, first + at as f64 * TICK_LINE);
            canvas.words(&Words::new(place, line, TICK_SIZE, INK).anchored(Anchor::End));
        }
    }
    canvas.segments(&lines, &hair(AXIS));
    for (at, line) in panel.y_label.iter().enumerate() {
        let place = (side - panel.margins().left + 11.0 + at as f64 * LINE_HEIGHT, area.top + 0.5 * area.height);
        canvas.words(&Words::new(place, line, LABEL_SIZE, INK).anchored(Anchor::Middle).turned(-90.0));
    }
}

/// Every how many-th label can be shown without touching its neighbour.
fn stride(ticks: &[Tick], scaled: &Scaled, length: f64) -> usize {
    let boxes: Vec<(f64, f64)> = ticks
        .iter()
        .filter_map(|tick| {
            let middle = scaled.share(tick.at)? * length;
            let half = 0.5 * text::width(&tick.label, TICK_SIZE);
            Some((middle - half, middle + half))
        })
        .collect();
    let clear = |stride: usize| {
        let shown: Vec<&(f64, f64)> = boxes.iter().step_by(stride).collect();
        shown.windows(2).all(|pair| pair[0].1 + 5.0 <= pair[1].0)
    };
    (1..=boxes.len().max(1)).find(|&stride| clear(stride)).unwrap_or(1)
}

fn rule_labels(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle) {
    for label in &panel.above {
        let foot = area.top - 5.0 - label.row as f64 * END_GAP;
        let x = area.left + label.at * area.width;
        if area.left + label.left > x {
            canvas.line(&[(x, area.top), (x, foot - 8.0)], &hair(label.style.colour).faint(0.6));
        }
        let place = (area.left + label.left, foot);
        canvas.words(&Words::new(place, label.label, TICK_SIZE, label.style.colour.for_text()));
    }
}

fn line_ends(canvas: &mut Canvas, panel: &Measured<'_>, area: &Rectangle) {
    let wanted: Vec<f64> = panel.ends.iter().map(|end| area.bottom() - end.at.1 * area.height).collect();
    let places = spread(&wanted, END_GAP, area.top + 2.0, area.bottom());
    for ((end, y), place) in panel.ends.iter().zip(&wanted).zip(&places) {
        let x = area.left + end.at.0 * area.width;
        let lead = Style { width: end.style.width.min(1.4), dash: Dash::Solid, opacity: 0.55, ..end.style };
        let edge = area.right();
        let mut path = vec![(x, *y)];
        if edge - x > 1.0 {
            path.push((edge, *y));
        }
        path.push((edge + END_LEAD - 4.0, *place));
        canvas.line(&path, &lead);
        let words = Words::new((edge + END_LEAD, place + 4.0), end.name, TICK_SIZE, end.style.colour.for_text());
        canvas.words(&if end.style.width > 3.0 { words.bold() } else { words });
    }
}
