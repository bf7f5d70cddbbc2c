//! LinUCB and its rarely-switching variant: the arm with the largest upper confidence bound [abbasi-2011, §4 and §5.1].

use crate::algorithm::Algorithm;
use crate::arm::Shape;
use crate::arm_set::ArmChange;
use crate::block;
use crate::change::{Cause, Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{ArmsError, DecideError, MergeError, ObserveError};
use crate::number::Growth;
use crate::policy::{Learner, Policy, check_room, observe_in_turn};
use crate::rng::Rng;
use crate::rule::argmax_among;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::Statistics;

/// LinUCB, or rs-linucb.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Optimistic {
    learner: Learner,
    adopted: Adopted,
    changes: u64,
}

/// The statistics that decisions are made with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Adopted {
    /// The latest.
    Latest,
    /// Those of the last adoption; the next one comes when `det V` has grown by a factor of `1 + growth`.
    Held { statistics: Statistics, growth: Growth },
}

impl Optimistic {
    pub(crate) fn new(settings: &Settings, growth: Option<Growth>) -> Self {
        let learner = Learner::of(settings);
        let adopted = match growth {
            None => Adopted::Latest,
            Some(growth) => Adopted::Held { statistics: learner.statistics().clone(), growth },
        };
        Self { learner, adopted, changes: 0 }
    }

    fn in_use(&self) -> &Statistics {
        match &self.adopted {
            Adopted::Latest => self.learner.statistics(),
            Adopted::Held { statistics, .. } => statistics,
        }
    }

    /// The largest upper bound among the arms that a mask allows.
    fn most_optimistic(&self, context: &[f64], mask: &[bool]) -> Decision {
        let set = self.learner.confidence().set(self.in_use());
        let bounds = (0..self.shape().arms()).map(|arm| set.optimistic_bound(context, arm));
        Decision::certain(argmax_among(Some(mask), bounds), Reason::Optimistic)
    }

    /// Adds another policy's statistics. The adopted statistics stay until the next outcome.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let growth = |adopted: &Adopted| match adopted {
            Adopted::Latest => None,
            Adopted::Held { growth, .. } => Some(*growth),
        };
        if growth(&self.adopted) != growth(&other.adopted) {
            return Err(MergeError::Settings { what: "growths" });
        }
        self.learner.merge(&other.learner)
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.learner.statistics().is_sound()
            && self.in_use().is_sound()
            && self.changes <= self.rounds()
            && self.in_use().shape() == self.learner.statistics().shape()
    }
}

impl Policy for Optimistic {
    fn algorithm(&self) -> Algorithm {
        match self.adopted {
            Adopted::Latest => Algorithm::LinUcb,
            Adopted::Held { .. } => Algorithm::RsLinUcb,
        }
    }

    fn shape(&self) -> Shape {
        self.learner.statistics().shape()
    }

    fn rounds(&self) -> u64 {
        self.learner.statistics().rounds()
    }

    #[inline]
    fn decide(&self, context: Context<'_>, _: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        if let Some(mask) = self.available() {
            return Ok(self.most_optimistic(context, mask));
        }
        let set = self.learner.confidence().set(self.in_use());
        Ok(Decision::certain(set.most_optimistic(context), Reason::Optimistic))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], _: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let allowed = self.learner.statistics().availability().among(self.shape(), allowed)?;
        Ok(self.most_optimistic(context, &allowed))
    }

    fn decide_many(&self, contexts: Contexts<'_>, _: &mut Rng, decisions: &mut [Decision]) -> Result<(), DecideError> {
        check_room(contexts, self.shape(), decisions)?;
        if let Some(mask) = self.available() {
            for (context, decision) in contexts.iter().zip(decisions) {
                *decision = self.most_optimistic(context.values(), mask);
            }
            return Ok(());
        }
        let set = self.learner.confidence().set(self.in_use());
        let optimism: Vec<f64> = (0..self.shape().arms()).map(|arm| set.optimism(arm)).collect();
        let mut columns = vec![[0.0; block::WIDTH]; self.shape().dimension()];
        let mut room = decisions.iter_mut();
        block::for_each(contexts.values(), &mut columns, |columns, count| {
            let arms = set.most_optimistic_block(columns, &optimism);
            for (&arm, decision) in arms[..count].iter().zip(&mut room) {
                *decision = Decision::certain(arm, Reason::Optimistic);
            }
        });
        Ok(())
    }

    #[inline]
    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        self.learner.statistics_mut().observe(context, decision.arm, reward)?;
        let latest = self.learner.statistics();
        let Adopted::Held { statistics, growth } = &mut self.adopted else {
            return Ok(Change::Continuous);
        };
        let (grown, limit) = (latest.log_growth() - statistics.log_growth(), 1.0 + growth.get());
        if grown <= libm::log(limit) {
            return Ok(Change::Kept);
        }
        self.changes += 1;
        let evidence = Evidence {
            round: latest.rounds(),
            version: self.changes,
            cause: Cause::Information { growth: libm::exp(grown), limit },
            from: statistics.estimates(),
            to: latest.estimates(),
            certificate: None,
        };
        statistics.clone_from(latest);
        Ok(Change::Switched(Box::new(evidence)))
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        if let Adopted::Latest = self.adopted {
            self.learner.learn_block(contexts, decisions, rewards)?;
            return Ok(Vec::new());
        }
        observe_in_turn(self, contexts, decisions, rewards)
    }

    fn change_arms(&mut self, change: &ArmChange) -> Result<(), ArmsError> {
        self.learner.statistics_mut().change_arms(change)?;
        if let Adopted::Held { statistics, .. } = &mut self.adopted {
            statistics.change_arms(change)?;
        }
        Ok(())
    }

    fn available(&self) -> Option<&[bool]> {
        self.learner.statistics().available()
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Optimistic(Box::new(self.clone())))
    }
}
