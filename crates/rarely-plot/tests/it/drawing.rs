//! What comes out: XML, bytes, pixels, and boxes of words.

use rarely_plot::conformance::{DrawnWords, check, words};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree;

use rarely_plot::{Axis, Figure, FigureError, Legend, Mark, Panel, style_of};

use crate::gallery;

#[test]
fn every_figure_passes_the_checks() {
    for (name, figure) in gallery() {
        check(name, &figure);
    }
}

#[test]
fn the_same_figure_is_the_same_bytes() {
    for ((name, first), (_, second)) in gallery().into_iter().zip(gallery()) {
        assert_eq!(first.svg(), second.svg(), "{name}");
    }
    let (_, figure) = gallery().swap_remove(0);
    assert_eq!(figure.png(1.0).unwrap(), figure.png(1.0).unwrap());
}

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
fn a_scale_that_makes_no_bitmap_is_an_error() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
        let error = Figure::default().png(scale).unwrap_err();
        assert!(matches!(error, FigureError::Size { .. }), "{scale}: {error}");
    }
}

#[test]
fn many_lines_that_end_together_have_labels_apart() {
    let names: Vec<String> = (0..30).map(|at| format!("a series with a long name {at}")).collect();
    let marks = names.iter().map(|name| Mark::line(name, style_of("rarely"), vec![(0.0, 1.0), (1.0, 1.0)])).collect();
    let panel = Panel { x: Axis::linear("x"), y: Axis::linear("y"), marks, ..Panel::default() };
    let figure = Figure { panels: vec![panel], ..Figure::default() };
    let (words, (width, height)) = words(&figure.svg());
    let mut labels: Vec<&DrawnWords> = words.iter().filter(|words| words.text.starts_with("a series")).collect();
    assert_eq!(labels.len(), 30);
    assert!(labels.iter().all(|label| label.right < width && label.bottom < height && label.top > 0.0));
    labels.sort_by(|a, b| a.top.total_cmp(&b.top));
    assert!(labels.windows(2).all(|pair| pair[1].top - pair[0].top >= 13.9));
}

#[test]
fn each_name_is_once_in_the_legend_below() {
    let (_, grid) = gallery().into_iter().find(|(name, _)| *name == "grid").unwrap();
    assert_eq!(grid.legend, Legend::Below);
    let (words, _) = words(&grid.svg());
    assert_eq!(words.iter().filter(|words| words.text == "rs-conservative").count(), 1);
}

#[test]
fn words_are_escaped() {
    let title = "a < b & \"c\" > d \u{1}";
    let figure = Figure { title: title.into(), note: Some("<script>".into()), ..Figure::default() };
    let svg = figure.svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().attribute("aria-label"), Some("a < b & \"c\" > d "));
    assert!(!svg.contains("<script>"));
}
