//! The gain of a change under sharp sets: the sum of its parts, a part for each pair of arms.
//!
//! One set over all arms of a change would pay for all of them; a part pays for two.

use crate::arm::Arm;
use crate::confidence::{Confidence, Interval};
use crate::context::Contexts;
use crate::error::ContextError;
use crate::gain::{BoundaryMove, Certificate, Gain, GainPart};
use crate::marks::MarkedSums;
use crate::noise_bound::Variance;
use crate::rule::Rule;
use crate::sharp::{SharpSet, budget, log_pair_count, log_ratio};
use crate::statistics::{Digest, Statistics};
use crate::symmetric::add_scaled;

/// The functionals `q_ij` of a change, pair by pair.
#[derive(Debug)]
pub(crate) struct PairTally {
    arms: usize,
    dimension: usize,
    /// `Σ_{i→j} s − Σ_{j→i} s` for `i < j`, at `(i·k + j)·d`.
    sums: Vec<f64>,
    /// How many go from the row's arm to the column's.
    moves: Vec<u32>,
    contexts: u32,
}

impl PairTally {
    pub(crate) fn new(arms: usize, dimension: usize) -> Self {
        Self { arms, dimension, sums: vec![0.0; arms * arms * dimension], moves: vec![0; arms * arms], contexts: 0 }
    }

    /// One context's arm before and after.
    #[inline]
    pub(crate) fn count(&mut self, context: &[f64], old: usize, new: usize) {
        self.contexts += 1;
        if old != new {
            self.moves[old * self.arms + new] += 1;
            let at = (old.min(new) * self.arms + old.max(new)) * self.dimension;
            add_scaled(&mut self.sums[at..at + self.dimension], if old < new { 1.0 } else { -1.0 }, context);
        }
    }

    /// Sets how many contexts there are, where only those with another arm were counted.
    pub(crate) fn of(&mut self, contexts: usize) {
        self.contexts = u32::try_from(contexts).unwrap_or(u32::MAX);
    }

    fn share(&self, from: usize, to: usize) -> f64 {
        f64::from(self.moves[from * self.arms + to]) / f64::from(self.contexts.max(1))
    }

    pub(crate) fn changed_share(&self) -> f64 {
        let changed: u32 = self.moves.iter().sum();
        f64::from(changed) / f64::from(self.contexts.max(1))
    }

    /// The mean functional of a pair `i < j`, and the shares that go there and back; `None` if nobody changes between them.
    pub(crate) fn part(&self, i: usize, j: usize) -> Option<(Vec<f64>, [f64; 2])> {
        let shares = [self.share(i, j), self.share(j, i)];
        if shares == [0.0; 2] {
            return None;
        }
        let at = (i * self.arms + j) * self.dimension;
        let scale = 1.0 / f64::from(self.contexts.max(1));
        Some((self.sums[at..at + self.dimension].iter().map(|value| value * scale).collect(), shares))
    }
}

/// Tells a bound from what it bounds by far more than rounding.
const ROUNDING: f64 = 1e-3;

/// At least the lower end of a gain's interval under sharp sets, in O(k²d²): where this is too small, the sets need not be built.
///
/// A pair's set at a mark is `Σ(‖θ−θ̂‖²_V̄ − ‖θ−m‖²_Q) ≤ B` (or `≤ B + λL²` without the second term), so that it contains the ellipsoid
/// `Σ‖θ−θ̂‖²_V̄ ≤ B`, whose interval is about `θ̂`. `B` needs only log-determinants.
pub(crate) fn certain_gain_bound(
    confidence: &Confidence,
    statistics: &Statistics,
    variance: &Variance<'_>,
    tally: &PairTally,
) -> f64 {
    let Some(marks) = statistics.marks() else { return f64::INFINITY };
    let shape = statistics.shape();
    let log_pairs = variance.log_inverse(confidence) + log_pair_count(shape.arms());
    let mut bound = 0.0;
    for (i, j) in shape.pairs().map(|(i, j)| (i.index(), j.index())) {
        let Some((functional, _)) = tally.part(i, j) else { continue };
        let Some(variance) = variance.of_pair(i, j) else { return f64::NEG_INFINITY };
        let ridges = [statistics.arm(i), statistics.arm(j)];
        let at = |mark: &MarkedSums| {
            let log_ratios = log_ratio(ridges[0], &mark.arms[i]) + log_ratio(ridges[1], &mark.arms[j]);
            budget(variance, log_pairs, mark.weight(), log_ratios)
        };
        let least = marks.iter().map(at).fold(f64::INFINITY, f64::min);
        let width_squared: f64 = ridges.iter().map(|ridge| ridge.width_squared(&functional)).sum();
        let gain = ridges[1].predict(&functional) - ridges[0].predict(&functional);
        bound += gain - (1.0 - ROUNDING) * (least * width_squared).sqrt();
    }
    bound
}

impl SharpSet {
    /// The gain of playing `after` instead of `before` at these contexts, and its parts. Its interval is the sum of the parts'.
    ///
    /// # Errors
    /// [`ContextError`] if there are no contexts or they do not fit.
    ///
    /// # Panics
    /// If there is not one arm of either list for each context, or an arm does not exist.
    pub fn gain(
        &self,
        contexts: Contexts<'_>,
        before: &[Arm],
        after: &[Arm],
    ) -> Result<(Gain, Vec<GainPart>), ContextError> {
        contexts.check_dimension(self.shape.dimension())?;
        if contexts.is_empty() {
            return Err(ContextError::Empty);
        }
        assert!(
            before.len() == contexts.len() && after.len() == contexts.len(),
            "one arm before and after for each context"
        );
        let mut tally = PairTally::new(self.shape.arms(), self.shape.dimension());
        for (context, (old, new)) in contexts.iter().zip(before.iter().zip(after)) {
            tally.count(context.values(), old.index(), new.index());
        }
        Ok(self.gain_of(&tally))
    }

    pub(crate) fn gain_of(&self, tally: &PairTally) -> (Gain, Vec<GainPart>) {
        let mut whole = Interval { estimate: 0.0, lower: 0.0, upper: 0.0 };
        let mut parts = Vec::new();
        for (i, j) in self.shape.pairs().map(|(i, j)| (i.index(), j.index())) {
            if let Some((functional, [there, back])) = tally.part(i, j) {
                let interval = self.difference_interval(&functional, j, i);
                whole.estimate += interval.estimate;
                whole.lower += interval.lower;
                whole.upper += interval.upper;
                parts.push(GainPart { arms: (i, j), there, back, interval });
            }
        }
        (Gain { interval: whole, changed_share: tally.changed_share() }, parts)
    }

    /// The certificate of changing from one linear policy to another, judged on a sample.
    ///
    /// # Errors
    /// [`ContextError`] if there are no contexts or they do not fit.
    ///
    /// # Panics
    /// If the policies do not have the shape of the statistics.
    pub fn certify(
        &self,
        from: &Rule,
        to: &Rule,
        contexts: Contexts<'_>,
        digest: Digest,
    ) -> Result<Certificate, ContextError> {
        let (gain, parts) = self.gain(contexts, &from.choose_many(contexts)?, &to.choose_many(contexts)?)?;
        let (before, after) = (self.boundaries(from.parameters()), self.boundaries(to.parameters()));
        Ok(Certificate {
            gain,
            sample: contexts.len(),
            excluded_before: self.excluded_share(from, contexts)?,
            excluded_after: self.excluded_share(to, contexts)?,
            boundaries: BoundaryMove::all(from.parameters(), to.parameters(), before, after),
            parts,
            theorem_three: None,
            radius: None,
            digest,
        })
    }
}
