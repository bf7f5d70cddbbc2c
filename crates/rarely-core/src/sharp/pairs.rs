//! What sharp sets say about a pair of arms: differences, boundaries, plausible arms.

use crate::arm::{Arm, Parameters};
use crate::cone::{Boundary, angle, normalise};
use crate::confidence::{Interval, SLACK};
use crate::context::{Context, Contexts};
use crate::error::ContextError;
use crate::planar::{Thresholds, quadratic_at_most_zero};
use crate::rule::Rule;
use crate::sharp::{MarkView, SharpSet, Solved};
use crate::symmetric::{self, add_scaled, dot};

/// Halvings of an angle when the nearest plausible boundary is looked for.
const HALVINGS: usize = 40;

impl SharpSet {
    /// Interval of the difference of two arms' mean rewards, `sᵀ(θ_i − θ_j)`, intersected over marks. Unbounded where no mark
    /// determines both arms; [empty](Interval::is_empty) where the marks contradict each other.
    ///
    /// # Panics
    /// If the context or an arm does not fit.
    pub fn difference_interval(&self, context: &[f64], i: usize, j: usize) -> Interval {
        let estimate = dot(context, self.estimates.arm(i)) - dot(context, self.estimates.arm(j));
        let mut interval = Interval::unbounded(estimate);
        let mut scratch = vec![0.0; context.len()];
        for view in &self.views {
            if let Some(part) = self.pair_interval(view, context, i, j, &mut scratch) {
                interval = interval.intersected(part);
            }
        }
        interval
    }

    /// The same at one mark.
    pub(super) fn pair_interval(
        &self,
        view: &MarkView,
        context: &[f64],
        i: usize,
        j: usize,
        scratch: &mut [f64],
    ) -> Option<Interval> {
        let [first, second] = view.pair(i, j)?;
        let radius_squared = self.radius_squared(view, i, j)?;
        let mut width = |solved: &Solved| symmetric::inverse_quadratic(&solved.factor, context, scratch);
        let width_squared = width(first) + width(second);
        let estimate = dot(context, &first.centre) - dot(context, &second.centre);
        Some(Interval::around(estimate, (radius_squared * width_squared).sqrt()))
    }

    /// `J(s)`: the arms that no other arm is certainly better than. Never empty unless the marks contradict each other.
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`].
    pub fn plausible_arms(&self, context: Context<'_>) -> Result<Vec<Arm>, ContextError> {
        let context = context.fitting(self.shape.dimension())?;
        let mut arms = Vec::new();
        self.for_each_plausible(context, |arm| arms.push(Arm::new(arm)));
        Ok(arms)
    }

    /// Calls `visit` with every plausible arm, in order. Each arm's width is computed once per mark.
    pub(crate) fn for_each_plausible(&self, context: &[f64], visit: impl FnMut(usize)) {
        let arms = self.shape.arms();
        let mut scratch = vec![0.0; context.len()];
        let mut excluded = vec![false; arms];
        let mut known = vec![None; arms];
        for view in &self.views {
            for (known, arm) in known.iter_mut().zip(&view.arms) {
                *known = arm.solved.as_ref().map(|solved| {
                    (dot(context, &solved.centre), symmetric::inverse_quadratic(&solved.factor, context, &mut scratch))
                });
            }
            for (i, j) in self.shape.pairs() {
                let (i, j) = (i.index(), j.index());
                let (Some(first), Some(second), Some(radius_squared)) =
                    (known[i], known[j], self.radius_squared(view, i, j))
                else {
                    continue;
                };
                let gap = first.0 - second.0;
                if gap * gap > radius_squared * (first.1 + second.1) {
                    excluded[if gap > 0.0 { j } else { i }] = true;
                }
            }
        }
        (0..arms).filter(|&arm| !excluded[arm]).for_each(visit);
    }

    /// Whether an arm is certainly worse than another at a context. Widths are computed only of arms that look better.
    pub(crate) fn is_excluded(&self, context: &[f64], arm: usize) -> bool {
        let width =
            |solved: &Solved| symmetric::inverse_quadratic(&solved.factor, context, &mut vec![0.0; context.len()]);
        self.views.iter().any(|view| {
            let Some(own) = &view.arms[arm].solved else { return false };
            let (score, mut own_width) = (dot(context, &own.centre), None);
            view.arms.iter().enumerate().any(|(other, seen)| {
                let Some(seen) = &seen.solved else { return false };
                let gap = dot(context, &seen.centre) - score;
                if !(gap > 0.0) {
                    return false;
                }
                let widths = *own_width.get_or_insert_with(|| width(own)) + width(seen);
                let radius_squared = self.radius_squared(view, arm.min(other), arm.max(other));
                radius_squared.is_some_and(|radius_squared| gap * gap > radius_squared * widths)
            })
        })
    }

    /// The share of contexts at which a policy plays an excluded arm.
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`], [`ContextError::Empty`].
    ///
    /// # Panics
    /// If the rule does not have the shape of the statistics.
    pub fn excluded_share(&self, rule: &Rule, contexts: Contexts<'_>) -> Result<f64, ContextError> {
        assert_eq!(rule.parameters().shape(), self.shape, "a rule has the shape of the statistics");
        contexts.check_dimension(self.shape.dimension())?;
        if contexts.is_empty() {
            return Err(ContextError::Empty);
        }
        let excluded =
            contexts.iter().filter(|context| self.is_excluded(context.values(), rule.best(context.values())));
        Ok(excluded.count() as f64 / contexts.len() as f64)
    }

    /// The boundary between two arms of a policy: implausible if it is at any mark (section 5's closed form with `W` for `V`). The
    /// angle is that to the nearest plausible boundary on the way to the estimate's. O(marks·d³).
    ///
    /// # Panics
    /// If the shapes differ or an arm does not exist.
    pub fn boundary(&self, policy: &Parameters, i: usize, j: usize) -> Boundary {
        let mut tests = self.pair_tests(i, j);
        let mut direction = difference(policy, i, j);
        normalise(&mut direction);
        let (distance, radius) = farthest(&mut tests, &direction);
        let plausible = distance <= radius;
        let angle_degrees = if plausible { 0.0 } else { self.angle_to_plausible(&mut tests, &direction, i, j) };
        Boundary { arms: (i, j), plausible, distance, radius, angle_degrees }
    }

    /// Every pair's boundary.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn boundaries(&self, policy: &Parameters) -> Vec<Boundary> {
        self.shape.pairs().map(|(i, j)| self.boundary(policy, i.index(), j.index())).collect()
    }

    /// The tests of every pair's boundary, for several policies.
    pub(crate) fn boundary_tests(&self) -> BoundaryTests<'_> {
        let pairs = self.shape.pairs().map(|(i, j)| (i.index(), j.index()));
        BoundaryTests(pairs.map(|(i, j)| ((i, j), self.pair_tests(i, j))).collect())
    }

    /// The plausible thresholds between two arms when contexts are `(1, x)`, whichever arm is above, at every mark that determines
    /// both arms; `None` unless d = 2. A threshold is plausible if it is in all of them.
    ///
    /// # Panics
    /// If an arm does not exist.
    pub fn thresholds(&self, i: usize, j: usize) -> Option<Vec<Thresholds>> {
        if self.shape.dimension() != 2 {
            return None;
        }
        let at = |view: &MarkView| {
            let [first, second] = view.pair(i, j)?;
            let radius_squared = self.radius_squared(view, i, j)?;
            let c = [first.centre[0] - second.centre[0], first.centre[1] - second.centre[1]];
            let spread = |at: usize| inverse_of_two(&first.factor)[at] + inverse_of_two(&second.factor)[at];
            Some(quadratic_at_most_zero([
                c[1] * c[1] - radius_squared * spread(2),
                c[0] * c[1] - radius_squared * spread(1),
                c[0] * c[0] - radius_squared * spread(0),
            ]))
        };
        Some(self.views.iter().filter_map(at).collect())
    }

    /// The tests of one pair's boundary, a mark each.
    pub(super) fn pair_tests(&self, i: usize, j: usize) -> Vec<PairTest<'_>> {
        let test = |view| PairTest::new(view, i, j, self.radius_squared(view, i, j)?);
        self.views.iter().filter_map(test).collect()
    }

    fn angle_to_plausible(&self, tests: &mut [PairTest<'_>], from: &[f64], i: usize, j: usize) -> f64 {
        let mut to = difference(&self.estimates, i, j);
        normalise(&mut to);
        let (mut implausible, mut plausible) = (0.0, 1.0);
        let mut between = vec![0.0; from.len()];
        let mut blend = |share: f64| {
            for ((between, from), to) in between.iter_mut().zip(from).zip(&to) {
                *between = (1.0 - share) * from + share * to;
            }
            normalise(&mut between);
            between.clone()
        };
        for _ in 0..HALVINGS {
            let share = 0.5 * (implausible + plausible);
            let (distance, radius) = farthest(tests, &blend(share));
            *(if distance > radius { &mut implausible } else { &mut plausible }) = share;
        }
        angle(from, &blend(plausible)).to_degrees()
    }
}

/// The tests of every pair's boundary.
pub(crate) struct BoundaryTests<'a>(Vec<((usize, usize), Vec<PairTest<'a>>)>);

impl BoundaryTests<'_> {
    /// The first pair, in order, whose boundary is implausible: its arms, the distance and the radius. `policy` is arm by arm.
    pub(crate) fn implausible(&mut self, policy: &[f64], dimension: usize) -> Option<((usize, usize), f64, f64)> {
        let arm = |arm: usize| &policy[arm * dimension..(arm + 1) * dimension];
        self.0.iter_mut().find_map(|((i, j), tests)| {
            let mut direction: Vec<f64> = arm(*i).iter().zip(arm(*j)).map(|(first, second)| first - second).collect();
            normalise(&mut direction);
            let (distance, radius) = farthest(tests, &direction);
            (distance > radius).then_some(((*i, *j), distance, radius))
        })
    }
}

/// `ψ = θ_i − θ_j`.
fn difference(policy: &Parameters, i: usize, j: usize) -> Vec<f64> {
    policy.arm(i).iter().zip(policy.arm(j)).map(|(first, second)| first - second).collect()
}

/// Of the tests of one boundary, the distance and the radius of the one it fails by most, or passes by least.
fn farthest(tests: &mut [PairTest<'_>], direction: &[f64]) -> (f64, f64) {
    let mut worst = (0.0, f64::INFINITY);
    for test in tests {
        let found = (test.distance(direction), test.radius);
        if found.0 * worst.1 > worst.0 * found.1 || worst.1 == f64::INFINITY {
            worst = found;
        }
    }
    worst
}

/// Whether a boundary is plausible at one mark: `M = (W_i⁻¹+W_j⁻¹)⁻¹ = W_i(W_i+W_j)⁻¹W_j`, `c` the difference of the centres.
pub(super) struct PairTest<'a> {
    matrices: [&'a [f64]; 2],
    /// `W_i + W_j`, factored.
    pooled: Vec<f64>,
    /// `c`, `Mc` and `m² = cᵀMc`.
    centre: Vec<f64>,
    weighted: Vec<f64>,
    centre_squared: f64,
    radius: f64,
    scratch: [Vec<f64>; 2],
}

impl<'a> PairTest<'a> {
    fn new(view: &'a MarkView, i: usize, j: usize, radius_squared: f64) -> Option<Self> {
        let [first, second] = view.pair(i, j)?;
        let d = first.centre.len();
        let matrices = [view.arms[i].matrix.as_slice(), view.arms[j].matrix.as_slice()];
        let mut pooled = matrices[0].to_vec();
        add_scaled(&mut pooled, 1.0, matrices[1]);
        symmetric::factor(&mut pooled, d, 0.0);
        let scratch = [vec![0.0; d], vec![0.0; d]];
        let radius = (radius_squared * (1.0 + SLACK)).sqrt();
        let centre: Vec<f64> = first.centre.iter().zip(&second.centre).map(|(first, second)| first - second).collect();
        let mut test = Self { matrices, pooled, weighted: vec![0.0; d], centre_squared: 0.0, radius, scratch, centre };
        test.weighted = test.under(&test.centre.clone());
        test.centre_squared = dot(&test.centre, &test.weighted).max(0.0);
        Some(test)
    }

    /// `c`.
    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// `r²`.
    pub(super) fn radius_squared(&self) -> f64 {
        self.radius * self.radius
    }

    /// `Mx`.
    pub(super) fn under(&mut self, x: &[f64]) -> Vec<f64> {
        self.apply(x);
        self.scratch[1].clone()
    }

    /// Whether a boundary in this direction is plausible.
    pub(super) fn allows(&mut self, direction: &[f64]) -> bool {
        let mut direction = direction.to_vec();
        normalise(&mut direction);
        self.distance(&direction) <= self.radius
    }

    /// Puts `Mx` into the second scratch; `xᵀMx`.
    fn apply(&mut self, x: &[f64]) -> f64 {
        let [inner, outer] = &mut self.scratch;
        symmetric::multiply(self.matrices[1], x, inner);
        symmetric::solve(&self.pooled, inner);
        symmetric::multiply(self.matrices[0], inner, outer);
        dot(x, outer)
    }

    /// The smallest distance of parameters with this boundary, `√(m² − (ψᵀMc)₊²/ψᵀMψ)`: plausible iff at most the radius.
    fn distance(&mut self, direction: &[f64]) -> f64 {
        let along = dot(direction, &self.weighted).max(0.0);
        let own = self.apply(direction);
        let explained = if own > 0.0 { along * along / own } else { 0.0 };
        (self.centre_squared - explained).max(0.0).sqrt()
    }
}

/// `A⁻¹` of a 2 × 2 matrix, packed, from its Cholesky factor.
fn inverse_of_two(factor: &[f64]) -> [f64; 3] {
    let [a, b, c] = [factor[0], factor[1], factor[2]];
    let determinant = a * a * c * c;
    [(b * b + c * c) / determinant, -a * b / determinant, a * a / determinant]
}
