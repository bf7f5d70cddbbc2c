//! What sharp sets say about one arm, about the cuts of a score, and about the rule nearest to one that is ruled out.

use crate::arm::Parameters;
use crate::cone::{Conservative, normalise};
use crate::confidence::Interval;
use crate::gradient::cosine;
use crate::planar::{Above, Thresholds, oriented, quadratic_at_most_zero, section};
use crate::sharp::SharpSet;
use crate::symmetric::{self, dot};

/// Halvings of the way from a rule to the estimate.
const HALVINGS: usize = 40;

impl SharpSet {
    /// Interval of an arm's mean reward, `sᵀθ_i`: `sᵀθ_W,i ± r_ij·√(sᵀW_i⁻¹s)` in the set of every pair that it is in, intersected over
    /// pairs and marks. A pair's set holds for both its arms at once, so that this costs nothing. Unbounded where no mark determines
    /// the arm and another one.
    ///
    /// # Panics
    /// If the context or the arm does not fit.
    pub fn arm_interval(&self, context: &[f64], arm: usize) -> Interval {
        let mut interval = Interval::unbounded(dot(context, self.estimates.arm(arm)));
        let mut scratch = vec![0.0; context.len()];
        for view in &self.views {
            let Some(own) = &view.arms[arm].solved else { continue };
            let others = (0..self.shape.arms()).filter(|&other| other != arm);
            let radii = others.filter_map(|other| self.radius_squared(view, arm.min(other), arm.max(other)));
            let Some(least) = radii.reduce(f64::min) else { continue };
            let width_squared = symmetric::inverse_quadratic(&own.factor, context, &mut scratch);
            let part = Interval::around(dot(context, &own.centre), (least * width_squared).sqrt());
            interval = interval.intersected(part);
        }
        interval
    }

    /// The plausible cuts of a score with the named arm above: the numbers `c` for which `wᵀs = c` is a plausible boundary between two
    /// arms at every mark, when contexts begin with an intercept and `w` leaves it out. At one mark they are an interval, being seen from 0
    /// a convex set of differences; so is what all marks have in common. O(marks·d³).
    ///
    /// # Panics
    /// If an arm does not exist or `w` does not have d numbers, of which the first is 0.
    pub fn oriented_cuts(&self, i: usize, j: usize, direction: &[f64], above: Above) -> Thresholds {
        let mut common = Thresholds::Everything;
        for mut test in self.pair_tests(i, j) {
            let (centre, radius_squared) = (test.centre().to_vec(), test.radius_squared());
            let cuts = section(|vector| test.under(vector), &centre, radius_squared, direction)
                .map_or(Thresholds::Nothing, quadratic_at_most_zero);
            common = common.intersected(oriented(cuts, direction, above, |difference| test.allows(difference)));
        }
        common
    }

    /// The first plausible policy on the way from a policy to the estimate, and its cosine with the policy. An intersection of sets has no
    /// closed form for the nearest one; for one ellipsoid this is a plausible policy that is near. A plausible policy is its own.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn conservative(&self, policy: &Parameters) -> Conservative {
        let d = self.shape.dimension();
        let [mut from, mut to] = [policy.centred(), self.estimates.centred()];
        for parameters in [&mut from, &mut to] {
            normalise(parameters.values_mut());
        }
        let mut tests = self.boundary_tests();
        if tests.implausible(from.values(), d).is_none() {
            return Conservative { parameters: policy.clone(), cosine: 1.0 };
        }
        let mut point = vec![0.0; from.values().len()];
        first_on_the_way(from.values(), to.values(), &mut point, |point| tests.implausible(point, d).is_none());
        let parameters = Parameters::from_computed(self.shape, point);
        Conservative { cosine: cosine(policy, &parameters), parameters }
    }
}

/// Puts the first point between two others that will do into `point`, or the last.
pub(crate) fn first_on_the_way(from: &[f64], to: &[f64], point: &mut [f64], mut will_do: impl FnMut(&[f64]) -> bool) {
    let mut place = |share: f64| {
        for ((point, from), to) in point.iter_mut().zip(from).zip(to) {
            *point = from + share * (to - from);
        }
        will_do(point)
    };
    let (mut too_near, mut far_enough) = (0.0, 1.0);
    if place(0.0) {
        return;
    }
    for _ in 0..HALVINGS {
        let share = 0.5 * (too_near + far_enough);
        *(if place(share) { &mut far_enough } else { &mut too_near }) = share;
    }
    place(far_enough);
}
