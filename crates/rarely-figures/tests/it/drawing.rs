//! What comes out: XML, bytes, pixels, and boxes of words.

use std::sync::Arc;

use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Group, Node, Options, Tree, fontdb::Database, roxmltree};

use rarely_figures::{Axis, Figure, FigureError, Legend, Mark, Panel, style_of};

use crate::gallery;

#[test]
fn every_figure_is_well_formed_and_holds_only_numbers() {
    for (name, figure) in gallery() {
        let svg = figure.svg();
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"), "{name}");
        assert_eq!(root.attribute("aria-label"), Some(figure.title.as_str()), "{name}");
        assert!(root.attribute("viewBox").is_some(), "{name}");
        for node in document.descendants() {
            for attribute in node.attributes().filter(|attribute| is_numeric(attribute.name())) {
                assert!(
                    !attribute.value().contains("NaN") && !attribute.value().contains("inf"),
                    "{name}: {attribute:?}"
                );
                check_decimals(name, attribute.value());
            }
        }
        assert!(!svg.contains("href") && !svg.contains("url("), "{name} has an outside resource");
    }
}

fn is_numeric(attribute: &str) -> bool {
    !["fill", "stroke", "font-family", "aria-label", "role"].contains(&attribute)
}

/// At most two decimals.
fn check_decimals(name: &str, numbers: &str) {
    for number in numbers.split(|character: char| !(character.is_ascii_digit() || character == '.')) {
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert!(decimals <= 2, "{name}: {number}");
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

struct Words {
    text: String,
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    size: f32,
}

/// The words of a drawing with the boxes they fill, measured by the renderer.
fn words(svg: &str) -> (Vec<Words>, (f32, f32)) {
    let mut fonts = Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    let family = fonts.faces().next().unwrap().families[0].0.clone();
    fonts.set_serif_family(family.clone());
    fonts.set_sans_serif_family(family);
    let tree = Tree::from_str(svg, &Options { fontdb: Arc::new(fonts), ..Options::default() }).unwrap();
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    (found, (tree.size().width(), tree.size().height()))
}

fn collect(group: &Group, found: &mut Vec<Words>) {
    for node in group.children() {
        match node {
            Node::Group(inner) => collect(inner, found),
            Node::Text(text) => {
                let area = text.abs_bounding_box();
                found.push(Words {
                    text: text.chunks().iter().map(|chunk| chunk.text().to_owned()).collect(),
                    left: area.left(),
                    top: area.top(),
                    right: area.right(),
                    bottom: area.bottom(),
                    size: text.chunks()[0].spans()[0].font_size().get(),
                });
            }
            _ => {}
        }
    }
}

#[test]
fn no_words_overlap_or_are_cut_off_or_small() {
    for (name, figure) in gallery() {
        let (words, (width, height)) = words(&figure.svg());
        assert!(!words.is_empty(), "{name}");
        for (at, one) in words.iter().enumerate() {
            assert!(one.size >= 11.0, "{name}: {:?} is small", one.text);
            let inside = one.left >= 0.0 && one.top >= 0.0 && one.right <= width && one.bottom <= height;
            assert!(inside, "{name}: {:?} is cut off", one.text);
            // A slanting line of words has a box much larger than itself.
            let slanting = |words: &Words| words.bottom - words.top > 16.0;
            for other in words[at + 1..].iter().filter(|other| !slanting(one) && !slanting(other)) {
                let across = one.right.min(other.right) - one.left.max(other.left);
                let down = one.bottom.min(other.bottom) - one.top.max(other.top);
                // Boxes are as tall as the font; letters are not.
                assert!(across <= 0.5 || down <= 3.5, "{name}: {:?} and {:?} overlap", one.text, other.text);
            }
        }
    }
}

#[test]
fn many_lines_that_end_together_have_labels_apart() {
    let names: Vec<String> = (0..30).map(|at| format!("a series with a long name {at}")).collect();
    let marks = names.iter().map(|name| Mark::line(name, style_of("rarely"), vec![(0.0, 1.0), (1.0, 1.0)])).collect();
    let panel = Panel { x: Axis::linear("x"), y: Axis::linear("y"), marks, ..Panel::default() };
    let figure = Figure { panels: vec![panel], ..Figure::default() };
    let (words, (width, height)) = words(&figure.svg());
    let mut labels: Vec<&Words> = words.iter().filter(|words| words.text.starts_with("a series")).collect();
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
