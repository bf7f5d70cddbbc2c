//! Thompson sampling for outcomes from 0 to 1: the best arm under a draw from Laplace's approximation of the posterior
//! [chapelle-2011, Alg. 3, with batches of one outcome].
//!
//! The mean is `1/(1+exp(−sᵀθ))`, which rises with `sᵀθ`, so that arms are compared by their draws of `sᵀθ`. The prior is normal with the
//! precision λ around the prior mean. Nothing here is a confidence set: the statistics are those of a posterior.

use crate::algorithm::Algorithm;
use crate::arm::{Parameters, Shape};
use crate::arm_set::ArmChange;
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::Decision;
use crate::error::{ArmsError, DecideError, MergeError, ObserveError};
use crate::logistic::working_outcome;
use crate::number::Noise;
use crate::policy::indexed::AtContext;
use crate::policy::thompson::drawn;
use crate::policy::{Policy, check_weights, observe_all_or_none};
use crate::rng::Rng;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::{Statistics, check_share};
use crate::symmetric::dot;

/// Thompson sampling with Laplace's approximation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LogisticThompson {
    statistics: Statistics,
    scale: Noise,
}

impl LogisticThompson {
    pub(crate) fn new(settings: &Settings) -> Self {
        let scale = settings.tuning().posterior_scale.unwrap_or(Noise::constant(1.0));
        Self { statistics: settings.nothing_learned(), scale }
    }

    /// Adds another policy's posterior, as if the two approximations were of one log.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.scale != other.scale {
            return Err(MergeError::Settings { what: "posterior scales" });
        }
        self.statistics.merge(&other.statistics)
    }

    /// Learns an outcome that counts so many times.
    fn learn(
        &mut self,
        context: Context<'_>,
        decision: &Decision,
        reward: f64,
        times: f64,
    ) -> Result<(), ObserveError> {
        let values = context.fitting(self.shape().dimension())?;
        check_share(self.shape(), decision.arm, reward, Algorithm::LogisticThompson)?;
        // A weight is at most a quarter; as if it were 1, the limit is that of the other algorithms.
        self.statistics.check_room_for(decision.arm, dot(values, values))?;
        let ridge = self.statistics.arm(decision.arm.index());
        let (response, weight) = working_outcome(ridge.predict(values), ridge.width_squared(values), reward, times);
        self.statistics.observe_weighted(context, decision.arm, response, weight)?;
        Ok(())
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.statistics.is_sound()
    }
}

impl Policy for LogisticThompson {
    fn algorithm(&self) -> Algorithm {
        Algorithm::LogisticThompson
    }

    fn shape(&self) -> Shape {
        self.statistics.shape()
    }

    fn rounds(&self) -> u64 {
        self.statistics.rounds()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let statistics = &self.statistics;
        Ok(drawn(&AtContext { statistics, context }, self.scale, statistics.available(), rng))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let statistics = &self.statistics;
        let allowed = statistics.availability().among(self.shape(), allowed)?;
        Ok(drawn(&AtContext { statistics, context }, self.scale, Some(&allowed), rng))
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        self.learn(context, decision, reward, 1.0)?;
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

    fn observe_weighted(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
        weights: &[f64],
    ) -> Result<(), ObserveError> {
        check_weights(contexts, self.shape(), decisions, rewards, weights)?;
        let mut learned = self.clone();
        let rows = contexts.iter().zip(decisions).zip(rewards.iter().zip(weights)).enumerate();
        for (row, ((context, decision), (&reward, &weight))) in rows {
            learned.learn(context, decision, reward, weight).map_err(|source| source.in_row(row))?;
        }
        *self = learned;
        Ok(())
    }

    fn change_arms(&mut self, change: &ArmChange) -> Result<(), ArmsError> {
        self.statistics.change_arms(change)
    }

    fn available(&self) -> Option<&[bool]> {
        self.statistics.available()
    }

    fn estimates(&self) -> Option<Parameters> {
        Some(self.statistics.estimates())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::LogisticThompson(Box::new(self.clone())))
    }
}
