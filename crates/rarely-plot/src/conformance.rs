//! Checks that every figure must pass: well-formed XML, only finite numbers, nothing outside the drawing, and words that do not overlap and
//! can be read.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb::Database;
use resvg::usvg::{Group, Node, Options, Tree, roxmltree};

use crate::figure::Figure;

/// The embedded fonts, by which words are measured.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|family| family.0.clone());
    if let Some(family) = family {
        fonts.set_serif_family(family.clone());
        fonts.set_sans_serif_family(family);
    }
    Arc::new(fonts)
});

/// Checks a figure's SVG.
///
/// # Panics
/// If it fails a check; the message begins with `name`.
pub fn check(name: &str, figure: &Figure) {
    check_drawing(name, figure, &figure.svg());
}

/// Checks the SVG of a figure in a column of this width.
///
/// # Panics
/// If it fails a check; the message begins with `name`.
pub fn check_within(name: &str, figure: &Figure, width: f64) {
    check_drawing(&format!("{name} in {width} pixels"), figure, &figure.svg_within(width));
}

fn check_drawing(name: &str, figure: &Figure, svg: &str) {
    check_markup(name, figure, svg);
    check_words(name, svg);
    check_shapes(name, svg);
}

/// Every line and polygon is inside the drawing.
fn check_shapes(name: &str, svg: &str) {
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(svg, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut groups = vec![tree.root()];
    while let Some(group) = groups.pop() {
        for node in group.children() {
            match node {
                Node::Group(inner) => groups.push(inner),
                Node::Path(path) => {
                    let area = path.abs_bounding_box();
                    let inside = area.left() >= -0.5
                        && area.top() >= -0.5
                        && area.right() <= tree.size().width() + 0.5
                        && area.bottom() <= tree.size().height() + 0.5;
                    assert!(inside, "{name}: a line or polygon at {area:?} is outside the drawing");
                }
                _ => {}
            }
        }
    }
}

fn check_markup(name: &str, figure: &Figure, svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"), "{name}");
    assert_eq!(root.attribute("aria-label"), Some(figure.title.as_str()), "{name}");
    assert!(root.attribute("viewBox").is_some(), "{name}");
    for node in document.descendants() {
        for attribute in node.attributes().filter(|attribute| is_numeric(attribute.name())) {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}: {attribute:?}");
            check_decimals(name, value);
        }
    }
    assert!(!svg.contains("href") && !svg.contains("url("), "{name} has an outside resource");
}

fn is_numeric(attribute: &str) -> bool {
    !["fill", "stroke", "font-family", "aria-label", "role", "shape-rendering"].contains(&attribute)
}

/// At most two decimals.
fn check_decimals(name: &str, numbers: &str) {
    for number in numbers.split(|character: char| !(character.is_ascii_digit() || character == '.')) {
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert!(decimals <= 2, "{name}: {number}");
    }
}

fn check_words(name: &str, svg: &str) {
    let (words, (width, height)) = words(svg);
    assert!(!words.is_empty(), "{name}");
    for (at, one) in words.iter().enumerate() {
        assert!(one.size >= 11.0, "{name}: {:?} is small", one.text);
        let inside = one.left >= 0.0 && one.top >= 0.0 && one.right <= width && one.bottom <= height;
        assert!(inside, "{name}: {:?} is cut off", one.text);
        // A slanted line of words has a box much larger than itself.
        let slanted = |words: &DrawnWords| words.bottom - words.top > 16.0;
        for other in words[at + 1..].iter().filter(|other| !slanted(one) && !slanted(other)) {
            let across = one.right.min(other.right) - one.left.max(other.left);
            let down = one.bottom.min(other.bottom) - one.top.max(other.top);
            // Boxes are as tall as the font; letters are not.
            assert!(across <= 0.5 || down <= 3.5, "{name}: {:?} and {:?} overlap", one.text, other.text);
        }
    }
}

/// Words in a drawing and the box that they fill.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct DrawnWords {
    pub text: String,
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
    pub size: f32,
}

/// The words of a drawing with their boxes, measured by the renderer; and the drawing's width and height.
///
/// # Panics
/// If the drawing cannot be read.
pub fn words(svg: &str) -> (Vec<DrawnWords>, (f32, f32)) {
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(svg, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    (found, (tree.size().width(), tree.size().height()))
}

fn collect(group: &Group, found: &mut Vec<DrawnWords>) {
    for node in group.children() {
        match node {
            Node::Group(inner) => collect(inner, found),
            Node::Text(text) => {
                let area = text.abs_bounding_box();
                found.push(DrawnWords {
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
