//! Back from context coordinates to the owner's units.

use rarely_core::Parameters;

use crate::document::PolicyDocument;
use crate::feature::{FeatureKind, FeatureSource};
use crate::number::{short, snap};
use crate::rule::INTERCEPT;

/// The effect of a few roundings on a number, relative to the size of its terms.
pub(crate) const ROUNDING: f64 = 1e-14;

impl PolicyDocument {
    /// The raw value of a numeric feature from its coordinate; `None` for a feature with levels.
    pub fn raw_value(&self, feature: usize, coordinate: f64) -> Option<f64> {
        let (low, high) = self.features[feature].range()?;
        Some(snap(low + coordinate * (high - low), ROUNDING * low.abs().max(high.abs())))
    }

    /// The level of a feature in a context; `None` for a number.
    ///
    /// # Panics
    /// If the context is too short.
    pub fn level_at(&self, feature: usize, context: &[f64]) -> Option<&str> {
        let (at, levels) = (self.offset(feature), self.features[feature].levels()?);
        let place = context[at..at + levels.len() - 1].iter().position(|&coordinate| coordinate > 0.5);
        Some(&levels[place.map_or(0, |place| place + 1)])
    }

    /// A context in words: the column of each feature that has one, and its value with its unit.
    ///
    /// # Panics
    /// If the context is too short.
    pub fn decode(&self, context: &[f64]) -> Vec<(String, String)> {
        let is_missing = |column: usize| {
            let flag = |feature: &crate::Feature| feature.source == FeatureSource::IsMissing(column);
            self.features.iter().position(flag).is_some_and(|flag| context[self.offset(flag)] > 0.5)
        };
        let decoded = self.feature_columns().iter().enumerate().map(|(index, feature)| {
            let at = self.offset(index);
            let shown = match &feature.kind {
                FeatureKind::Numeric { .. } if is_missing(index) => "missing".to_owned(),
                FeatureKind::Numeric { unit, .. } => {
                    let value = short(self.raw_value(index, context[at]).unwrap_or_default());
                    unit.as_ref().map_or(value.clone(), |unit| format!("{value} {unit}"))
                }
                FeatureKind::Levels(_) => self.level_at(index, context).unwrap_or_default().to_owned(),
            };
            (feature.column.clone(), shown)
        });
        decoded.collect()
    }

    /// Each option's coefficients in the units of the document: `intercept`, a feature's column, `column = level`.
    ///
    /// Rewards, not outcomes: where lower outcomes are better, [`PolicyDocument::outcome_sign`] reverses them.
    ///
    /// # Panics
    /// If the parameters are of another shape.
    pub fn raw_coefficients(&self, parameters: &Parameters) -> Vec<Vec<(String, f64)>> {
        assert_eq!(parameters.shape(), self.shape, "parameters of this document");
        parameters.iter().map(|vector| self.raw_line(vector)).collect()
    }

    fn raw_line(&self, vector: &[f64]) -> Vec<(String, f64)> {
        let raw = self.raw_vector(vector, ROUNDING);
        let names = self.coordinates().into_iter().skip(usize::from(self.intercept));
        std::iter::once((INTERCEPT.to_owned(), raw.constant)).chain(names.zip(raw.slopes)).collect()
    }

    /// A linear function of contexts, in raw units: `slope = slope'/(high − low)`, `constant = constant' − Σ slope·low`, with the
    /// fewest digits within `slack` of the sizes of the terms.
    pub(crate) fn raw_vector(&self, vector: &[f64], slack: f64) -> RawVector {
        let mut constant = if self.intercept { vector[0] } else { 0.0 };
        let mut size = constant.abs();
        let mut slopes = vector[usize::from(self.intercept)..].to_vec();
        for (index, feature) in self.features.iter().enumerate() {
            let Some((low, high)) = feature.range() else { continue };
            let slope = &mut slopes[self.offset(index) - usize::from(self.intercept)];
            *slope /= high - low;
            constant -= *slope * low;
            size += slope.abs() * low.abs().max(high.abs());
        }
        for slope in &mut slopes {
            *slope = snap(*slope, slack * slope.abs());
        }
        RawVector { constant: snap(constant, slack * size), slopes }
    }
}

/// A linear function of raw values.
pub(crate) struct RawVector {
    /// Its value where every number is 0 and every level the first.
    pub(crate) constant: f64,
    /// For each coordinate but the intercept.
    pub(crate) slopes: Vec<f64>,
}
