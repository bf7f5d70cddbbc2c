//! A rule in the form and the units of its owner.

mod check;
mod from_parameters;
mod ladder;
mod linear;
mod number_format;
mod numbers;
mod words;

use indexmap::IndexMap;
use rarely_core::Parameters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::PolicyDocument;

pub use ladder::Ladder;
pub use words::difference;

pub(crate) use check::DocumentFault;
pub(crate) use numbers::cut_name;

/// The key of a linear rule's constant.
pub(crate) const INTERCEPT: &str = "intercept";

/// A rule as its owner writes it, in one of three forms.
///
/// As JSON it is the content of the document's `[rule]`: `{"threshold": {"feature": "systolic", "cuts": [140], "options":
/// ["watch", "treat"]}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Rule")]
pub enum WrittenRule {
    /// One number decides: the options in order, with a cut between each two.
    Threshold(ThresholdRule),
    /// A weighted sum decides: the options in order of the sum, with a cut between each two.
    Score(ScoreRule),
    /// Every option has a score; the highest wins, ties go to the option named first in the document.
    Linear(LinearRule),
}

/// One number decides. A value equal to a cut gets the upper option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Threshold")]
pub struct ThresholdRule {
    /// The column of the number.
    pub feature: String,
    /// The values from which the next option applies, ascending; none if everyone gets the same option.
    #[serde(serialize_with = "number_format::list")]
    pub cuts: Vec<f64>,
    /// The options, from the lowest values to the highest: one more than there are cuts.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub options: Vec<String>,
}

/// A weighted sum decides. A sum equal to a cut gets the upper option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Score")]
pub struct ScoreRule {
    /// What each feature adds to the sum; a feature that is not named adds nothing.
    pub coefficients: IndexMap<String, Coefficient>,
    /// The values from which the next option applies, ascending; none if everyone gets the same option.
    #[serde(serialize_with = "number_format::list")]
    pub cuts: Vec<f64>,
    /// The options, from the lowest sums to the highest: one more than there are cuts.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub options: Vec<String>,
}

/// For every option its `intercept` and coefficients; those not named are 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Linear")]
pub struct LinearRule {
    /// The scores, by option.
    pub scores: IndexMap<String, IndexMap<String, Coefficient>>,
}

/// What a feature adds: per unit of a number, or per level.
#[derive(Debug, Clone, PartialEq)]
pub enum Coefficient {
    /// Per unit.
    Slope(f64),
    /// Per level, compared with the first.
    Levels(IndexMap<String, f64>),
}

impl WrittenRule {
    /// Parameters that play this rule in a document's context coordinates.
    ///
    /// # Panics
    /// If the rule does not fit the document (see [`PolicyDocument::check_rule`]).
    pub fn parameters(&self, document: &PolicyDocument) -> Parameters {
        let shape = document.shape();
        match self {
            Self::Linear(linear) => linear.parameters(document),
            Self::Threshold(_) | Self::Score(_) => {
                let ladder = self.ladder(document).expect("a threshold or a score is a ladder");
                let steps = vec![1.0; ladder.cuts.len()];
                ladder.parameters(shape, &steps)
            }
        }
    }

    /// A threshold or a score in context coordinates; `None` for a linear rule.
    ///
    /// # Panics
    /// If the rule does not fit the document (see [`PolicyDocument::check_rule`]).
    pub fn ladder(&self, document: &PolicyDocument) -> Option<Ladder> {
        match self {
            Self::Threshold(threshold) => {
                let coefficients = [(threshold.feature.clone(), Coefficient::Slope(1.0))].into_iter().collect();
                Some(Ladder::of(document, &coefficients, &threshold.cuts, &threshold.options))
            }
            Self::Score(score) => Some(Ladder::of(document, &score.coefficients, &score.cuts, &score.options)),
            Self::Linear(_) => None,
        }
    }

    /// The options that it can play, in its own order.
    pub fn options(&self) -> Vec<&str> {
        match self {
            Self::Threshold(ThresholdRule { options, .. }) | Self::Score(ScoreRule { options, .. }) => {
                options.iter().map(String::as_str).collect()
            }
            Self::Linear(linear) => linear.scores.keys().map(String::as_str).collect(),
        }
    }
}
