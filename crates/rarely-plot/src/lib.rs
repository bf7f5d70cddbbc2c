//! The drawing grammar.
//!
//! A [`Figure`] is plain data: panels with axes and marks. [`Figure::svg`] draws it for a browser, [`Figure::png`] as a bitmap
//! with letters of an embedded font. The same figure always gives the same bytes. A [`Page`] is one self-contained HTML file with figures
//! and tables in it.
//!
//! | module | what it is about |
//! |---|---|
//! | `figure`, `style` | the grammar; colours, and the look of each algorithm |
//! | `scale`, `number`, `text` | ranges and ticks; numbers and words as they are written |
//! | `measure`, `labels`, `legend` | the margins a panel needs; labels that do not overlap; the legend below |
//! | `draw`, `frame`, `marks`, `clip`, `letters` | layout; axes; marks; the part of a line that lies in the panel; text as outlines |
//! | `svg`, `png`, `pdf`, `page`, `made_by` | the outputs, and what they say of their origin |
//! | `conformance` | checks that every figure must pass (a feature, for tests) |
#![deny(missing_docs)]

mod clip;
#[cfg(feature = "conformance")]
pub mod conformance;
mod draw;
mod figure;
mod frame;
mod labels;
mod legend;
mod letters;
mod made_by;
mod marks;
mod measure;
mod number;
mod page;
mod pdf;
mod png;
mod scale;
mod style;
mod svg;
mod text;

pub use figure::{Anchor, Aspect, Axis, Bar, Direction, Figure, Legend, Mark, Panel, Point, Scale};
pub use number::value_text;
pub use page::{Page, PageCell, Tone};
pub use png::{Bitmap, FigureError, MAX_PIXELS};
pub use scale::vertical_ticks;
pub use style::{Colour, Dash, Style, style_of_arm};
