//! Policies that hold a linear rule until the data justify another: a trigger, an update, and exploration.

mod agreement;
mod looks;

use crate::algorithm::Algorithm;
use crate::arm::{Parameters, Shape};
use crate::block;
use crate::change::{Cause, Change, Evidence};
use crate::cone::Workspace;
use crate::confidence::{Interval, Profile, Sets};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MergeError, ObserveError};
use crate::explore::{Explorer, Question, Stuck, may_be_stuck, stuck_arms};
use crate::gain::{Certificate, Gain};
use crate::gradient::Solver;
use crate::policy::switching::agreement::Agreement;
use crate::policy::{Learner, Policy, check_batch, check_mask, check_room, observe_in_turn};
use crate::population::Population;
use crate::rng::Rng;
use crate::rule::{self, Rule};
use crate::settings::{Certificates, Settings};
use crate::sharp::SharpSet;
use crate::snapshot::{Snapshot, State};
use crate::trigger::{Trigger, TriggerInput, Watch};
use crate::update::Update;

/// A held policy.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Switching {
    algorithm: Algorithm,
    learner: Learner,
    rule: Rule,
    #[cfg_attr(feature = "serde", serde(rename = "exploration"))]
    explorer: Explorer,
    watch: Watch,
    stand_in: StandIn,
    plan: Plan,
    population: Population,
    changes: u64,
    /// The sharp set of the last look, where equipoise draws among the arms that it leaves. It goes on to hold.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    region: Option<Box<SharpSet>>,
    #[cfg_attr(feature = "serde", serde(skip))]
    agreement: Agreement,
    #[cfg_attr(feature = "serde", serde(skip))]
    workspace: Workspace,
}

/// Plausible parameters that decide like the rule on the population, taken when the rule's own became implausible. Changing to
/// them would alter no decision, so the trigger watches them instead, until a new context shows a difference.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct StandIn {
    parameters: Parameters,
    active: bool,
}

impl StandIn {
    fn decides_as(&self, rule: &Rule, context: &[f64]) -> bool {
        rule::best_of(self.parameters.values(), context) == rule.best(context)
    }
}

/// The result after the trigger fired.
enum Proposal {
    /// The workspace holds parameters to change to.
    Change(Cause),
    /// They would alter no decision.
    SameDecisions,
    /// There is nothing to change to.
    Nothing,
}

/// What happens when the trigger fires.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Plan {
    trigger: Trigger,
    update: Update,
    certificates: Certificates,
    /// `c`: growth of information per parameter after which the randomisation is renewed.
    #[cfg_attr(feature = "serde", serde(default))]
    renewal: f64,
}

impl Switching {
    pub(crate) fn new(settings: Settings, trigger: Trigger, update: Update) -> Self {
        let parts = settings.parts();
        let learner = Learner::new(parts.confidence, parts.statistics).with_unknown_noise(parts.unknown_noise);
        // A policy that follows its estimate every round starts with it.
        let estimates = learner.statistics().estimates();
        let start = if trigger == Trigger::EveryRound { estimates } else { parts.deployed };
        let rule = Rule::new(start);
        let watch = Watch::new(trigger, parts.confidence.sets, &rule, learner.statistics(), &parts.population);
        let stand_in = StandIn { parameters: rule.parameters().clone(), active: false };
        Self {
            algorithm: parts.algorithm,
            workspace: Workspace::sized(rule.parameters().shape()),
            explorer: Explorer::new(parts.exploration, &learner),
            learner,
            rule,
            watch,
            stand_in,
            plan: Plan { trigger, update, certificates: parts.certificates, renewal: parts.renewal },
            population: parts.population,
            changes: 0,
            region: None,
            agreement: Agreement::default(),
        }
    }

    /// Whether a change must alter a decision on the population to count. The published profile counts every change.
    fn judges_on_population(&self) -> bool {
        self.population.is_supplied() || self.learner.confidence().profile == Profile::Rigorous
    }

    /// Reacts to the trigger. Allocates only if the rule is replaced.
    fn act(&mut self, cause: Cause) -> Change {
        match self.propose(cause) {
            Proposal::Change(cause) => self.switch(cause),
            Proposal::SameDecisions => {
                self.stand_in.parameters.values_mut().copy_from_slice(&self.workspace.point);
                self.stand_in.active = true;
                self.watch.turn_to(&self.stand_in.parameters, self.learner.statistics(), &mut self.workspace);
                Change::Kept
            }
            Proposal::Nothing => Change::Kept,
        }
    }

    /// Replaces the rule by what the workspace holds.
    fn switch(&mut self, cause: Cause) -> Change {
        let shape = self.rule.parameters().shape();
        let next = Rule::new(Parameters::from_computed(shape, self.workspace.point.clone()));
        let certificate = self.certificate(&next);
        self.changes += 1;
        let evidence = Evidence {
            round: self.learner.statistics().rounds(),
            version: self.changes,
            cause,
            from: self.rule.parameters().clone(),
            to: next.parameters().clone(),
            certificate,
        };
        self.rule = next;
        self.stand_in.active = false;
        self.watch.turn_to(self.rule.parameters(), self.learner.statistics(), &mut self.workspace);
        self.watch.replaced(&self.rule, &self.population);
        Change::Switched(Box::new(evidence))
    }

    /// Puts the parameters to change to into the workspace. Returns whether this is a change, and its cause.
    fn propose(&mut self, cause: Cause) -> Proposal {
        if let Cause::Gain { minimum, .. } = cause {
            return self.propose_certain(minimum);
        }
        if !self.judges_on_population() {
            let differs = self.plan.update.propose(&self.learner.set(), self.rule.parameters(), &mut self.workspace);
            return if differs { Proposal::Change(cause) } else { Proposal::Nothing };
        }
        match self.proposed_gain(self.plan.update) {
            Some(gain) if gain.changed_share > 0.0 => Proposal::Change(cause),
            Some(_) => Proposal::SameDecisions,
            None => Proposal::Nothing,
        }
    }

    /// Of the conservative update and the estimate, the one with the larger certain gain. If no policy's gain can be
    /// large enough, stores a witness of that.
    fn propose_certain(&mut self, minimum: f64) -> Proposal {
        if !self.population.stands_for_others(self.shape()) {
            return Proposal::Nothing;
        }
        let greedy = self.proposed_gain(Update::Estimate).map(|gain| gain.interval);
        let Some(greedy) = greedy.filter(|interval| interval.estimate > minimum) else {
            self.watch.consider(&self.learner.set(), &self.population, &mut self.workspace);
            return Proposal::Nothing;
        };
        if !(greedy.lower > minimum) && self.is_cautious_uncertain(minimum) {
            return Proposal::Nothing;
        }
        let cautious = self.proposed_gain(self.plan.update).map(|gain| gain.interval.lower);
        self.watch.remember_root(self.workspace.nu);
        if cautious.is_none() {
            self.watch.consider(&self.learner.set(), &self.population, &mut self.workspace);
        }
        let cautious = cautious.unwrap_or(0.0);
        let lower = cautious.max(greedy.lower);
        if !(lower > minimum) {
            return Proposal::Nothing;
        }
        if !(cautious > greedy.lower) {
            self.proposed_gain(Update::Estimate);
        }
        Proposal::Change(Cause::Gain { lower, minimum })
    }

    /// Whether the conservative update is not certain to gain `minimum`, by far more than rounding: found from the last one
    /// in a fraction of the time. `false` if this is not known.
    fn is_cautious_uncertain(&mut self, minimum: f64) -> bool {
        let (Some(root), Update::Conservative(Solver::Exact)) = (self.watch.root(), self.plan.update) else {
            return false;
        };
        let found = self.workspace.maximise_near(&self.learner.set(), self.rule.parameters(), root);
        if found.is_none() {
            return false;
        }
        self.watch.remember_root(self.workspace.nu);
        let Interval { lower, upper, .. } = self.gain_of_point().interval;
        lower + 1e-3 * (upper - lower) <= minimum
    }

    /// Puts an update's candidate into the workspace; its gain on the population, unless it is the policy in force.
    fn proposed_gain(&mut self, update: Update) -> Option<Gain> {
        let differs = update.propose(&self.learner.set(), self.rule.parameters(), &mut self.workspace);
        differs.then(|| self.gain_of_point())
    }

    /// The gain of what the workspace holds.
    fn gain_of_point(&mut self) -> Gain {
        let (set, rows) = (self.learner.set(), self.population.values());
        let Workspace { point, functional, columns, .. } = &mut self.workspace;
        if let Some(played) = self.watch.played() {
            return set.gain_of(|row, _| block::lanes_of(&played[row..]), point, rows, functional, columns);
        }
        let rule = self.rule.parameters().values();
        set.gain_of(|_, columns| block::best_of(rule, columns), point, rows, functional, columns)
    }

    fn certificate(&self, next: &Rule) -> Option<Certificate> {
        if self.plan.certificates == Certificates::Brief {
            return None;
        }
        let contexts = Contexts::new(self.population.values(), self.population.dimension()).ok()?;
        let learner = &self.learner;
        let certificate = match learner.confidence().sets {
            Sets::Sharp => learner.sharp().certify(&self.rule, next, contexts, learner.statistics().digest()),
            Sets::Joint | Sets::PerArm => learner.set().certify(&self.rule, next, contexts),
        };
        certificate.ok()
    }

    /// Calls `visit` with every arm that may be best at a context.
    fn for_each_plausible(&self, context: &[f64], visit: &mut dyn FnMut(usize)) {
        match (self.learner.confidence().sets, &self.region) {
            (Sets::Sharp, Some(region)) => region.for_each_plausible(context, visit),
            (Sets::Sharp, None) => (0..self.shape().arms()).for_each(visit),
            (Sets::Joint | Sets::PerArm, _) => self.learner.set().for_each_plausible(context, visit),
        }
    }

    /// The decision after as many others.
    #[inline]
    fn decide_after(&self, decided: u64, context: &[f64], rng: &mut Rng) -> Decision {
        let question = Question { context, policy_arm: self.rule.best(context), decided, mask: None };
        let noise = self.learner.noise_scale();
        let plausible = |visit: &mut dyn FnMut(usize)| self.for_each_plausible(context, visit);
        self.explorer.decide(&question, self.shape(), noise, plausible, rng)
    }

    /// Adds another policy's statistics. The rule in force stays; [`Policy::reconsider`] tests it with both.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.plan != other.plan || self.explorer.settings() != other.explorer.settings() {
            return Err(MergeError::Settings { what: "triggers, updates, certificates or exploration" });
        }
        if !self.population.is_like(&other.population) {
            return Err(MergeError::Settings { what: "populations" });
        }
        self.learner.merge(&other.learner)?;
        self.population.merge(&other.population);
        self.look_afresh();
        Ok(())
    }

    /// Rebuilds the trigger's memory after a block was learned at once.
    fn look_afresh(&mut self) {
        if self.plan.trigger == Trigger::EveryRound {
            self.rule = Rule::new(self.learner.statistics().estimates());
        }
        self.stand_in.active = false;
        self.agreement = Agreement::default();
        // Whether the rule is in question does not depend on how the outcomes came.
        let schedule = self.watch.schedule();
        let sets = self.learner.confidence().sets;
        self.watch = Watch::new(self.plan.trigger, sets, &self.rule, self.learner.statistics(), &self.population);
        if let Some(schedule) = schedule {
            self.watch.reschedule(schedule);
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        let shape = self.rule.parameters().shape();
        self.learner.statistics().is_sound()
            && self.learner.statistics().shape() == shape
            && self.changes <= self.rounds()
            && self.stand_in.parameters.shape() == shape
            && self.population.is_sound(shape.dimension())
            && self.explorer.is_sound(shape, self.rounds())
            && self.watch.is_sound(self.learner.confidence().sets, self.learner.statistics(), &self.population)
            && self.region.as_ref().is_none_or(|region| region.is_sound(shape))
    }

    /// Rebuilds the buffers that a snapshot omits.
    pub(crate) fn revive(&mut self) {
        self.workspace = Workspace::sized(self.shape());
        self.explorer.revive(self.shape());
        #[cfg(feature = "serde")]
        self.watch.revive(self.learner.confidence().sets, &self.rule, self.learner.statistics(), &self.population);
    }
}

impl Policy for Switching {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn shape(&self) -> Shape {
        self.rule.parameters().shape()
    }

    fn rounds(&self) -> u64 {
        self.learner.statistics().rounds()
    }

    #[inline]
    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        let decided = self.decisions();
        if self.explorer.is_over(decided, self.shape().arms()) {
            return Ok(Decision::certain(self.rule.best(context), Reason::Policy));
        }
        Ok(self.decide_after(decided, context, rng))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        check_mask(self.shape(), allowed)?;
        let policy_arm = rule::best_among(self.rule.parameters().values(), context, Some(allowed));
        let question = Question { context, policy_arm, decided: self.decisions(), mask: Some(allowed) };
        let plausible = |visit: &mut dyn FnMut(usize)| self.for_each_plausible(context, visit);
        Ok(self.explorer.decide(&question, self.shape(), self.learner.noise_scale(), plausible, rng))
    }

    fn decide_many(
        &self,
        contexts: Contexts<'_>,
        rng: &mut Rng,
        decisions: &mut [Decision],
    ) -> Result<(), DecideError> {
        check_room(contexts, self.shape(), decisions)?;
        let decided = self.decisions();
        if self.explorer.is_over(decided, self.shape().arms()) {
            let mut room = decisions.iter_mut();
            self.rule.for_each_best(contexts.values(), |arm| {
                if let Some(decision) = room.next() {
                    *decision = Decision::certain(arm, Reason::Policy);
                }
            });
        } else {
            for ((context, decision), before) in contexts.iter().zip(decisions).zip(decided..) {
                *decision = self.decide_after(before, context.values(), rng);
            }
        }
        Ok(())
    }

    #[inline]
    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        let step = self.learner.statistics_mut().observe(context, decision.arm, reward)?;
        let recorded = self.population.record(context.values());
        if self.plan.trigger == Trigger::EveryRound {
            self.rule.set_arm(step.arm, self.learner.statistics().arm(step.arm).estimate());
            return Ok(Change::Continuous);
        }
        if let Some(schedule) = self.watch.schedule() {
            let due = self.learner.statistics().rounds() >= schedule.due;
            return Ok(if due { self.look(schedule, false) } else { Change::Kept });
        }
        let renewal = self.explorer.renew(&self.learner, self.plan.renewal);
        let round = TriggerInput {
            set: self.learner.set(),
            rule: &self.rule,
            context: context.values(),
            reward,
            step,
            recorded,
        };
        self.watch.follow(&round, &mut self.workspace);
        let watched = if self.stand_in.active { &self.stand_in.parameters } else { self.rule.parameters() };
        let played = Some(step.arm);
        let mut cause = self.watch.check(&round.set, &self.population, played, watched, &mut self.workspace);
        // If the stand-in becomes implausible or decides a new context differently, the rule itself is tested again. (On a
        // supplied population the two always decide alike.)
        let differs = || recorded.is_some() && !self.stand_in.decides_as(&self.rule, context.values());
        if self.stand_in.active && (cause.is_some() || differs()) {
            self.stand_in.active = false;
            self.watch.turn_to(self.rule.parameters(), self.learner.statistics(), &mut self.workspace);
            let watched = self.rule.parameters();
            cause = self.watch.check(&round.set, &self.population, played, watched, &mut self.workspace);
        }
        Ok(match (cause.map_or(Change::Kept, |cause| self.act(cause)), renewal) {
            (Change::Kept, Some(renewal)) => Change::Renewed(renewal),
            (change, _) => change,
        })
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        if self.plan.trigger == Trigger::EveryRound {
            self.learn_many(contexts, decisions, rewards)?;
            return Ok(Vec::new());
        }
        if self.watch.schedule().is_some() {
            check_batch(contexts, self.shape(), decisions, rewards, Some(&self.learner))?;
            return Ok(self.observe_on_schedule(contexts, decisions, rewards));
        }
        observe_in_turn(self, contexts, decisions, rewards)
    }

    fn learn_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<(), ObserveError> {
        self.learner.learn_block(contexts, decisions, rewards)?;
        self.population.record_many(contexts);
        self.look_afresh();
        Ok(())
    }

    fn reconsider(&mut self) -> Change {
        self.look_afresh();
        if let Some(schedule) = self.watch.schedule() {
            return self.look(schedule, true);
        }
        let watched = self.rule.parameters();
        let cause = match self.plan.trigger {
            // For such a policy the request itself is the trigger.
            Trigger::EveryRound | Trigger::Scheduled => Some(Cause::Scheduled),
            Trigger::Commit { after } => (self.rounds() >= after && self.changes() == 0).then_some(Cause::Scheduled),
            _ => self.watch.check(&self.learner.set(), &self.population, None, watched, &mut self.workspace),
        };
        cause.map_or(Change::Kept, |cause| self.act(cause))
    }

    fn deployed(&self) -> Option<&Parameters> {
        Some(self.rule.parameters())
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn renewals(&self) -> u64 {
        self.explorer.renewals()
    }

    fn decisions(&self) -> u64 {
        self.explorer.decided(self.learner.statistics())
    }

    fn set_decisions(&mut self, made: u64) {
        self.explorer.set_decided(made);
    }

    fn population(&self) -> Option<&Population> {
        Some(&self.population)
    }

    fn stuck(&self) -> Vec<Stuck> {
        if !may_be_stuck(self.learner.statistics()) {
            return Vec::new();
        }
        if self.learner.confidence().sets == Sets::Sharp {
            let sharp = self.learner.sharp();
            let plausible = |row: &[f64], visit: &mut dyn FnMut(usize)| sharp.for_each_plausible(row, visit);
            return stuck_arms(self.learner.statistics(), &self.population, plausible);
        }
        self.learner.set().stuck(&self.population)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Switching(Box::new(self.clone())))
    }
}
