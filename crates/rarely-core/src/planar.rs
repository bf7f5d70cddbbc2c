//! Two context variables: thresholds, their plausible intervals, Theorem 3's conditions.

use std::f64::consts::{PI, TAU};

use crate::arm::Parameters;
use crate::cone::{Subset, Workspace, angle, normalise};
use crate::confidence::ConfidenceSet;
use crate::rule;
use crate::symmetric;

/// Angles closer than this are the same boundary, in radians.
const SAME_ANGLE: f64 = 1e-6;

/// Thresholds `x* = −ψ₀/ψ₁` on the second variable, with `s = (1,x)`, that the data allow: an anytime-valid Fieller interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Thresholds {
    /// Those between two numbers.
    Between {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// All up to a number.
    AtMost {
        /// The highest.
        high: f64,
    },
    /// All from a number.
    AtLeast {
        /// The lowest.
        low: f64,
    },
    /// All but those strictly between two numbers.
    Outside {
        /// The highest of the lower half-line.
        low: f64,
        /// The lowest of the upper half-line.
        high: f64,
    },
    /// Every number: the data say nothing about the threshold.
    Everything,
    /// None. This occurs only for one orientation, where the data require the other.
    Nothing,
}

impl Thresholds {
    /// Whether they contain a threshold.
    pub fn contains(&self, threshold: f64) -> bool {
        match *self {
            Self::Between { low, high } => low <= threshold && threshold <= high,
            Self::AtMost { high } => threshold <= high,
            Self::AtLeast { low } => low <= threshold,
            Self::Outside { low, high } => threshold <= low || high <= threshold,
            Self::Everything => true,
            Self::Nothing => false,
        }
    }

    /// The parts of a range that they contain, in order.
    ///
    /// ```
    /// use rarely_core::Thresholds;
    /// let outside = Thresholds::Outside { low: 2.0, high: 5.0 };
    /// assert_eq!(outside.within((0.0, 9.0)), [(0.0, 2.0), (5.0, 9.0)]);
    /// ```
    pub fn within(&self, (first, last): (f64, f64)) -> Vec<(f64, f64)> {
        let mut parts = match *self {
            Self::Between { low, high } => vec![(low, high)],
            Self::AtMost { high } => vec![(first, high)],
            Self::AtLeast { low } => vec![(low, last)],
            Self::Outside { low, high } => vec![(first, low), (high, last)],
            Self::Everything => vec![(first, last)],
            Self::Nothing => Vec::new(),
        };
        for (from, to) in &mut parts {
            (*from, *to) = (from.max(first), to.min(last));
        }
        parts.retain(|(from, to)| from < to);
        parts
    }
}

impl Thresholds {
    /// The lowest and the highest, infinite where open; `None` if there is none. Two half-lines reach from end to end.
    fn ends(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Between { low, high } => Some((low, high)),
            Self::AtMost { high } => Some((f64::NEG_INFINITY, high)),
            Self::AtLeast { low } => Some((low, f64::INFINITY)),
            Self::Outside { .. } | Self::Everything => Some((f64::NEG_INFINITY, f64::INFINITY)),
            Self::Nothing => None,
        }
    }

    /// Those that two intervals have in common.
    pub(crate) fn intersected(self, other: Self) -> Self {
        let (Some(one), Some(two)) = (self.ends(), other.ends()) else { return Self::Nothing };
        let (low, high) = (one.0.max(two.0), one.1.min(two.1));
        match (low.is_finite(), high.is_finite()) {
            (true, true) if low > high => Self::Nothing,
            (true, true) => Self::Between { low, high },
            (true, false) => Self::AtLeast { low },
            (false, true) => Self::AtMost { high },
            (false, false) => Self::Everything,
        }
    }
}

/// Which arm is played above a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Above {
    /// The first arm of the pair.
    First,
    /// The second.
    Second,
}

/// Theorem 3's conditions on a change of policy with two context variables [lansdell-2019, Thm 3].
///
/// The paper's four do not suffice: if the *reversed* old boundary is plausible (the same line with the arms exchanged),
/// the boundary may sweep over the true one on its way, and regret may rise. `not_reversed` is our fifth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(clippy::struct_excessive_bools)]
pub struct TheoremThree {
    /// (i) The same arms are played somewhere.
    pub same_arms: bool,
    /// (ii) In the same cyclic order.
    pub same_order: bool,
    /// (iii) No boundary passes another.
    pub no_crossing: bool,
    /// (iv) Each boundary moved just to the nearest edge of its cone, or stayed where it was plausible.
    pub nearest_edge: bool,
    /// (v, ours) No moved boundary was plausible with its arms exchanged.
    pub not_reversed: bool,
}

impl TheoremThree {
    /// The paper's conditions (i) to (iv).
    pub fn holds_as_published(&self) -> bool {
        self.same_arms && self.same_order && self.no_crossing && self.nearest_edge
    }

    /// All five: with probability `1−δ` the change does not raise expected regret, whatever the distribution of contexts.
    pub fn certifies(&self) -> bool {
        self.holds_as_published() && self.not_reversed
    }
}

impl ConfidenceSet<'_> {
    /// The plausible thresholds between two arms when contexts are `(1, x)`, whichever arm is above; `None` unless d = 2.
    /// `(c₀+c₁x)² ≤ r²·(1,x)S(1,x)ᵀ` with `c = θ̂_i−θ̂_j` and `S = V_i⁻¹+V_j⁻¹`: a quadratic inequality.
    ///
    /// # Panics
    /// If an arm does not exist.
    pub fn thresholds(&self, i: usize, j: usize) -> Option<Thresholds> {
        Some(quadratic_at_most_zero(self.fieller(i, j)?))
    }

    /// The plausible cuts of a score: the numbers `c` for which `wᵀs = c` is a plausible boundary between two arms, whichever arm is
    /// above, when contexts begin with an intercept and `w` leaves it out. With `w = (0,1)` these are the [thresholds](Self::thresholds).
    ///
    /// The differences `α·w + β·e₀` in the set form an ellipse: the section of the ellipsoid `(ψ−c)ᵀM(ψ−c) ≤ r²` by a plane. It may
    /// be empty; then no cut of this score is plausible. O(d³).
    ///
    /// # Panics
    /// If an arm does not exist or `w` does not have d numbers, of which the first is 0.
    pub fn cuts(&self, i: usize, j: usize, direction: &[f64]) -> Thresholds {
        self.section(i, j, direction).map_or(Thresholds::Nothing, quadratic_at_most_zero)
    }

    /// The plausible cuts of one orientation: those at which the named arm is played above.
    ///
    /// # Panics
    /// As [`ConfidenceSet::cuts`].
    pub fn oriented_cuts(&self, i: usize, j: usize, direction: &[f64], above: Above) -> Thresholds {
        self.oriented(self.cuts(i, j, direction), i, j, direction, above)
    }

    /// The plausible thresholds of one orientation: those at which the named arm is played above.
    ///
    /// # Panics
    /// If an arm does not exist.
    pub fn oriented_thresholds(&self, i: usize, j: usize, above: Above) -> Option<Thresholds> {
        Some(self.oriented(self.thresholds(i, j)?, i, j, &[0.0, 1.0], above))
    }

    fn oriented(&self, cuts: Thresholds, i: usize, j: usize, direction: &[f64], above: Above) -> Thresholds {
        oriented(cuts, direction, above, |difference| self.direction_is_plausible(i, j, difference))
    }

    fn direction_is_plausible(&self, i: usize, j: usize, difference: &[f64]) -> bool {
        self.is_pair_plausible(&self.with_difference(i, j, difference), i, j)
    }

    /// Some policy whose boundary between two arms is this one.
    fn with_difference(&self, i: usize, j: usize, difference: &[f64]) -> Parameters {
        let mut policy = Parameters::zeros(self.statistics().shape());
        let d = difference.len();
        for (at, value) in difference.iter().enumerate() {
            policy.values_mut()[d * i + at] = 0.5 * value;
            policy.values_mut()[d * j + at] = -0.5 * value;
        }
        policy
    }

    fn fieller(&self, i: usize, j: usize) -> Option<[f64; 3]> {
        if self.statistics().shape().dimension() != 2 {
            return None;
        }
        let (first, second) = (self.statistics().arm(i), self.statistics().arm(j));
        let difference = [first.estimate()[0] - second.estimate()[0], first.estimate()[1] - second.estimate()[1]];
        let spread = |at: usize| first.inverse()[at] + second.inverse()[at];
        let r2 = self.radius() * self.radius();
        Some([
            difference[1] * difference[1] - r2 * spread(2),
            difference[0] * difference[1] - r2 * spread(1),
            difference[0] * difference[0] - r2 * spread(0),
        ])
    }

    /// The same for the plane of the intercept and a direction; `None` where it misses the set.
    fn section(&self, i: usize, j: usize, direction: &[f64]) -> Option<[f64; 3]> {
        let (first, second) = (self.statistics().arm(i), self.statistics().arm(j));
        let mut spread: Vec<f64> = first.inverse().iter().zip(second.inverse()).map(|(a, b)| a + b).collect();
        symmetric::factor(&mut spread, first.dimension(), 0.0);
        let estimate: Vec<f64> = first.estimate().iter().zip(second.estimate()).map(|(a, b)| a - b).collect();
        let under = |vector: &[f64]| {
            let mut solved = vector.to_vec();
            symmetric::solve(&spread, &mut solved);
            solved
        };
        section(under, &estimate, self.radius() * self.radius(), direction)
    }
}

/// The cuts `x` of one orientation among plausible ones, given whether a difference `ψ` is plausible.
pub(crate) fn oriented(
    cuts: Thresholds,
    direction: &[f64],
    above: Above,
    mut is_plausible: impl FnMut(&[f64]) -> bool,
) -> Thresholds {
    let sign = if above == Above::First { 1.0 } else { -1.0 };
    let mut difference: Vec<f64> = direction.iter().map(|value| sign * value).collect();
    let mut plausible = |x: f64| {
        difference[0] = -x * sign;
        is_plausible(&difference)
    };
    let mut if_plausible = |x: f64| if plausible(x) { cuts } else { Thresholds::Nothing };
    match cuts {
        Thresholds::Everything | Thresholds::Nothing => cuts,
        Thresholds::Between { low, high } => if_plausible(0.5 * (low + high)),
        Thresholds::AtMost { high } => if_plausible(high - 1.0),
        Thresholds::AtLeast { low } => if_plausible(low + 1.0),
        Thresholds::Outside { low, high } => {
            let step = (high - low).abs().max(1.0);
            match (plausible(low - step), plausible(high + step)) {
                (true, true) => cuts,
                (true, false) => Thresholds::AtMost { high: low },
                (false, true) => Thresholds::AtLeast { low: high },
                (false, false) => Thresholds::Nothing,
            }
        }
    }
}

/// The quadratic inequality of the plausible cuts of a score: the section of `(ψ−c)ᵀM(ψ−c) ≤ r²` by the plane of the intercept and a
/// direction, from `x ↦ Mx`; `None` where the plane misses the set.
pub(crate) fn section(
    mut under: impl FnMut(&[f64]) -> Vec<f64>,
    centre: &[f64],
    radius_squared: f64,
    direction: &[f64],
) -> Option<[f64; 3]> {
    let d = centre.len();
    assert!(direction.len() == d && direction[0] == 0.0, "a number for each context variable, 0 for the intercept");
    let (along, seen) = (under(direction), under(centre));
    let mut intercept = vec![0.0; d];
    intercept[0] = 1.0;
    let constant = under(&intercept);
    // G = BᵀMB and h = BᵀMc for B = (e₀, w).
    let [g00, g01, g11] = [constant[0], symmetric::dot(&constant, direction), symmetric::dot(&along, direction)];
    let determinant = g00 * g11 - g01 * g01;
    if !(determinant > 0.0) {
        return None;
    }
    let [s00, s01, s11] = [g11 / determinant, -g01 / determinant, g00 / determinant];
    let (h0, h1) = (seen[0], symmetric::dot(&seen, direction));
    let (c0, c1) = (s00 * h0 + s01 * h1, s01 * h0 + s11 * h1);
    let beside = (symmetric::dot(centre, &seen) - (h0 * c0 + h1 * c1)).max(0.0);
    let r2 = radius_squared - beside;
    (r2 >= 0.0).then_some([c1 * c1 - r2 * s11, c0 * c1 - r2 * s01, c0 * c0 - r2 * s00])
}

/// The numbers with `a·x² + 2b·x + c ≤ 0`, for coefficients such that there are some.
pub(crate) fn quadratic_at_most_zero([a, b, c]: [f64; 3]) -> Thresholds {
    let scale = a.abs() + b.abs() + c.abs();
    if scale == 0.0 {
        return Thresholds::Everything;
    }
    if a.abs() <= 1e-14 * scale {
        let edge = -c / (2.0 * b);
        return match b {
            b if b > 1e-14 * scale => Thresholds::AtMost { high: edge },
            b if b < -1e-14 * scale => Thresholds::AtLeast { low: edge },
            _ => Thresholds::Everything,
        };
    }
    let discriminant = b * b - a * c;
    if discriminant <= 0.0 {
        // a > 0 with no root cannot be: at x = −c₀/c₁ the inequality holds. Rounding may still say so; it is then a point.
        return if a < 0.0 { Thresholds::Everything } else { Thresholds::Between { low: -b / a, high: -b / a } };
    }
    let larger = -b - b.signum() * discriminant.sqrt();
    let roots = if larger == 0.0 { (0.0, 0.0) } else { (larger / a, c / larger) };
    let (low, high) = (roots.0.min(roots.1), roots.0.max(roots.1));
    if a > 0.0 { Thresholds::Between { low, high } } else { Thresholds::Outside { low, high } }
}

/// Where a policy with two context variables passes from one arm to the next, counter-clockwise.
struct Sector {
    arm: usize,
    /// The direction of context at which the next arm takes over, in `[0, 2π)`.
    end: f64,
}

/// The arms a planar policy plays, in order of the direction of the context.
fn sectors(policy: &Parameters) -> Vec<Sector> {
    let mut angles: Vec<f64> = policy
        .shape()
        .pairs()
        .map(|(i, j)| difference(policy, (i.index(), j.index())))
        .filter(|psi| psi[0] != 0.0 || psi[1] != 0.0)
        .flat_map(|psi| {
            let boundary = psi[1].atan2(psi[0]) + 0.5 * PI;
            [boundary.rem_euclid(TAU), (boundary + PI).rem_euclid(TAU)]
        })
        .collect();
    angles.sort_by(f64::total_cmp);
    angles.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    let best = |angle: f64| rule::best_of(policy.values(), &[angle.cos(), angle.sin()]);
    let mut found: Vec<Sector> = Vec::new();
    for (at, &end) in angles.iter().enumerate() {
        let start = if at == 0 { angles[angles.len() - 1] - TAU } else { angles[at - 1] };
        let arm = best(0.5 * (start + end));
        match found.last_mut() {
            Some(last) if last.arm == arm => last.end = end,
            _ => found.push(Sector { arm, end }),
        }
    }
    if found.len() > 1 && found[0].arm == found[found.len() - 1].arm {
        found.pop();
    }
    found
}

fn difference(policy: &Parameters, (i, j): (usize, usize)) -> [f64; 2] {
    let (first, second) = (policy.arm(i), policy.arm(j));
    [first[0] - second[0], first[1] - second[1]]
}

/// Angle between the boundaries of two policies for one pair of arms, in radians; any dimension. 0 if either has none.
pub(crate) fn angle_between(from: &Parameters, to: &Parameters, (i, j): (usize, usize)) -> f64 {
    let direction =
        |policy: &Parameters| -> Vec<f64> { policy.arm(i).iter().zip(policy.arm(j)).map(|(a, b)| a - b).collect() };
    let (mut first, mut second) = (direction(from), direction(to));
    for vector in [&mut first, &mut second] {
        normalise(vector);
        if vector.iter().all(|value| *value == 0.0) {
            return 0.0;
        }
    }
    angle(&first, &second)
}

/// Theorem 3's conditions for a change; `None` unless there are two context variables and both policies have a boundary.
pub(crate) fn theorem_three(set: &ConfidenceSet<'_>, from: &Parameters, to: &Parameters) -> Option<TheoremThree> {
    if from.shape().dimension() != 2 {
        return None;
    }
    let (old, new) = (sectors(from), sectors(to));
    if old.is_empty() || new.is_empty() {
        return None;
    }
    let arms = |sectors: &[Sector]| {
        let mut arms: Vec<usize> = sectors.iter().map(|sector| sector.arm).collect();
        arms.sort_unstable();
        arms
    };
    let same_arms = arms(&old) == arms(&new);
    let offset = new.iter().position(|sector| sector.arm == old[0].arm).unwrap_or(0);
    let partner = |at: usize| (at + offset) % new.len();
    let same_order = same_arms && (0..old.len()).all(|at| old[at].arm == new[partner(at)].arm);
    let mut no_crossing = same_order;
    let mut nearest_edge = same_order;
    let mut not_reversed = same_order;
    if same_order {
        for at in 0..old.len() {
            let (start, end) = (old[at].end, new[partner(at)].end);
            no_crossing &= (0..old.len())
                .filter(|&other| other != at)
                .all(|other| !within(old[other].end, start, end) && !within(new[partner(other)].end, start, end));
            let pair = (old[at].arm, old[(at + 1) % old.len()].arm);
            let plausible = set.is_pair_plausible(from, pair.0, pair.1);
            let moved = angle_between(from, to, pair);
            let distance_from_edge = if plausible { moved } else { distance_from_nearest(set, from, to, pair) };
            nearest_edge &= distance_from_edge <= SAME_ANGLE;
            let [x, y] = difference(from, pair);
            not_reversed &= moved <= SAME_ANGLE || !set.direction_is_plausible(pair.0, pair.1, &[-x, -y]);
        }
    }
    Some(TheoremThree { same_arms, same_order, no_crossing, nearest_edge, not_reversed })
}

/// Whether an angle lies strictly inside the shorter arc between two others.
fn within(angle: f64, start: f64, end: f64) -> bool {
    let turn = |from: f64, to: f64| (to - from + PI).rem_euclid(TAU) - PI;
    let whole = turn(start, end);
    let part = turn(start, angle);
    whole.abs() > SAME_ANGLE && part * whole.signum() > SAME_ANGLE && part.abs() < whole.abs() - SAME_ANGLE
}

/// Angle between a new boundary and the plausible one nearest to the old.
fn distance_from_nearest(set: &ConfidenceSet<'_>, from: &Parameters, to: &Parameters, pair: (usize, usize)) -> f64 {
    let mut workspace = Workspace::default();
    let indices = [pair.0, pair.1];
    let arms = Subset::of(&indices);
    let _ = workspace.test(set, &arms, from);
    let _ = workspace.improve(set, &arms);
    let point = &workspace.point;
    let nearest = set.with_difference(pair.0, pair.1, &[point[0] - point[2], point[1] - point[3]]);
    angle_between(&nearest, to, pair)
}
