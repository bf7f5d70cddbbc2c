//! What can be wrong with a document, a rule or a value: the problem, its place, the value found, what to do.

use std::io;
use std::path::PathBuf;

use rarely_error::{Explain, Remedy, Topic, scientific};
use thiserror::Error;

use crate::number::plainly;

/// Why a policy document cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file cannot be opened or read.
    #[error("{} cannot be read", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not text.
    #[error("{}, line {line}: the file is not UTF-8 text", file.display())]
    NotText {
        /// The file.
        file: PathBuf,
        /// The line of the first wrong byte, from 1.
        line: usize,
    },
    /// A mistake in the text.
    #[error(transparent)]
    Wrong(#[from] Box<Mistake>),
}

/// A mistake in a policy document, and its place.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{file}, line {line}, column {column}: {problem}")]
pub struct Mistake {
    /// The document's name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, in characters from 1.
    pub column: usize,
    /// The text at this place, shortened and quoted for a message.
    pub found: String,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

/// A rule that does not fit its document.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{problem}")]
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
    /// The document's plan does not allow it.
    #[error("the document's plan does not allow the rule: {}", reasons.join("; "))]
    Bounds {
        /// The reasons, one sentence each.
        reasons: Vec<String>,
    },
}

/// A field of a record that the policy document does not allow.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Nothing where a value is needed.
    #[error("{column} is empty, but must be {expected}")]
    Missing {
        /// The column.
        column: Box<str>,
        /// What is expected.
        expected: Box<str>,
    },
    /// Something else where a finite number is needed.
    #[error("{column} is {found}, but must be {expected}")]
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
        "{column} is {}, {} its range {}–{}{}",
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
        /// The unit with a space before it, or nothing.
        unit: Box<str>,
    },
    /// A number beyond what the core can calculate with.
    #[error("{column} is {}, beyond the limit of {}", scientific(*found, 6), scientific(*limit, 6))]
    TooLarge {
        /// The column.
        column: Box<str>,
        /// The number found.
        found: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },
    /// Text that is not a level of its feature.
    #[error("{column} is {found}, which is not one of its levels")]
    UnknownLevel {
        /// The column.
        column: Box<str>,
        /// What was found.
        found: Box<str>,
        /// The nearest level, and the list of levels.
        remedy: Box<str>,
    },
    /// Text that is not an option of the policy.
    #[error("{column} is {found}, which is not an option of the policy")]
    UnknownOption {
        /// The column.
        column: Box<str>,
        /// What was found.
        found: Box<str>,
        /// The nearest option, and the list of options.
        remedy: Box<str>,
    },
    /// A propensity that is not a probability above 0.
    #[error("the propensity is {found}, but must be above 0 and at most 1")]
    Propensity {
        /// What was found.
        found: Box<str>,
    },
}

impl Explain for DocumentError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Io { .. } => Some(Remedy::new("check the path and the permissions of the file")),
            Self::NotText { .. } => Some(Remedy::new("save the file as UTF-8")),
            Self::Wrong(mistake) => mistake.remedy(),
        }
    }
}

impl Explain for Mistake {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(self.remedy.clone()).see(Topic::PolicyDocument))
    }
}

impl Explain for RuleError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(self.remedy.clone()).see(Topic::PolicyDocument))
    }
}

impl Explain for ApplyError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Document(error) => error.remedy(),
            Self::Rule(error) => error.remedy(),
            Self::Bounds { .. } => Some(Remedy::new("agree on other bounds under [control] first")),
        }
    }
}

impl Explain for ValueError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Missing { .. } => {
                Remedy::new("fill it in, leave the row out, or declare missing = \"drop\" in the policy document")
            }
            Self::NotNumber { .. } => Remedy::new("correct the value, or leave the row out"),
            Self::OutsideRange { .. } => Remedy::new("correct the value, or widen the range in the policy document"),
            Self::TooLarge { .. } => Remedy::new("correct the value, or express the column in a larger unit"),
            Self::UnknownLevel { remedy, .. } | Self::UnknownOption { remedy, .. } => Remedy::new(remedy.to_string()),
            Self::Propensity { .. } => Remedy::new("give the probability with which the option was chosen"),
        })
    }
}
