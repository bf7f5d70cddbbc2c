//! Text as outlines, from the embedded fonts: the same drawing on a machine without fonts.
//!
//! A line of a figure is short and runs from left to right, so letters stand one after the other by their widths. Kerning, ligatures and
//! right-to-left scripts would need a shaping library, which took longer to compile than the rest of this crate.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::clip::Pixel;
use crate::number::coordinate;

/// Marks that stand on the letter before them.
const COMBINING: RangeInclusive<char> = '\u{300}'..='\u{36f}';

/// The second one is for the few characters that the first one lacks.
static FACES: LazyLock<Vec<Face<'static>>> = LazyLock::new(|| {
    let fonts = [epaint_default_fonts::UBUNTU_LIGHT, epaint_default_fonts::HACK_REGULAR];
    fonts.iter().filter_map(|font| Face::parse(font, 0).ok()).collect()
});

/// A line of text in its place.
pub(crate) struct Letters {
    glyphs: Vec<Placed>,
    /// In pixels.
    pub(crate) width: f64,
}

/// A letter, and how far right of the beginning of the line it stands.
struct Placed {
    face: &'static Face<'static>,
    glyph: GlyphId,
    at: f64,
    /// Pixels per unit of the font.
    scale: f64,
}

impl Letters {
    /// Sets a line of text.
    pub(crate) fn set(text: &str, size: f64) -> Self {
        let (mut glyphs, mut width) = (Vec::new(), 0.0);
        for character in text.chars() {
            let Some((face, glyph)) = glyph(drawn(character)) else { continue };
            let scale = size / f64::from(face.units_per_em());
            let advance = scale * f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
            let letter = Placed { face, glyph, at: width, scale };
            if let Some(below) = glyphs.last().filter(|_| COMBINING.contains(&character)) {
                glyphs.push(letter.centred_on(below));
            } else {
                width += advance;
                glyphs.push(letter);
            }
        }
        Self { glyphs, width }
    }

    /// The outlines as the data of an SVG path, with the beginning of the line's base at a pixel.
    pub(crate) fn path(&self, (x, y): Pixel) -> String {
        let mut data = String::new();
        for letter in &self.glyphs {
            let mut outline = Outline { data: &mut data, origin: (x + letter.at, y), scale: letter.scale };
            // A space has none.
            let _ = letter.face.outline_glyph(letter.glyph, &mut outline);
        }
        data
    }
}

impl Placed {
    /// A mark in the middle of the letter before it.
    fn centred_on(mut self, below: &Self) -> Self {
        if let (Some(own), Some(other)) = (self.middle(), below.middle()) {
            self.at = below.at + other - own;
        }
        self
    }

    /// The middle of what is drawn, in pixels from where it stands.
    fn middle(&self) -> Option<f64> {
        let area = self.face.glyph_bounding_box(self.glyph)?;
        Some(self.scale * (f64::from(area.x_min) + f64::from(area.x_max)) / 2.0)
    }
}

/// What is drawn for a character.
fn drawn(character: char) -> char {
    match character {
        // No embedded font has a raised minus; this is one to the eye.
        '⁻' => '¯',
        other if other.is_control() => ' ',
        other => other,
    }
}

/// The first font that has the character; the box for unknown ones if none has.
fn glyph(character: char) -> Option<(&'static Face<'static>, GlyphId)> {
    let found = FACES.iter().find_map(|face| Some((face, face.glyph_index(character)?)));
    found.or_else(|| Some((FACES.first()?, GlyphId(0))))
}

/// Writes an outline, whose unit is that of the font and which counts upwards, as a path in pixels.
struct Outline<'a> {
    data: &'a mut String,
    origin: Pixel,
    scale: f64,
}

impl Outline<'_> {
    fn put<const N: usize>(&mut self, command: char, points: [(f32, f32); N]) {
        self.data.push(command);
        for (x, y) in points {
            let (x, y) = (self.origin.0 + self.scale * f64::from(x), self.origin.1 - self.scale * f64::from(y));
            // Writing to a string cannot fail.
            let _ = write!(self.data, " {} {}", coordinate(x), coordinate(y));
        }
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.put('M', [(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.put('L', [(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.put('Q', [(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.put('C', [(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.data.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_one_after_the_other() {
        let width = |text: &str| Letters::set(text, 10.0).width;
        assert!(width("i") < width("m"));
        assert!((width("im") - width("i") - width("m")).abs() < 1e-9);
        assert!((Letters::set("im", 20.0).width - 2.0 * width("im")).abs() < 1e-9);
        assert_eq!(Letters::set("im", 10.0).path((3.0, 7.0)).matches('Z').count(), 3, "a stem, a dot, and an m");
    }

    #[test]
    fn a_mark_takes_no_room_and_stands_on_its_letter() {
        let (plain, marked) = (Letters::set("a", 10.0), Letters::set("a\u{302}", 10.0));
        assert_eq!(plain.width, marked.width);
        let middle = |letter: &Placed| letter.at + letter.middle().unwrap_or(f64::NAN);
        assert!((middle(&marked.glyphs[0]) - middle(&marked.glyphs[1])).abs() < 1e-9);
    }

    #[test]
    fn every_character_is_drawn() {
        let (space, unknown) = (Letters::set(" ", 10.0), Letters::set("\u{4e2d}", 10.0));
        assert!(space.path((0.0, 0.0)).is_empty() && space.width > 0.0);
        assert!(!unknown.path((0.0, 0.0)).is_empty(), "a box");
        for character in "0123456789.,−±×·–%()αβδεθλμσΔΣ√≤≥²³⁻".chars().map(drawn) {
            assert_ne!(glyph(character).map(|(_, glyph)| glyph), Some(GlyphId(0)), "{character}");
        }
    }
}
