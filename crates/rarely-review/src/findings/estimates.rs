//! What each option is estimated to do.

use rarely_core::Parameters;
use rarely_policy::{FeatureKind, PolicyDocument};
use serde::Serialize;

use super::numbers::measured;

/// The estimated mean outcome of an option: a sum of coefficients.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimateFinding {
    /// The option.
    pub option: String,
    /// Its coefficients, of the outcome, in the owner's units.
    pub coefficients: Vec<CoefficientFinding>,
}

/// What one part of a record adds to the outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoefficientFinding {
    /// As a linear rule names it: `intercept`, `systolic`.
    pub key: String,
    /// `constant`, `systolic`, `diabetic = yes`.
    pub name: String,
    /// `wellbeing per mmHg`.
    pub unit: String,
    /// The coefficient.
    pub value: f64,
    /// The same as text.
    pub text: String,
}

pub(super) fn estimates(document: &PolicyDocument, estimates: &Parameters) -> Vec<EstimateFinding> {
    let (sign, names) = (document.outcome_sign(), coefficient_names(document));
    let options = document.raw_coefficients(estimates).into_iter().zip(document.options());
    options
        .map(|(coefficients, option)| EstimateFinding {
            option: option.clone(),
            coefficients: coefficients
                .into_iter()
                .zip(&names)
                .map(|((key, value), (name, unit))| CoefficientFinding {
                    key,
                    name: name.clone(),
                    unit: unit.clone(),
                    value: sign * value,
                    text: measured(sign * value),
                })
                .collect(),
        })
        .collect()
}

/// Every coefficient with its unit.
fn coefficient_names(document: &PolicyDocument) -> Vec<(String, String)> {
    let column = &document.outcome().column;
    let mut names = vec![("constant".to_owned(), column.clone())];
    for feature in document.features() {
        match &feature.kind {
            FeatureKind::Numeric { unit, .. } => {
                let unit = unit.as_deref().unwrap_or("unit");
                names.push((feature.column.clone(), format!("{column} per {unit}")));
            }
            FeatureKind::Levels(levels) => {
                let level = |level: &String| (format!("{} = {level}", feature.column), column.clone());
                names.extend(levels[1..].iter().map(level));
            }
        }
    }
    names
}
