//! Whether the confidence set holds the truth, round by round.

use rarely_core::{Parameters, Policy, Profile, Sets};

use crate::environment::SimulatedWorld;

/// Counts the rounds in which the truth is outside the confidence set.
///
/// The squared distance of fixed parameters θ grows by `(y − sᵀθ)² − e²/(1+q)` in a round, at most by the square of the noise
/// if θ is the truth, and the radius never shrinks. So the set is checked only when the noise since the last check could have
/// carried the truth out of it.
pub(super) struct Coverage {
    truth: Option<Parameters>,
    outside: u64,
    /// How much the squared distance may grow before the truth can be outside.
    room: f64,
    /// When a sharp set is looked at next.
    due: u64,
}

impl Coverage {
    pub(super) fn new(policy: &dyn Policy, world: &dyn SimulatedWorld) -> Self {
        let truth = policy.learner().and_then(|_| world.truth());
        let truth = truth.and_then(|values| Parameters::new(policy.shape(), values.to_vec()).ok());
        Self { truth, outside: 0, room: 0.0, due: 0 }
    }

    #[inline]
    pub(super) fn follow(&mut self, policy: &dyn Policy, world: &dyn SimulatedWorld, noise: f64) {
        self.room -= noise * noise;
        if self.truth.is_some() && !(self.room > 0.0) {
            self.look(policy, world);
        }
    }

    fn look(&mut self, policy: &dyn Policy, world: &dyn SimulatedWorld) {
        if world.drifts() {
            self.truth = world.truth().and_then(|values| Parameters::new(policy.shape(), values.to_vec()).ok());
        }
        let (Some(truth), Some(learner)) = (&self.truth, policy.learner()) else { return };
        let confidence = learner.confidence();
        if confidence.sets != Sets::Joint {
            // Testing it costs O(k·d²): it is looked at when the rounds have grown by 2 %, as the policy looks.
            let rounds = policy.rounds();
            if rounds >= self.due {
                self.due = rounds + (rounds / 50).max(1);
                let sharp = confidence.sets == Sets::Sharp && policy.deployed().is_some();
                let holds = if sharp { learner.sharp_contains(truth) } else { learner.set().contains(truth) };
                self.outside += u64::from(!holds);
            }
            return;
        }
        let set = learner.set();
        self.outside += u64::from(!set.contains(truth));
        let steady = confidence.profile == Profile::Rigorous && !world.drifts();
        self.room = if steady { set.radius().powi(2) - set.distance_squared(truth) } else { 0.0 };
    }

    pub(super) fn rounds_outside(&self) -> Option<u64> {
        self.truth.as_ref().map(|_| self.outside)
    }
}
