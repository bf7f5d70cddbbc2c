//! The policy document, checked.

pub(crate) mod check;
mod compare;
mod data_format;
mod evidence;
mod features;
pub(crate) mod groups;
mod guardrails;
mod labels;
mod limits;
pub(crate) mod locate;
mod log_columns;
mod parse;
pub(crate) mod raw;
pub(crate) mod toml;

use rarely_core::{Algorithm, Exploration, Settings, SettingsError, Shape};

use crate::control::Control;
use crate::encoder::Encoder;
use crate::error::RuleError;
use crate::feature::{Feature, FeatureKind};
use crate::rule::WrittenRule;

pub use data_format::{DataFormat, DecimalMark, FieldSeparator, TextEncoding};
pub use groups::GroupRules;
pub use guardrails::Guardrail;
pub use limits::{ChangeLimits, EvidenceStandard};
pub use log_columns::LogColumns;
pub use toml::{Better, Design, Digits, Missing, Monotone, RowMissing, RowOrder};

/// A policy document that has been checked: named options, features with units and ranges, assumptions, the rule in force.
///
/// ```
/// # let text = include_str!("../tests/it/example.toml");
/// let document = rarely_policy::PolicyDocument::parse(text, "policy.toml")?;
/// assert_eq!(document.options(), ["watch", "treat"]);
/// assert_eq!(document.coordinates(), ["intercept", "systolic", "diabetic = yes"]);
/// assert_eq!(document.rule().words(&document), ["watch below 140 mmHg", "treat from 140 mmHg"]);
/// # Ok::<(), rarely_policy::DocumentError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyDocument {
    policy: String,
    options: Vec<String>,
    /// The options as the data name them.
    option_codes: Vec<String>,
    option_column: String,
    outcome: OutcomeColumn,
    intercept: bool,
    features: Vec<Feature>,
    evidence: EvidenceSettings,
    standard: EvidenceStandard,
    log_columns: LogColumns,
    guardrails: Vec<Guardrail>,
    data_format: DataFormat,
    change: ChangeSettings,
    limits: ChangeLimits,
    control: Control,
    rule: WrittenRule,
    groups: Option<GroupRules>,
    shape: Shape,
}

/// The outcome: a column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeColumn {
    /// The column.
    pub column: String,
    /// The lowest and the highest possible value.
    pub range: Option<(f64, f64)>,
    /// Whether higher or lower is better.
    pub better: Better,
}

/// The assumptions that turn data into evidence (`[evidence]`), as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvidenceSettings {
    /// `σ`; `None` is "bounded": half the outcome's range, where it has one.
    pub noise: Option<f64>,
    /// `L`; `None` is "auto": derived from the outcome's range.
    pub norm_bound: Option<f64>,
    /// `λ`.
    pub penalty: f64,
    /// `δ`.
    pub error_probability: f64,
    /// Whether the options that were given depended on earlier outcomes.
    pub design: Design,
    /// The order of a log's rows.
    pub order: RowOrder,
    /// What happens to a row without an option or an outcome.
    pub missing: RowMissing,
}

/// When the rule may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSettings {
    /// The algorithm that decides when the rule changes, and to what.
    pub algorithm: Algorithm,
    /// The gain per decision that a change must bring.
    pub minimum_gain: f64,
    /// How often options are drawn at random, to learn.
    pub explore: Exploration,
    /// `Δ` of the rs algorithms; `None` is the core's default.
    pub tolerance: Option<f64>,
    /// `τ` of the population algorithms; `None` is the core's default.
    pub excluded_share: Option<f64>,
    /// Whether a proposal is rounded.
    pub digits: Digits,
    /// The smallest gain per decision that is worth a change; `None` is 1 % of the outcome's range.
    pub worth: Option<f64>,
}

impl PolicyDocument {
    /// The policy's name.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// The options, in order: option `i` is arm `i`.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// The options as the data name them: codes, where options have labels.
    pub fn option_codes(&self) -> &[String] {
        &self.option_codes
    }

    /// The column of a log that names the option a case got.
    pub fn option_column(&self) -> &str {
        &self.option_column
    }

    /// The same document for a log in which this column has another name.
    #[must_use]
    pub fn with_option_column(mut self, column: String) -> Self {
        self.option_column = column;
        self
    }

    /// The outcome.
    pub fn outcome(&self) -> &OutcomeColumn {
        &self.outcome
    }

    /// −1 where lower outcomes are better, else 1: a reward is this times the outcome.
    pub fn outcome_sign(&self) -> f64 {
        if self.outcome.better == Better::Lower { -1.0 } else { 1.0 }
    }

    /// Whether the first coordinate of a context is the constant 1.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The features: what is known of a case when it is decided. Columns come first, then what is derived from them.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The feature with this column, and its index.
    pub fn feature(&self, column: &str) -> Option<(usize, &Feature)> {
        self.features.iter().enumerate().find(|(_, feature)| feature.column == column)
    }

    /// The features that are columns: the first ones of all.
    pub fn feature_columns(&self) -> &[Feature] {
        let columns = self.features.iter().take_while(|feature| feature.source.is_column()).count();
        &self.features[..columns]
    }

    /// Whether a feature is derived from others.
    pub fn has_derived(&self) -> bool {
        self.feature_columns().len() < self.features.len()
    }

    /// What a derived feature is, in words: `(age − 40)²`. `None` for a column.
    ///
    /// # Panics
    /// If there is no such feature.
    pub fn meaning(&self, feature: usize) -> Option<String> {
        self.features[feature].meaning(&self.features)
    }

    /// The assumptions as written. [`PolicyDocument::noise`] and [`PolicyDocument::norm_bound`] derive those that are left to the range.
    pub fn evidence(&self) -> &EvidenceSettings {
        &self.evidence
    }

    /// How often the evidence may be looked at.
    pub fn standard(&self) -> &EvidenceStandard {
        &self.standard
    }

    /// What a log says of its rows besides features, option and outcome.
    pub fn log_columns(&self) -> &LogColumns {
        &self.log_columns
    }

    /// The outcomes that a change must not make worse.
    pub fn guardrails(&self) -> &[Guardrail] {
        &self.guardrails
    }

    /// What this document has that only a review of the rows of a log takes into account, in a few words; `None` if there is nothing.
    pub fn only_reviewed(&self) -> Option<&'static str> {
        if self.guardrails.is_empty() { self.never_live() } else { Some("guard-rails") }
    }

    /// What this document has that a policy which is run does not take into account, in a few words; `None` if there is nothing.
    pub fn never_live(&self) -> Option<&'static str> {
        if self.log_columns.fairness.is_empty() {
            self.groups.as_ref().map(|_| "rules by group")
        } else {
            Some("fairness columns")
        }
    }

    /// How the files of a log are written.
    pub fn data_format(&self) -> &DataFormat {
        &self.data_format
    }

    /// The same document for files that are written in another way; what the format leaves open is as the document says.
    #[must_use]
    pub fn with_data_format(mut self, format: DataFormat) -> Self {
        self.data_format = format.or(&self.data_format);
        self
    }

    /// What every proposal must respect.
    pub fn limits(&self) -> &ChangeLimits {
        &self.limits
    }

    /// When the rule may change.
    pub fn change(&self) -> &ChangeSettings {
        &self.change
    }

    /// The plan agreed in advance.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The rule in force.
    pub fn rule(&self) -> &WrittenRule {
        &self.rule
    }

    /// The numbers of options and context coordinates.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Turns records into contexts.
    pub fn encoder(&self) -> Encoder {
        Encoder::new(self)
    }

    /// The names of the context's coordinates: `intercept`, `systolic`, `diabetic = yes`.
    pub fn coordinates(&self) -> Vec<String> {
        let mut names: Vec<String> = self.intercept.then(|| "intercept".to_owned()).into_iter().collect();
        for feature in &self.features {
            match &feature.kind {
                FeatureKind::Numeric { .. } => names.push(feature.column.clone()),
                FeatureKind::Levels(levels) => {
                    names.extend(levels[1..].iter().map(|level| format!("{} = {level}", feature.column)));
                }
            }
        }
        names
    }

    /// The first coordinate of a feature.
    ///
    /// # Panics
    /// If there is no such feature.
    pub fn offset(&self, feature: usize) -> usize {
        usize::from(self.intercept) + self.features[..feature].iter().map(Feature::coordinates).sum::<usize>()
    }

    /// The core's settings for this document, with its rule as the policy in force. Without a noise and a range of the outcome, noise
    /// and norm bound are 1: a live policy refuses such a document, and a review does not use them.
    ///
    /// # Errors
    /// Never for a checked document; the signature follows the core's.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        let change = &self.change;
        let minimum_gain = rarely_core::MinimumGain::new(change.minimum_gain)?;
        let share = |name, value: Option<f64>| value.map(|value| rarely_core::Share::named(name, value)).transpose();
        let tolerance = share("tolerance", change.tolerance)?;
        let excluded_share = share("excluded share", change.excluded_share)?;
        Ok(Settings::new(self.shape.arms(), self.shape.dimension())?
            .algorithm(change.algorithm)
            .noise(self.noise().unwrap_or(1.0))?
            .norm_bound(self.norm_bound().unwrap_or(1.0))?
            .penalty(self.evidence.penalty)?
            .error_probability(self.evidence.error_probability)?
            .deployed(self.rule.parameters(self).values().to_vec())?
            .exploration(change.explore)
            // A review's sums have no time order, and a certificate that a document asked for keeps its meaning.
            .sets(rarely_core::Sets::Joint)
            .tune(|tuning| {
                tuning.minimum_gain = minimum_gain;
                tuning.tolerance = tolerance.unwrap_or(tuning.tolerance);
                tuning.excluded_share = excluded_share.unwrap_or(tuning.excluded_share);
            }))
    }

    /// The document as a live policy follows it: its choices depend on outcomes, and it is reviewed as often as its plan says.
    #[must_use]
    pub fn as_live(mut self) -> Self {
        self.evidence.design = Design::Adaptive;
        self.standard = EvidenceStandard::Anytime;
        self
    }

    /// The same document with another rule. It does not check the plan: see [`PolicyDocument::outside_bounds`].
    ///
    /// # Errors
    /// [`RuleError`] if the rule does not fit the document.
    pub fn with_rule(&self, rule: WrittenRule) -> Result<Self, RuleError> {
        self.check_rule(&rule)?;
        Ok(Self { rule, ..self.clone() })
    }

    /// Checks that a rule fits the document: known names, cuts in order and in range, numbers within the limits.
    ///
    /// # Errors
    /// [`RuleError`] says what does not fit.
    pub fn check_rule(&self, rule: &WrittenRule) -> Result<(), RuleError> {
        rule.check(self).map_err(|fault| RuleError { problem: fault.problem, remedy: fault.remedy })
    }
}
