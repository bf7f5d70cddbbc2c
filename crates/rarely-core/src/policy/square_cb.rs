//! SquareCB: arms are drawn with probabilities that fall with their estimated gap to the best [foster-2020, Alg. 1].
//!
//! With the best arm b and γ, `p_a = 1/(k + γ(ŷ_b − ŷ_a))` for the others, and b gets the rest. The source fixes γ by the horizon; here it
//! grows with the rounds, `γ = c√t`, which needs no horizon.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, count_allowed, is_allowed};
use crate::decision::{Decision, Reason};
use crate::error::MAX_ARMS;
use crate::number::Growth;
use crate::policy::indexed::{ArmIndex, IndexChoice, Indexed};
use crate::rng::Rng;
use crate::rule::argmax_among;
use crate::snapshot::State;

/// c.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SquareCb {
    pub(crate) gap_scale: Growth,
}

impl IndexChoice for SquareCb {
    const ALGORITHM: Algorithm = Algorithm::SquareCb;

    fn choose(&self, index: &impl ArmIndex, mask: Option<&[bool]>, rng: &mut Rng) -> Decision {
        let mut chances = [0.0; MAX_ARMS];
        let chances = &mut chances[..index.arms()];
        for (arm, chance) in chances.iter_mut().enumerate() {
            *chance = index.mean(arm);
        }
        let best = argmax_among(mask, chances.iter().copied());
        let (largest, arms) = (chances[best], count_allowed(mask, index.arms()) as f64);
        let gamma = self.gap_scale.get() * (index.rounds() as f64).sqrt();
        let mut others = 0.0;
        for (arm, chance) in chances.iter_mut().enumerate() {
            if !is_allowed(mask, arm) {
                *chance = 0.0;
            } else if arm != best {
                *chance = 1.0 / (arms + gamma * (largest - *chance));
                others += *chance;
            }
        }
        chances[best] = 1.0 - others;
        let mut left = rng.uniform();
        let drawn = chances.iter().position(|&chance| {
            left -= chance;
            left < 0.0
        });
        // What rounding leaves over is the best arm's.
        let arm = drawn.unwrap_or(best);
        Decision { arm: Arm::new(arm), reason: Reason::Draw, propensity: chances[arm] }
    }

    fn state(policy: Indexed<Self>) -> State {
        State::SquareCb(Box::new(policy))
    }
}
