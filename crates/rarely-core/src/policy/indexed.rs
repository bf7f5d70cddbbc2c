//! Algorithms that learn every outcome and choose afresh at every context: what they share. Each algorithm is its own choice.

use std::fmt::Debug;

use crate::algorithm::Algorithm;
use crate::arm::{Parameters, Shape};
use crate::arm_set::ArmChange;
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::Decision;
use crate::error::{ArmsError, DecideError, MergeError, ObserveError};
use crate::policy::{Learner, Policy};
use crate::rng::Rng;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::Statistics;

/// What was learned of every arm, at one context.
pub(crate) trait ArmIndex {
    /// `k`.
    fn arms(&self) -> usize;

    /// Outcomes of all arms.
    fn rounds(&self) -> u64;

    /// The estimated mean outcome.
    fn mean(&self, arm: usize) -> f64;

    /// `‖s‖²_{V⁻¹}`.
    fn width_squared(&self, arm: usize) -> f64;
}

/// The index of arms that have a regression each.
pub(crate) struct AtContext<'a> {
    pub(crate) statistics: &'a Statistics,
    pub(crate) context: &'a [f64],
}

impl ArmIndex for AtContext<'_> {
    #[inline]
    fn arms(&self) -> usize {
        self.statistics.shape().arms()
    }

    #[inline]
    fn rounds(&self) -> u64 {
        self.statistics.rounds()
    }

    #[inline]
    fn mean(&self, arm: usize) -> f64 {
        self.statistics.arm(arm).predict(self.context)
    }

    #[inline]
    fn width_squared(&self, arm: usize) -> f64 {
        self.statistics.arm(arm).width_squared(self.context)
    }
}

/// How an algorithm chooses from what was learned.
pub(crate) trait IndexChoice: Debug + Clone + PartialEq + Send + Sync + 'static {
    /// Its row of the table.
    const ALGORITHM: Algorithm;

    /// An arm, among those that a mask allows.
    fn choose(&self, index: &impl ArmIndex, mask: Option<&[bool]>, rng: &mut Rng) -> Decision;

    /// The state of a policy, as a snapshot has it.
    fn state(policy: Indexed<Self>) -> State;
}

/// A policy that learns every outcome.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Indexed<C> {
    learner: Learner,
    choice: C,
}

impl<C: IndexChoice> Indexed<C> {
    pub(crate) fn new(settings: &Settings, choice: C) -> Self {
        Self { learner: Learner::of(settings), choice }
    }

    /// Adds another policy's statistics.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.choice != other.choice {
            return Err(MergeError::Settings { what: "tuning of the choice" });
        }
        self.learner.merge(&other.learner)
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.learner.statistics().is_sound()
    }
}

impl<C: IndexChoice> Policy for Indexed<C> {
    fn algorithm(&self) -> Algorithm {
        C::ALGORITHM
    }

    fn shape(&self) -> Shape {
        self.learner.statistics().shape()
    }

    fn rounds(&self) -> u64 {
        self.learner.statistics().rounds()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let statistics = self.learner.statistics();
        Ok(self.choice.choose(&AtContext { statistics, context }, statistics.available(), rng))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let statistics = self.learner.statistics();
        let allowed = statistics.availability().among(self.shape(), allowed)?;
        Ok(self.choice.choose(&AtContext { statistics, context }, Some(&allowed), rng))
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        self.learner.statistics_mut().observe(context, decision.arm, reward)?;
        Ok(Change::Continuous)
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        self.learner.learn_block(contexts, decisions, rewards)?;
        Ok(Vec::new())
    }

    fn observe_weighted(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
        weights: &[f64],
    ) -> Result<(), ObserveError> {
        self.learner.learn_weighted(contexts, decisions, rewards, weights)
    }

    fn change_arms(&mut self, change: &ArmChange) -> Result<(), ArmsError> {
        self.learner.statistics_mut().change_arms(change)
    }

    fn available(&self) -> Option<&[bool]> {
        self.learner.statistics().available()
    }

    fn learner(&self) -> Option<&Learner> {
        self.learner.counting_all_once()
    }

    fn estimates(&self) -> Option<Parameters> {
        Some(self.learner.statistics().estimates())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(C::state(self.clone()))
    }
}
