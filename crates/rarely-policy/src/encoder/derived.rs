//! Coordinates that follow from others, in whole numbers of 26 bits, so that sums of them are the same in every engine (mathematics §17).

use crate::document::PolicyDocument;
use crate::feature::{FeatureFactor, FeatureSource};

const BITS: u32 = 26;
/// The whole number of a coordinate of 1.
const ONE: i64 = 1 << BITS;

/// How one coordinate follows from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Derivation {
    /// `max(0, U − C)/(1 − C)`.
    Above { at: usize, of: usize, cut: i64 },
    /// `(U·U′ + 2²⁵) >> 26`.
    Product { at: usize, one: usize, other: usize },
}

/// In the order of the document's features; those of columns need none.
pub(super) fn derivations(document: &PolicyDocument) -> Vec<Derivation> {
    let factor = |factor: FeatureFactor| document.offset(factor.feature) + factor.level.map_or(0, |level| level - 1);
    let features = document.features().iter().enumerate();
    let derived = features.filter_map(|(index, feature)| {
        let at = document.offset(index);
        match feature.source {
            FeatureSource::Column(_) | FeatureSource::IsMissing(_) => None,
            FeatureSource::Above(of, cut) => {
                let (low, high) = document.features()[of].range()?;
                Some(Derivation::Above { at, of: document.offset(of), cut: whole((cut - low) / (high - low)) })
            }
            FeatureSource::Square(of) => {
                let of = document.offset(of);
                Some(Derivation::Product { at, one: of, other: of })
            }
            FeatureSource::Product(one, other) => {
                Some(Derivation::Product { at, one: factor(one), other: factor(other) })
            }
        }
    });
    derived.collect()
}

impl Derivation {
    #[inline]
    pub(super) fn write(self, context: &mut [f64]) {
        let (at, derived) = match self {
            Self::Above { at, of, cut } => {
                let width = ONE - cut;
                (at, (((whole(context[of]) - cut).max(0) << BITS) + width / 2) / width)
            }
            Self::Product { at, one, other } => (at, (whole(context[one]) * whole(context[other]) + ONE / 2) >> BITS),
        };
        context[at] = derived as f64 / ONE as f64;
    }
}

/// `⌊u·2²⁶ + ½⌋` of a number from 0 to 1.
#[allow(clippy::cast_possible_truncation)]
fn whole(u: f64) -> i64 {
    (u * ONE as f64 + 0.5) as i64
}
