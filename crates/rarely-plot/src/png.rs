//! From SVG to PNG: the same pixels on every machine.

use rarely_error::{Explain, Remedy};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::figure::Figure;
use crate::svg::Medium;

/// The widest and highest bitmap, in pixels.
pub const MAX_PIXELS: u32 = 16_384;

/// How much larger than the drawing a bitmap in a file is, so that it is sharp in print.
pub(crate) const FILE_SCALE: f32 = 2.0;

/// What can go wrong when a figure is made into a bitmap.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// The scale is not a positive number, or makes too large a bitmap.
    #[error(
        "a scale of {scale} makes a bitmap of {width} × {height} pixels, but each side must have 1 to {MAX_PIXELS}"
    )]
    Size {
        /// As given.
        scale: f32,
        /// Of the bitmap.
        width: f32,
        /// Of the bitmap.
        height: f32,
    },
    /// The drawing could not be read back: a fault of this library.
    #[error("the drawing could not be read: {0}")]
    Drawing(String),
    /// The bitmap could not be written: a fault of this library.
    #[error("the bitmap could not be written: {0}")]
    Encoding(String),
}

impl Explain for FigureError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Size { .. } => Some(Remedy::new("choose a scale of 2 for a screen, or 3 for print")),
            Self::Drawing(_) | Self::Encoding(_) => None,
        }
    }
}

/// A picture as pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Red, green, blue and opacity of each pixel, row by row from the top.
    pub rgba: Vec<u8>,
}

/// Reads a drawing back.
pub(crate) fn read(drawing: &str) -> Result<Tree, FigureError> {
    Tree::from_str(drawing, &Options::default()).map_err(|source| FigureError::Drawing(source.to_string()))
}

impl Figure {
    /// Its two files, SVG and PNG, with their names; `name` has no extension.
    ///
    /// # Errors
    /// [`FigureError`] if it cannot be drawn as a bitmap.
    pub fn files(&self, name: &str) -> Result<[(String, Vec<u8>); 2], FigureError> {
        Ok([(format!("{name}.svg"), self.svg().into_bytes()), (format!("{name}.png"), self.png(FILE_SCALE)?)])
    }

    /// The figure as a PNG, `scale` pixels of it for each pixel of the SVG: 2 is good on a screen, 3 in print.
    ///
    /// # Errors
    /// [`FigureError::Size`] if the scale is not positive or the bitmap too large.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, FigureError> {
        self.rendered(scale)?.encode_png().map_err(|source| FigureError::Encoding(source.to_string()))
    }

    /// The figure as pixels, for a program that shows or stores them itself. A figure has a background.
    ///
    /// # Errors
    /// [`FigureError::Size`] if the scale is not positive or the bitmap too large.
    pub fn pixels(&self, scale: f32) -> Result<Bitmap, FigureError> {
        let rendered = self.rendered(scale)?;
        Ok(Bitmap { width: rendered.width(), height: rendered.height(), rgba: rendered.take_demultiplied() })
    }

    fn rendered(&self, scale: f32) -> Result<Pixmap, FigureError> {
        let tree = read(&self.draw(Medium::Bitmap))?;
        let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
        let mut bitmap = bitmap(width, height).ok_or(FigureError::Size { scale, width, height })?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut bitmap.as_mut());
        Ok(bitmap)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn bitmap(width: f32, height: f32) -> Option<Pixmap> {
    let limit = MAX_PIXELS as f32;
    let fits = |length: f32| length >= 1.0 && length <= limit;
    // In range, as just checked.
    if fits(width) && fits(height) { Pixmap::new(width.ceil() as u32, height.ceil() as u32) } else { None }
}
