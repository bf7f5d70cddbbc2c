//! Thompson sampling: the best arm under a draw of the parameters [agrawal-2013].
//!
//! `V` is block diagonal, so that at one context the arms' drawn means are independent, `N(sᵀθ̂_a, v²‖s‖²_{V_a⁻¹})`: one normal
//! number per arm instead of a draw of `k·d` parameters, with the same distribution.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, FEW_ARMS, Shape};
use crate::best_arm::{Normal, best_probabilities};
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MAX_ARMS, MergeError, ObserveError};
use crate::number::Noise;
use crate::policy::{Learner, Policy};
use crate::rng::Rng;
use crate::rule::argmax;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::Statistics;

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
        Self { learner: Learner::new(settings.confidence(), settings.nothing_learned()), scale }
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
        Ok(drawn(self.learner.statistics(), self.scale, context, rng))
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

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Thompson(Box::new(self.clone())))
    }
}

/// The best arm at a context under a draw of the parameters from `N(θ̂, v²V⁻¹)`.
pub(crate) fn drawn(statistics: &Statistics, scale: Noise, context: &[f64], rng: &mut Rng) -> Decision {
    if statistics.shape().arms() <= FEW_ARMS {
        drawn_of::<FEW_ARMS>(statistics, scale, context, rng)
    } else {
        drawn_of::<MAX_ARMS>(statistics, scale, context, rng)
    }
}

fn drawn_of<const MOST: usize>(statistics: &Statistics, scale: Noise, context: &[f64], rng: &mut Rng) -> Decision {
    let mut normals = [Normal::POINT; MOST];
    let ridges = statistics.arms();
    for (normal, ridge) in normals.iter_mut().zip(ridges) {
        normal.mean = ridge.predict(context);
        normal.deviation = scale.get() * ridge.width_squared(context).sqrt();
    }
    let normals = &normals[..ridges.len()];
    let arm = argmax(normals.iter().map(|normal| normal.mean + normal.deviation * rng.normal()));
    let mut chances = [0.0; MOST];
    best_probabilities::<MOST>(normals, &mut chances[..ridges.len()]);
    // A draw beyond all tails has a probability too.
    Decision { arm: Arm::new(arm), reason: Reason::Draw, propensity: chances[arm].max(f64::MIN_POSITIVE) }
}
