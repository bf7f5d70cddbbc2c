//! The position of a rule at a review, in a few numbers that can be followed over time.

use rarely_core::Thresholds;
use rarely_review::{EvidenceBase, Judgement};

use crate::event::{CutPoint, ReviewPoint};

/// The position of a rule at a review.
pub(crate) fn review_point(base: &EvidenceBase<'_>, judgement: &Judgement, outcomes: u64) -> ReviewPoint {
    let standing = &judgement.standing;
    let boundaries = base.region().boundaries(&standing.most_plausible);
    let strains = boundaries.iter().map(|boundary| boundary.distance / boundary.radius);
    let names = base.document.options();
    let cuts = standing.boundaries.iter().filter_map(|pair| {
        let (at, interval) = (pair.threshold?, pair.interval.as_ref()?);
        let (low, high) = ends(interval)?;
        Some(CutPoint { options: [names[pair.options.0].clone(), names[pair.options.1].clone()], at, low, high })
    });
    ReviewPoint {
        outcomes,
        strain: strains.fold(0.0, f64::max),
        excluded_share: standing.excluded_share,
        cuts: cuts.collect(),
    }
}

/// The ends of the plausible interval; `None` if it is empty or not a single interval.
fn ends(thresholds: &Thresholds) -> Option<(Option<f64>, Option<f64>)> {
    match *thresholds {
        Thresholds::Between { low, high } => Some((Some(low), Some(high))),
        Thresholds::AtMost { high } => Some((None, Some(high))),
        Thresholds::AtLeast { low } => Some((Some(low), None)),
        Thresholds::Everything => Some((None, None)),
        Thresholds::Outside { .. } | Thresholds::Nothing => None,
    }
}
