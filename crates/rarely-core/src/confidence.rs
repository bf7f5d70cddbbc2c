//! Radius and confidence set: contains, nearest point, arm, difference and general intervals.
//!
//! Joint set, the default: `C = {θ : Σ_a ‖θ_a − θ̂_a‖²_{V_a} ≤ r²}` with
//! `r = √λ·L + σ·√(2 ln(1/δ) + Σ_a ln det V_a − kd·ln λ)`. It holds for all rounds at once with probability at least `1−δ`,
//! whatever chose the arms [abbasi-2011, Thm 2; lattimore-2020, Thm 20.5].

mod assumptions;
mod interval;

pub use assumptions::{Confidence, Profile, Sets, UnknownNoise};
pub use interval::Interval;

use crate::arm::Parameters;
use crate::block::{Best, Lanes, WIDTH};
use crate::rule::argmax;
use crate::statistics::Statistics;
use crate::symmetric::{ANY, by_dimension, known};

/// Rounding allowed when a squared distance is compared with a squared radius: a point that was put on the edge is inside.
pub(crate) const SLACK: f64 = 1e-9;

/// The parameters that the data have not ruled out.
///
/// Every interval is one formula: for a linear functional `⟨g,θ⟩`, `⟨g,θ̂⟩ ± r·√(Σ_a g_aᵀV_a⁻¹g_a)` under the joint set
/// and `⟨g,θ̂⟩ ± Σ_a r_a·√(g_aᵀV_a⁻¹g_a)` under per-arm sets.
#[derive(Debug, Clone, Copy)]
pub struct ConfidenceSet<'a> {
    statistics: &'a Statistics,
    confidence: Confidence,
    radius: f64,
}

impl<'a> ConfidenceSet<'a> {
    /// The statistics it was made from.
    pub fn statistics(&self) -> &'a Statistics {
        self.statistics
    }

    pub(crate) fn profile(&self) -> Profile {
        self.confidence.profile
    }

    /// `r` of the joint set.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// `r_a` of one arm's own set.
    pub fn arm_radius(&self, arm: usize) -> f64 {
        self.confidence.arm_radius(self.statistics.shape().arms(), self.statistics.arm(arm))
    }

    /// The number LinUCB multiplies an arm's width with: `r` or `r_a`, but `β = r²` in the published profile.
    #[inline]
    pub(crate) fn optimism(&self, arm: usize) -> f64 {
        match (self.confidence.sets, self.confidence.profile) {
            (Sets::Joint, Profile::Rigorous) => self.radius,
            (Sets::Joint, Profile::Published) => self.radius * self.radius,
            (Sets::PerArm | Sets::Sharp, _) => self.arm_radius(arm),
        }
    }

    /// `Σ_a ‖θ_a − θ̂_a‖²_{V_a}`. O(kd²).
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn distance_squared(&self, parameters: &Parameters) -> f64 {
        self.arm_distances_squared(parameters).iter().sum()
    }

    fn arm_distances_squared(&self, parameters: &Parameters) -> Vec<f64> {
        assert_eq!(parameters.shape(), self.statistics.shape(), "parameters have the shape of the statistics");
        let mut scratch = vec![0.0; 2 * self.statistics.shape().dimension()];
        self.statistics
            .arms()
            .iter()
            .zip(parameters.iter())
            .map(|(ridge, point)| ridge.distance_squared(point, &mut scratch))
            .collect()
    }

    /// Whether parameters are in the set.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn contains(&self, parameters: &Parameters) -> bool {
        self.contains_at(&self.arm_distances_squared(parameters))
    }

    /// Whether a point with these squared distances, arm by arm, is in the set.
    pub(crate) fn contains_at(&self, distances_squared: &[f64]) -> bool {
        match self.confidence.sets {
            Sets::Joint | Sets::Sharp => distances_squared.iter().sum::<f64>() <= self.edge(),
            Sets::PerArm => distances_squared
                .iter()
                .enumerate()
                .all(|(arm, &distance)| distance <= self.arm_radius(arm).powi(2) * (1.0 + SLACK)),
        }
    }

    /// The distance and the radius by which a point with these squared distances is farthest outside.
    pub(crate) fn farthest_outside(&self, distances_squared: &[f64]) -> (f64, f64) {
        match self.confidence.sets {
            Sets::Joint | Sets::Sharp => (distances_squared.iter().sum::<f64>().sqrt(), self.radius),
            Sets::PerArm => {
                let arms = distances_squared.iter().enumerate();
                let outside = arms.map(|(arm, distance)| (distance.sqrt(), self.arm_radius(arm)));
                outside
                    .max_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)))
                    .unwrap_or((0.0, self.radius))
            }
        }
    }

    /// `r²`, with the rounding that is allowed.
    #[inline]
    pub(crate) fn edge(&self) -> f64 {
        self.radius * self.radius * (1.0 + SLACK)
    }

    /// The point of the set nearest to `parameters` in `‖·‖_V` [lansdell-2019, §2.5]: straight towards `θ̂` until the edge.
    ///
    /// # Panics
    /// If the shapes differ.
    #[must_use]
    pub fn nearest(&self, parameters: &Parameters) -> Parameters {
        let mut values = vec![0.0; parameters.values().len()];
        self.nearest_into(parameters, &mut values, &mut vec![0.0; 2 * parameters.shape().dimension()]);
        Parameters::from_computed(parameters.shape(), values)
    }

    /// The same without allocating; `scratch` has length 2d.
    pub(crate) fn nearest_into(&self, parameters: &Parameters, out: &mut [f64], scratch: &mut [f64]) {
        assert_eq!(parameters.shape(), self.statistics.shape(), "parameters have the shape of the statistics");
        let arms = || self.statistics.arms().iter().zip(parameters.iter());
        let joint = arms().map(|(ridge, point)| ridge.distance_squared(point, scratch)).sum();
        let parts = out.chunks_exact_mut(parameters.shape().dimension());
        for (arm, ((ridge, point), out)) in arms().zip(parts).enumerate() {
            let keep = match self.confidence.sets {
                Sets::Joint | Sets::Sharp => self.keep(joint),
                Sets::PerArm => (self.arm_radius(arm) / ridge.distance_squared(point, scratch).sqrt()).min(1.0),
            };
            for ((out, point), estimate) in out.iter_mut().zip(point).zip(ridge.estimate()) {
                *out = estimate + keep * (point - estimate);
            }
        }
    }

    /// The share of `φ − θ̂` that is kept when a point at this squared distance is brought to the joint set.
    pub(crate) fn keep(&self, distance_squared: f64) -> f64 {
        let radius_squared = self.radius * self.radius;
        if distance_squared <= radius_squared {
            return 1.0;
        }
        match self.confidence.profile {
            Profile::Rigorous => (radius_squared / distance_squared).sqrt(),
            Profile::Published => radius_squared / distance_squared,
        }
    }

    /// Half the width of the interval of `⟨g,θ⟩`, from `g_aᵀV_a⁻¹g_a` of the arms where `g_a ≠ 0`.
    #[inline]
    pub(crate) fn half_width(&self, widths_squared: impl IntoIterator<Item = (usize, f64)>) -> f64 {
        match self.confidence.sets {
            Sets::Joint | Sets::Sharp => {
                let total: f64 = widths_squared.into_iter().map(|(_, width)| width).sum();
                if total == 0.0 { 0.0 } else { self.radius * total.sqrt() }
            }
            Sets::PerArm => widths_squared.into_iter().map(|(arm, width)| self.arm_radius(arm) * width.sqrt()).sum(),
        }
    }

    /// [`ConfidenceSet::half_width`] for a radius of 1.
    #[inline]
    pub(crate) fn spread(&self, widths_squared: [(usize, f64); 2]) -> f64 {
        let [(_, first), (_, second)] = widths_squared;
        match self.confidence.sets {
            Sets::Joint | Sets::Sharp => (first + second).sqrt(),
            Sets::PerArm => first.sqrt() + second.sqrt(),
        }
    }

    /// The radius that remains beyond a point with these squared distances, arm by arm; for per-arm sets, the smallest.
    #[inline]
    pub(crate) fn room_beyond(&self, distances_squared: &[f64]) -> f64 {
        match self.confidence.sets {
            Sets::Joint | Sets::Sharp => self.radius - distances_squared.iter().sum::<f64>().sqrt(),
            Sets::PerArm => {
                let arms = distances_squared.iter().enumerate();
                arms.map(|(arm, distance)| self.arm_radius(arm) - distance.sqrt()).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Interval of an arm's mean reward, `sᵀθ_a`.
    ///
    /// # Panics
    /// If the context or the arm does not fit.
    pub fn arm_interval(&self, context: &[f64], arm: usize) -> Interval {
        let ridge = self.statistics.arm(arm);
        Interval::around(ridge.predict(context), self.half_width([(arm, ridge.width_squared(context))]))
    }

    /// Interval of the difference of two arms' mean rewards, `sᵀ(θ_i − θ_j)`: narrower than two arm intervals under the joint set.
    ///
    /// # Panics
    /// If the context or an arm does not fit.
    pub fn difference_interval(&self, context: &[f64], i: usize, j: usize) -> Interval {
        let (first, second) = (self.statistics.arm(i), self.statistics.arm(j));
        let widths = [(i, first.width_squared(context)), (j, second.width_squared(context))];
        Interval::around(first.predict(context) - second.predict(context), self.half_width(widths))
    }

    /// Interval of any linear functional `⟨g,θ⟩`.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn functional_interval(&self, functional: &Parameters) -> Interval {
        assert_eq!(functional.shape(), self.statistics.shape(), "a functional has the shape of the statistics");
        self.interval_of(functional.values())
    }

    /// [`ConfidenceSet::interval`] of numbers stored arm by arm.
    pub(crate) fn interval_of(&self, functional: &[f64]) -> Interval {
        let parts = functional.chunks_exact(self.statistics.shape().dimension());
        let arms = || self.statistics.arms().iter().zip(parts.clone()).enumerate();
        let estimate = arms().map(|(_, (ridge, g))| ridge.predict(g)).sum();
        Interval::around(estimate, self.half_width(arms().map(|(arm, (ridge, g))| (arm, ridge.width_squared(g)))))
    }

    /// LinUCB's upper end for one arm at a context.
    pub(crate) fn optimistic_bound(&self, context: &[f64], arm: usize) -> f64 {
        let ridge = self.statistics.arm(arm);
        optimistic(ridge.predict(context), ridge.width_squared(context), self.optimism(arm))
    }

    /// LinUCB's arm at a context: the one with the largest upper end (in the published profile with `β` for `r`).
    #[inline]
    pub(crate) fn most_optimistic(&self, context: &[f64]) -> usize {
        by_dimension!(context.len(), most_optimistic_sized(self, context), most_optimistic_sized::<ANY>(self, context))
    }

    /// The same at each context of a block, with [`ConfidenceSet::optimism`] of every arm.
    #[inline]
    pub(crate) fn most_optimistic_block(&self, columns: &[Lanes], optimism: &[f64]) -> [usize; WIDTH] {
        by_dimension!(
            columns.len(),
            most_optimistic_block_sized(self, columns, optimism),
            most_optimistic_block_sized::<ANY>(self, columns, optimism)
        )
    }
}

fn most_optimistic_sized<const D: usize>(set: &ConfidenceSet<'_>, context: &[f64]) -> usize {
    let context = &context[..known::<D>(context.len())];
    argmax(set.statistics.arms().iter().enumerate().map(|(arm, ridge)| {
        let (estimate, width_squared) = ridge.predict_with_width_squared::<D>(context);
        optimistic(estimate, width_squared, set.optimism(arm))
    }))
}

fn most_optimistic_block_sized<const D: usize>(
    set: &ConfidenceSet<'_>,
    columns: &[Lanes],
    optimism: &[f64],
) -> [usize; WIDTH] {
    let mut best = Best::default();
    for (arm, (ridge, &optimism)) in set.statistics.arms().iter().zip(optimism).enumerate() {
        let (mut scores, widths_squared) = ridge.predict_block_with_widths::<D>(columns);
        let lanes = scores.iter_mut().zip(widths_squared);
        if optimism < f64::INFINITY {
            // The same without its branch.
            lanes.for_each(|(score, width_squared)| *score += optimism * width_squared.sqrt());
        } else {
            lanes.for_each(|(score, width_squared)| *score = optimistic(*score, width_squared, optimism));
        }
        best.compare(arm, &scores);
    }
    best.arms
}

/// The upper end of an interval. Without a width nothing is added, even if the radius is infinite.
#[inline]
pub(crate) fn optimistic(estimate: f64, width_squared: f64, optimism: f64) -> f64 {
    estimate + if width_squared == 0.0 { 0.0 } else { optimism * width_squared.sqrt() }
}
