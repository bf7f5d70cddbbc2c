//! What can be wrong with a document, a rule or a value: what, where, the value found, what to do.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::number::plainly;

/// Why a policy document cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The operating system would not open or read the file.
    #[error("{}: cannot be read; check the path and that you may read it", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file is not text.
    #[error("{}, line {line}: the file is not UTF-8 text; save it as UTF-8", file.display())]
    NotText {
        /// The file.
        file: PathBuf,
        /// The line in which the first wrong byte stands.
        line: usize,
    },
    /// Something in it is wrong.
    #[error(transparent)]
    Wrong(#[from] Box<Mistake>),
}

/// Something wrong in a policy document, and its place.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{file}, line {line}, column {column}: {problem}; {remedy}")]
pub struct Mistake {
    /// The document's name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, in characters from 1.
    pub column: usize,
    /// What stands there, as a message shows it.
    pub found: String,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

/// A rule that does not fit its document.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{problem}; {remedy}")]
pub struct RuleError {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

/// Why a rule could not be written into a document's text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The text is not a policy document.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The rule does not fit it.
    #[error("the rule does not fit the document: {0}")]
    Rule(#[from] RuleError),
    /// The plan that was agreed beforehand does not allow it.
    #[error(
        "the rule is outside what the document's plan allows: {}; agree on other bounds under [control] first",
        reasons.join("; ")
    )]
    Bounds {
        /// Why, in words.
        reasons: Vec<String>,
    },
}

/// A field of a record that the policy document does not allow.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Nothing where a value is needed.
    #[error("{column} is empty, but {expected} is needed; fill it in, or leave the row out")]
    Missing {
        /// The column.
        column: Box<str>,
        /// What is expected.
        expected: Box<str>,
    },
    /// No finite number where a number is needed.
    #[error(
        "{column} is {found}, which is not a finite number; {expected} is needed: correct the value, or leave the row out"
    )]
    NotNumber {
        /// The column.
        column: Box<str>,
        /// What was found.
        found: Box<str>,
        /// What is expected.
        expected: Box<str>,
    },
    /// A number outside the range of its column.
    #[error(
        "{} is {} the range {}–{}{} of {column}; correct the value or widen the range in the policy document",
        plainly(*found), if found < low { "below" } else { "above" }, plainly(*low), plainly(*high), unit
    )]
    OutsideRange {
        /// The column.
        column: Box<str>,
        /// The number found.
        found: f64,
        /// The lowest allowed.
        low: f64,
        /// The highest allowed.
        high: f64,
        /// The unit, after a blank, or nothing.
        unit: Box<str>,
    },
    /// A number beyond what the core can calculate with.
    #[error(
        "{column} is {found:e}, beyond the limit of {limit:e}; correct the value, or express the column in a larger unit"
    )]
    TooLarge {
        /// The column.
        column: Box<str>,
        /// The number found.
        found: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },
    /// A word that is no level of its feature.
    #[error("{column} is {found}, which is not one of its levels; {remedy}")]
    UnknownLevel {
        /// The column.
        column: Box<str>,
        /// What was found.
        found: Box<str>,
        /// The nearest, and the levels there are.
        remedy: Box<str>,
    },
    /// A word that is no option of the policy.
    #[error("{column} is {found}, which is not an option of the policy; {remedy}")]
    UnknownOption {
        /// The column.
        column: Box<str>,
        /// What was found.
        found: Box<str>,
        /// The nearest, and the options there are.
        remedy: Box<str>,
    },
    /// A propensity that is no probability above 0.
    #[error("the propensity is {found}; it is the probability with which the option was chosen, above 0 and at most 1")]
    Propensity {
        /// What was found.
        found: Box<str>,
    },
}
