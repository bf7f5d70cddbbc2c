//! Thresholds and scores in context coordinates: one direction, cuts along it, an option between each two.

use indexmap::IndexMap;
use rarely_core::{Parameters, Shape};

use crate::document::PolicyDocument;
use crate::feature::FeatureKind;
use crate::rule::{Coefficient, INTERCEPT};

/// How far a cut is lowered internally, relative to the size of the terms of a score.
///
/// Values often equal a cut exactly, and get the upper option. Rounded sums cannot be compared for equality, so the cut
/// is lowered by more than the largest rounding: with 4096 features, 4096 · 2⁻⁵³ = 4.5e-13.
pub(crate) const HAIR: f64 = 1e-12;

/// A threshold or a score in context coordinates: at `s` it plays `options[i]`, where `i` is the number of cuts that are
/// at most `direction·s`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    /// What each coordinate adds; the intercept's is 0.
    pub direction: Vec<f64>,
    /// In units of `direction·s`, ascending, each lowered by a hair so that a value equal to it gets the upper option
    /// whatever rounding does.
    pub cuts: Vec<f64>,
    /// The options' arms, from the lowest score to the highest.
    pub options: Vec<usize>,
}

/// A weighted sum in context coordinates.
pub(crate) struct ScaledSum {
    /// What each coordinate adds; the intercept's is 0.
    pub(crate) direction: Vec<f64>,
    /// The sum where every feature is at its lowest.
    pub(crate) constant: f64,
    /// The largest that the terms can be together, in magnitude.
    pub(crate) size: f64,
}

impl Ladder {
    pub(crate) fn of(
        document: &PolicyDocument,
        coefficients: &IndexMap<String, Coefficient>,
        cuts: &[f64],
        options: &[String],
    ) -> Self {
        let scaled = ScaledSum::of(document, coefficients);
        let arm = |option: &String| document.options().iter().position(|known| known == option);
        Self {
            cuts: cuts.iter().map(|cut| (cut - scaled.constant) - HAIR * (cut.abs() + scaled.size)).collect(),
            options: options.iter().map(|option| arm(option).expect("an option of the document")).collect(),
            direction: scaled.direction,
        }
    }

    /// Parameters that play this ladder: from one option to the next they rise by `steps[i]` times the direction with minus
    /// the cut as its intercept. Options that are not on the ladder are below it for every context in `[0,1]`, so that they
    /// are never played.
    ///
    /// # Panics
    /// If there is not one step for each cut, or an option is outside the shape.
    pub fn parameters(&self, shape: Shape, steps: &[f64]) -> Parameters {
        assert_eq!(steps.len(), self.cuts.len(), "one step for each cut");
        let dimension = shape.dimension();
        let mut values = vec![0.0; shape.parameters()];
        let mut current = vec![0.0; dimension];
        let lowest = |vector: &[f64]| vector[0] + vector[1..].iter().map(|slope| slope.min(0.0)).sum::<f64>();
        let (mut floor, mut size) = (0.0_f64, 1.0_f64);
        for (at, &option) in self.options.iter().enumerate() {
            if at > 0 {
                for (value, direction) in current.iter_mut().zip(&self.direction) {
                    *value += steps[at - 1] * direction;
                }
                current[0] -= steps[at - 1] * self.cuts[at - 1];
            }
            values[option * dimension..(option + 1) * dimension].copy_from_slice(&current);
            floor = floor.min(lowest(&current));
            size = current.iter().fold(size, |size, value| size.max(value.abs()));
        }
        for arm in (0..shape.arms()).filter(|arm| !self.options.contains(arm)) {
            values[arm * dimension] = floor - size;
        }
        Parameters::try_from((shape, values)).expect("a rule's numbers are finite")
    }
}

impl ScaledSum {
    pub(crate) fn of(document: &PolicyDocument, coefficients: &IndexMap<String, Coefficient>) -> Self {
        let mut scaled = Self { direction: vec![0.0; document.shape().dimension()], constant: 0.0, size: 0.0 };
        for (name, coefficient) in coefficients {
            if name == INTERCEPT {
                continue;
            }
            let (index, feature) = document.feature(name).expect("a feature of the document");
            let at = document.offset(index);
            match (&feature.kind, coefficient) {
                (FeatureKind::Numeric { low, high, .. }, Coefficient::Slope(slope)) => {
                    scaled.direction[at] = slope * (high - low);
                    scaled.constant += slope * low;
                    scaled.size += slope.abs() * low.abs().max(high.abs());
                }
                (FeatureKind::Levels(levels), Coefficient::Levels(numbers)) => {
                    for (place, level) in levels.iter().enumerate().skip(1) {
                        scaled.direction[at + place - 1] = numbers.get(level).copied().unwrap_or(0.0);
                    }
                    scaled.size += numbers.values().fold(0.0, |size: f64, number| size.max(number.abs()));
                }
                _ => unreachable!("a checked rule has slopes for numbers and levels for words"),
            }
        }
        scaled
    }
}
