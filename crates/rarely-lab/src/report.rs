//! Experiments and the reproduction of the paper as figures, pages, text, and directories of files.

pub mod default_grid;
mod files;
mod planar;
pub mod reproduction;
pub mod results;
mod style;

pub use files::ResultFiles;
pub use planar::{ConeState, ThresholdState, cone_picture, threshold_picture};
pub use style::style_of;
