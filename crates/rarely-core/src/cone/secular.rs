//! The exact conservative update: one secular equation.
//!
//! Maximise `K(φ) = cos(θ̃,φ)` over the set. With `S = QᵀV⁻¹Q` (`Q` any orthonormal basis of the differences),
//! centre `ẑ` and radius `r`, the cone is `{z : zᵀB⁻¹z ≤ 0, ẑᵀMz > 0}` for `B = S − ẑẑᵀ/r²`, which has one negative eigenvalue
//! `−ν₀`. The best ray is `z = Bx`, `(B+νI)x = u`, for the `ν > 0` at which `F(ν) = xᵀBx` vanishes: one secular equation.
//! If `u` leans towards the cone's axis the root lies in `(0,ν₀)`; if it leans away, in `(ν₀,∞)`, unless `uᵀBu ≤ 0`: then no
//! plausible direction is within 90° and the update is `θ̂`. (See mathematics §6.) Each evaluation
//! needs `k` factorisations of `d × d` matrices `V_a⁻¹+νI` and one more for the shift: O(kd³), never O(k³d³).

use crate::arm::centre;
use crate::cone::{Subset, Workspace, normalise};
use crate::confidence::ConfidenceSet;
use crate::statistics::Statistics;
use crate::symmetric::{self, add_scaled, dot};

/// Iterations after which a root is taken as found; halving alone needs fewer to reach the last digit.
const MAX_ITERATIONS: usize = 200;

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

    /// At the axis `ν₀`: `G(ν) = (ν−ν₀)²F(ν)` of another `ν`. With `c = Wᵀu` in the eigenbasis of `B` it is
    /// `Σ_{i>1} dᵢcᵢ²((ν−ν₀)/(ν+dᵢ))² − ν₀c₁²`, monotone on either side of `ν₀`.
    fn scaled_residual(&self, other: &Self) -> f64 {
        let slope = if other.gap == 0.0 { 1.0 / self.qq } else { (self.nu - other.nu) / other.gap };
        other.residual() * slope * slope
    }

    /// At the axis: `1/√(ν₀c₁²) − 1/√(G+ν₀c₁²)`, which has the sign of `G`. The root of the sum in `G` is nearly proportional to
    /// `|ν−ν₀|/(ν+d)`, so that `|ν−ν₀|` times this is nearly straight in `ν`, and a secant finds its root in a few steps.
    fn straighten(&self, scaled_residual: f64) -> f64 {
        let axis_part = (self.nu * self.uq * self.uq / self.qq).max(f64::MIN_POSITIVE);
        // Rounding may leave nothing of the sum, or less than nothing; the secant needs only a large number then.
        1.0 / axis_part.sqrt() - 1.0 / (scaled_residual + axis_part).max(1e-14 * axis_part).sqrt()
    }

    /// `σ` such that `z = B(p+σq)` lies on the edge of the cone, on the side of `ẑ`. Exact on the edge for any `ν`, so that
    /// an error in `ν` costs only its square in the cosine, and nothing goes wrong where `ν ≈ ν₀`.
    fn mix_on_edge(&self) -> f64 {
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

impl Workspace {
    /// After a failed [`Workspace::test`]: the plausible point nearest in angle, into `point`; its cosine.
    pub(crate) fn improve(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>) -> f64 {
        let statistics = set.statistics();
        let radius_squared = set.radius() * set.radius();
        let forms = self.forms;
        if self.old.iter().all(|&value| value == 0.0) || !(forms.centre_centre > radius_squared) {
            return self.far_side(statistics, arms);
        }
        let axis = self.find_axis(statistics, arms, radius_squared);
        let old_form = self.form_of_b(statistics, arms, &self.old, radius_squared);
        let leans_away = axis.uq <= 0.0;
        if leans_away && old_form <= 0.0 {
            return self.beyond_right_angle(set, arms, &axis);
        }
        let mut best = f64::NEG_INFINITY;
        self.try_just_outside(set, arms, &mut best);
        let nu = if leans_away {
            self.root_beyond_axis(statistics, arms, &axis, old_form)
        } else {
            let gamma = forms.centre_centre - radius_squared;
            let at_zero = forms.old_old - forms.old_centre * forms.old_centre / gamma;
            self.root_before_axis(statistics, arms, &axis, at_zero)
        };
        if !nu.is_finite() {
            return self.beyond_right_angle(set, arms, &axis);
        }
        let secular = self.secular(statistics, arms, nu, radius_squared);
        self.try_edge(set, arms, &secular, &mut best);
        if !(best > 0.0) {
            return self.beyond_right_angle(set, arms, &axis);
        }
        self.nu = nu;
        self.take_best(best)
    }

    /// The same up to rounding, from a root nearby: a third of the work. `None` if the search does not settle there.
    pub(crate) fn improve_near(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, near: f64) -> Option<f64> {
        let radius_squared = set.radius() * set.radius();
        if self.old.iter().all(|&value| value == 0.0) || !(self.forms.centre_centre > radius_squared) {
            return None;
        }
        let mut best = f64::NEG_INFINITY;
        self.try_just_outside(set, arms, &mut best);
        let secular = self.root_near(set.statistics(), arms, near, radius_squared)?;
        self.try_edge(set, arms, &secular, &mut best);
        self.nu = secular.nu;
        (best > 0.0).then(|| self.take_best(best))
    }

    /// The root of `F` near another one, before the axis, by secants.
    fn root_near(
        &mut self,
        statistics: &Statistics,
        arms: &Subset<'_>,
        near: f64,
        radius_squared: f64,
    ) -> Option<Secular> {
        let value = |secular: &Secular| secular.residual() / (secular.gap * secular.gap);
        let mut last = self.secular(statistics, arms, near, radius_squared);
        let mut now = self.secular(statistics, arms, near * (1.0 + 1e-4), radius_squared);
        for _ in 0..6 {
            let slope = (value(&now) - value(&last)) / (now.nu - last.nu);
            let next = now.nu - value(&now) / slope;
            // F falls from its pole at zero gap; a root farther off is for the safe search.
            if !(slope < 0.0 && now.gap > 0.0 && (next - near).abs() < 0.25 * near) {
                return None;
            }
            let moved = (next - now.nu).abs();
            last = now;
            now = self.secular(statistics, arms, next, radius_squared);
            if moved <= 1e-8 * next {
                return (now.gap > 0.0).then_some(now);
            }
        }
        None
    }

    /// A policy just outside: the parameters that decide as it does, brought into the set, are nearly best.
    fn try_just_outside(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, best: &mut f64) {
        self.bring_inside(set, arms, self.distance_squared);
        let cosine = self.cosine_of_point();
        self.keep_better(best, cosine);
    }

    /// The points on the edge of the cone that belong to a root.
    fn try_edge(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, secular: &Secular, best: &mut f64) {
        let radius_squared = secular.radius_squared;
        // Either form of σ loses digits somewhere: the first where p and q are parallel, the second near the axis.
        for mix in [secular.mix_on_edge(), -secular.uq / secular.gap] {
            // z = Bx for x = p + σq.
            let along = mix - (secular.uq + mix * (secular.gap + radius_squared)) / radius_squared;
            for i in 0..self.ray.len() {
                self.ray[i] = self.old[i] + along * self.centre[i]
                    - secular.nu * (self.old_solved[i] + mix * self.centre_solved[i]);
            }
            let cosine = self.land(set, arms);
            self.keep_better(best, cosine);
        }
    }

    /// Puts the best point that was kept into `point`; its cosine.
    fn take_best(&mut self, best: f64) -> f64 {
        self.point.copy_from_slice(&self.functional);
        // A cosine of 1 says that the policy is plausible as it is.
        best.min(1.0 - f64::EPSILON)
    }

    /// Remembers `point` if its cosine is the best so far.
    fn keep_better(&mut self, best: &mut f64, cosine: f64) {
        if cosine > *best {
            *best = cosine;
            self.functional.copy_from_slice(&self.point);
        }
    }

    /// The root of `F` in `(0,ν₀)`, where `F(0) = uᵀB⁻¹u`.
    fn root_before_axis(&mut self, statistics: &Statistics, arms: &Subset<'_>, axis: &Secular, at_zero: f64) -> f64 {
        let start = axis.nu * axis.straighten(axis.nu * axis.nu * at_zero);
        bracketed_root((0.0, start), axis.nu, |nu| {
            let secular = self.secular(statistics, arms, nu, axis.radius_squared);
            (axis.nu - nu) * axis.straighten(axis.scaled_residual(&secular))
        })
    }

    /// The root of `F` in `(ν₀,∞)`, sought in `1/ν`; `ν²F(ν) → uᵀBu` as `ν → ∞`.
    fn root_beyond_axis(
        &mut self,
        statistics: &Statistics,
        arms: &Subset<'_>,
        axis: &Secular,
        at_infinity: f64,
    ) -> f64 {
        let inverse = bracketed_root((0.0, axis.straighten(at_infinity)), 1.0 / axis.nu, |inverse| {
            let secular = self.secular(statistics, arms, 1.0 / inverse, axis.radius_squared);
            (1.0 - axis.nu * inverse) * axis.straighten(axis.scaled_residual(&secular))
        });
        1.0 / inverse
    }

    /// `vᵀBv = Σ_a v_aᵀV_a⁻¹v_a − (vᵀẑ)²/r²` of a difference.
    fn form_of_b(&self, statistics: &Statistics, arms: &Subset<'_>, vector: &[f64], radius_squared: f64) -> f64 {
        let parts = arms.0.iter().zip(vector.chunks_exact(self.dimension));
        let dual: f64 = parts.map(|(&arm, part)| statistics.arm(arm).width_squared(part)).sum();
        dual - dot(vector, &self.centre).powi(2) / radius_squared
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
            // The last step squares the error of the one before.
            if moved <= 1e-8 * nu || secular.gap.abs() <= 1e-14 * radius_squared {
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

    /// No plausible direction is within 90°: the estimate, but in a plane of differences, where the cone has two edges, one on
    /// either side of its axis, the nearer one.
    fn beyond_right_angle(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, axis: &Secular) -> f64 {
        if self.old.len() - self.dimension != 2 {
            return self.far_side(set.statistics(), arms);
        }
        self.secular(set.statistics(), arms, axis.nu, axis.radius_squared);
        let length = axis.qq.sqrt();
        self.perpendicular_to_axis(length);
        let towards = if dot(&self.ray, &self.old) < 0.0 { -1.0 } else { 1.0 };
        let across = self.form_of_b(set.statistics(), arms, &self.ray, axis.radius_squared);
        if !(across > 0.0) {
            return self.far_side(set.statistics(), arms);
        }
        let slope = towards * (across / axis.nu).sqrt();
        for i in 0..self.ray.len() {
            self.ray[i] = self.centre_solved[i] / length + slope * self.ray[i];
        }
        self.land(set, arms)
    }

    /// Puts the unit difference perpendicular to the axis into `ray`; in a plane there is one, up to its sign. It is made from
    /// the unit vector that is least along the axis, so that no digits are lost.
    fn perpendicular_to_axis(&mut self, length: f64) {
        let d = self.dimension;
        let mut best = 0.0;
        for at in 0..self.ray.len() {
            self.old_solved.fill(0.0);
            self.old_solved[at] = 1.0;
            centre(&mut self.old_solved, d);
            let along = dot(&self.old_solved, &self.centre_solved) / (length * length);
            add_scaled(&mut self.old_solved, -along, &self.centre_solved);
            let size = dot(&self.old_solved, &self.old_solved);
            if size > best {
                best = size;
                self.ray.copy_from_slice(&self.old_solved);
            }
        }
        normalise(&mut self.ray);
    }

    /// The point of the ray nearest to the estimate, brought into the set if rounding left it outside.
    fn land(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>) -> f64 {
        self.pool(set.statistics(), arms);
        let distance_squared = self.deepest(set.statistics(), arms);
        self.bring_inside(set, arms, distance_squared);
        self.cosine_of_point()
    }

    /// Moves `point`, at this squared distance, straight towards the estimate until it is in the set.
    fn bring_inside(&mut self, set: &ConfidenceSet<'_>, arms: &Subset<'_>, distance_squared: f64) {
        let radius_squared = set.radius() * set.radius();
        if distance_squared > radius_squared {
            let keep = (radius_squared / distance_squared).sqrt();
            for (part, &arm) in self.point.chunks_exact_mut(self.dimension).zip(arms.0) {
                for (point, estimate) in part.iter_mut().zip(set.statistics().arm(arm).estimate()) {
                    *point = estimate + keep * (*point - estimate);
                }
            }
        }
    }

    fn far_side(&mut self, statistics: &Statistics, arms: &Subset<'_>) -> f64 {
        for (part, &arm) in self.point.chunks_exact_mut(self.dimension).zip(arms.0) {
            part.copy_from_slice(statistics.arm(arm).estimate());
        }
        self.cosine_of_point()
    }
}

/// The root of a function that is positive at `start.0`, where its value is known, and negative towards `end`, and changes sign
/// once between, to eleven digits: regula falsi with the weights of Anderson and Björck, and bisection as a safeguard.
fn bracketed_root(start: (f64, f64), end: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let ((mut a, mut fa), (mut b, mut fb)) = (start, (end, f64::NAN));
    if !(fa > 0.0) {
        return a;
    }
    let (mut last, mut side) = (b, 0);
    for iteration in 0..MAX_ITERATIONS {
        let secant = b - fb * (b - a) / (fb - fa);
        let between = a.min(b) < secant && secant < a.max(b);
        let x = if between && iteration % 8 != 7 { secant } else { 0.5 * (a + b) };
        let moved = (x - last).abs();
        last = x;
        if moved <= 1e-11 * x.abs() || (b - a).abs() <= 1e-14 * x.abs() {
            break;
        }
        let fx = function(x);
        // An end that stays twice in a row is pulled towards the root by how much the other end's value fell.
        let weight = |f: f64| if fx / f < 1.0 { 1.0 - fx / f } else { 0.5 };
        if fx > 0.0 {
            fb *= if side > 0 { weight(fa) } else { 1.0 };
            (a, fa, side) = (x, fx, 1);
        } else if fx < 0.0 {
            fa *= if side < 0 { weight(fb) } else { 1.0 };
            (b, fb, side) = (x, fx, -1);
        } else {
            break;
        }
    }
    last
}
