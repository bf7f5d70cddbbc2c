//! ε-greedy: the arm with the largest estimate, or with probability ε any arm [auer-2002, §3, with a constant ε].

use crate::algorithm::Algorithm;
use crate::arm::{Arm, count_allowed, nth_allowed};
use crate::decision::{Decision, Reason};
use crate::number::Share;
use crate::policy::indexed::{ArmIndex, IndexChoice, Indexed};
use crate::rng::Rng;
use crate::rule::argmax_among;
use crate::snapshot::State;

/// ε.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EpsilonGreedy {
    pub(crate) epsilon: Share,
}

impl IndexChoice for EpsilonGreedy {
    const ALGORITHM: Algorithm = Algorithm::EpsilonGreedy;

    fn choose(&self, index: &impl ArmIndex, mask: Option<&[bool]>, rng: &mut Rng) -> Decision {
        let (epsilon, arms) = (self.epsilon.get(), count_allowed(mask, index.arms()));
        let best = argmax_among(mask, (0..index.arms()).map(|arm| index.mean(arm)));
        // Two draws in every round, so that the same luck meets the same rounds.
        let (explores, any) = (rng.uniform() < epsilon, nth_allowed(mask, rng.below(arms)));
        let arm = if explores { any } else { best };
        let of_best = if arm == best { 1.0 - epsilon } else { 0.0 };
        Decision {
            arm: Arm::new(arm),
            reason: if explores { Reason::Uniform } else { Reason::Policy },
            propensity: of_best + epsilon / arms as f64,
        }
    }

    fn state(policy: Indexed<Self>) -> State {
        State::EpsilonGreedy(Box::new(policy))
    }
}
