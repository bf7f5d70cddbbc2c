//! What takes the certainty from a certificate: assumptions that the log itself refutes.

use rarely_core::{Contexts, Interval, Method};
use serde::{Deserialize, Serialize};

use crate::candidate_gain::{JudgedCandidate, multiplier};
use crate::curvature::Curvature;
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::impact::Impact;
use crate::least_squares::dot;
use crate::moments::{Moments, square};
use crate::normal_equations::NormalEquations;
use crate::trend::WithinTime;

/// Outcomes that scatter more than this multiple of the declared noise refute it.
const NOISIER: f64 = 1.1;
/// A line is bent if the probability of so much bend is below this, divided by the number of options that change.
const BENT: f64 = 0.05;
/// The share of a gain that may rest on options that were hardly ever tried on people like those who get them.
const EXTRAPOLATED: f64 = 0.1;

/// Why a certificate is not certain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Demotion {
    /// Outcomes scatter more than declared.
    Noise {
        /// The option, as an index into the document's.
        option: usize,
        /// The standard deviation that was found.
        found: f64,
        /// The noise that was declared.
        declared: f64,
    },
    /// The estimates are longer than the declared bound on their norm.
    NormBound {
        /// Their length.
        found: f64,
        /// The bound.
        declared: f64,
    },
    /// The gain rests on options that were hardly ever tried on people like those who get them.
    Extrapolation {
        /// The share of the gain.
        gain_share: f64,
    },
    /// Lines bend, and with bent lines the gain is not shown.
    Curvature {
        /// The gain with bent lines.
        gain: Interval,
    },
    /// Within stretches of time the gain is not shown.
    Trend(WithinTime),
    /// The gain by straight lines and the gain by propensities have no number in common.
    Disagreement {
        /// By straight lines.
        linear: Interval,
        /// By propensities.
        model_free: Interval,
    },
}

impl Demotion {
    /// Whether the change is not proposed at all. A gain that only has to be extrapolated is proposed, with that condition.
    pub fn forbids_change(&self) -> bool {
        !matches!(self, Self::Extrapolation { .. })
    }
}

/// What refutes the assumptions behind a candidate's gain.
pub(crate) struct Suspect<'a> {
    pub(crate) base: &'a EvidenceBase<'a>,
    pub(crate) totals: &'a [Moments],
    pub(crate) candidate: usize,
    pub(crate) gain: &'a JudgedCandidate,
}

impl Suspect<'_> {
    /// The noise and the norm bound, which only sets that use them depend on.
    pub(crate) fn declared(&self) -> Vec<Demotion> {
        let document = self.base.document;
        if self.gain.gain.method != Method::SharpSets {
            return Vec::new();
        }
        let mut found = Vec::new();
        if let Some(declared) = document.noise() {
            let deviations =
                self.totals.iter().map(|sums| sums.curvature().ok().map(|bent| bent.residual_variance.sqrt()));
            let noisy = deviations.enumerate().filter_map(|(option, found)| Some((option, found?)));
            let worst =
                noisy.filter(|(_, found)| *found > NOISIER * declared).max_by(|one, other| one.1.total_cmp(&other.1));
            found.extend(worst.map(|(option, found)| Demotion::Noise { option, found, declared }));
        }
        if let Some(declared) = document.evidence().norm_bound {
            let estimates = self.base.statistics.estimates();
            let length = dot(estimates.values(), estimates.values()).sqrt();
            if length > declared {
                found.push(Demotion::NormBound { found: length, declared });
            }
        }
        found
    }

    /// Whether bent lines would not show the gain.
    ///
    /// # Errors
    /// [`ReviewError`] if the people do not fit.
    pub(crate) fn curvature(&self) -> Result<Option<Demotion>, ReviewError> {
        let (before, after) = self.base.decisions(self.candidate);
        let mut concerned: Vec<usize> = before
            .iter()
            .zip(after)
            .filter(|(old, new)| old != new)
            .flat_map(|(old, new)| [old.index(), new.index()])
            .collect();
        concerned.sort_unstable();
        concerned.dedup();
        let bent: Vec<(usize, Curvature)> =
            concerned.iter().filter_map(|&arm| Some((arm, self.base.curvature(&self.totals[arm]).ok()?))).collect();
        let level = BENT / concerned.len().max(1) as f64;
        if bent.len() < concerned.len() || bent.iter().all(|(_, bent)| bent.p_value > level) {
            return Ok(None);
        }
        let effect = self.base.known_design_effect();
        let (mut estimate, mut variance, mut degrees) = (0.0, 0.0, f64::INFINITY);
        for (arm, bent) in &bent {
            let sums = &self.totals[*arm];
            let functional = self.bent_functional(sums, self.base.contexts(), *arm);
            let equations = NormalEquations::new(&sums.information(), &sums.moment());
            estimate += dot(&functional, &bent.bent);
            variance += effect.factor * bent.residual_variance * equations.width_squared(&functional);
            degrees = degrees.min(effect.degrees(bent.degrees.1 as f64));
        }
        let cases = self.totals.iter().map(Moments::rows).sum();
        let half_width = multiplier(self.base, degrees, cases)? * variance.sqrt();
        let gain = Interval::around(estimate, half_width);
        let minimum = self.base.document.change().minimum_gain;
        Ok((!(gain.lower > minimum)).then_some(Demotion::Curvature { gain }))
    }

    /// One option's part of the gain's functional, over the context's numbers and their squares.
    fn bent_functional(&self, sums: &Moments, people: Contexts<'_>, arm: usize) -> Vec<f64> {
        let (before, after) = self.base.decisions(self.candidate);
        let mut functional = vec![0.0; sums.dimension() + sums.squares().len()];
        for (person, (old, new)) in people.iter().zip(before.iter().zip(after)).filter(|(_, (old, new))| old != new) {
            let sign = f64::from(i8::from(new.index() == arm) - i8::from(old.index() == arm));
            if sign != 0.0 {
                let squares = sums.squares().iter().map(|&at| square(person.values()[at]));
                for (sum, value) in functional.iter_mut().zip(person.values().iter().copied().chain(squares)) {
                    *sum += sign * value / before.len() as f64;
                }
            }
        }
        functional
    }
}

/// Whether a gain rests on options that were hardly ever tried on people like those who get them.
pub(crate) fn extrapolation(impact: &Impact, gain: Interval) -> Option<Demotion> {
    let gain_share = if gain.estimate > 0.0 { impact.untried_gain.estimate / gain.estimate } else { 0.0 };
    (gain_share > EXTRAPOLATED).then_some(Demotion::Extrapolation { gain_share: gain_share.min(1.0) })
}
