//! Linear rules: raw units into context coordinates.

use rarely_core::Parameters;

use crate::document::PolicyDocument;
use crate::rule::ladder::ScaledSum;
use crate::rule::{Coefficient, INTERCEPT, LinearRule};

impl LinearRule {
    /// `intercept' = intercept + Σ coefficient·low`, `coefficient' = coefficient·(high − low)`.
    pub(crate) fn parameters(&self, document: &PolicyDocument) -> Parameters {
        let shape = document.shape();
        let mut values = Vec::with_capacity(shape.parameters());
        for option in document.options() {
            let scaled = ScaledSum::of(document, &self.scores[option]);
            let start = values.len();
            values.extend(scaled.direction);
            if document.has_intercept() {
                values[start] = self.intercept(option) + scaled.constant;
            }
        }
        Parameters::try_from((shape, values)).expect("a rule's numbers are finite")
    }

    /// An option's score where every feature is lowest, and the size of the terms that make it.
    pub(crate) fn constant(&self, document: &PolicyDocument, option: &str) -> (f64, f64) {
        let scaled = ScaledSum::of(document, &self.scores[option]);
        let intercept = self.intercept(option);
        (intercept + scaled.constant, intercept.abs() + scaled.size)
    }

    fn intercept(&self, option: &str) -> f64 {
        match self.scores[option].get(INTERCEPT) {
            Some(Coefficient::Slope(number)) => *number,
            _ => 0.0,
        }
    }
}
