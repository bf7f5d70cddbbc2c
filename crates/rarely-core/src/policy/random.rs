//! Policies that do not learn: a randomised trial, and one arm for everyone.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Shape, nth_allowed};
use crate::change::Change;
use crate::context::Context;
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MergeError, ObserveError};
use crate::policy::{Policy, check_mask};
use crate::ridge::MAX_ROUNDS;
use crate::rng::Rng;
use crate::snapshot::{Snapshot, State};
use crate::statistics::check_outcome;

/// A policy that only counts its outcomes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Unlearned {
    shape: Shape,
    choice: Choice,
    rounds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Choice {
    Uniform,
    Fixed(Arm),
}

impl Unlearned {
    pub(crate) fn uniform(shape: Shape) -> Self {
        Self { shape, choice: Choice::Uniform, rounds: 0 }
    }

    pub(crate) fn fixed(shape: Shape, arm: Arm) -> Self {
        Self { shape, choice: Choice::Fixed(arm), rounds: 0 }
    }

    /// Adds another policy's count.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.shape != other.shape || self.choice != other.choice {
            return Err(MergeError::Settings { what: "arms or context variables" });
        }
        self.rounds += other.rounds;
        Ok(())
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.rounds <= MAX_ROUNDS
            && match self.choice {
                Choice::Uniform => true,
                Choice::Fixed(arm) => arm.index() < self.shape.arms(),
            }
    }
}

impl Policy for Unlearned {
    fn algorithm(&self) -> Algorithm {
        match self.choice {
            Choice::Uniform => Algorithm::Random,
            Choice::Fixed(_) => Algorithm::Fixed,
        }
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        context.fitting(self.shape.dimension())?;
        Ok(match self.choice {
            Choice::Uniform => Decision {
                arm: Arm::new(rng.below(self.shape.arms())),
                reason: Reason::Uniform,
                propensity: 1.0 / self.shape.arms() as f64,
            },
            Choice::Fixed(arm) => Decision::certain(arm.index(), Reason::Fixed),
        })
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], rng: &mut Rng) -> Result<Decision, DecideError> {
        context.fitting(self.shape.dimension())?;
        let count = check_mask(self.shape, allowed)?;
        match self.choice {
            Choice::Uniform => {
                let arm = Arm::new(nth_allowed(Some(allowed), rng.below(count)));
                Ok(Decision { arm, reason: Reason::Uniform, propensity: 1.0 / count as f64 })
            }
            Choice::Fixed(arm) if allowed[arm.index()] => Ok(Decision::certain(arm.index(), Reason::Fixed)),
            Choice::Fixed(_) => Err(DecideError::Masked { algorithm: Algorithm::Fixed.name() }),
        }
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        context.fitting(self.shape.dimension())?;
        check_outcome(self.shape, decision.arm, reward)?;
        self.rounds += 1;
        Ok(Change::Kept)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Unlearned(Box::new(self.clone())))
    }
}
