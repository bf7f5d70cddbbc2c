//! Every figure of the gallery is well formed, legible and the same each time.

mod drawing;
mod laws;

#[path = "../../examples/gallery/figures.rs"]
mod figures;

use rarely_plot::Figure;

/// All figures of the gallery.
fn gallery() -> Vec<(&'static str, Figure)> {
    figures::invented()
}
