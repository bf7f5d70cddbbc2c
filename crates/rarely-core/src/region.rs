//! What the data have not ruled out, whichever sets a policy uses: one ellipsoid, or the sets of every pair.

use std::borrow::Cow;

use crate::arm::{Arm, Parameters};
use crate::cone::{Boundary, Conservative};
use crate::confidence::{ConfidenceSet, Interval};
use crate::context::{Context, Contexts};
use crate::error::ContextError;
use crate::explore::{Stuck, stuck_arms};
use crate::gain::{Certificate, Gain};
use crate::planar::{Above, Thresholds};
use crate::population::Population;
use crate::rule::Rule;
use crate::sharp::SharpSet;
use crate::statistics::Statistics;

/// The parameters that the data have not ruled out, by the sets that a policy uses.
#[derive(Debug, Clone)]
pub enum Region<'a> {
    /// Joint or per-arm sets.
    Ellipsoid(ConfidenceSet<'a>),
    /// Sharp sets.
    Pairs(Cow<'a, SharpSet>),
}

impl Region<'_> {
    /// The arms that no other arm is certainly better than.
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`].
    pub fn plausible_arms(&self, context: Context<'_>) -> Result<Vec<Arm>, ContextError> {
        match self {
            Self::Ellipsoid(set) => set.plausible_arms(context),
            Self::Pairs(set) => set.plausible_arms(context),
        }
    }

    /// Interval of an arm's mean reward, `sᵀθ_a`.
    ///
    /// # Panics
    /// If the context or the arm does not fit.
    pub fn arm_interval(&self, context: &[f64], arm: usize) -> Interval {
        match self {
            Self::Ellipsoid(set) => set.arm_interval(context, arm),
            Self::Pairs(set) => set.arm_interval(context, arm),
        }
    }

    /// Interval of the difference of two arms' mean rewards, `sᵀ(θ_i − θ_j)`.
    ///
    /// # Panics
    /// If the context or an arm does not fit.
    pub fn difference_interval(&self, context: &[f64], i: usize, j: usize) -> Interval {
        match self {
            Self::Ellipsoid(set) => set.difference_interval(context, i, j),
            Self::Pairs(set) => set.difference_interval(context, i, j),
        }
    }

    /// The share of contexts at which a policy plays an excluded arm.
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`], [`ContextError::Empty`].
    ///
    /// # Panics
    /// If the rule does not have the shape of the statistics.
    pub fn excluded_share(&self, rule: &Rule, contexts: Contexts<'_>) -> Result<f64, ContextError> {
        match self {
            Self::Ellipsoid(set) => set.excluded_share(rule, contexts),
            Self::Pairs(set) => set.excluded_share(rule, contexts),
        }
    }

    /// The boundary between two arms of a policy.
    ///
    /// # Panics
    /// If the shapes differ or an arm does not exist.
    pub fn boundary(&self, policy: &Parameters, i: usize, j: usize) -> Boundary {
        match self {
            Self::Ellipsoid(set) => set.boundary(policy, i, j),
            Self::Pairs(set) => set.boundary(policy, i, j),
        }
    }

    /// Whether all boundaries of a policy are plausible at once: for sets of pairs, whether each is.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn is_jointly_plausible(&self, policy: &Parameters) -> bool {
        match self {
            Self::Ellipsoid(set) => set.is_jointly_plausible(policy),
            Self::Pairs(set) => set.boundaries(policy).iter().all(|boundary| boundary.plausible),
        }
    }

    /// The plausible policy that differs least in angle; for sets of pairs, the first one on the way to the estimate.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn conservative(&self, policy: &Parameters) -> Conservative {
        match self {
            Self::Ellipsoid(set) => set.conservative(policy),
            Self::Pairs(set) => set.conservative(policy),
        }
    }

    /// Every pair's boundary.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn boundaries(&self, policy: &Parameters) -> Vec<Boundary> {
        match self {
            Self::Ellipsoid(set) => set.boundaries(policy),
            Self::Pairs(set) => set.boundaries(policy),
        }
    }

    /// The plausible cuts of a score with the named arm above, when contexts begin with an intercept: see
    /// [`ConfidenceSet::oriented_cuts`].
    ///
    /// # Panics
    /// If an arm does not exist or `direction` does not have d numbers, of which the first is 0.
    pub fn oriented_cuts(&self, i: usize, j: usize, direction: &[f64], above: Above) -> Thresholds {
        match self {
            Self::Ellipsoid(set) => set.oriented_cuts(i, j, direction, above),
            Self::Pairs(set) => set.oriented_cuts(i, j, direction, above),
        }
    }

    /// The plausible thresholds between two arms when contexts are `(1, x)`, as intervals in order, infinite where open; `None`
    /// unless d = 2.
    ///
    /// # Panics
    /// If an arm does not exist.
    pub fn thresholds(&self, i: usize, j: usize) -> Option<Vec<(f64, f64)>> {
        const LINE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
        let sets = match self {
            Self::Ellipsoid(set) => vec![set.thresholds(i, j)?],
            Self::Pairs(set) => set.thresholds(i, j)?,
        };
        let both = |one: Vec<(f64, f64)>, other: Vec<(f64, f64)>| {
            let meet = |(low, high): &(f64, f64)| {
                let (low, high) = (*low, *high);
                other.iter().map(move |&(from, to)| (low.max(from), high.min(to))).collect::<Vec<_>>()
            };
            one.iter().flat_map(meet).filter(|(low, high)| low <= high).collect()
        };
        Some(sets.iter().map(|set| set.within(LINE)).fold(vec![LINE], both))
    }

    /// The gain of playing `after` instead of `before` at these contexts.
    ///
    /// # Errors
    /// [`ContextError`] if there are no contexts or they do not fit.
    ///
    /// # Panics
    /// If there is not one arm of either list for each context, or an arm does not exist.
    pub fn gain(&self, contexts: Contexts<'_>, before: &[Arm], after: &[Arm]) -> Result<Gain, ContextError> {
        match self {
            Self::Ellipsoid(set) => set.gain(contexts, before, after),
            Self::Pairs(set) => set.gain(contexts, before, after).map(|(gain, _)| gain),
        }
    }

    /// The certificate of changing from one linear policy to another, judged on a sample.
    ///
    /// # Errors
    /// [`ContextError`] if there are no contexts or they do not fit.
    ///
    /// # Panics
    /// If the policies or the statistics, which are those of the region, do not have its shape.
    pub fn certify(
        &self,
        from: &Rule,
        to: &Rule,
        contexts: Contexts<'_>,
        statistics: &Statistics,
    ) -> Result<Certificate, ContextError> {
        match self {
            Self::Ellipsoid(set) => set.certify(from, to, contexts),
            Self::Pairs(set) => set.certify(from, to, contexts, statistics.digest()),
        }
    }

    /// The arms that are plausible for many of a population yet were hardly ever played: see [`ConfidenceSet::stuck`].
    ///
    /// # Panics
    /// If the population or the statistics, which are those of the region, do not fit.
    pub fn stuck(&self, population: &Population, statistics: &Statistics) -> Vec<Stuck> {
        stuck_arms(statistics, population, |row, visit| match self {
            Self::Ellipsoid(set) => set.for_each_plausible(row, visit),
            Self::Pairs(set) => set.for_each_plausible(row, visit),
        })
    }
}
