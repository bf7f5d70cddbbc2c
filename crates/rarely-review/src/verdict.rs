//! The verdict of a review.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What to do with the rule in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The rule is plausible.
    #[serde(rename = "keep")]
    Keep,
    /// The rule is implausible, and a better one is known.
    #[serde(rename = "change")]
    Change,
    /// The data do not distinguish the rule from its opposite.
    #[serde(rename = "cannot tell")]
    CannotTell,
}

impl Verdict {
    /// `keep`, `change`, `cannot tell`: as it is printed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Change => "change",
            Self::CannotTell => "cannot tell",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
