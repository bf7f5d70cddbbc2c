//! Fixed points whose distances from the moving estimate are updated in every round.
//!
//! `‖φ − θ̂‖²_V` is the penalised sum of squares at `φ` less the one at `θ̂`. An observation adds `(y − sᵀφ)²` to the first
//! and [`Step::loss`] to the second, so that a point costs one product `sᵀφ` per round, and only for the arm that was played.

use std::ops::Range;

use crate::arm::{Parameters, is_sound};
use crate::ridge::Step;
use crate::statistics::Statistics;
use crate::symmetric::{self, ANY, by_dimension, known};

/// Points, each belonging to one arm, with their squared distances.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Track {
    dimension: usize,
    points: Vec<f64>,
    distances_squared: Vec<f64>,
}

impl Track {
    /// `count` points at the origin, infinitely far.
    pub(crate) fn unknown(count: usize, dimension: usize) -> Self {
        Self { dimension, points: vec![0.0; count * dimension], distances_squared: vec![f64::MAX; count] }
    }

    /// One point for each arm.
    pub(crate) fn of_arms(points: &Parameters, statistics: &Statistics) -> Self {
        let shape = statistics.shape();
        let mut track = Self::unknown(shape.arms(), shape.dimension());
        track.set_arms(points, statistics, &mut vec![0.0; 2 * shape.dimension()]);
        track
    }

    /// Puts each arm's point in the arm's own slot. `scratch` has length 2d.
    pub(crate) fn set_arms(&mut self, points: &Parameters, statistics: &Statistics, scratch: &mut [f64]) {
        for (arm, point) in points.iter().enumerate() {
            self.set(arm, point, arm, statistics, scratch);
        }
    }

    /// Puts a point of `arm` in a slot. `scratch` has length 2d.
    pub(crate) fn set(&mut self, slot: usize, point: &[f64], arm: usize, statistics: &Statistics, scratch: &mut [f64]) {
        let d = self.dimension;
        self.points[slot * d..(slot + 1) * d].copy_from_slice(point);
        self.distances_squared[slot] = statistics.arm(arm).distance_squared(point, scratch);
    }

    /// Puts the estimate of an arm, at distance zero, in a slot.
    pub(crate) fn place(&mut self, slot: usize, estimate: &[f64]) {
        self.points[slot * self.dimension..(slot + 1) * self.dimension].copy_from_slice(estimate);
        self.distances_squared[slot] = 0.0;
    }

    /// Marks all points as infinitely far.
    pub(crate) fn forget(&mut self) {
        self.distances_squared.fill(f64::MAX);
    }

    /// The point in a slot.
    #[inline]
    pub(crate) fn point(&self, slot: usize) -> &[f64] {
        &self.points[slot * self.dimension..(slot + 1) * self.dimension]
    }

    /// Carries the points in some slots, which belong to the arm of `step`, over one observation.
    #[inline]
    pub(crate) fn follow(&mut self, slots: Range<usize>, step: &Step, context: &[f64], reward: f64) {
        by_dimension!(
            self.dimension,
            follow_sized(self, slots, step, context, reward),
            follow_sized::<ANY>(self, slots, step, context, reward)
        );
    }

    /// Computes the distances of the points in some slots afresh. `scratch` has length 2d.
    #[cold]
    pub(crate) fn renew(&mut self, slots: Range<usize>, arm: usize, statistics: &Statistics, scratch: &mut [f64]) {
        let d = self.dimension;
        for slot in slots {
            if self.distances_squared[slot] == f64::MAX {
                continue;
            }
            let point = &self.points[slot * d..(slot + 1) * d];
            self.distances_squared[slot] = statistics.arm(arm).distance_squared(point, scratch);
        }
    }

    pub(crate) fn distance_squared(&self, slot: usize) -> f64 {
        self.distances_squared[slot]
    }

    pub(crate) fn distances_squared(&self) -> &[f64] {
        &self.distances_squared
    }

    pub(crate) fn total(&self) -> f64 {
        self.distances_squared.iter().sum()
    }

    pub(crate) fn is_sound(&self, count: usize, dimension: usize) -> bool {
        self.dimension == dimension
            && self.points.len() == count * dimension
            && self.distances_squared.len() == count
            && self.points.iter().all(|value| is_sound(*value))
            && self.distances_squared.iter().all(|value| *value >= 0.0 && value.is_finite())
    }
}

/// [`Track::follow`], with a copy for each small dimension.
fn follow_sized<const D: usize>(track: &mut Track, slots: Range<usize>, step: &Step, context: &[f64], reward: f64) {
    let d = known::<D>(track.dimension);
    let points = &track.points[slots.start * d..slots.end * d];
    for (at, distance_squared) in track.distances_squared[slots].iter_mut().enumerate() {
        let residual = reward - symmetric::dot(&context[..d], &points[at * d..(at + 1) * d]);
        if *distance_squared < f64::MAX {
            *distance_squared = (*distance_squared + (residual * residual - step.loss)).max(0.0);
        }
    }
}
