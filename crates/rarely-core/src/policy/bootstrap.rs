//! Bootstrap Thompson sampling: the best arm under one of several replicates of the regression, drawn at random [eckles-2014].
//!
//! Each replicate counts an outcome twice or not at all, by a fair coin. Learning has no randomness: the coin is a function of the number
//! of the round and of the replicate, so that replaying a log rebuilds the state.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Shape};
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MergeError, ObserveError};
use crate::policy::{Learner, Policy, observe_all_or_none};
use crate::rng::Rng;
use crate::rule::argmax;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::{Statistics, check_outcome};
use crate::symmetric::dot;

/// Regressions of one sample each.
const REPLICATES: usize = 20;

/// Outcomes of each arm for each context variable before replicates are trusted.
const FIRST_OUTCOMES: u64 = 2;

/// The stream of the coins; none of an experiment's streams has this seed.
const COINS: u64 = 0xB007_57A9;

/// Bootstrap Thompson sampling.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Bootstrap {
    /// Every outcome once.
    learner: Learner,
    replicates: Vec<Statistics>,
}

impl Bootstrap {
    pub(crate) fn new(settings: &Settings) -> Self {
        let learner = Learner::of(settings);
        Self { learner, replicates: vec![settings.nothing_learned(); REPLICATES] }
    }

    fn best(replicate: &Statistics, context: &[f64]) -> usize {
        argmax(replicate.arms().iter().map(|ridge| ridge.predict(context)))
    }

    /// Adds another policy's statistics. The coins of the other log stay as they fell.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let mut merged = self.clone();
        merged.learner.merge(&other.learner)?;
        for (mine, theirs) in merged.replicates.iter_mut().zip(&other.replicates) {
            mine.merge(theirs)?;
        }
        *self = merged;
        Ok(())
    }

    pub(crate) fn is_sound(&self) -> bool {
        let shape = self.learner.statistics().shape();
        self.learner.statistics().is_sound()
            && self.replicates.len() == REPLICATES
            && self.replicates.iter().all(|replicate| replicate.is_sound() && replicate.shape() == shape)
    }
}

impl Policy for Bootstrap {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Bootstrap
    }

    fn shape(&self) -> Shape {
        self.learner.statistics().shape()
    }

    fn rounds(&self) -> u64 {
        self.learner.statistics().rounds()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let ridges = self.learner.statistics().arms();
        // Replicates that have seen nothing agree: until an arm has enough outcomes for them to differ, arms are drawn uniformly.
        let enough = FIRST_OUTCOMES * self.shape().dimension() as u64;
        if ridges.iter().any(|ridge| ridge.count() < enough) {
            let arm = Arm::new(rng.below(ridges.len()));
            return Ok(Decision { arm, reason: Reason::Uniform, propensity: 1.0 / ridges.len() as f64 });
        }
        let arm = Self::best(&self.replicates[rng.below(REPLICATES)], context);
        let alike = self.replicates.iter().filter(|replicate| Self::best(replicate, context) == arm).count();
        Ok(Decision { arm: Arm::new(arm), reason: Reason::Draw, propensity: alike as f64 / REPLICATES as f64 })
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        let values = context.fitting(self.shape().dimension())?;
        check_outcome(self.shape(), decision.arm, reward)?;
        // A replicate counts twice, so that it may be full before the regression is: nothing is learned then.
        let twice = 2.0 * dot(values, values);
        let coins = Rng::new(COINS, self.rounds()).bits();
        let chosen = |number: usize| coins >> number & 1 == 1;
        for (number, replicate) in self.replicates.iter().enumerate() {
            if chosen(number) {
                replicate.check_room_for(decision.arm, twice)?;
            }
        }
        self.learner.statistics_mut().observe(context, decision.arm, reward)?;
        for (number, replicate) in self.replicates.iter_mut().enumerate() {
            if chosen(number) {
                replicate.observe(context, decision.arm, reward)?;
                replicate.observe(context, decision.arm, reward)?;
            }
        }
        Ok(Change::Continuous)
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        observe_all_or_none(self, contexts, decisions, rewards)
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Bootstrap(Box::new(self.clone())))
    }
}
