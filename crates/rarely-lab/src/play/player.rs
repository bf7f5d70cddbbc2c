//! Who plays: a policy of the core, one round at a time, or one from outside, in blocks.

use rarely_core::{
    Algorithm, Arm, Change, Context, Contexts, DecideError, Decision, Evidence, Parameters, Policy, Reason, Rng, Round,
    Rule, StepError, gain_functional, meet,
};

use super::coverage::Coverage;
use super::record::{Assumed, CertificateRecord, ChangeRecord, Run};
use super::{PlayError, PlayedOutcome};
use crate::custom::CustomPolicy;
use crate::environment::SimulatedWorld;
use crate::judge::Judge;

/// What the loop asks of whoever plays.
pub(super) trait Player {
    /// Rounds that are decided at a time.
    fn block(&self) -> usize;

    /// Lets the world write the next rounds, and decides them.
    fn meet(
        &mut self,
        world: &mut dyn SimulatedWorld,
        rounds: &mut [Round],
        rng: &mut Rng,
        decisions: &mut [Decision],
    ) -> Result<(), PlayError>;

    /// Whether exploration played another arm than the rule's.
    fn is_off_rule(&self, round: &Round, decision: &Decision) -> bool;

    /// Takes in the outcome of a decision in round `number`.
    fn learn(
        &mut self,
        world: &dyn SimulatedWorld,
        number: u64,
        context: &[f64],
        outcome: PlayedOutcome,
        run: &mut Run,
    ) -> Result<(), PlayError>;

    /// After the last round of a block.
    fn end_block(&mut self) -> Result<(), PlayError> {
        Ok(())
    }

    /// Decisions made so far, where outcomes come late.
    fn set_decisions(&mut self, _made: u64) {}

    /// Records what is known at the end.
    fn finish(&self, _run: &mut Run) {}
}

/// A policy of the core.
pub(super) struct CorePlayer<'a> {
    policy: &'a mut dyn Policy,
    coverage: Coverage,
    /// The policy's decisions on the judge's sample, if it counts changes.
    in_force: Vec<Arm>,
    judge: &'a Judge,
}

impl<'a> CorePlayer<'a> {
    pub(super) fn new(
        policy: &'a mut dyn Policy,
        world: &dyn SimulatedWorld,
        judge: &'a Judge,
    ) -> Result<Self, PlayError> {
        let coverage = Coverage::new(policy, world);
        let in_force = if counts_changes(policy) { judge.decisions(policy)? } else { Vec::new() };
        Ok(Self { policy, coverage, in_force, judge })
    }
}

impl Player for CorePlayer<'_> {
    fn block(&self) -> usize {
        1
    }

    #[inline]
    fn meet(
        &mut self,
        world: &mut dyn SimulatedWorld,
        rounds: &mut [Round],
        rng: &mut Rng,
        decisions: &mut [Decision],
    ) -> Result<(), PlayError> {
        for (round, decision) in rounds.iter_mut().zip(decisions) {
            *decision = meet(self.policy, world, round, rng, |_, _, _| {})?;
        }
        Ok(())
    }

    #[inline]
    fn is_off_rule(&self, round: &Round, decision: &Decision) -> bool {
        is_off_rule(self.policy, round, decision)
    }

    #[inline]
    fn learn(
        &mut self,
        world: &dyn SimulatedWorld,
        number: u64,
        context: &[f64],
        outcome: PlayedOutcome,
        run: &mut Run,
    ) -> Result<(), PlayError> {
        let PlayedOutcome { decision, mean, reward } = outcome;
        let context = Context::new(context).map_err(DecideError::from)?;
        if let Change::Switched(evidence) = self.policy.observe(context, &decision, reward).map_err(StepError::from)? {
            let next = if counts_changes(self.policy) {
                self.judge.decisions(self.policy)?
            } else {
                // It draws its arms: what changes is judged by its estimates.
                self.in_force = self.judge.decisions_of(&evidence.from)?;
                self.judge.decisions_of(&evidence.to)?
            };
            let (gain, changed_share) = self.judge.gain(&self.in_force, &next, world);
            let listed = listed_gain(self.policy, world, &evidence);
            run.changes.push(record(number, (gain, changed_share), listed, *evidence));
            self.in_force = next;
        }
        self.coverage.follow(self.policy, world, reward - mean);
        Ok(())
    }

    fn set_decisions(&mut self, made: u64) {
        self.policy.set_decisions(made);
    }

    fn finish(&self, run: &mut Run) {
        run.rounds_outside = self.coverage.rounds_outside();
        run.renewals = self.policy.renewals();
        run.stuck = !self.policy.stuck().is_empty();
        run.assumed = self.policy.learner().map(|learner| Assumed::of(learner.confidence()));
    }
}

/// A policy from outside: it decides a block of contexts, and learns their outcomes at the end of the block.
pub(super) struct CustomPlayer<'a> {
    policy: &'a mut dyn CustomPolicy,
    block: usize,
    judge: &'a Judge,
    contexts: Vec<f64>,
    learned_contexts: Vec<f64>,
    learned_decisions: Vec<Decision>,
    learned_rewards: Vec<f64>,
}

impl<'a> CustomPlayer<'a> {
    pub(super) fn new(policy: &'a mut dyn CustomPolicy, block: usize, judge: &'a Judge) -> Self {
        Self {
            policy,
            block: block.max(1),
            judge,
            contexts: Vec::new(),
            learned_contexts: Vec::new(),
            learned_decisions: Vec::new(),
            learned_rewards: Vec::new(),
        }
    }
}

impl Player for CustomPlayer<'_> {
    fn block(&self) -> usize {
        self.block
    }

    fn meet(
        &mut self,
        world: &mut dyn SimulatedWorld,
        rounds: &mut [Round],
        rng: &mut Rng,
        decisions: &mut [Decision],
    ) -> Result<(), PlayError> {
        self.contexts.clear();
        for round in rounds {
            world.next(round);
            self.contexts.extend_from_slice(&round.context);
        }
        let shape = self.judge.shape();
        let contexts = Contexts::new(&self.contexts, shape.dimension()).map_err(DecideError::from)?;
        self.policy.decide(contexts, rng, decisions).map_err(PlayError::Custom)?;
        match decisions.iter().position(|decision| decision.arm.index() >= shape.arms()) {
            Some(row) => Err(PlayError::NoSuchArm { row, arm: decisions[row].arm.index(), arms: shape.arms() }),
            None => Ok(()),
        }
    }

    fn is_off_rule(&self, _: &Round, _: &Decision) -> bool {
        false
    }

    fn learn(
        &mut self,
        _: &dyn SimulatedWorld,
        _: u64,
        context: &[f64],
        outcome: PlayedOutcome,
        _: &mut Run,
    ) -> Result<(), PlayError> {
        self.learned_contexts.extend_from_slice(context);
        self.learned_decisions.push(outcome.decision);
        self.learned_rewards.push(outcome.reward);
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), PlayError> {
        if self.learned_rewards.is_empty() {
            return Ok(());
        }
        let dimension = self.judge.shape().dimension();
        let contexts = Contexts::new(&self.learned_contexts, dimension).map_err(DecideError::from)?;
        let learned = self.policy.observe(contexts, &self.learned_decisions, &self.learned_rewards);
        learned.map_err(PlayError::Custom)?;
        self.learned_contexts.clear();
        self.learned_decisions.clear();
        self.learned_rewards.clear();
        Ok(())
    }
}

/// Whether exploration played another arm than the rule's.
#[inline]
fn is_off_rule(policy: &dyn Policy, round: &Round, decision: &Decision) -> bool {
    if !matches!(decision.reason, Reason::Equipoise | Reason::Pilot) {
        return false;
    }
    let score = |theta: &[f64]| theta.iter().zip(&round.context).map(|(theta, s)| theta * s).sum::<f64>();
    policy.deployed().is_some_and(|rule| {
        let own = score(rule.arm(decision.arm.index()));
        // Ties go to the lowest arm.
        rule.iter().enumerate().any(|(arm, theta)| {
            let other = score(theta);
            other > own || other == own && arm < decision.arm.index()
        })
    })
}

/// Whether a policy ever reports a change, so that its decisions on the judge's sample must be known beforehand.
fn counts_changes(policy: &dyn Policy) -> bool {
    policy.deployed().is_some() || matches!(policy.algorithm(), Algorithm::RsLinUcb | Algorithm::RsGlinCb)
}

fn record(round: u64, (gain, changed_share): (f64, f64), listed: Option<f64>, evidence: Evidence) -> ChangeRecord {
    let Evidence { cause, to, certificate, .. } = evidence;
    let (cause, parameters) = (cause.to_string(), to.values().to_vec());
    let certificate = certificate.map(|certificate| CertificateRecord::new(&certificate, listed));
    ChangeRecord { round, gain, changed_share, cause, parameters, certificate }
}

/// What a certified change truly gains on the people that its certificate lists: the policy's population.
fn listed_gain(policy: &dyn Policy, world: &dyn SimulatedWorld, evidence: &Evidence) -> Option<f64> {
    evidence.certificate.as_ref()?;
    let (truth, population) = (world.truth()?, policy.population()?);
    let people = Contexts::new(population.values(), population.dimension()).ok()?;
    let choices = |rule: &Parameters| Rule::new(rule.clone()).choose_many(people).ok();
    let functional =
        gain_functional(policy.shape(), people, &choices(&evidence.from)?, &choices(&evidence.to)?).ok()?;
    Some(functional.values().iter().zip(truth).map(|(g, theta)| g * theta).sum())
}
