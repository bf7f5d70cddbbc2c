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
//! use rarely_policy::{PolicyDocument, FieldValue};
//! let document = PolicyDocument::parse(text, "screening.toml")?;
//! let encoder = document.encoder();
//! let mut context = encoder.blank();
//! encoder.feature(0, FieldValue::Text("60"), &mut context)?;
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
//! | `field_value`, `feature` | one field of a record; the columns a rule may use |
//! | `document` | the document: parsed, located, checked, its assumptions derived, compared, back in raw units |
//! | `control` | the plan agreed in advance: signatures, reviews, how far the rule may move |
//! | `encoder`, `code`, `unit_hash`, `missing_counts` | encodes records into contexts, arms and rewards; words that are codes; a hash of a row's key; what rows lack |
//! | `rule` | the three forms of a rule: checked, converted to parameters and back, in words |
//! | `apply`, `draft`, `schema` | replaces the rule in the text; drafts a document from a file's columns; the JSON Schema |
//! | `number`, `duration`, `names`, `error` | numbers and durations as text; suggestions for misspelt names; errors |
#![deny(missing_docs)]

mod apply;
mod code;
mod control;
mod document;
mod draft;
pub mod duration;
mod encoder;
mod error;
mod feature;
mod field_value;
mod missing_counts;
mod names;
pub mod number;
mod rule;
mod schema;
mod unit_hash;

pub use apply::{apply, apply_groups};
pub use code::canonical_code;
pub use control::{Approval, Control, RuleBound, SignedWith};
pub use document::{
    Better, ChangeLimits, ChangeSettings, DataFormat, DecimalMark, Design, Digits, EvidenceSettings, EvidenceStandard,
    FieldSeparator, GroupRules, Guardrail, LogColumns, Missing, Monotone, OutcomeColumn, PolicyDocument, RowMissing,
    RowOrder, TextEncoding,
};
pub use draft::{ColumnSketch, ColumnValues, GuessedRole, GuessedRoles, draft, guess_roles};
pub use encoder::{Encoder, MISSING_WORDS, stands_for_missing};
pub use error::{ApplyError, DocumentError, Mistake, RuleError, ValueError};
pub use feature::{Feature, FeatureFactor, FeatureKind, FeatureSource};
pub use field_value::FieldValue;
pub use missing_counts::MissingCounts;
pub use rule::{Coefficient, Ladder, LinearRule, ScoreRule, ThresholdRule, WrittenRule, difference};
pub use schema::schema;
pub use unit_hash::UnitHash;
