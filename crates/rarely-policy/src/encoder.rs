//! Encodes records into contexts. This runs for every row of a log, so nothing is allocated unless a value is wrong.

mod derived;
mod known_names;
mod missing_words;

use rarely_core::{Arm, MAX_REWARD};

use crate::FieldValue;
use crate::document::{Better, Guardrail, Missing, PolicyDocument, RowMissing};
use crate::error::ValueError;
use crate::feature::{FeatureKind, FeatureSource};
use crate::names::{did_you_mean, shown};
use crate::number::{plainly, read};
use crate::unit_hash::UnitHash;

use self::derived::{Derivation, derivations};
use self::known_names::Names;
pub use self::missing_words::{MISSING_WORDS, stands_for_missing};

/// Whole numbers beyond this have no `f64` of their own.
const LARGEST_KEY: f64 = 9_007_199_254_740_992.0;

/// Turns the fields of a record into a context, an arm and a reward.
///
/// ```
/// # let text = include_str!("../tests/it/example.toml");
/// use rarely_policy::{PolicyDocument, FieldValue};
/// let encoder = PolicyDocument::parse(text, "policy.toml")?.encoder();
/// let mut context = encoder.blank();
/// encoder.feature(0, FieldValue::Text("150"), &mut context)?;
/// encoder.feature(1, FieldValue::Text("yes"), &mut context)?;
/// encoder.derive(&mut context);
/// assert_eq!(context, [1.0, 0.5, 1.0]);
/// assert!(encoder.feature(0, FieldValue::Number(300.0), &mut context).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Encoder {
    columns: Vec<String>,
    codes: Vec<Code>,
    derived: Vec<Derivation>,
    missing: Vec<Missing>,
    row_missing: RowMissing,
    blank: Vec<f64>,
    option_column: String,
    options: Names,
    outcome_column: String,
    outcome_range: Option<(f64, f64)>,
    sign: f64,
    costs: Vec<f64>,
    guardrails: Vec<Guardrail>,
}

/// How one feature is written into a context.
#[derive(Debug, Clone)]
enum Code {
    /// With the coordinate that says that it is missing, if there is one.
    Numeric {
        at: usize,
        low: f64,
        high: f64,
        unit: String,
        is_missing: Option<usize>,
    },
    Levels {
        at: usize,
        names: Names,
    },
}

impl Encoder {
    pub(crate) fn new(document: &PolicyDocument) -> Self {
        let columns = document.feature_columns();
        let indicator = |column: usize| {
            let of = |source: &FeatureSource| *source == FeatureSource::IsMissing(column);
            let feature = document.features().iter().position(|feature| of(&feature.source));
            feature.map(|feature| document.offset(feature))
        };
        let codes = columns.iter().enumerate().map(|(index, feature)| {
            let at = document.offset(index);
            match &feature.kind {
                FeatureKind::Numeric { low, high, unit } => {
                    let unit = unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
                    Code::Numeric { at, low: *low, high: *high, unit, is_missing: indicator(index) }
                }
                FeatureKind::Levels(levels) => Code::Levels { at, names: Names::new(levels) },
            }
        });
        let mut blank = vec![0.0; document.shape().dimension()];
        if document.has_intercept() {
            blank[0] = 1.0;
        }
        let outcome = document.outcome();
        Self {
            columns: columns.iter().map(|feature| feature.column.clone()).collect(),
            codes: codes.collect(),
            derived: derivations(document),
            missing: columns.iter().map(crate::Feature::missing).collect(),
            row_missing: document.evidence().missing,
            blank,
            option_column: document.option_column().to_owned(),
            options: Names::of_options(document.option_codes(), document.options()),
            outcome_column: outcome.column.clone(),
            outcome_range: outcome.range,
            sign: if outcome.better == Better::Lower { -1.0 } else { 1.0 },
            costs: document.limits().costs().to_vec(),
            guardrails: document.guardrails().to_vec(),
        }
    }

    /// The columns of the features that have one, in the order in which [`Encoder::feature`] numbers them.
    pub fn feature_columns(&self) -> &[String] {
        &self.columns
    }

    /// The column of the option.
    pub fn option_column(&self) -> &str {
        &self.option_column
    }

    /// The column of the outcome.
    pub fn outcome_column(&self) -> &str {
        &self.outcome_column
    }

    /// Numbers in a context.
    pub fn dimension(&self) -> usize {
        self.blank.len()
    }

    /// A context with the intercept set and every feature at its lowest.
    pub fn blank(&self) -> Vec<f64> {
        self.blank.clone()
    }

    /// What happens where the column of a feature has no value.
    pub fn missing(&self, feature: usize) -> Missing {
        self.missing[feature]
    }

    /// What happens to a row without an option or an outcome.
    pub fn row_missing(&self) -> RowMissing {
        self.row_missing
    }

    /// Writes one feature's coordinates into a context, and returns whether it has a value. A context is complete when every feature is
    /// written and what follows from them is [derived](Encoder::derive).
    ///
    /// # Errors
    /// [`ValueError`] says what was found and what is expected; the context is unchanged. A missing value is an error unless the document
    /// says what it counts as; rows of a log that lack one may be [dropped](Missing::Drop).
    ///
    /// # Panics
    /// If there is no such feature, or the context is too short.
    #[inline]
    pub fn feature(&self, feature: usize, value: FieldValue<'_>, context: &mut [f64]) -> Result<bool, ValueError> {
        match &self.codes[feature] {
            Code::Numeric { at, low, high, unit, is_missing } => {
                let Some(number) = number(value) else {
                    return self.no_number(feature, value, context).map(|()| false);
                };
                if !(*low <= number && number <= *high) {
                    return Err(outside(&self.columns[feature], number, (*low, *high), unit));
                }
                context[*at] = (number - low) / (high - low);
                if let Some(flag) = is_missing {
                    context[*flag] = 0.0;
                }
                Ok(true)
            }
            Code::Levels { at, names } => {
                let found = names.find(value);
                let is_missing =
                    found.is_none() && self.missing[feature] == Missing::Level && stands_for_missing(value);
                let level = if is_missing { Some(names.len() - 1) } else { found };
                let level = level.ok_or_else(|| self.unknown_level(feature, names, value))?;
                let coordinates = &mut context[*at..*at + names.len() - 1];
                coordinates.fill(0.0);
                if level > 0 {
                    coordinates[level - 1] = 1.0;
                }
                Ok(!is_missing)
            }
        }
    }

    /// A number that is not there counts as the middle of its range, if the document says so.
    #[cold]
    fn no_number(&self, feature: usize, value: FieldValue<'_>, context: &mut [f64]) -> Result<(), ValueError> {
        let column = &self.columns[feature];
        match (&self.codes[feature], self.missing[feature]) {
            (Code::Numeric { at, is_missing: Some(flag), .. }, _) if stands_for_missing(value) => {
                context[*at] = 0.5;
                context[*flag] = 1.0;
                Ok(())
            }
            (_, Missing::Drop) if stands_for_missing(value) => Err(unexpected(column, FieldValue::Missing, "a number")),
            _ => Err(not_number(column, value)),
        }
    }

    /// Computes what is derived from the features of a context, rounded to 26 bits (mathematics §17).
    ///
    /// # Panics
    /// If the context is too short.
    #[inline]
    pub fn derive(&self, context: &mut [f64]) {
        for derivation in &self.derived {
            derivation.write(context);
        }
    }

    /// The arm of an option.
    ///
    /// # Errors
    /// [`ValueError`] lists the options.
    #[inline]
    pub fn option(&self, value: FieldValue<'_>) -> Result<Arm, ValueError> {
        self.options.find(value).map(Arm::new).ok_or_else(|| self.unknown_option(self.or_missing(value)))
    }

    /// What an option costs per case: a case's reward is that of its outcome less this.
    #[inline]
    pub fn cost(&self, arm: Arm) -> f64 {
        self.costs[arm.index()]
    }

    /// The reward of an outcome, before costs: minus the outcome where lower is better.
    ///
    /// # Errors
    /// [`ValueError`] if it is not a number, or outside its range.
    #[inline]
    pub fn outcome(&self, value: FieldValue<'_>) -> Result<f64, ValueError> {
        let number = number(value).ok_or_else(|| not_number(&self.outcome_column, self.or_missing(value)))?;
        match self.outcome_range {
            Some((low, high)) if !(low <= number && number <= high) => {
                Err(outside(&self.outcome_column, number, (low, high), ""))
            }
            None if number.abs() > MAX_REWARD => Err(ValueError::TooLarge {
                column: self.outcome_column.as_str().into(),
                found: number,
                limit: MAX_REWARD,
            }),
            _ => Ok(self.sign * number),
        }
    }

    /// The columns of the guard-rails, in the order in which [`Encoder::guardrail`] numbers them.
    pub fn guardrail_columns(&self) -> impl Iterator<Item = &String> {
        self.guardrails.iter().map(|guardrail| &guardrail.column)
    }

    /// The value of a guard-rail in the good direction: minus the number where lower is better.
    ///
    /// # Errors
    /// [`ValueError`] if it is not a number, or outside its range.
    ///
    /// # Panics
    /// If there is no such guard-rail.
    #[inline]
    pub fn guardrail(&self, at: usize, value: FieldValue<'_>) -> Result<f64, ValueError> {
        let guardrail = &self.guardrails[at];
        let number = number(value).ok_or_else(|| not_number(&guardrail.column, value))?;
        let (low, high) = guardrail.range;
        if !(low <= number && number <= high) {
            return Err(outside(&guardrail.column, number, (low, high), ""));
        }
        Ok(guardrail.sign() * number)
    }

    /// Writes the name of a case's group, or of its level of a fairness column, into `name`. A number counts as the text that it is written as.
    ///
    /// # Errors
    /// [`ValueError::Missing`] if there is none.
    #[inline]
    pub fn name(column: &str, value: FieldValue<'_>, name: &mut String) -> Result<(), ValueError> {
        if is_missing(value) {
            return Err(unexpected(column, value, "a name"));
        }
        name.clear();
        match value {
            FieldValue::Text(text) => name.push_str(text.trim()),
            value => name.push_str(&plain(value)),
        }
        Ok(())
    }

    /// The probability with which an option was chosen, in `(0, 1]`.
    ///
    /// # Errors
    /// [`ValueError::Propensity`].
    #[inline]
    pub fn propensity(value: FieldValue<'_>) -> Result<f64, ValueError> {
        number(value)
            .filter(|&probability| probability > 0.0 && probability <= 1.0)
            .ok_or_else(|| ValueError::Propensity { found: found(value).into() })
    }

    /// A probability in `[0, 1]`.
    ///
    /// # Errors
    /// [`ValueError`] names the column, and says what was found and what is expected.
    #[inline]
    pub fn probability(column: &str, value: FieldValue<'_>) -> Result<f64, ValueError> {
        number(value)
            .filter(|probability| (0.0..=1.0).contains(probability))
            .ok_or_else(|| unexpected(column, value, "a probability from 0 to 1"))
    }

    /// The weight of a case: finite and above 0.
    ///
    /// # Errors
    /// [`ValueError`] names the column, and says what was found and what is expected.
    #[inline]
    pub fn weight(column: &str, value: FieldValue<'_>) -> Result<f64, ValueError> {
        number(value).filter(|&weight| weight > 0.0).ok_or_else(|| unexpected(column, value, "a number above 0"))
    }

    /// A hash of the name of a case's cluster. A number counts as the text that it is written as.
    ///
    /// # Errors
    /// [`ValueError::Missing`] if there is none.
    #[inline]
    pub fn cluster(column: &str, value: FieldValue<'_>) -> Result<u64, ValueError> {
        if is_missing(value) {
            return Err(unexpected(column, value, "the name of a cluster"));
        }
        Ok(match value {
            FieldValue::Text(text) => hash(text.trim()),
            value => hash(&plain(value)),
        })
    }

    /// The hash of a case's key. A whole number counts as its digits.
    ///
    /// # Errors
    /// [`ValueError`] if there is none, or it is a number that cannot be told from the next one.
    #[inline]
    pub fn key(column: &str, value: FieldValue<'_>) -> Result<UnitHash, ValueError> {
        if is_missing(value) {
            return Err(unexpected(column, value, "the key of a row"));
        }
        match value {
            FieldValue::Text(text) => Ok(UnitHash::of(text.trim())),
            FieldValue::Number(number) if !(number.trunc() == number && number.abs() <= LARGEST_KEY) => {
                Err(unexpected(column, value, "a whole number of at most 2^53, or text"))
            }
            // The sum turns −0 into 0.
            FieldValue::Number(number) => Ok(UnitHash::of(&(number + 0.0).to_string())),
            FieldValue::Missing => Err(unexpected(column, value, "the key of a row")),
        }
    }

    /// A value of a row, or none if it stands for a missing one and the document says what happens then.
    fn or_missing<'a>(&self, value: FieldValue<'a>) -> FieldValue<'a> {
        if self.row_missing == RowMissing::Drop && stands_for_missing(value) { FieldValue::Missing } else { value }
    }

    #[cold]
    fn unknown_level(&self, feature: usize, names: &Names, value: FieldValue<'_>) -> ValueError {
        let column: Box<str> = self.columns[feature].as_str().into();
        if is_missing(value) || self.missing[feature] == Missing::Drop && stands_for_missing(value) {
            return ValueError::Missing { column, expected: "one of its levels".into() };
        }
        let remedy = did_you_mean(&plain(value), "the levels in the policy document are", names.iter());
        ValueError::UnknownLevel { column, found: found(value).into(), remedy: remedy.into() }
    }

    #[cold]
    fn unknown_option(&self, value: FieldValue<'_>) -> ValueError {
        let column: Box<str> = self.option_column.as_str().into();
        if is_missing(value) {
            return ValueError::Missing { column, expected: "one of the policy's options".into() };
        }
        let remedy = did_you_mean(&plain(value), "the options in the policy document are", self.options.iter());
        ValueError::UnknownOption { column, found: found(value).into(), remedy: remedy.into() }
    }
}

#[inline]
fn number(value: FieldValue<'_>) -> Option<f64> {
    match value {
        FieldValue::Missing => None,
        FieldValue::Number(number) => Some(number).filter(|number| number.is_finite()),
        FieldValue::Text(text) => read(text),
    }
}

fn is_missing(value: FieldValue<'_>) -> bool {
    match value {
        FieldValue::Missing => true,
        FieldValue::Number(_) => false,
        FieldValue::Text(text) => text.trim().is_empty(),
    }
}

fn plain(value: FieldValue<'_>) -> String {
    match value {
        FieldValue::Missing => String::new(),
        FieldValue::Number(number) => plainly(number),
        FieldValue::Text(text) => text.to_owned(),
    }
}

fn found(value: FieldValue<'_>) -> String {
    match value {
        FieldValue::Missing => "missing".to_owned(),
        FieldValue::Number(number) => plainly(number),
        FieldValue::Text(text) => shown(text),
    }
}

/// 64 bits of a text, by FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

#[cold]
fn not_number(column: &str, value: FieldValue<'_>) -> ValueError {
    unexpected(column, value, "a number")
}

#[cold]
fn unexpected(column: &str, value: FieldValue<'_>, expected: &str) -> ValueError {
    let (column, expected) = (column.into(), expected.into());
    if is_missing(value) {
        return ValueError::Missing { column, expected };
    }
    ValueError::NotNumber { column, found: found(value).into(), expected }
}

#[cold]
fn outside(column: &str, found: f64, (low, high): (f64, f64), unit: &str) -> ValueError {
    ValueError::OutsideRange { column: column.into(), found, low, high, unit: unit.into() }
}
