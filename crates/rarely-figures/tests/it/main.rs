//! Every figure of the gallery is well formed, legible and the same each time.

mod drawing;
mod laws;
mod planar;
mod review;

#[path = "../../examples/gallery/figures.rs"]
mod figures;
#[path = "../../examples/gallery/state.rs"]
mod state;

use rarely_figures::Figure;

/// All figures of the gallery.
fn gallery() -> Vec<(&'static str, Figure)> {
    figures::invented().into_iter().chain(state::simulated().expect("the simulations run")).collect()
}
