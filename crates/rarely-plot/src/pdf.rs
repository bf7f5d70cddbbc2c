//! From SVG to PDF: vectors on one page as large as the figure, letters as outlines, the same bytes for the same figure.
//!
//! The drawing is read by `usvg`, as for a bitmap, so that there is one way to draw.
//! Of PDF only paths, plain colours and opacities are needed; that is shorter than a library's set-up.

use std::fmt::Write as _;

use miniz_oxide::deflate::compress_to_vec_zlib;
use resvg::tiny_skia::PathSegment;
use resvg::usvg::{Color, Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Stroke};

use crate::figure::Figure;
use crate::png::{FigureError, read};
use crate::svg::Medium;

/// The number of the object with what is drawn.
const CONTENT: usize = 4;
/// Points of a page for each pixel of the SVG: 72 points and 96 pixels are an inch.
const POINTS: f32 = 0.75;

impl Figure {
    /// The figure as a PDF of one page, for a paper.
    ///
    /// # Errors
    /// [`FigureError::Drawing`] if the drawing cannot be read back.
    pub fn pdf(&self) -> Result<Vec<u8>, FigureError> {
        self.pdf_made_by("")
    }

    /// [`Figure::pdf`] that says in its keywords what made it.
    ///
    /// # Errors
    /// As [`Figure::pdf`].
    pub fn pdf_made_by(&self, made_by: &str) -> Result<Vec<u8>, FigureError> {
        let tree = read(&self.draw(Medium::Bitmap))?;
        let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
        let mut page = PageContent::default();
        // PDF counts upwards from the lower edge.
        let _ = writeln!(page.stream, "{} 0 0 {} 0 {} cm", number(POINTS), number(-POINTS), number(height));
        page.group(tree.root(), 1.0);
        let about = [&self.title, self.note.as_deref().unwrap_or_default(), made_by];
        Ok(document(&page, (width, height), about))
    }
}

/// What is drawn, and the opacities that it uses.
#[derive(Default)]
struct PageContent {
    stream: String,
    /// In thousandths, each once: state `/A500` draws with 0.5.
    opacities: Vec<u32>,
}

impl PageContent {
    fn group(&mut self, group: &Group, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner, opacity),
                Node::Path(path) => self.path(path, opacity),
                // Letters are paths, and figures hold no images.
                Node::Text(_) | Node::Image(_) => {}
            }
        }
    }

    fn path(&mut self, path: &Path, opacity: f32) {
        if !path.is_visible() {
            return;
        }
        self.stream.push_str("q\n");
        let place = path.abs_transform();
        if !place.is_identity() {
            let parts = [place.sx, place.ky, place.kx, place.sy, place.tx, place.ty].map(number);
            let _ = writeln!(self.stream, "{} cm", parts.join(" "));
        }
        let of = |share: Option<f32>| share.map(|share| opacity * share);
        let filled = of(path.fill().map(|fill| fill.opacity().get()));
        let stroked = of(path.stroke().map(|stroke| stroke.opacity().get()));
        self.opacity(filled.or(stroked).unwrap_or(1.0));
        let fill = path.fill().and_then(|fill| self.filling(fill));
        if let (Some("f"), Some(stroke), true) = (fill, path.stroke(), filled == stroked) {
            // Both at once: letters have an outline, and would be written twice.
            if self.stroking(stroke).is_some() {
                self.outline(path);
                self.stream.push_str("B\n");
            }
        } else {
            if let Some(operator) = fill {
                self.outline(path);
                let _ = writeln!(self.stream, "{operator}");
            }
            if let (Some(stroke), Some(stroked)) = (path.stroke(), stroked) {
                self.opacity(stroked);
                if self.stroking(stroke).is_some() {
                    self.outline(path);
                    self.stream.push_str("S\n");
                }
            }
        }
        self.stream.push_str("Q\n");
    }

    /// How a path is filled from now on; the operator that fills it.
    fn filling(&mut self, fill: &Fill) -> Option<&'static str> {
        let colour = plain(fill.paint())?;
        let _ = writeln!(self.stream, "{colour} rg");
        Some(if fill.rule() == FillRule::EvenOdd { "f*" } else { "f" })
    }

    /// How a path is stroked from now on.
    fn stroking(&mut self, stroke: &Stroke) -> Option<()> {
        let colour = plain(stroke.paint())?;
        let cap = match stroke.linecap() {
            LineCap::Butt => 0,
            LineCap::Round => 1,
            LineCap::Square => 2,
        };
        let join = match stroke.linejoin() {
            LineJoin::Round => 1,
            LineJoin::Bevel => 2,
            LineJoin::Miter | LineJoin::MiterClip => 0,
        };
        let dashes = stroke.dasharray().unwrap_or_default().iter().map(|&length| number(length)).collect::<Vec<_>>();
        let width = number(stroke.width().get());
        let _ = writeln!(self.stream, "{colour} RG {width} w {cap} J {join} j [{}] 0 d", dashes.join(" "));
        Some(())
    }

    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.data().segments() {
            let _ = match segment {
                PathSegment::MoveTo(to) => {
                    last = (to.x, to.y);
                    writeln!(self.stream, "{} {} m", number(to.x), number(to.y))
                }
                PathSegment::LineTo(to) => {
                    last = (to.x, to.y);
                    writeln!(self.stream, "{} {} l", number(to.x), number(to.y))
                }
                PathSegment::QuadTo(by, to) => {
                    // PDF has cubic curves only; this one is the same.
                    let towards = |end: f32, middle: f32| end + 2.0 / 3.0 * (middle - end);
                    let first = (towards(last.0, by.x), towards(last.1, by.y));
                    let second = (towards(to.x, by.x), towards(to.y, by.y));
                    last = (to.x, to.y);
                    let places = [first.0, first.1, second.0, second.1, to.x, to.y].map(number);
                    writeln!(self.stream, "{} c", places.join(" "))
                }
                PathSegment::CubicTo(one, two, to) => {
                    last = (to.x, to.y);
                    let places = [one.x, one.y, two.x, two.y, to.x, to.y].map(number);
                    writeln!(self.stream, "{} c", places.join(" "))
                }
                PathSegment::Close => writeln!(self.stream, "h"),
            };
        }
    }

    fn opacity(&mut self, opacity: f32) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
        let thousandths = (1000.0 * opacity.clamp(0.0, 1.0)).round() as u32;
        if !self.opacities.contains(&thousandths) {
            self.opacities.push(thousandths);
        }
        let _ = writeln!(self.stream, "/A{thousandths} gs");
    }
}

/// Red, green and blue from 0 to 1, of a plain colour.
fn plain(paint: &Paint) -> Option<String> {
    let Paint::Color(Color { red, green, blue }) = paint else { return None };
    Some([*red, *green, *blue].map(|part| number(f32::from(part) / 255.0)).join(" "))
}

/// A number with at most three decimals, as PDF writes it.
fn number(value: f32) -> String {
    let text = format!("{value:.3}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// The whole file: a catalogue with one page, its contents, and what it is of.
fn document(page: &PageContent, (width, height): (f32, f32), about: [&str; 3]) -> Vec<u8> {
    let [title, subject, made_by] = about;
    let states: String = page.opacities.iter().fold(String::new(), |mut states, &opacity| {
        let share = number(opacity as f32 / 1000.0);
        let _ = write!(states, "/A{opacity} << /ca {share} /CA {share} >> ");
        states
    });
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources << /ExtGState << {states}>> >> >>",
            number(width),
            number(height)
        ),
        String::new(),
        format!(
            "<< /Title {} /Subject {} /Keywords {} /Producer {} >>",
            text_string(title),
            text_string(subject),
            text_string(made_by),
            text_string(concat!("rarely ", env!("CARGO_PKG_VERSION")))
        ),
    ];
    let content = compress_to_vec_zlib(page.stream.as_bytes(), 6);
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend_from_slice(format!("{} 0 obj\n{object}", at + 1).as_bytes());
        if at + 1 == CONTENT {
            let head = format!("<< /Length {} /Filter /FlateDecode >>\nstream\n", content.len());
            file.extend_from_slice(head.as_bytes());
            file.extend_from_slice(&content);
            file.extend_from_slice(b"\nendstream");
        }
        file.extend_from_slice(b"\nendobj\n");
    }
    let (table, size) = (file.len(), objects.len() + 1);
    let mut end = format!("xref\n0 {size}\n0000000000 65535 f \n");
    for place in places {
        let _ = writeln!(end, "{place:010} 00000 n ");
    }
    let _ = write!(end, "trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{table}\n%%EOF\n");
    file.extend_from_slice(end.as_bytes());
    file
}

/// Words in any script, as UTF-16 in hexadecimal digits.
fn text_string(text: &str) -> String {
    let digits = text.encode_utf16().fold(String::new(), |mut digits, unit| {
        let _ = write!(digits, "{unit:04X}");
        digits
    });
    format!("<FEFF{digits}>")
}
