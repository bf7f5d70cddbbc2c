//! What happens beside the rule in force: a candidate that only watches, and people who decide otherwise.

use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};

use super::AboutPerson;

/// From now on another rule decides beside the one in force. Nothing acts on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShadowStarted {
    /// The candidate.
    pub rule: WrittenRule,
    /// Why it is watched.
    pub reason: String,
}

/// The candidate decides no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShadowEnded {
    /// Why.
    pub reason: String,
}

/// A person gave another option than was decided. The outcome is recorded, and is no evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overridden {
    /// The decision.
    pub decision: u64,
    /// The option that the person got instead.
    pub option: String,
    /// Why.
    pub reason: String,
    /// The id of the person who decided otherwise.
    pub person: String,
    /// The person that it is about, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<AboutPerson>,
    /// The event that archived it: the reason is then empty.
    #[serde(skip)]
    pub archived: Option<u64>,
}
