//! Turns a result table or a piece of evidence into a figure, a page or a text; never runs an experiment.
//!
//! A [`Figure`] is plain data: panels with axes and marks. [`Figure::svg`] draws it for a browser, [`Figure::png`] as
//! a bitmap with an embedded font. The same figure gives the same bytes. [`threshold_picture`] and [`cone_picture`]
//! make figures of what a policy with two context variables knows.
//!
//! | module | what it is about |
//! |---|---|
//! | `figure`, `style` | the grammar; colours, and the look of each algorithm |
//! | `scale`, `number`, `text` | ranges and ticks; numbers and words as they are written |
//! | `measure`, `labels`, `legend` | the margins a panel needs; labels that do not overlap; the legend below |
//! | `draw`, `frame`, `marks`, `clip` | placing; axes; marks; what of a line lies in the panel |
//! | `svg`, `png` | the two outputs |
//! | `planar` | pictures of thresholds and of cones |
//! | `page`, `table`, `files` | HTML pages; tables as text; what is written into a folder |
//! | [`results`], [`review`], [`reproduction`] | result tables, a review of a policy, the whole paper: as figures, pages and text |
#![deny(missing_docs)]

mod clip;
mod draw;
mod figure;
mod files;
mod frame;
mod labels;
mod legend;
mod marks;
mod measure;
mod number;
mod page;
mod planar;
mod png;
pub mod reproduction;
pub mod results;
pub mod review;
mod scale;
mod style;
mod svg;
mod table;
mod text;

pub use figure::{Anchor, Aspect, Axis, Bar, Direction, Figure, Legend, Mark, Panel, Point, Scale};
pub use files::FilesError;
pub use number::value_text;
pub use page::{Cell, Page, Tone};
pub use planar::{ConeState, ThresholdState, cone_picture, threshold_picture};
pub use png::{FigureError, MAX_PIXELS};
pub use style::{Colour, Dash, Style, style_of, style_of_arm};
pub use table::Table;
