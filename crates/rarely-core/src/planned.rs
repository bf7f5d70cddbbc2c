//! Planned looks, for logs whose arms did not depend on earlier outcomes (mathematics §13): a fixed rule's log, a randomised trial, or
//! a segment of a live policy in which rule, randomisation and plausible sets are all frozen.
//!
//! The sizes of the looks are recorded beforehand, and each of the K looks gets `δ/K`. A look at any other size is refused: four looks
//! timed by watching the estimate missed in 19.7 % at 5 %. At a time chosen by looking, only anytime intervals hold. A single functional
//! that was named before looking needs no set: [`Confirmation::planned`](crate::Confirmation::planned) with one candidate.

use crate::arm::{Arm, Shape};
use crate::confidence::Interval;
use crate::context::Contexts;
use crate::error::{ConfirmError, ContextError, LookError, ObserveError};
use crate::least_squares::{ArmFit, LeastSquares};
use crate::number::{ErrorProbability, Noise};
use crate::quantile::f_upper;
use crate::standard::{Confirmed, Method, Standard, Timing};
use crate::symmetric::{add_scaled, dot};

/// The numbers of cases at which a log will be looked at, recorded beforehand.
///
/// ```
/// use rarely_core::{LookError, LookPlan};
/// let plan = LookPlan::new(vec![500, 1000])?;
/// assert_eq!(plan.look(500)?.looks(), 2);
/// assert_eq!(plan.look(700), Err(LookError::NotPlanned { cases: 700, next: 1000 }));
/// assert_eq!(plan.look(1500), Err(LookError::AfterLast { cases: 1500, last: 1000 }));
/// # Ok::<(), LookError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Vec<u64>", into = "Vec<u64>")
)]
pub struct LookPlan {
    sizes: Vec<u64>,
}

impl LookPlan {
    /// Looks at these numbers of cases.
    ///
    /// # Errors
    /// [`LookError::Empty`]; [`LookError::Order`] if the numbers do not grow.
    pub fn new(sizes: Vec<u64>) -> Result<Self, LookError> {
        if sizes.is_empty() {
            return Err(LookError::Empty);
        }
        match sizes.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(LookError::Order { before: pair[0], after: pair[1] }),
            None => Ok(Self { sizes }),
        }
    }

    /// The planned sizes.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The look at this number of cases. Looking again at the same cases is the same look.
    ///
    /// # Errors
    /// [`LookError::NotPlanned`] at any other number; [`LookError::AfterLast`] beyond the last.
    pub fn look(&self, cases: u64) -> Result<Look, LookError> {
        let at = self.sizes.partition_point(|&size| size < cases);
        match self.sizes.get(at) {
            Some(&size) if size == cases => Ok(Look { number: at + 1, looks: self.sizes.len(), cases }),
            Some(&next) => Err(LookError::NotPlanned { cases, next }),
            None => Err(LookError::AfterLast { cases, last: self.sizes[at - 1] }),
        }
    }
}

impl TryFrom<Vec<u64>> for LookPlan {
    type Error = LookError;

    fn try_from(sizes: Vec<u64>) -> Result<Self, LookError> {
        Self::new(sizes)
    }
}

impl From<LookPlan> for Vec<u64> {
    fn from(plan: LookPlan) -> Self {
        plan.sizes
    }
}

/// A look that a plan allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    number: usize,
    looks: usize,
    cases: u64,
}

impl Look {
    /// The only look at a finished log, `K = 1`.
    pub fn only(cases: u64) -> Self {
        Self { number: 1, looks: 1, cases }
    }

    /// Which look it is, from 1.
    pub fn number(self) -> usize {
        self.number
    }

    /// `K`.
    pub fn looks(self) -> usize {
        self.looks
    }

    /// Cases at this look.
    pub fn cases(self) -> u64 {
        self.cases
    }

    /// # Errors
    /// [`LookError::OtherLog`] if a log does not have the look's cases.
    pub(crate) fn check(self, cases: u64) -> Result<(), LookError> {
        if self.cases == cases { Ok(()) } else { Err(LookError::OtherLog { planned: self.cases, cases }) }
    }
}

/// What is known about the noise around the means.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PlannedNoise {
    /// Normal, with a variance of its own in each arm: `r_a² = s_a²·d·F⁻¹_{d,n_a−d}(1−δ/(Kk))` for each arm [seber-2003, §5.1].
    Normal,
    /// Normal, with one variance in all arms, which the owner declares: `r² = s²·2d·F⁻¹_{2d,n−kd}(1−δ/(KP))` for each of the P pairs. Where
    /// the variances differ after all it misses in 37–92 % at 5 %.
    EqualVariances,
    /// Conditionally σ-sub-Gaussian, such as σ = half the range of bounded outcomes: `r² = σ²(2d + 2√(2d·u) + 2u)`, `u = ln(KP/δ)`, for each
    /// pair [hsu-2012, Thm 2.1].
    Declared(Noise),
}

/// Sets of all arms' coefficients that hold at every planned look with probability `1−δ`.
#[derive(Debug, Clone, Copy)]
pub struct PlannedSets<'a> {
    fit: &'a LeastSquares,
    noise: PlannedNoise,
    share: f64,
}

impl<'a> PlannedSets<'a> {
    /// The sets at one look.
    ///
    /// # Errors
    /// [`LookError::OtherLog`], in a [`ConfirmError::Look`], if the regressions have other cases than the look.
    pub fn new(
        fit: &'a LeastSquares,
        noise: PlannedNoise,
        error_probability: ErrorProbability,
        look: Look,
    ) -> Result<Self, ConfirmError> {
        look.check(fit.cases())?;
        Ok(Self { fit, noise, share: error_probability.get() / look.looks() as f64 })
    }

    /// `r_a²` of an arm's own set, `‖θ_a − θ̂_a‖²_{Σssᵀ} ≤ r_a²`.
    ///
    /// # Errors
    /// [`ConfirmError::NotEstimable`].
    ///
    /// # Panics
    /// If there is no such arm, or the noise is not [`PlannedNoise::Normal`]: other sets are of pairs.
    pub fn arm_radius_squared(&self, arm: usize) -> Result<f64, ConfirmError> {
        assert!(self.noise == PlannedNoise::Normal, "only arms with their own variances have sets of their own");
        let fit = self.estimable(arm)?;
        let dimension = self.shape().dimension() as f64;
        let tail = self.share / self.shape().arms() as f64;
        Ok(fit.residual_variance() * dimension * f_upper(dimension, fit.degrees(), tail))
    }

    /// `r²` of a pair's set, `‖θ_i − θ̂_i‖² + ‖θ_j − θ̂_j‖² ≤ r²`: the same for every pair.
    ///
    /// # Errors
    /// [`ConfirmError::NotEstimable`] if the pooled variance needs an arm that has too few cases.
    ///
    /// # Panics
    /// If the noise is [`PlannedNoise::Normal`]: its sets are of single arms.
    pub fn pair_radius_squared(&self) -> Result<f64, ConfirmError> {
        let arms = self.shape().arms();
        let both = 2.0 * self.shape().dimension() as f64;
        let tail = self.share / (arms * (arms - 1) / 2) as f64;
        match self.noise {
            PlannedNoise::Normal => unreachable!("arms with their own variances have sets of their own"),
            PlannedNoise::EqualVariances => {
                let (variance, degrees) = self.pooled_variance()?;
                Ok(variance * both * f_upper(both, degrees, tail))
            }
            PlannedNoise::Declared(noise) => {
                let u = -libm::log(tail);
                Ok(noise.get() * noise.get() * (both + 2.0 * (both * u).sqrt() + 2.0 * u))
            }
        }
    }

    /// `s²` of all arms together, and `n − kd`.
    ///
    /// # Errors
    /// [`ConfirmError::NotEstimable`].
    pub fn pooled_variance(&self) -> Result<(f64, f64), ConfirmError> {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for arm in 0..self.shape().arms() {
            let fit = self.fit.arm(arm)?;
            squares += fit.residual_squares();
            degrees += fit.degrees();
        }
        if degrees < 1.0 {
            return Err(self.not_estimable(0));
        }
        Ok((squares / degrees, degrees))
    }

    /// Interval of `qᵀ(θ_j − θ_i)`. All pairs and directions hold at once.
    ///
    /// # Errors
    /// [`ConfirmError::NotEstimable`].
    ///
    /// # Panics
    /// If the direction or an arm does not fit.
    pub fn pair_interval(&self, direction: &[f64], i: usize, j: usize) -> Result<Confirmed, ConfirmError> {
        Ok(self.confirmed(self.pair_bounds(direction, i, j)?))
    }

    /// Interval of the gain of playing `after` instead of `before` at these contexts: the sum of the intervals of its parts, one for each
    /// pair of arms that exchange cases (mathematics §12).
    ///
    /// # Errors
    /// [`ConfirmError`]: contexts or arms that do not fit, no change, or an arm with too few cases.
    pub fn gain(&self, contexts: Contexts<'_>, before: &[Arm], after: &[Arm]) -> Result<Confirmed, ConfirmError> {
        check_choices(contexts, self.shape(), before, after)?;
        let mut total = Interval { estimate: 0.0, lower: 0.0, upper: 0.0 };
        let mut changed = false;
        for (i, j) in self.shape().pairs() {
            let mut direction = vec![0.0; self.shape().dimension()];
            let share = 1.0 / contexts.len() as f64;
            let mut exchanged = false;
            for (context, (&old, &new)) in contexts.iter().zip(before.iter().zip(after)) {
                let sign = if (old, new) == (i, j) {
                    1.0
                } else if (old, new) == (j, i) {
                    -1.0
                } else {
                    continue;
                };
                add_scaled(&mut direction, sign * share, context.values());
                exchanged = true;
            }
            if exchanged {
                let part = self.pair_bounds(&direction, i.index(), j.index())?;
                total.estimate += part.estimate;
                total.lower += part.lower;
                total.upper += part.upper;
                changed = true;
            }
        }
        if changed { Ok(self.confirmed(total)) } else { Err(ConfirmError::NoChange) }
    }

    fn pair_bounds(&self, direction: &[f64], i: usize, j: usize) -> Result<Interval, ConfirmError> {
        let (first, second) = (self.estimable(i)?, self.estimable(j)?);
        let estimate = dot(direction, second.estimate()) - dot(direction, first.estimate());
        let widths = [first.width_squared(direction), second.width_squared(direction)];
        let half_width = match self.noise {
            PlannedNoise::Normal => {
                (self.arm_radius_squared(i)? * widths[0]).sqrt() + (self.arm_radius_squared(j)? * widths[1]).sqrt()
            }
            PlannedNoise::EqualVariances | PlannedNoise::Declared(_) => {
                (self.pair_radius_squared()? * (widths[0] + widths[1])).sqrt()
            }
        };
        Ok(Interval::around(estimate, half_width))
    }

    fn confirmed(&self, interval: Interval) -> Confirmed {
        let (method, standard) = match self.noise {
            PlannedNoise::Normal => (Method::PlannedArms, Standard::ExactIfNormal),
            PlannedNoise::EqualVariances => (Method::PlannedPooled, Standard::ExactIfNormal),
            PlannedNoise::Declared(_) => (Method::PlannedBounded, Standard::Certain),
        };
        Confirmed { interval, standard, method, timing: Timing::Planned, standard_error: None, degrees: None }
    }

    /// An arm's regression, with a variance where one is needed.
    fn estimable(&self, arm: usize) -> Result<&'a ArmFit, ConfirmError> {
        let fit = self.fit.arm(arm)?;
        if self.noise == PlannedNoise::Normal && fit.degrees() < 1.0 { Err(self.not_estimable(arm)) } else { Ok(fit) }
    }

    fn not_estimable(&self, arm: usize) -> ConfirmError {
        ConfirmError::NotEstimable { arm, cases: self.fit.count(arm), coefficients: self.shape().dimension() }
    }

    fn shape(&self) -> Shape {
        self.fit.shape()
    }
}

/// Whether there are contexts, and one arm before and after for each.
pub(crate) fn check_choices(
    contexts: Contexts<'_>,
    shape: Shape,
    before: &[Arm],
    after: &[Arm],
) -> Result<(), ConfirmError> {
    contexts.check_dimension(shape.dimension())?;
    if contexts.is_empty() {
        return Err(ContextError::Empty.into());
    }
    for (name, found) in [("arms before", before.len()), ("arms after", after.len())] {
        if found != contexts.len() {
            return Err(ConfirmError::Length { name, expected: contexts.len(), found });
        }
    }
    match before.iter().chain(after).find(|arm| arm.index() >= shape.arms()) {
        Some(arm) => Err(ObserveError::UnknownArm { arm: arm.index(), arms: shape.arms() }.into()),
        None => Ok(()),
    }
}
