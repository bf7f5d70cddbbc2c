//! The interaction of a policy with a world: one round of it.
//!
//! Simulations, tests and the review's forecasts all play their rounds with [`step`], so a policy decides and learns in exactly one
//! way.

use crate::arm::Shape;
use crate::change::Change;
use crate::context::Context;
use crate::decision::Decision;
use crate::error::{DecideError, ObserveError};
use crate::policy::Policy;
use crate::rng::Rng;
use rarely_error::{Explain, Remedy};

/// Where contexts and rewards come from. A world never learns what the policy did: every policy meets the same contexts and noise.
pub trait World {
    /// Writes the next round into `round`.
    fn next(&mut self, round: &mut Round);
}

/// One round: a context, and for every arm its mean reward and the reward that it would give.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The context.
    pub context: Vec<f64>,
    /// The arms' mean rewards.
    pub means: Vec<f64>,
    /// The arms' rewards.
    pub rewards: Vec<f64>,
}

impl Round {
    /// A round of zeros, to be filled by [`World::next`].
    pub fn new(shape: Shape) -> Self {
        Self { context: vec![0.0; shape.dimension()], means: vec![0.0; shape.arms()], rewards: vec![0.0; shape.arms()] }
    }
}

/// Why a round cannot be played: the policy does not fit the world.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The policy cannot decide at the context.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The policy cannot learn from the outcome.
    #[error(transparent)]
    Observe(#[from] ObserveError),
}

impl Explain for StepError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Decide(error) => error.remedy(),
            Self::Observe(error) => error.remedy(),
        }
    }
}

/// Plays one round: the world's next context, the policy's decision, and what the policy learns from the outcome.
/// `look` sees the policy between deciding and learning.
///
/// ```
/// use rarely_core::{Rng, Round, Settings, Shape, World, step};
/// struct Coin(Rng);
/// impl World for Coin {
///     fn next(&mut self, round: &mut Round) {
///         round.context[0] = 1.0;
///         round.means.copy_from_slice(&[0.4, 0.6]);
///         round.rewards.copy_from_slice(&[0.4, 0.6].map(|mean| mean + 0.1 * self.0.normal()));
///     }
/// }
/// let mut policy = Settings::new(2, 1)?.noise(0.1)?.norm_bound(1.0)?.build()?;
/// let (mut world, mut round, mut rng) = (Coin(Rng::new(1, 1)), Round::new(Shape::new(2, 1)?), Rng::new(1, 0));
/// let (decision, _) = step(policy.as_mut(), &mut world, &mut round, &mut rng, |_, _, _| {})?;
/// assert!(decision.propensity > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`StepError`] if the policy does not fit the world.
#[inline]
pub fn step(
    policy: &mut dyn Policy,
    world: &mut (impl World + ?Sized),
    round: &mut Round,
    rng: &mut Rng,
    look: impl FnOnce(&dyn Policy, &Round, &Decision),
) -> Result<(Decision, Change), StepError> {
    let decision = meet(policy, world, round, rng, look)?;
    let context = Context::new(&round.context).map_err(DecideError::from)?;
    let change = policy.observe(context, &decision, round.rewards[decision.arm.index()])?;
    Ok((decision, change))
}

/// The first half of a round: the world's next context and the policy's decision. The outcome comes later.
///
/// # Errors
/// [`StepError`] if the policy does not fit the world.
#[inline]
pub fn meet(
    policy: &dyn Policy,
    world: &mut (impl World + ?Sized),
    round: &mut Round,
    rng: &mut Rng,
    look: impl FnOnce(&dyn Policy, &Round, &Decision),
) -> Result<Decision, StepError> {
    world.next(round);
    let decision = policy.decide(Context::new(&round.context).map_err(DecideError::from)?, rng)?;
    look(policy, round, &decision);
    Ok(decision)
}
