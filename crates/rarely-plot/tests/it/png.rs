//! Figures as bitmaps.

use rarely_plot::{Figure, FigureError};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree;

use crate::gallery;

#[test]
fn bitmaps_have_the_size_of_the_drawing_and_are_not_blank() {
    for (name, figure) in gallery() {
        let svg = figure.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let length = |side: &str| document.root_element().attribute(side).unwrap().parse::<f64>().unwrap();
        let bitmap = Pixmap::decode_png(&figure.png(1.5).unwrap()).unwrap();
        assert_eq!(f64::from(bitmap.width()), (1.5 * length("width")).ceil(), "{name}");
        assert_eq!(f64::from(bitmap.height()), (1.5 * length("height")).ceil(), "{name}");
        let inked = bitmap.pixels().iter().filter(|pixel| pixel.red() < 200).count();
        assert!(inked > 500, "{name} has {inked} dark pixels");
    }
}

#[test]
fn pixels_are_those_of_the_bitmap() {
    for (name, figure) in gallery() {
        let (found, bitmap) = (figure.pixels(2.0).unwrap(), Pixmap::decode_png(&figure.png(2.0).unwrap()).unwrap());
        assert_eq!((found.width, found.height), (bitmap.width(), bitmap.height()), "{name}");
        assert_eq!(found.rgba, bitmap.take_demultiplied(), "{name}");
        assert_eq!(found.rgba[3], 255, "{name} has a background");
    }
}

#[test]
fn a_scale_that_makes_no_bitmap_is_an_error() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
        let error = Figure::default().png(scale).unwrap_err();
        assert!(matches!(error, FigureError::Size { .. }), "{scale}: {error}");
    }
}
