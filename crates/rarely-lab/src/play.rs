//! Plays the rounds of a run, and records what happens.

mod coverage;
mod late_reports;
mod player;
mod record;

use std::sync::atomic::{AtomicBool, Ordering};

use rarely_core::{Arm, DecideError, Decision, Delay, Policy, Rng, Round, StepError};
use rarely_error::{Explain, Remedy};

use crate::custom::{CustomError, CustomPolicy};
use crate::environment::SimulatedWorld;
use crate::judge::{Judge, largest};
use late_reports::LateReports;
use player::{CorePlayer, CustomPlayer, Player};

pub use record::{Assumed, CertificateRecord, ChangeRecord, Run};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The policy does not fit the world.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The policy cannot decide on the judge's sample.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// A policy from outside failed.
    #[error("the policy raised an error")]
    Custom(#[source] CustomError),
    /// A policy from outside chose an arm that does not exist.
    #[error("the policy chose arm {arm} in row {row} of a block, but there are only {arms} arms")]
    NoSuchArm {
        /// Row of the block, from 0.
        row: usize,
        /// What it chose.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// The caller stopped it.
    #[error("stopped before its last round")]
    Stopped,
}

impl Explain for PlayError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Step(error) => error.remedy(),
            Self::Decide(error) => error.remedy(),
            Self::NoSuchArm { arms, .. } => Some(Remedy::new(format!("return arms from 0 to {}", arms - 1))),
            Self::Custom(_) | Self::Stopped => None,
        }
    }
}

/// Lets a policy decide and learn in a world until the last checkpoint. Where outcomes come late they are learned in the order of
/// decisions or as they arrive, as declared. `stop` is checked at each checkpoint.
///
/// # Errors
/// [`PlayError`] if the policy does not fit the world, or if it was stopped.
pub fn play(
    policy: &mut dyn Policy,
    world: &mut dyn SimulatedWorld,
    (judge, delay): (&Judge, Delay),
    checkpoints: &[u64],
    rng: &mut Rng,
    stop: &AtomicBool,
) -> Result<Run, PlayError> {
    let mut player = CorePlayer::new(policy, world, judge)?;
    play_rounds(&mut player, world, (judge, delay), checkpoints, rng, stop)
}

/// The same for a policy from outside, which decides `block` rounds at a time and learns at the end of the block.
///
/// # Errors
/// [`PlayError`] if the policy fails, chooses an arm that does not exist, or was stopped.
pub fn play_custom(
    (policy, block): (&mut dyn CustomPolicy, usize),
    world: &mut dyn SimulatedWorld,
    (judge, delay): (&Judge, Delay),
    checkpoints: &[u64],
    rng: &mut Rng,
    stop: &AtomicBool,
) -> Result<Run, PlayError> {
    let mut player = CustomPlayer::new(policy, block, judge);
    play_rounds(&mut player, world, (judge, delay), checkpoints, rng, stop)
}

/// The one loop over rounds.
fn play_rounds(
    player: &mut impl Player,
    world: &mut dyn SimulatedWorld,
    (judge, delay): (&Judge, Delay),
    checkpoints: &[u64],
    rng: &mut Rng,
    stop: &AtomicBool,
) -> Result<Run, PlayError> {
    let mut run = Run::default();
    let mut rounds = vec![Round::new(judge.shape()); player.block()];
    let mut decisions = vec![Decision::recorded(Arm::new(0)); player.block()];
    let mut score = Score::default();
    let mut late = world.delay().map(|reported| LateReports::new(reported, delay));
    let (mut number, last) = (0, checkpoints.last().copied().unwrap_or(0));
    let mut stopped = stop.load(Ordering::Relaxed);
    while number < last {
        if stopped {
            return Err(PlayError::Stopped);
        }
        let size = rounds.len().min(usize::try_from(last - number).unwrap_or(usize::MAX));
        player.meet(world, &mut rounds[..size], rng, &mut decisions[..size])?;
        for (round, &decision) in rounds[..size].iter().zip(&decisions) {
            number += 1;
            score.count(&round.means, &decision, judge.best_fixed_arm(), &mut run);
            run.rounds_off_rule += u64::from(player.is_off_rule(round, &decision));
            let arm = decision.arm.index();
            let outcome = PlayedOutcome { decision, mean: round.means[arm], reward: round.rewards[arm] };
            if let Some(late) = &mut late {
                // A pilot counts decisions.
                player.set_decisions(number);
                late.decided(number, &round.context, outcome);
                while let Some((context, outcome)) = late.learnable(number) {
                    player.learn(world, number, &context, outcome, &mut run)?;
                }
            } else {
                player.learn(world, number, &round.context, outcome, &mut run)?;
            }
            if checkpoints.get(run.regret.len()) == Some(&number) {
                run.regret.push(score.regret);
                stopped = stop.load(Ordering::Relaxed);
            }
        }
        player.end_block()?;
    }
    player.finish(&mut run);
    run.outcomes_waiting = late.map_or(0, |late| late.waiting());
    Ok(run)
}

/// What came of one decision.
#[derive(Debug, Clone, Copy)]
struct PlayedOutcome {
    decision: Decision,
    mean: f64,
    reward: f64,
}

/// Sums over the rounds.
#[derive(Default)]
struct Score {
    regret: f64,
    reward: f64,
    baseline: f64,
}

impl Score {
    #[inline]
    fn count(&mut self, means: &[f64], decision: &Decision, best_fixed_arm: usize, run: &mut Run) {
        let mean = means[decision.arm.index()];
        self.regret += largest(means) - mean;
        self.reward += mean;
        self.baseline += means[best_fixed_arm];
        // The same rewards, added in another order, do not count as below.
        let slack = 1e-9 * (1.0 + self.baseline.abs());
        run.rounds_below_baseline += u64::from(self.reward < self.baseline - slack);
        run.rounds_below_nine_tenths += u64::from(self.reward < 0.9 * self.baseline - slack);
    }
}
