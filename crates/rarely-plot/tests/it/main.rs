//! The tests of rarely-plot, in one binary: each file is named after the module that it tests.

mod figure;
mod labels;
mod legend;
mod number;
mod pdf;
mod png;
mod scale;

#[path = "../../examples/gallery/figures.rs"]
mod figures;

use rarely_plot::Figure;

/// All figures of the gallery.
fn gallery() -> Vec<(&'static str, Figure)> {
    figures::invented()
}
