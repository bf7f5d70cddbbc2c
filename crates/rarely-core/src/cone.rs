//! Plausible boundaries: the pairwise and joint tests, the exact conservative update.
//!
//! A decision depends only on the direction of the differences between arms. The directions that the confidence set
//! allows form a cone; a boundary is *plausible* if it lies in it [lansdell-2019, Thm 2]. Everything here is done for a
//! subset of arms: two of them give the pairwise test, all of them the joint one.
//!
//! **The test.** The parameters nearest to `θ̂` that decide as `θ̃` does are `αθ̃ + c`, the same shift `c` for every arm and
//! `α ≥ 0`: a least-squares problem with one `d × d` matrix, `ΣV_a`. The boundary is plausible iff that point is in the set.
//! This is the closed form `(ψᵀMc)² ≥ (m²−r²)ψᵀMψ`, without forming `M`, and the point is a *witness*: as long as it stays
//! in the set, later rounds need no new test.
//!
//! The update is in `secular.rs`.

mod secular;

use std::fmt;

use crate::arm::{Parameters, Shape, centre};
use crate::block::{Lanes, WIDTH};
use crate::confidence::ConfidenceSet;
use crate::statistics::Statistics;
use crate::symmetric::{self, add_scaled, dot};

/// The smallest change of a policy that the data allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Conservative {
    /// The new parameters: in the confidence set, or the policy itself if that is plausible.
    pub parameters: Parameters,
    /// `cos(θ̃, φ)` of the old policy and the new one. 1 if the old one is plausible.
    pub cosine: f64,
}

/// Whether the data allow the boundary between two arms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Boundary {
    /// The arms, by number.
    pub arms: (usize, usize),
    /// Whether the boundary is plausible.
    pub plausible: bool,
    /// The smallest `‖θ − θ̂‖_V` among parameters with this boundary: plausible iff at most the radius. Of several sets, in the one
    /// that leaves it the least room.
    pub distance: f64,
    /// The radius of that set.
    #[cfg_attr(feature = "serde", serde(default))]
    pub radius: f64,
    /// Angle to the nearest plausible boundary in degrees; 0 if plausible. If none is within 90° and there are more than two
    /// context variables, the angle to the estimate's boundary.
    pub angle_degrees: f64,
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (i, j) = self.arms;
        if self.plausible {
            write!(f, "between arm {i} and arm {j}: plausible")
        } else {
            write!(
                f,
                "between arm {i} and arm {j}: implausible, {:.1}° from the nearest plausible one",
                self.angle_degrees
            )
        }
    }
}

impl ConfidenceSet<'_> {
    /// Whether all boundaries of a policy are plausible at once. Implies that each pair's is; not the reverse.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn is_jointly_plausible(&self, policy: &Parameters) -> bool {
        let mut workspace = Workspace::default();
        let arms = Subset::all(self.statistics());
        workspace.test(self, &arms, policy) <= self.edge()
    }

    /// Whether the boundary between two arms is plausible: [`ConfidenceSet::boundary`] without the search for the nearest.
    pub(crate) fn is_pair_plausible(&self, policy: &Parameters, i: usize, j: usize) -> bool {
        Workspace::default().test(self, &Subset(&[i, j]), policy) <= self.edge()
    }

    /// The boundary between two arms of a policy [lansdell-2019, Thm 2's condition, in closed form]. O(d³).
    ///
    /// # Panics
    /// If the shapes differ or an arm does not exist.
    pub fn boundary(&self, policy: &Parameters, i: usize, j: usize) -> Boundary {
        let mut workspace = Workspace::default();
        let arms = Subset(&[i, j]);
        let distance_squared = workspace.test(self, &arms, policy);
        let plausible = distance_squared <= self.edge();
        let angle_degrees = if plausible {
            0.0
        } else {
            workspace.improve(self, &arms);
            workspace.angle_of_point().to_degrees()
        };
        Boundary { arms: (i, j), plausible, distance: distance_squared.sqrt(), radius: self.radius(), angle_degrees }
    }

    /// Every pair's boundary.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn boundaries(&self, policy: &Parameters) -> Vec<Boundary> {
        let pairs = self.statistics().shape().pairs();
        pairs.map(|(i, j)| self.boundary(policy, i.index(), j.index())).collect()
    }

    /// The plausible policy that differs least in angle, exactly: the maximiser of `K(φ) = cos(θ̃,φ)` over the set
    /// [lansdell-2019, eq. for θ̃_{t+1}]. A plausible policy is returned unchanged. Where no plausible policy is within 90° it is `θ̂`, or,
    /// with two differences (k = d = 2, or k = 3 and d = 1), the nearer edge.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn conservative(&self, policy: &Parameters) -> Conservative {
        let mut workspace = Workspace::default();
        let cosine = workspace.maximise(self, policy);
        if cosine == 1.0 {
            return Conservative { parameters: policy.clone(), cosine };
        }
        Conservative { parameters: Parameters::from_computed(policy.shape(), workspace.point), cosine }
    }
}

/// The arms a test is about.
pub(crate) struct Subset<'a>(&'a [usize]);

const EVERY: [usize; crate::error::MAX_ARMS] = {
    let mut arms = [0; crate::error::MAX_ARMS];
    let mut i = 0;
    while i < arms.len() {
        arms[i] = i;
        i += 1;
    }
    arms
};

impl<'a> Subset<'a> {
    pub(crate) fn all(statistics: &Statistics) -> Self {
        Self(&EVERY[..statistics.shape().arms()])
    }

    pub(crate) fn of(arms: &'a [usize]) -> Self {
        Self(arms)
    }
}

/// Buffers of the tests, kept between rounds so that a round does not allocate. Vectors over arms are stored arm by arm.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    dimension: usize,
    /// `ΣV_a`, factored; later `ΣT_a`, factored.
    pooled: Vec<f64>,
    /// `T_a = (V_a⁻¹+νI)⁻¹`.
    blocks: Vec<f64>,
    /// `Pθ̃/‖Pθ̃‖`, or zero.
    pub(crate) old: Vec<f64>,
    /// `Pθ̂`.
    centre: Vec<f64>,
    /// `θ̂ − ĉ`: the estimate without the best common shift.
    estimate: Vec<f64>,
    /// The ray under test, without its best common shift; then scratch.
    pub(crate) ray: Vec<f64>,
    /// `(S+νI)⁻¹u` and `(S+νI)⁻¹ẑ`.
    pub(crate) old_solved: Vec<f64>,
    pub(crate) centre_solved: Vec<f64>,
    /// The answer: the witness of a test, the parameters of an update.
    pub(crate) point: Vec<f64>,
    shift: Vec<f64>,
    estimate_shift: Vec<f64>,
    pub(crate) row: Vec<f64>,
    /// The functional of a gain.
    pub(crate) functional: Vec<f64>,
    /// A block of contexts.
    pub(crate) columns: Vec<Lanes>,
    /// Scratch of twice the dimension, for callers.
    pub(crate) scratch: Vec<f64>,
    /// `m² = ẑᵀMẑ`, `uᵀMẑ`, `uᵀMu`.
    forms: Forms,
    /// The result of the last test.
    distance_squared: f64,
    /// The root that the last update was made from; 0 if it needed none.
    pub(crate) nu: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Forms {
    centre_centre: f64,
    old_centre: f64,
    old_old: f64,
}

/// Buffers are not state: two policies that differ only in them are equal.
impl PartialEq for Workspace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Workspace {
    /// Buffers for all arms at once, so that no later test allocates.
    pub(crate) fn sized(shape: Shape) -> Self {
        let mut workspace = Self::default();
        workspace.resize(shape.arms(), shape.dimension());
        workspace.scratch(shape.dimension());
        workspace
    }

    /// Scratch of twice the dimension.
    pub(crate) fn scratch(&mut self, dimension: usize) -> &mut [f64] {
        self.scratch.resize(2 * dimension, 0.0);
        &mut self.scratch
    }

    pub(crate) fn point_and_scratch(&mut self) -> (&mut [f64], &mut [f64]) {
        self.scratch.resize(2 * self.dimension, 0.0);
        (&mut self.point, &mut self.scratch)
    }

    pub(crate) fn resize(&mut self, arms: usize, dimension: usize) {
        self.dimension = dimension;
        let (vectors, packed) = (arms * dimension, symmetric::packed_length(dimension));
        self.pooled.resize(packed, 0.0);
        self.blocks.resize(arms * packed, 0.0);
        self.columns.resize(dimension, [0.0; WIDTH]);
        for buffer in [
            &mut self.old,
            &mut self.centre,
            &mut self.estimate,
            &mut self.ray,
            &mut self.old_solved,
            &mut self.centre_solved,
            &mut self.point,
            &mut self.functional,
        ] {
            buffer.resize(vectors, 0.0);
        }
        for buffer in [&mut self.shift, &mut self.estimate_shift, &mut self.row] {
            buffer.resize(dimension, 0.0);
        }
    }

    /// The maximiser of the cosine over the set, all arms, into `point`; its cosine.
    pub(crate) fn maximise(&mut self, set: &ConfidenceSet<'_>, policy: &Parameters) -> f64 {
        let arms = Subset::all(set.statistics());
        self.nu = 0.0;
        if self.test(set, &arms, policy) <= set.edge() {
            return 1.0;
        }
        self.improve(set, &arms)
    }

    /// [`Workspace::maximise`] up to rounding, from a nearby root `ν`; `None` if the search does not converge, or if the policy is plausible.
    pub(crate) fn maximise_near(&mut self, set: &ConfidenceSet<'_>, policy: &Parameters, near: f64) -> Option<f64> {
        let arms = Subset::all(set.statistics());
        if self.test(set, &arms, policy) <= set.edge() {
            return None;
        }
        self.improve_near(set, &arms, near)
    }

    /// The smallest `‖θ−θ̂‖²_V` among parameters that decide between `arms` as `policy` does; those parameters are in `point`.
    pub(crate) fn test(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, policy: &Parameters) -> f64 {
        let statistics = set.statistics();
        assert_eq!(policy.shape(), statistics.shape(), "a policy has the shape of the statistics");
        let d = statistics.shape().dimension();
        self.resize(arms.0.len(), d);
        for (slot, &arm) in arms.0.iter().enumerate() {
            self.old[slot * d..(slot + 1) * d].copy_from_slice(policy.arm(arm));
            self.centre[slot * d..(slot + 1) * d].copy_from_slice(statistics.arm(arm).estimate());
        }
        self.normalise_old();
        self.pool(statistics, arms);
        self.estimate.copy_from_slice(&self.centre);
        self.forms.centre_centre = self.remove_shift(statistics, arms, Which::Estimate);
        centre(&mut self.centre, d);
        self.ray.copy_from_slice(&self.old);
        self.distance_squared = self.deepest(statistics, arms);
        self.distance_squared
    }

    /// Turns `θ̃` in `old` into its direction.
    /// If the arms differ by no more than rounding there is none.
    pub(crate) fn normalise_old(&mut self) {
        let size = largest(&self.old);
        centre(&mut self.old, self.dimension);
        if largest(&self.old) <= 1e-14 * size {
            self.old.fill(0.0);
        }
        normalise(&mut self.old);
    }

    /// `W = ΣV_a`, factored.
    fn pool(&mut self, statistics: &Statistics, arms: &Subset<'_>) {
        let penalty = arms.0.len() as f64 * statistics.arm(0).penalty();
        self.pooled.fill(0.0);
        for &arm in arms.0 {
            self.pooled.iter_mut().zip(statistics.arm(arm).information()).for_each(|(sum, entry)| *sum += entry);
        }
        symmetric::add_diagonal(&mut self.pooled, self.dimension, penalty);
        symmetric::factor(&mut self.pooled, self.dimension, penalty);
    }

    /// Subtracts from a vector over arms the common shift `W⁻¹ΣV_a x_a` that makes it smallest in `‖·‖_V`; leaves the shift in
    /// its place and returns the squared norm that remains.
    fn remove_shift(&mut self, statistics: &Statistics, arms: &Subset<'_>, which: Which) -> f64 {
        let (vector, shift) = match which {
            Which::Estimate => (&mut self.estimate, &mut self.estimate_shift),
            Which::Ray => (&mut self.ray, &mut self.shift),
        };
        let d = self.dimension;
        shift.fill(0.0);
        for (part, &arm) in vector.chunks_exact(d).zip(arms.0) {
            statistics.arm(arm).apply(part, &mut self.row);
            add_scaled(shift, 1.0, &self.row);
        }
        symmetric::solve(&self.pooled, shift);
        let mut norm_squared = 0.0;
        for (part, &arm) in vector.chunks_exact_mut(d).zip(arms.0) {
            add_scaled(part, -1.0, shift);
            statistics.arm(arm).apply(part, &mut self.row);
            norm_squared += dot(part, &self.row);
        }
        norm_squared
    }

    /// The point `α·ray + c`, `α ≥ 0`, nearest to the estimate, into `point`; its squared distance.
    fn deepest(&mut self, statistics: &Statistics, arms: &Subset<'_>) -> f64 {
        let d = self.dimension;
        self.point.copy_from_slice(&self.ray);
        self.forms.old_old = self.remove_shift(statistics, arms, Which::Ray);
        let mut product = 0.0;
        for (slot, &arm) in arms.0.iter().enumerate() {
            let part = slot * d..(slot + 1) * d;
            statistics.arm(arm).apply(&self.ray[part.clone()], &mut self.row);
            product += dot(&self.estimate[part], &self.row);
        }
        self.forms.old_centre = product;
        let length = if self.forms.old_old > 0.0 { (product / self.forms.old_old).max(0.0) } else { 0.0 };
        let mut distance_squared = 0.0;
        for (slot, &arm) in arms.0.iter().enumerate() {
            let part = slot * d..(slot + 1) * d;
            for (ray, estimate) in self.ray[part.clone()].iter_mut().zip(&self.estimate[part.clone()]) {
                *ray = length * *ray - estimate;
            }
            statistics.arm(arm).apply(&self.ray[part.clone()], &mut self.row);
            distance_squared += dot(&self.ray[part.clone()], &self.row);
            for (j, point) in self.point[part].iter_mut().enumerate() {
                *point = length * (*point - self.shift[j]) + self.estimate_shift[j];
            }
        }
        distance_squared
    }

    /// `cos(θ̃, point)`; 0 if either has no direction.
    pub(crate) fn cosine_of_point(&mut self) -> f64 {
        self.ray.copy_from_slice(&self.point);
        centre(&mut self.ray, self.dimension);
        normalise(&mut self.ray);
        dot(&self.old, &self.ray)
    }

    /// The angle between `θ̃` and `point`, a right one if either has no direction. Twice `atan2(‖a−b‖, ‖a+b‖)` keeps its digits
    /// for small angles, where the arc cosine loses half of them.
    fn angle_of_point(&mut self) -> f64 {
        self.cosine_of_point();
        angle(&self.old, &self.ray)
    }

    /// Moves `point` (all arms, in the set) towards the estimate as far as its cosine allows: a witness of `cos ≥ least` that
    /// will stay in the set for longer.
    pub(crate) fn deepen(&mut self, statistics: &Statistics, least: f64) {
        // The cosine is quasi-concave: the shares of φ − θ̂ that will do are an interval up to 1.
        self.estimate.copy_from_slice(&self.point);
        let (mut too_little, mut enough) = (0.0, 1.0);
        if self.blend(statistics, 0.0) >= least {
            return;
        }
        for _ in 0..16 {
            let share = 0.5 * (too_little + enough);
            if self.blend(statistics, share) >= least {
                enough = share;
            } else {
                too_little = share;
            }
        }
        self.blend(statistics, enough);
    }

    /// Puts the point at `share` of the way from `θ̂` to what `estimate` holds into `point`; its cosine.
    fn blend(&mut self, statistics: &Statistics, share: f64) -> f64 {
        let estimates = statistics.arms().iter().flat_map(super::ridge::Ridge::estimate);
        for ((point, far), near) in self.point.iter_mut().zip(&self.estimate).zip(estimates) {
            *point = near + share * (far - near);
        }
        self.cosine_of_point()
    }
}

#[derive(Clone, Copy)]
enum Which {
    Estimate,
    Ray,
}

/// The angle between two unit vectors, in radians; a right one if either is zero.
pub(crate) fn angle(first: &[f64], second: &[f64]) -> f64 {
    let length = |sign: f64| first.iter().zip(second).map(|(a, b)| (a + sign * b).powi(2)).sum::<f64>().sqrt();
    2.0 * length(-1.0).atan2(length(1.0))
}

/// The largest magnitude.
fn largest(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Scales to length one, without overflow or underflow; zero stays zero.
pub(crate) fn normalise(vector: &mut [f64]) {
    let size = largest(vector);
    if size == 0.0 {
        return;
    }
    for value in &mut *vector {
        *value /= size;
    }
    let length = dot(vector, vector).sqrt();
    for value in vector {
        *value /= length;
    }
}
