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
//! **The update.** Maximise `K(φ) = cos(θ̃,φ)` over the set. With `S = QᵀV⁻¹Q` (`Q` any orthonormal basis of the differences),
//! centre `ẑ` and radius `r`, the cone is `{z : zᵀB⁻¹z ≤ 0, ẑᵀMz > 0}` for `B = S − ẑẑᵀ/r²`, which has one negative eigenvalue
//! `−ν₀`. The best ray is `z = Bx`, `(B+νI)x = u`, for the `ν > 0` at which `F(ν) = xᵀBx` vanishes: one secular equation.
//! If `u` leans towards the cone's axis the root lies in `(0,ν₀)`; if it leans away, in `(ν₀,∞)`, unless `uᵀBu ≤ 0`: then no
//! plausible direction is within 90° and the update is `θ̂`. (MATH.md §6 has the first interval only.) Each evaluation
//! needs `k` factorisations of `d × d` matrices `V_a⁻¹+νI` and one more for the shift: O(kd³), never O(k³d³).

use crate::arm::{Parameters, Shape, centre};
use crate::confidence::ConfidenceSet;
use crate::statistics::Statistics;
use crate::symmetric::{self, add_scaled, dot};

/// Iterations after which a root is taken as found; halving alone needs fewer to reach the last digit.
const MAX_ITERATIONS: usize = 200;

/// The smallest change of a policy that the data allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Conservative {
    /// Where it leads: parameters in the confidence set.
    pub parameters: Parameters,
    /// `cos(θ̃, φ)` of the old policy and the new one. 1 if the old one is plausible as it is.
    pub cosine: f64,
}

/// What the data say of the boundary between two arms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Boundary {
    /// The arms, by number.
    pub arms: (usize, usize),
    /// Whether the boundary is plausible.
    pub plausible: bool,
    /// The smallest `‖θ − θ̂‖_V` among parameters with this boundary: plausible iff at most the radius.
    pub distance: f64,
    /// Angle to the nearest plausible boundary in degrees; 0 if plausible.
    pub angle_degrees: f64,
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

    /// The boundary between two arms of a policy [lansdell-2019, Thm 2's condition, in closed form]. O(d³).
    ///
    /// # Panics
    /// If the shapes differ or an arm does not exist.
    pub fn boundary(&self, policy: &Parameters, i: usize, j: usize) -> Boundary {
        let mut workspace = Workspace::default();
        let arms = Subset(&[i, j]);
        let distance_squared = workspace.test(self, &arms, policy);
        let plausible = distance_squared <= self.edge();
        let cosine = if plausible { 1.0 } else { workspace.improve(self, &arms).cosine() };
        let angle_degrees = if plausible { 0.0 } else { cosine.clamp(-1.0, 1.0).acos().to_degrees() };
        Boundary { arms: (i, j), plausible, distance: distance_squared.sqrt(), angle_degrees }
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
    /// [lansdell-2019, eq. for θ̃_{t+1}].
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn conservative(&self, policy: &Parameters) -> Conservative {
        let mut workspace = Workspace::default();
        let cosine = workspace.maximise(self, policy);
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

/// How a search for the nearest plausible direction ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Nearest {
    /// On the edge of the cone, at this cosine.
    Edge(f64),
    /// No plausible direction is within 90°, or there is no direction to start from: the estimate, at this cosine.
    FarSide(f64),
}

impl Nearest {
    pub(crate) fn cosine(self) -> f64 {
        match self {
            Self::Edge(cosine) | Self::FarSide(cosine) => cosine,
        }
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
    /// Twice the dimension, for whoever borrows the workspace.
    scratch: Vec<f64>,
    /// `m² = ẑᵀMẑ`, `uᵀMẑ`, `uᵀMu`.
    forms: Forms,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Forms {
    centre_centre: f64,
    old_centre: f64,
    old_old: f64,
}

/// Inner products at one `ν`, with `p = (S+νI)⁻¹u`, `q = (S+νI)⁻¹ẑ`.
#[derive(Debug, Clone, Copy)]
struct Secular {
    nu: f64,
    /// `ẑᵀq − r²`: positive below `ν₀`, negative above.
    gap: f64,
    up: f64,
    uq: f64,
    pp: f64,
    pq: f64,
    qq: f64,
    radius_squared: f64,
}

impl Secular {
    /// `gap²·F(ν)`, which has no pole at `ν₀`.
    fn residual(&self) -> f64 {
        let Self { nu, gap, up, uq, pp, pq, qq, .. } = *self;
        gap * (gap * up - uq * uq) - nu * (gap * gap * pp - 2.0 * gap * uq * pq + uq * uq * qq)
    }

    /// `σ` such that `z = B(p+σq)` lies on the edge of the cone, on the side of `ẑ`. Exact on the edge for any `ν`, so that
    /// an error in `ν` costs only its square in the cosine, and nothing goes wrong where `ν ≈ ν₀`.
    fn mix(&self) -> f64 {
        let Self { nu, gap, up, uq, pp, pq, qq, radius_squared } = *self;
        let a = -(gap + radius_squared) * gap / radius_squared - nu * qq;
        let b = -uq * gap / radius_squared - nu * pq;
        let c = up - nu * pp - uq * uq / radius_squared;
        if a < 0.0 {
            let root = (b * b - a * c).max(0.0).sqrt();
            // The smaller root of aσ² + 2bσ + c, in the form that does not cancel.
            if b > 0.0 { c / (-b - root) } else { (-b + root) / a }
        } else {
            -uq / gap
        }
    }
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
        if self.test(set, &arms, policy) <= set.edge() {
            return 1.0;
        }
        self.improve(set, &arms).cosine()
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
        self.deepest(statistics, arms)
    }

    /// Turns `θ̃` in `old` into its direction.
    pub(crate) fn normalise_old(&mut self) {
        centre(&mut self.old, self.dimension);
        normalise(&mut self.old);
    }

    /// `W = ΣV_a`, factored.
    fn pool(&mut self, statistics: &Statistics, arms: &Subset<'_>) {
        let penalty = arms.0.len() as f64 * statistics.arm(0).penalty();
        self.pooled.fill(0.0);
        for &arm in arms.0 {
            add_scaled(&mut self.pooled, 1.0, statistics.arm(arm).information());
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

    /// After a failed [`Workspace::test`]: the plausible point nearest in angle, into `point`.
    pub(crate) fn improve(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>) -> Nearest {
        let statistics = set.statistics();
        let radius_squared = set.radius() * set.radius();
        let forms = self.forms;
        if self.old.iter().all(|&value| value == 0.0) || !(forms.centre_centre > radius_squared) {
            return self.far_side(statistics, arms);
        }
        let axis = self.find_axis(statistics, arms, radius_squared);
        let old_form = {
            let dual: f64 =
                self.parts(arms, &self.old).map(|(arm, part)| statistics.arm(arm).width_squared(part)).sum();
            dual - dot(&self.old, &self.centre).powi(2) / radius_squared
        };
        let leans_away = axis.uq <= 0.0;
        if leans_away && old_form <= 0.0 {
            return if self.old.len() - self.dimension == 2 {
                self.planar_edge(set, arms, &axis)
            } else {
                self.far_side(statistics, arms)
            };
        }
        let at_axis = -axis.nu * axis.uq * axis.uq / axis.qq;
        let scaled = |secular: &Secular| {
            let slope = if secular.gap == 0.0 { 1.0 / axis.qq } else { (axis.nu - secular.nu) / secular.gap };
            secular.residual() * slope * slope
        };
        let nu = if leans_away {
            // In 1/ν, from 0 (ν = ∞) to 1/ν₀.
            1.0 / bracketed_root((0.0, old_form), (1.0 / axis.nu, at_axis), |inverse| {
                scaled(&self.secular(statistics, arms, 1.0 / inverse, radius_squared))
            })
        } else {
            let gamma = forms.centre_centre - radius_squared;
            let at_zero = axis.nu * axis.nu * (forms.old_old - forms.old_centre * forms.old_centre / gamma);
            bracketed_root((0.0, at_zero), (axis.nu, at_axis), |nu| {
                scaled(&self.secular(statistics, arms, nu, radius_squared))
            })
        };
        let secular = self.secular(statistics, arms, nu, radius_squared);
        // z = Bx for x = p + σq.
        let mix = secular.mix();
        let along = mix - (secular.uq + mix * (secular.gap + radius_squared)) / radius_squared;
        for i in 0..self.ray.len() {
            self.ray[i] =
                self.old[i] + along * self.centre[i] - nu * (self.old_solved[i] + mix * self.centre_solved[i]);
        }
        self.land(set, arms)
    }

    fn parts<'b>(&self, arms: &'b Subset<'_>, vector: &'b [f64]) -> impl Iterator<Item = (usize, &'b [f64])> {
        arms.0.iter().copied().zip(vector.chunks_exact(self.dimension))
    }

    /// `ν₀`, where `ẑᵀ(S+νI)⁻¹ẑ = r²`: minus the negative eigenvalue of `B`, with `q ∝` its eigenvector, the axis of the cone.
    /// Newton's method on `1/ẑᵀq`, which is concave and nearly straight in `ν`.
    fn find_axis(&mut self, statistics: &Statistics, arms: &Subset<'_>, radius_squared: f64) -> Secular {
        let mut high = dot(&self.centre, &self.centre) / radius_squared;
        let mut low = 0.0;
        let mut nu = high;
        let mut secular = self.secular(statistics, arms, nu, radius_squared);
        for _ in 0..MAX_ITERATIONS {
            if secular.gap > 0.0 {
                low = nu;
            } else {
                high = nu;
            }
            let step = (secular.gap + radius_squared) * secular.gap / (radius_squared * secular.qq);
            let newton = nu + step;
            let next = if newton > low && newton < high {
                newton
            } else if low > 0.0 {
                (low * high).sqrt()
            } else {
                high / 16.0
            };
            let moved = (next - nu).abs();
            nu = next;
            secular = self.secular(statistics, arms, nu, radius_squared);
            if moved <= 1e-15 * nu || high - low <= 1e-15 * high || secular.gap.abs() <= 1e-15 * radius_squared {
                break;
            }
        }
        secular
    }

    /// Solves `(S+νI)p = u` and `(S+νI)q = ẑ` among the differences. O(kd³/2).
    fn secular(&mut self, statistics: &Statistics, arms: &Subset<'_>, nu: f64, radius_squared: f64) -> Secular {
        let d = self.dimension;
        let packed = symmetric::packed_length(d);
        self.pooled.fill(0.0);
        for (block, &arm) in self.blocks.chunks_exact_mut(packed).zip(arms.0) {
            block.copy_from_slice(statistics.arm(arm).inverse());
            symmetric::add_diagonal(block, d, nu);
            symmetric::factor(block, d, nu);
            symmetric::invert(block, d, &mut self.row);
            add_scaled(&mut self.pooled, 1.0, block);
        }
        symmetric::factor(&mut self.pooled, d, 0.0);
        for (vector, solved) in [(&self.old, &mut self.old_solved), (&self.centre, &mut self.centre_solved)] {
            self.shift.fill(0.0);
            for (block, part) in self.blocks.chunks_exact(packed).zip(vector.chunks_exact(d)) {
                symmetric::multiply(block, part, &mut self.row);
                add_scaled(&mut self.shift, 1.0, &self.row);
            }
            symmetric::solve(&self.pooled, &mut self.shift);
            for ((block, part), out) in
                self.blocks.chunks_exact(packed).zip(vector.chunks_exact(d)).zip(solved.chunks_exact_mut(d))
            {
                for ((row, part), shift) in self.row.iter_mut().zip(part).zip(&self.shift) {
                    *row = part - shift;
                }
                symmetric::multiply(block, &self.row, out);
            }
        }
        let (p, q) = (&self.old_solved, &self.centre_solved);
        Secular {
            nu,
            gap: dot(&self.centre, q) - radius_squared,
            up: dot(&self.old, p),
            uq: dot(&self.old, q),
            pp: dot(p, p),
            pq: dot(p, q),
            qq: dot(q, q),
            radius_squared,
        }
    }

    /// In a plane of differences the cone has two edges, one on either side of its axis: takes the nearer one. Only for
    /// directions on the far side, where the secular equation has no root.
    fn planar_edge(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, axis: &Secular) -> Nearest {
        let length = axis.qq.sqrt();
        let lean = axis.uq / length;
        for i in 0..self.ray.len() {
            self.ray[i] = self.old[i] - lean * self.centre_solved[i] / length;
        }
        normalise(&mut self.ray);
        let side = dot(&self.ray, &self.ray);
        let across: f64 =
            self.parts(arms, &self.ray).map(|(arm, part)| set.statistics().arm(arm).width_squared(part)).sum::<f64>()
                - dot(&self.ray, &self.centre).powi(2) / axis.radius_squared;
        if side == 0.0 || !(across > 0.0) {
            return self.far_side(set.statistics(), arms);
        }
        let slope = (across / axis.nu).sqrt();
        for i in 0..self.ray.len() {
            self.ray[i] = self.centre_solved[i] / length + slope * self.ray[i];
        }
        self.land(set, arms)
    }

    /// The point of the ray nearest to the estimate, brought into the set if rounding left it outside.
    fn land(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>) -> Nearest {
        let statistics = set.statistics();
        let d = self.dimension;
        self.pool(statistics, arms);
        let distance_squared = self.deepest(statistics, arms);
        let radius_squared = set.radius() * set.radius();
        if distance_squared > radius_squared {
            let keep = (radius_squared / distance_squared).sqrt();
            for (part, &arm) in self.point.chunks_exact_mut(d).zip(arms.0) {
                for (point, estimate) in part.iter_mut().zip(statistics.arm(arm).estimate()) {
                    *point = estimate + keep * (*point - estimate);
                }
            }
        }
        Nearest::Edge(self.cosine_of_point())
    }

    fn far_side(&mut self, statistics: &Statistics, arms: &Subset<'_>) -> Nearest {
        for (part, &arm) in self.point.chunks_exact_mut(self.dimension).zip(arms.0) {
            part.copy_from_slice(statistics.arm(arm).estimate());
        }
        Nearest::FarSide(self.cosine_of_point())
    }

    /// `cos(θ̃, point)`; 0 if either has no direction.
    pub(crate) fn cosine_of_point(&mut self) -> f64 {
        self.ray.copy_from_slice(&self.point);
        centre(&mut self.ray, self.dimension);
        normalise(&mut self.ray);
        dot(&self.old, &self.ray)
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

/// Scales to length one, without overflow or underflow; zero stays zero.
pub(crate) fn normalise(vector: &mut [f64]) {
    let largest = vector.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return;
    }
    for value in &mut *vector {
        *value /= largest;
    }
    let length = dot(vector, vector).sqrt();
    for value in vector {
        *value /= length;
    }
}

/// The root of a function that is positive at `positive.0` and negative at `negative.0` and changes sign once between: the
/// Illinois variant of regula falsi with bisection as a safeguard.
fn bracketed_root(positive: (f64, f64), negative: (f64, f64), mut function: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut fa) = positive;
    let (mut b, mut fb) = negative;
    if !(fa > 0.0) {
        return a;
    }
    let mut last = 0;
    for iteration in 0..MAX_ITERATIONS {
        let width = (b - a).abs();
        if width <= 1e-14 * a.abs().max(b.abs()) {
            break;
        }
        let secant = b - fb * (b - a) / (fb - fa);
        let inside = (secant - a).abs() < width && (secant - b).abs() < width;
        let x = if inside && fb < 0.0 && iteration % 8 != 7 { secant } else { 0.5 * (a + b) };
        if x == a || x == b {
            break;
        }
        let fx = function(x);
        if fx == 0.0 {
            return x;
        }
        if fx > 0.0 {
            (a, fa) = (x, fx);
            if last == 1 {
                fb *= 0.5;
            }
            last = 1;
        } else {
            (b, fb) = (x, fx);
            if last == -1 {
                fa *= 0.5;
            }
            last = -1;
        }
    }
    0.5 * (a + b)
}
