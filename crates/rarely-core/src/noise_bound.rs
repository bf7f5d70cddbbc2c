//! The noise that confidence sets are made for: declared, or a bound on it from the outcomes (mathematics §12, "Unknown noise").
//!
//! Errors of predicting each outcome from those before it stochastically dominate the noise, whatever chose the arms. So a bound on `σ²`
//! follows from their squares. It takes a tenth of the error probability; the sets get the rest.

use std::borrow::Cow;

use crate::confidence::{Confidence, UnknownNoise};
use crate::marks::Marks;
use crate::number::Noise;
use crate::prediction_errors::PredictionErrors;
use crate::statistics::Statistics;

/// The share of the error probability that a bound on unknown noise takes.
const SHARE: f64 = 0.1;

/// `σ²`, as sets take it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Variance<'a> {
    /// One for all arms, without error.
    Declared(f64),
    /// A bound for each arm; `None` where nothing is known yet.
    Bounded(Cow<'a, [Option<f64>]>),
}

impl Variance<'_> {
    /// `σ²` of an arm.
    pub(crate) fn of_arm(&self, arm: usize) -> Option<f64> {
        match self {
            Self::Declared(variance) => Some(*variance),
            Self::Bounded(bounds) => bounds[arm],
        }
    }

    /// `σ²` of an arm, divided by that of [`Learner::noise_scale`](crate::Learner): what a posterior's `V⁻¹` is multiplied with.
    pub(crate) fn weight(&self, arm: usize) -> Option<f64> {
        match self {
            Self::Declared(_) => Some(1.0),
            Self::Bounded(bounds) => bounds[arm],
        }
    }

    /// `σ²` of a pair: the larger.
    pub(crate) fn of_pair(&self, i: usize, j: usize) -> Option<f64> {
        self.of_arm(i).zip(self.of_arm(j)).map(|(first, second)| first.max(second))
    }

    /// `ln(1/δ)` of what is left for the sets.
    pub(crate) fn log_inverse(&self, confidence: &Confidence) -> f64 {
        match self {
            Self::Declared(_) => confidence.error_probability.log_inverse(),
            Self::Bounded(_) => confidence.error_probability.scaled(1.0 - SHARE).log_inverse(),
        }
    }
}

/// Noise that is not declared. The bound on it is computed anew only when there are twice as many errors.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "UnknownNoise", into = "UnknownNoise"))]
pub(crate) struct NoiseBound {
    unknown: UnknownNoise,
    /// Of as many marks.
    marks: usize,
    variances: Vec<Option<f64>>,
}

/// The bound follows from the statistics, so that two of them need no comparison.
impl PartialEq for NoiseBound {
    fn eq(&self, other: &Self) -> bool {
        self.unknown == other.unknown
    }
}

impl From<UnknownNoise> for NoiseBound {
    fn from(unknown: UnknownNoise) -> Self {
        Self { unknown, marks: 0, variances: Vec::new() }
    }
}

impl From<NoiseBound> for UnknownNoise {
    fn from(bound: NoiseBound) -> Self {
        bound.unknown
    }
}

impl NoiseBound {
    /// Bounds on `σ²` of each arm.
    pub(crate) fn variances(&self, confidence: &Confidence, statistics: &Statistics) -> Cow<'_, [Option<f64>]> {
        if !self.variances.is_empty() && self.marks == Self::marks_of(statistics) {
            return Cow::Borrowed(&self.variances);
        }
        Cow::Owned(self.unknown.variance_bounds(confidence, statistics))
    }

    /// Computes the bounds anew if there is a new mark.
    pub(crate) fn follow(&mut self, confidence: &Confidence, statistics: &Statistics) {
        if let Cow::Owned(variances) = self.variances(confidence, statistics) {
            (self.marks, self.variances) = (Self::marks_of(statistics), variances);
        }
    }

    fn marks_of(statistics: &Statistics) -> usize {
        errors(statistics).map_or(0, PredictionErrors::marks)
    }

    /// The same assumptions with the largest bound as declared noise, for tests that need one number; infinite if an arm has none.
    pub(crate) fn stated(&self, confidence: &Confidence, statistics: &Statistics) -> Confidence {
        let variances = self.variances(confidence, statistics);
        let largest = variances.iter().map(|bound| bound.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
        let error_probability = confidence.error_probability.scaled(1.0 - SHARE);
        Confidence { noise: Noise::constant(largest.sqrt()), error_probability, ..*confidence }
    }
}

impl UnknownNoise {
    /// A bound on `σ²` of each arm.
    pub(crate) fn variance_bounds(self, confidence: &Confidence, statistics: &Statistics) -> Vec<Option<f64>> {
        let (arms, probability) = (statistics.shape().arms(), SHARE * confidence.error_probability.get());
        let Some(errors) = errors(statistics) else { return vec![None; arms] };
        match self {
            Self::OfAllArms => vec![errors.variance_bound(probability); arms],
            Self::OfEachArm => errors.arm_variance_bounds(probability),
        }
    }
}

/// The errors of prediction of some statistics, if they keep them.
fn errors(statistics: &Statistics) -> Option<&PredictionErrors> {
    statistics.marks().and_then(Marks::errors)
}
