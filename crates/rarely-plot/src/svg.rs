//! Writes SVG elements. Every coordinate has at most two decimals, so that the same figure is the same bytes.
//!
//! Plotters was looked at and left: its backends take whole pixels (`BackendCoord = (i32, i32)`), which makes smooth
//! lines into stairs; its SVG has no dashes, no groups and no name for a screen reader; labels at line ends would be
//! ours anyway.

use std::fmt::Write as _;

use crate::clip::{Pixel, Rectangle};
use crate::figure::Anchor;
use crate::letters::Letters;
use crate::number::{coordinate, rough_coordinate};
use crate::style::{Colour, Dash, Style};
use crate::text::xml_text;

/// Fonts that browsers have; bitmaps have outlines of the embedded one.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', system-ui, sans-serif";

/// What the drawing is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    /// A browser has fonts of every weight.
    Browser,
    /// Text is outlines of an embedded font. That is light, so that they have a stroke to look regular, or semibold.
    Bitmap,
}

/// Text to draw.
pub(crate) struct Words<'a> {
    pub(crate) at: Pixel,
    pub(crate) text: &'a str,
    pub(crate) size: f64,
    pub(crate) colour: Colour,
    pub(crate) anchor: Anchor,
    pub(crate) bold: bool,
    /// Degrees, clockwise.
    pub(crate) turn: f64,
    /// A white outline, where it may cross a line.
    pub(crate) halo: bool,
}

impl<'a> Words<'a> {
    pub(crate) fn new(at: Pixel, text: &'a str, size: f64, colour: Colour) -> Self {
        Self { at, text, size, colour, anchor: Anchor::Start, bold: false, turn: 0.0, halo: false }
    }

    pub(crate) fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) fn turned(self, turn: f64) -> Self {
        Self { turn, ..self }
    }

    pub(crate) fn haloed(self) -> Self {
        Self { halo: true, ..self }
    }
}

/// A drawing in the making.
pub(crate) struct Canvas {
    body: String,
    medium: Medium,
}

impl Canvas {
    pub(crate) fn new(medium: Medium) -> Self {
        Self { body: String::new(), medium }
    }

    pub(crate) fn line(&mut self, points: &[Pixel], style: &Style) {
        if points.len() < 2 {
            return;
        }
        let path = places(points);
        self.put(&format!("<polyline points=\"{path}\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n", stroke(style)));
    }

    /// Separate lines that look the same, as one element.
    pub(crate) fn segments(&mut self, segments: &[(Pixel, Pixel)], style: &Style) {
        if segments.is_empty() {
            return;
        }
        let mut path = String::new();
        for &(from, to) in segments {
            // Writing to a string cannot fail.
            let _ = write!(path, "M{},{}", coordinate(from.0), coordinate(from.1));
            let _ = match (from.0 == to.0, from.1 == to.1) {
                (true, _) => write!(path, "V{}", coordinate(to.1)),
                (_, true) => write!(path, "H{}", coordinate(to.0)),
                _ => write!(path, "L{},{}", coordinate(to.0), coordinate(to.1)),
            };
        }
        self.put(&format!("<path d=\"{path}\" fill=\"none\"{}/>\n", stroke(style)));
    }

    pub(crate) fn polygon(&mut self, points: &[Pixel], colour: Colour, opacity: f64) {
        if points.len() < 3 {
            return;
        }
        let path = places(points);
        let next = points.iter().cycle().skip(1);
        // Blurred edges of two polygons that touch would leave a pale line between them.
        let upright = points.iter().zip(next).all(|(from, to)| from.0 == to.0 || from.1 == to.1);
        let edges = if upright { " shape-rendering=\"crispEdges\"" } else { "" };
        self.put(&format!("<polygon points=\"{path}\" fill=\"{colour}\"{}{edges}/>\n", fill_opacity(opacity)));
    }

    pub(crate) fn rectangle(&mut self, area: &Rectangle, colour: Colour, opacity: f64) {
        let (x, y) = (coordinate(area.left), coordinate(area.top));
        let (width, height) = (coordinate(area.width), coordinate(area.height));
        let opacity = fill_opacity(opacity);
        self.put(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"{opacity}/>\n"
        ));
    }

    /// A point: a circle, a square or a triangle, by its dash.
    pub(crate) fn marker(&mut self, (x, y): Pixel, style: &Style, hollow: bool) {
        // A thin style has small points: for a cloud of many.
        let radius = (3.4 + 0.35 * style.width).min(4.0 * style.width);
        let (fill, edge) = if hollow {
            ("#ffffff".to_owned(), style.colour.to_string())
        } else {
            (style.colour.to_string(), "#ffffff".to_owned())
        };
        let width = if hollow { 1.8 } else { 0.8 };
        let look = format!("fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"{width}\"{}", opacity_of(style.opacity));
        let shape = match style.dash {
            Dash::Solid => {
                format!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {look}/>\n",
                    coordinate(x),
                    coordinate(y),
                    coordinate(radius)
                )
            }
            Dash::Dashed => {
                let half = 0.88 * radius;
                let corners = [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)];
                format!("<polygon points=\"{}\" {look}/>\n", places(&corners))
            }
            Dash::Dotted => {
                let (half, up, down) = (1.1 * radius, 1.25 * radius, 0.75 * radius);
                let corners = [(x, y - up), (x + half, y + down), (x - half, y + down)];
                format!("<polygon points=\"{}\" {look}/>\n", places(&corners))
            }
        };
        self.put(&shape);
    }

    pub(crate) fn words(&mut self, words: &Words<'_>) {
        if words.text.is_empty() {
            return;
        }
        let (x, y) = (coordinate(words.at.0), coordinate(words.at.1));
        let turn = if words.turn == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({} {x} {y})\"", coordinate(words.turn))
        };
        let halo = " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\"";
        let colour = words.colour;
        match self.medium {
            Medium::Browser => {
                let anchor = match words.anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let weight = if words.bold { " font-weight=\"600\"" } else { "" };
                let place =
                    format!("x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{weight}{turn}", coordinate(words.size));
                let halo = if words.halo { format!("{halo} paint-order=\"stroke\"") } else { String::new() };
                let text = xml_text(words.text);
                self.put(&format!("<text {place} fill=\"{colour}\"{halo}>{text}</text>\n"));
            }
            Medium::Bitmap => {
                let letters = Letters::set(words.text, words.size);
                let left = match words.anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => letters.width / 2.0,
                    Anchor::End => letters.width,
                };
                let path = letters.path((words.at.0 - left, words.at.1));
                if words.halo {
                    self.put(&format!("<path d=\"{path}\"{turn} fill=\"#ffffff\"{halo}/>\n"));
                }
                let weight = coordinate(if words.bold { 0.055 } else { 0.022 } * words.size);
                self.put(&format!(
                    "<path d=\"{path}\"{turn} fill=\"{colour}\" stroke=\"{colour}\" stroke-width=\"{weight}\"/>\n"
                ));
            }
        }
    }

    /// Begins a group; a browser shows its name when the pointer rests on it.
    pub(crate) fn open(&mut self, name: &str) {
        if name.is_empty() {
            self.put("<g>\n");
        } else {
            self.put(&format!("<g><title>{}</title>\n", xml_text(name)));
        }
    }

    pub(crate) fn close(&mut self) {
        self.put("</g>\n");
    }

    /// The whole document.
    pub(crate) fn finish(self, (width, height): (f64, f64), title: &str, description: &str) -> String {
        let (width, height) = (coordinate(width), coordinate(height));
        let title = xml_text(title);
        let mut document = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}\" font-family=\"{FONTS}\">\n<title>{title}</title>\n"
        );
        if !description.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(document, "<desc>{}</desc>", xml_text(description));
        }
        let _ = writeln!(document, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        document.push_str(&self.body);
        document.push_str("</svg>\n");
        document
    }

    fn put(&mut self, element: &str) {
        self.body.push_str(element);
    }
}

fn places(points: &[Pixel]) -> String {
    let write = if points.len() > 12 { rough_coordinate } else { coordinate };
    let places: Vec<String> = points.iter().map(|&(x, y)| format!("{},{}", write(x), write(y))).collect();
    places.join(" ")
}

fn stroke(style: &Style) -> String {
    let dash = match style.dash {
        Dash::Solid => String::new(),
        Dash::Dashed => pattern(3.6 * style.width.max(1.0), 2.0 * style.width.max(1.0)),
        Dash::Dotted => pattern(1.1 * style.width.max(1.0), 1.3 * style.width.max(1.0)),
    };
    let (colour, width) = (style.colour, coordinate(style.width));
    format!(" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}{}", opacity_of(style.opacity))
}

fn pattern(drawn: f64, left_out: f64) -> String {
    format!(" stroke-dasharray=\"{} {}\"", coordinate(drawn), coordinate(left_out))
}

fn opacity_of(opacity: f64) -> String {
    if opacity >= 1.0 { String::new() } else { format!(" opacity=\"{}\"", coordinate(opacity.max(0.0))) }
}

fn fill_opacity(opacity: f64) -> String {
    if opacity >= 1.0 { String::new() } else { format!(" fill-opacity=\"{}\"", coordinate(opacity.max(0.0))) }
}
