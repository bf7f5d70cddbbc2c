//! The document as TOML has it. The JSON Schema is derived from these types, descriptions included.

mod number_or;

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;

use crate::control::TomlControl;
use crate::document::data_format::TomlData;
use crate::document::groups::TomlGroups;
use crate::document::guardrails::TomlGuardrail;
use crate::rule::WrittenRule;

use self::number_or::{Auto, Bounded, NumberOr};

/// A policy document: the options, the features of a case, the assumptions, and the rule in force.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Policy document of rarely")]
pub(crate) struct TomlDocument {
    /// The policy's name.
    #[schemars(length(min = 1))]
    pub(crate) policy: String,
    /// The options the policy chooses between, in order; 2 to 256 different names.
    #[schemars(length(min = 2, max = 256), extend("uniqueItems" = true))]
    pub(crate) options: Vec<String>,
    /// Labels of options that the data name by codes, by option: shown everywhere instead of the codes.
    #[serde(default)]
    pub(crate) labels: IndexMap<String, String>,
    /// The column of a log that names the option a case got.
    #[serde(default = "option_column")]
    #[schemars(length(min = 1))]
    pub(crate) option_column: String,
    /// The outcome.
    pub(crate) outcome: TomlOutcome,
    /// Whether every option has a constant in addition to its coefficients; thresholds and scores need it.
    #[serde(default = "yes")]
    pub(crate) intercept: bool,
    /// What is known of a case when the option is chosen.
    #[serde(default)]
    pub(crate) features: Vec<TomlFeature>,
    /// The assumptions that turn data into evidence; a signature of the document covers them too.
    #[serde(default)]
    pub(crate) evidence: TomlEvidence,
    /// When the rule may change.
    #[serde(default)]
    pub(crate) change: TomlChange,
    /// The plan agreed in advance: who approves a change, how often the rule is reviewed, how far it may move.
    #[serde(default)]
    pub(crate) control: TomlControl,
    /// Outcomes that a change must not make worse.
    #[serde(default)]
    pub(crate) guardrails: Vec<TomlGuardrail>,
    /// Columns that are no features, such as sex: a review shows for each of their values who changes and what that gains.
    #[serde(default)]
    pub(crate) fairness: Vec<String>,
    /// Groups of people, such as departments, that are reviewed side by side and may have rules of their own.
    pub(crate) groups: Option<TomlGroups>,
    /// How the files of a log are written, where what is found in them is not to decide.
    #[serde(default)]
    pub(crate) data: TomlData,
    /// The rule in force, in one of three forms.
    pub(crate) rule: WrittenRule,
}

/// The outcome: a column of numbers.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Outcome")]
pub(crate) struct TomlOutcome {
    /// The column.
    #[schemars(length(min = 1))]
    pub(crate) column: String,
    /// The lowest and the highest possible outcome; values outside are rejected.
    #[schemars(length(min = 2, max = 2))]
    pub(crate) range: Option<Vec<f64>>,
    /// Whether higher or lower outcomes are better.
    #[serde(default)]
    pub(crate) better: Better,
}

/// Whether higher or lower outcomes are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Higher outcomes are better.
    #[default]
    Higher,
    /// Lower outcomes are better.
    Lower,
}

/// One column of a case: numbers with a range, or words from a list of levels; or what is derived from other features.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["column", "range"] }, { "required": ["column", "levels"] }, { "required": ["square"] }, { "required": ["interaction"] }
]))]
#[schemars(rename = "Feature")]
pub(crate) struct TomlFeature {
    /// The column.
    #[schemars(length(min = 1))]
    pub(crate) column: Option<String>,
    /// The unit of its numbers, printed after them.
    pub(crate) unit: Option<String>,
    /// The lowest and the highest possible number; values outside are rejected.
    #[schemars(length(min = 2, max = 2))]
    pub(crate) range: Option<Vec<f64>>,
    /// Its words, at least two; the first is the reference, with which the others are compared.
    #[schemars(length(min = 2), extend("uniqueItems" = true))]
    pub(crate) levels: Option<Vec<String>>,
    /// What happens to a case without a value: "refuse" it; "drop" it from a log, counted; for words, "level": missing is one more level;
    /// for numbers, "indicator": the number counts as the middle of its range, and that it is missing counts too.
    #[serde(default)]
    #[schemars(with = "Missing")]
    pub(crate) missing: Option<Missing>,
    /// Numbers at which the line of the outcome may bend, ascending and within the range. For the cut point 60 of age, rules may use
    /// "age above 60".
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(crate) cut_points: Option<Vec<f64>>,
    /// In place of a column, a numeric feature whose square is a feature too: rules may use "age squared".
    #[schemars(length(min = 1))]
    pub(crate) square: Option<String>,
    /// In place of a column, two features whose product is a feature too: rules may use "age by weight", or "age by sex = male" for
    /// each level but the first.
    #[schemars(length(min = 2, max = 2), extend("uniqueItems" = true))]
    pub(crate) interaction: Option<Vec<String>>,
}

/// What happens to a case without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// It is an error.
    #[default]
    Refuse,
    /// A row of a log is left out, and counted; a single case cannot be decided.
    Drop,
    /// Missing is one more level.
    Level,
    /// The number counts as the middle of its range, and a feature of its own says that it is missing.
    Indicator,
}

impl Missing {
    /// `refuse`, `drop`, `level`, `indicator`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Drop => "drop",
            Self::Level => "level",
            Self::Indicator => "indicator",
        }
    }
}

/// The assumptions that turn data into evidence.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Evidence")]
pub(crate) struct TomlEvidence {
    /// How far outcomes scatter around their mean: their standard deviation if they are normal, or "bounded", half the
    /// outcome's range, which always holds.
    pub(crate) noise: NumberOr<Bounded>,
    /// A bound on the length of all true coefficients together, in scaled units, or "auto": derived from the outcome's
    /// range.
    pub(crate) norm_bound: NumberOr<Auto>,
    /// The penalty of the ridge regression; 0.01 is usual.
    pub(crate) penalty: f64,
    /// The probability that the evidence is ever misleading; strictly between 0 and 1.
    pub(crate) error_probability: f64,
    /// How often the evidence may be looked at: "anytime", after every case if need be; { looks = 4 }, four times, at multiples of the
    /// first look's cases, or { looks = [1000, 2000] }, at these numbers of cases; "once", a finished log that is reviewed once.
    pub(crate) standard: TomlStandard,
    /// Whether the options that were given depended on earlier outcomes: "fixed" if not, as under a fixed rule or in a trial with fixed
    /// randomisation, "adaptive" if they did.
    pub(crate) design: Design,
    /// Whether the rows of a log are in the order of "time", so that a trend can be told from an effect, or in "any" order.
    pub(crate) order: RowOrder,
    /// What happens to a row of a log without an option or an outcome, or without a value in another column of [evidence]: "refuse" it, or
    /// "drop" it, counted.
    pub(crate) missing: RowMissing,
    /// The column of a log that tells its rows apart, such as the number of the decision. By it rows are divided and sampled, whatever
    /// their order.
    #[schemars(length(min = 1))]
    pub(crate) key: Option<String>,
    /// The column of a log with the date or the time of a case. By it a trend is told from an effect, whatever the order of the rows.
    #[schemars(length(min = 1))]
    pub(crate) time: Option<String>,
    /// The column of a log that names the cluster of a case, such as its clinic: cases of one cluster may resemble each other.
    #[schemars(length(min = 1))]
    pub(crate) cluster: Option<String>,
    /// The column of a log with the weight of a case, a number above 0.
    #[schemars(length(min = 1))]
    pub(crate) weight: Option<String>,
    /// The column of a log with the probability of the option that was given.
    #[schemars(length(min = 1))]
    pub(crate) propensity: Option<String>,
    /// For every option, the column of a log with its probability; instead of `propensity`.
    pub(crate) propensities: IndexMap<String, String>,
    /// The probability that every option has wherever its gain is judged by propensities; above 0 and at most 0.5.
    #[schemars(range(max = 0.5), extend("exclusiveMinimum" = 0))]
    pub(crate) minimum_propensity: Option<f64>,
}

/// How often the evidence may be looked at.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Standard")]
pub(crate) enum TomlStandard {
    /// "anytime" or "once".
    Word(StandardWord),
    /// At planned looks.
    Planned(TomlLooks),
}

/// Looks that are planned beforehand.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Looks")]
pub(crate) struct TomlLooks {
    /// How many, or at which numbers of cases.
    pub(crate) looks: TomlLookPlan,
}

/// How many looks, or at which numbers of cases.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "LookPlan")]
pub(crate) enum TomlLookPlan {
    /// So many, at multiples of the first one's cases.
    Count(u64),
    /// At these numbers of cases, ascending.
    Sizes(Vec<u64>),
}

/// A standard that needs no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StandardWord {
    /// At any time, as often as one likes.
    Anytime,
    /// Once.
    Once,
}

/// Whether the options that were given depended on earlier outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// They did not: a fixed rule, or a randomisation that ignored outcomes.
    #[default]
    Fixed,
    /// They may have.
    Adaptive,
}

impl Design {
    /// `fixed`, `adaptive`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Adaptive => "adaptive",
        }
    }
}

/// The order of a log's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowOrder {
    /// The earliest case first.
    #[default]
    Time,
    /// No order that means anything.
    Any,
}

/// What happens to a row of a log without an option or an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowMissing {
    /// It is an error.
    #[default]
    Refuse,
    /// It is left out, and counted.
    Drop,
}

impl RowMissing {
    /// `refuse`, `drop`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Drop => "drop",
        }
    }
}

impl RowOrder {
    /// `time`, `any`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Any => "any",
        }
    }
}

impl Default for TomlEvidence {
    fn default() -> Self {
        Self {
            noise: NumberOr::WORD,
            norm_bound: NumberOr::WORD,
            penalty: 0.01,
            error_probability: 0.001,
            standard: TomlStandard::Word(StandardWord::Anytime),
            design: Design::Fixed,
            order: RowOrder::Time,
            missing: RowMissing::Refuse,
            key: None,
            time: None,
            cluster: None,
            weight: None,
            propensity: None,
            propensities: IndexMap::new(),
            minimum_propensity: None,
        }
    }
}

/// When the rule may change.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Change")]
pub(crate) struct TomlChange {
    /// The algorithm that simulations of the policy follow, such as the forecast of further cases; any that holds a rule. Reviews judge by
    /// the gain of a change.
    pub(crate) algorithm: String,
    /// The gain per case that a change must be shown to bring.
    pub(crate) minimum_gain: f64,
    /// "none", "equipoise:0.05", "pilot:10", or both joined by a plus: how often options are drawn at random, to learn.
    pub(crate) explore: String,
    /// Of the rs algorithms: how near in angle a plausible rule must be for the rule to stay; 0 to 1.
    pub(crate) tolerance: Option<f64>,
    /// Of the population algorithms: the share of people who may get an option that the data rule out; 0 to 1.
    pub(crate) excluded_share: Option<f64>,
    /// Whether a proposal is rounded to the fewest digits that are justified, or keeps all digits.
    pub(crate) digits: Digits,
    /// Where no gain is shown: the rule is kept if no candidate can gain as much per case. A gain that is shown is proposed however
    /// small, unless `minimum_gain` demands more. The default is 1 % of the outcome's range.
    pub(crate) worth: Option<f64>,
    /// Features that no proposal may use.
    pub(crate) forbid: Vec<String>,
    /// Features along which a proposal may only move "up" or "down" the list of options.
    pub(crate) monotone: IndexMap<String, Monotone>,
    /// The largest share of people who may get an option, by option; 0 to 1.
    pub(crate) capacity: IndexMap<String, f64>,
    /// What an option costs per case, in units of the outcome, by option. Gains are net of it.
    pub(crate) cost: IndexMap<String, f64>,
}

/// The way in which the option may move along a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Monotone {
    /// From the first options of the document to the later ones.
    Up,
    /// From the later ones to the first.
    Down,
}

impl fmt::Display for Monotone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Up => "up",
            Self::Down => "down",
        })
    }
}

/// Whether a proposal is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Digits {
    /// To the fewest digits that are justified.
    #[default]
    Fewest,
    /// Not at all: the algorithm's exact numbers.
    All,
}

impl fmt::Display for Digits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fewest => "fewest",
            Self::All => "all",
        })
    }
}

impl Default for TomlChange {
    fn default() -> Self {
        Self {
            algorithm: "boundary-conservative".to_owned(),
            minimum_gain: 0.0,
            explore: "none".to_owned(),
            tolerance: None,
            excluded_share: None,
            digits: Digits::Fewest,
            worth: None,
            forbid: Vec::new(),
            monotone: IndexMap::new(),
            capacity: IndexMap::new(),
            cost: IndexMap::new(),
        }
    }
}

fn option_column() -> String {
    "option".to_owned()
}

fn yes() -> bool {
    true
}
