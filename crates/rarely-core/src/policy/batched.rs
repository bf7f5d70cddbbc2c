//! Algorithms that learn at the end of batches: between two of them they decide with what they knew at the last.
//!
//! A batch ends when the rounds have doubled, so that there are O(log T) of them without a horizon. Thompson sampling in batches is after
//! [karbasi-2021], which ends a batch when the plays of one arm have doubled: up to k·log₂T batches, where ours are log₂T for any k.
//! Elimination in batches is after [ruan-2021]: an arm is drawn among those that are not excluded at the context. The source knows the
//! horizon and needs O(log log T) batches, learns from each batch a distribution over designs from which its arms are drawn, estimates from
//! the outcomes of one batch, and an arm that some batch excluded stays excluded. We draw uniformly, estimate from all outcomes, and exclude by the
//! confidence set at the end of the last batch: its guarantee is that of the set, and the source's bound on the regret does not carry over.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Shape};
use crate::change::{Cause, Change, Evidence};
use crate::context::Context;
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MAX_ARMS, MergeError, ObserveError};
use crate::number::Noise;
use crate::policy::indexed::AtContext;
use crate::policy::thompson::drawn;
use crate::policy::{Learner, Policy};
use crate::rng::Rng;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::Statistics;

/// How arms are drawn within a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum BatchDraw {
    /// The best under a draw from the posterior, with scale `v`.
    Posterior(Noise),
    /// Uniformly among the arms that are not excluded.
    Survivors,
}

/// A policy that learns in batches.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Batched {
    learner: Learner,
    /// What was known at the end of the last batch.
    held: Statistics,
    draw: BatchDraw,
    changes: u64,
}

impl Batched {
    pub(crate) fn thompson(settings: &Settings) -> Self {
        let scale = settings.tuning().posterior_scale.unwrap_or(settings.confidence().noise);
        Self::new(settings, BatchDraw::Posterior(scale))
    }

    pub(crate) fn elimination(settings: &Settings) -> Self {
        Self::new(settings, BatchDraw::Survivors)
    }

    fn new(settings: &Settings, draw: BatchDraw) -> Self {
        let learner = Learner::of(settings);
        let held = learner.statistics().clone();
        Self { learner, held, draw, changes: 0 }
    }

    /// Outcomes after which the current batch ends: as many in all as twice those at its start, and at least one for each parameter.
    fn ends_at(&self) -> u64 {
        (2 * self.held.rounds()).max(self.shape().parameters() as u64)
    }

    fn survivor(&self, context: &[f64], rng: &mut Rng) -> Decision {
        let set = self.learner.confidence().set(&self.held);
        let (mut survivors, mut count) = ([0; MAX_ARMS], 0);
        set.for_each_plausible(context, |arm| {
            survivors[count] = arm;
            count += 1;
        });
        let arm = survivors[rng.below(count)];
        Decision { arm: Arm::new(arm), reason: Reason::Equipoise, propensity: 1.0 / count as f64 }
    }

    /// Adds another policy's statistics. What is held stays until the batch ends.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.draw != other.draw {
            return Err(MergeError::Settings { what: "posterior scales" });
        }
        self.learner.merge(&other.learner)
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.learner.statistics().is_sound()
            && self.held.is_sound()
            && self.held.shape() == self.shape()
            && self.changes <= self.rounds()
    }
}

impl Policy for Batched {
    fn algorithm(&self) -> Algorithm {
        match self.draw {
            BatchDraw::Posterior(_) => Algorithm::BatchedThompson,
            BatchDraw::Survivors => Algorithm::BatchedElimination,
        }
    }

    fn shape(&self) -> Shape {
        self.learner.statistics().shape()
    }

    fn rounds(&self) -> u64 {
        self.learner.statistics().rounds()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        Ok(match self.draw {
            BatchDraw::Survivors => self.survivor(context, rng),
            BatchDraw::Posterior(scale) => drawn(&AtContext { statistics: &self.held, context }, scale, None, rng),
        })
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        self.learner.statistics_mut().observe(context, decision.arm, reward)?;
        if self.rounds() < self.ends_at() {
            return Ok(Change::Kept);
        }
        self.changes += 1;
        let latest = self.learner.statistics();
        let evidence = Evidence {
            round: latest.rounds(),
            version: self.changes,
            cause: Cause::Scheduled,
            from: self.held.estimates(),
            to: latest.estimates(),
            certificate: None,
        };
        self.held.clone_from(latest);
        Ok(Change::Switched(Box::new(evidence)))
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Batched(Box::new(self.clone())))
    }
}
