//! Thompson sampling: the best arm under a draw of the parameters [agrawal-2013].
//!
//! `V` is block diagonal, so that at one context the arms' drawn means are independent, `N(sᵀθ̂_a, v²‖s‖²_{V_a⁻¹})`: one normal
//! number per arm instead of a draw of `k·d` parameters, with the same distribution.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, FEW_ARMS, Parameters, Shape, is_allowed, nth_allowed};
use crate::arm_set::ArmChange;
use crate::best_arm::{Normal, best_probabilities};
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{ArmsError, DecideError, MAX_ARMS, MergeError, ObserveError};
use crate::number::Noise;
use crate::policy::indexed::{ArmIndex, AtContext};
use crate::policy::{Learner, Policy};
use crate::rng::Rng;
use crate::rule::argmax;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};

/// Thompson sampling with a normal posterior.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Thompson {
    learner: Learner,
    scale: Noise,
}

impl Thompson {
    pub(crate) fn new(settings: &Settings) -> Self {
        let scale = settings.tuning().posterior_scale.unwrap_or(settings.confidence().noise);
        Self { learner: Learner::of(settings), scale }
    }

    /// Adds another policy's statistics.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.scale != other.scale {
            return Err(MergeError::Settings { what: "posterior scales" });
        }
        self.learner.merge(&other.learner)
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.learner.statistics().is_sound()
    }
}

impl Policy for Thompson {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Thompson
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
        Ok(drawn(&AtContext { statistics, context }, self.scale, statistics.available(), rng))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let statistics = self.learner.statistics();
        let allowed = statistics.availability().among(self.shape(), allowed)?;
        Ok(drawn(&AtContext { statistics, context }, self.scale, Some(&allowed), rng))
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
        Snapshot::new(State::Thompson(Box::new(self.clone())))
    }
}

/// The best of the allowed arms under independent draws of their means from `N(sᵀθ̂, v²‖s‖²_{V⁻¹})`.
pub(crate) fn drawn(index: &impl ArmIndex, scale: Noise, mask: Option<&[bool]>, rng: &mut Rng) -> Decision {
    if index.arms() <= FEW_ARMS {
        drawn_of::<FEW_ARMS>(index, scale, mask, rng)
    } else {
        drawn_of::<MAX_ARMS>(index, scale, mask, rng)
    }
}

fn drawn_of<const MOST: usize>(index: &impl ArmIndex, scale: Noise, mask: Option<&[bool]>, rng: &mut Rng) -> Decision {
    let mut normals = [Normal::POINT; MOST];
    let mut count = 0;
    for (normal, arm) in normals.iter_mut().zip((0..index.arms()).filter(|arm| is_allowed(mask, *arm))) {
        normal.mean = index.mean(arm);
        normal.deviation = scale.get() * index.width_squared(arm).sqrt();
        count += 1;
    }
    let normals = &normals[..count];
    let best = argmax(normals.iter().map(|normal| normal.mean + normal.deviation * rng.normal()));
    let mut chances = [0.0; MOST];
    best_probabilities::<MOST>(normals, &mut chances[..count]);
    // A draw beyond all tails has a probability too.
    let propensity = chances[best].max(f64::MIN_POSITIVE);
    Decision { arm: Arm::new(nth_allowed(mask, best)), reason: Reason::Draw, propensity }
}
