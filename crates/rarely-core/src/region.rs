//! What the data have not ruled out, whichever sets a policy uses: one ellipsoid, or the sets of every pair.

use crate::arm::{Arm, Parameters};
use crate::cone::Boundary;
use crate::confidence::{ConfidenceSet, Interval};
use crate::context::{Context, Contexts};
use crate::error::ContextError;
use crate::gain::Gain;
use crate::rule::Rule;
use crate::sharp::SharpSet;

/// The parameters that the data have not ruled out, by the sets that a policy uses.
#[derive(Debug, Clone)]
pub enum Region<'a> {
    /// Joint or per-arm sets.
    Ellipsoid(ConfidenceSet<'a>),
    /// Sharp sets.
    Pairs(Box<SharpSet>),
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
}
