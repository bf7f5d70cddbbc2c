//! The plan agreed in advance: who approves a change, how often the rule is reviewed, how far it may move.

mod bounds;

use std::fmt;

use indexmap::IndexMap;
use rarely_core::Delay;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::locate::keys;
use crate::duration;
use crate::number::{plainly, written};
use crate::rule::DocumentFault;

/// The largest number of days that can be required between two changes: a hundred years.
const MOST_DAYS: f64 = 36_525.0;

/// The plan agreed in advance. Learned sums do not depend on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Control {
    /// The signatures that a change needs.
    pub approval: Approval,
    /// What people sign with, if the document says it; [`Control::signatures`] has the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_with: Option<SignedWith>,
    /// Outcomes between two reviews.
    pub review_every: u64,
    /// The time after which a review is due even with fewer outcomes, if there is a new one.
    pub review_after_ms: Option<u64>,
    /// The days required between two changes.
    pub minimum_days_between_changes: f64,
    /// The largest number of changes.
    pub maximum_changes: Option<u64>,
    /// The time after which an unsigned proposal expires.
    pub proposal_expires_ms: u64,
    /// The time after which a decision without an outcome counts as unanswered.
    pub outcome_window_ms: Option<u64>,
    /// How long records of decisions and outcomes are kept; without it, for good. Whoever archives the log removes older ones from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain_ms: Option<u64>,
    /// Whether outcomes that come late are learned in the order of their decisions or as they arrive.
    pub delay: Delay,
    /// The ranges within which numbers of the rule may move.
    pub bounds: Vec<RuleBound>,
}

/// The range within which a number of the rule may move, ends included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleBound {
    /// The number's name in [`crate::WrittenRule::named_numbers`], or `cut` for every cut.
    pub name: String,
    /// The lowest allowed value.
    pub low: f64,
    /// The highest allowed value.
    pub high: f64,
}

/// The signatures that a change needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// None.
    Automatic,
    /// One person's.
    #[default]
    One,
    /// Two people's.
    Two,
}

/// What people sign with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignedWith {
    /// A key of their own: a key file of `rarely sign`, or a passkey.
    Key,
    /// Their access token.
    Token,
}

/// What is declared about the delay of outcomes.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Delay")]
enum TomlDelay {
    /// It may depend on the outcome: outcomes are learned in the order of their decisions.
    #[default]
    Any,
    /// It does not depend on the outcome, given the features and the option: outcomes are learned as they arrive.
    Independent,
}

/// The plan agreed in advance.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Control")]
pub(crate) struct TomlControl {
    /// The signatures that a change needs.
    approval: Approval,
    /// What people sign with: "key", a key of their own, or "token", their access token. Without it, "key" if a change needs a signature.
    signatures: Option<SignedWith>,
    /// Outcomes between two reviews; at least 1.
    #[schemars(range(min = 1))]
    review_every: u64,
    /// The time after which a review is due even with fewer outcomes, if there is a new one: "7 days".
    #[schemars(regex(pattern = duration::PATTERN))]
    review_after: Option<String>,
    /// The days required between two changes.
    #[schemars(range(min = 0))]
    minimum_days_between_changes: f64,
    /// The largest number of changes.
    maximum_changes: Option<u64>,
    /// The time after which an unsigned proposal expires: "30 days".
    #[schemars(regex(pattern = duration::PATTERN))]
    proposal_expires: String,
    /// The time after which a decision without an outcome counts as unanswered: "6 weeks".
    #[schemars(regex(pattern = duration::PATTERN))]
    outcome_window: Option<String>,
    /// How long records of decisions and outcomes are kept: "2 years"; not less than the outcome window. `rarely store archive` moves older
    /// ones into files. Without it they are kept for good.
    #[schemars(regex(pattern = duration::PATTERN))]
    retain: Option<String>,
    /// Whether the delay of an outcome may depend on the outcome: "any" or "independent". Outcomes are learned in the order of their
    /// decisions unless it is independent; a decision without an outcome holds up the later ones for the outcome window.
    delay: TomlDelay,
    /// The range within which a number of the rule may move, by its name: "cut 1", or "cut" for every cut; "age", "smoker = yes" of a
    /// score; "treat: intercept" of a linear rule.
    #[schemars(with = "IndexMap<String, [f64; 2]>")]
    bounds: IndexMap<String, Vec<f64>>,
}

impl Default for TomlControl {
    fn default() -> Self {
        Self {
            approval: Approval::One,
            signatures: None,
            review_every: 100,
            review_after: None,
            minimum_days_between_changes: 0.0,
            maximum_changes: None,
            proposal_expires: "30 days".to_owned(),
            outcome_window: None,
            retain: None,
            delay: TomlDelay::Any,
            bounds: IndexMap::new(),
        }
    }
}

impl TomlControl {
    /// Replaces options by their labels in the names of bounds, such as "treat: age".
    pub(crate) fn rename_options(&mut self, labels: &IndexMap<String, String>) {
        let renamed = |name: String| match name.split_once(": ") {
            Some((option, number)) if labels.contains_key(option) => format!("{}: {number}", labels[option]),
            _ => name,
        };
        self.bounds =
            std::mem::take(&mut self.bounds).into_iter().map(|(name, range)| (renamed(name), range)).collect();
    }

    /// The checks that do not need the rule. [`crate::PolicyDocument::check_bounds`] makes the others.
    pub(crate) fn check(&self) -> Result<Control, DocumentFault> {
        let path = |key: &str| keys(&["control", key]);
        let time = |key: &str, text: &String| {
            duration::explained(text).map_err(|(problem, remedy)| DocumentFault::new(path(key), problem, remedy))
        };
        let optional = |key: &str, text: &Option<String>| text.as_ref().map(|text| time(key, text)).transpose();
        if self.review_every == 0 {
            let remedy = "write the number of outcomes between two reviews, at least 1";
            return Err(DocumentFault::new(path("review_every"), "review_every is 0", remedy));
        }
        let days = self.minimum_days_between_changes;
        if !(0.0..=MOST_DAYS).contains(&days) {
            let remedy = format!("write a number of days from 0 to {MOST_DAYS}");
            return Err(DocumentFault::new(
                path("minimum_days_between_changes"),
                format!("the number of days is {}", plainly(days)),
                remedy,
            ));
        }
        let outcome_window_ms = optional("outcome_window", &self.outcome_window)?;
        let retain_ms = optional("retain", &self.retain)?;
        if let (Some(retain), Some(window)) = (retain_ms, outcome_window_ms)
            && retain < window
        {
            let problem = "records would be removed before the outcome_window is over";
            let remedy = format!("write a retain of at least {}", duration::words(window));
            return Err(DocumentFault::new(path("retain"), problem, remedy));
        }
        Ok(Control {
            approval: self.approval,
            signed_with: self.signatures,
            review_every: self.review_every,
            review_after_ms: optional("review_after", &self.review_after)?,
            minimum_days_between_changes: days,
            maximum_changes: self.maximum_changes,
            proposal_expires_ms: time("proposal_expires", &self.proposal_expires)?,
            outcome_window_ms,
            retain_ms,
            delay: match self.delay {
                TomlDelay::Any => Delay::Any,
                TomlDelay::Independent => Delay::Independent,
            },
            bounds: bounds::check(&self.bounds)?,
        })
    }
}

impl Control {
    /// What people sign with. Where a change needs a signature, it is a key unless the document says otherwise.
    pub fn signatures(&self) -> SignedWith {
        self.signed_with.unwrap_or(match self.approval {
            Approval::Automatic => SignedWith::Token,
            Approval::One | Approval::Two => SignedWith::Key,
        })
    }

    /// The bound with this name.
    pub fn bound(&self, name: &str) -> Option<&RuleBound> {
        self.bounds.iter().find(|bound| bound.name == name)
    }
}

impl RuleBound {
    /// Whether the bound contains a number.
    pub fn contains(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    /// "120 to 160".
    pub(crate) fn range(&self) -> String {
        format!("{} to {}", written(self.low), written(self.high))
    }
}

impl Approval {
    /// `automatic`, `one`, `two`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::One => "one",
            Self::Two => "two",
        }
    }
}

impl SignedWith {
    /// `key`, `token`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Token => "token",
        }
    }
}

impl fmt::Display for SignedWith {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for Approval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
