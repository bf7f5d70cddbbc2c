//! A policy as its owner writes it: named options, features with units and ranges, the rule in force.
//!
//! ```
//! let text = r#"
//!     policy = "screening"
//!     options = ["wait", "invite"]
//!     outcome = { column = "benefit", range = [0, 1] }
//!     [[features]]
//!     column = "age"
//!     unit = "years"
//!     range = [40, 90]
//!     [rule]
//!     threshold = { feature = "age", cuts = [60], options = ["wait", "invite"] }
//! "#;
//! use rarely_policy::{Document, Value};
//! let document = Document::parse(text, "screening.toml")?;
//! let encoder = document.encoder();
//! let mut context = encoder.blank();
//! encoder.feature(0, Value::Text("60"), &mut context)?;
//!
//! let rule = rarely_core::Rule::new(document.rule().parameters(&document));
//! let arm = rule.choose(rarely_core::Context::new(&context)?)?;
//! assert_eq!(document.options()[arm.index()], "invite");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `value`, `feature` | one field of a record; what is known of a person |
//! | `document` | the document: as written, where its parts stand, checked, its assumptions worked out, compared, back in raw units |
//! | `control` | the plan that was agreed beforehand: signatures, reviews, how far the rule may move |
//! | `encoder` | records into contexts, arms and rewards |
//! | `rule` | the three forms of a rule: checked, into parameters and back, in words |
//! | `apply`, `draft`, `schema` | a rule put into the text; a draft from a file's columns; the JSON Schema |
//! | `number`, `duration`, `names`, `error` | numbers and times read and shown; the name that was meant; what can be wrong |
#![deny(missing_docs)]

mod apply;
mod control;
mod document;
mod draft;
pub mod duration;
mod encoder;
mod error;
mod feature;
mod names;
pub mod number;
mod rule;
mod schema;
mod value;

pub use apply::apply;
pub use control::{Approval, Bound, Control};
pub use document::{Better, Change, Digits, Document, Evidence, Outcome};
pub use draft::{ColumnKind, ColumnSketch, draft, guess_roles};
pub use encoder::Encoder;
pub use error::{ApplyError, DocumentError, Mistake, RuleError, ValueError};
pub use feature::{Feature, Kind};
pub use rule::{Coefficient, Ladder, Linear, Rule, Score, Threshold, difference};
pub use schema::schema;
pub use value::Value;
