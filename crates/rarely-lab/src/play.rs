//! Plays the rounds of a run, and records what happens.

mod late_reports;

use std::sync::atomic::{AtomicBool, Ordering};

use rarely_core::{
    Algorithm, Arm, Certificate, Change, Context, Contexts, DecideError, Decision, Delay, Evidence, Parameters, Policy,
    Profile, Reason, Rng, Round, Rule, Sets, StepError, TheoremThree, gain_functional, meet,
};
use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};

use crate::environment::SimulatedWorld;
use crate::judge::{Judge, largest};
use late_reports::LateReports;

/// What one policy did in one world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Cumulative expected regret at each checkpoint.
    pub regret: Vec<f64>,
    /// Rounds after which the cumulative expected reward was below that of the best fixed arm.
    pub rounds_below_baseline: u64,
    /// Rounds after which it was below 0.9 times that of the best fixed arm, which is what the paper's Figure 3c counts.
    pub rounds_below_nine_tenths: u64,
    /// Rounds in which the true parameters were outside the confidence set; `None` if nothing is learned or the truth is not linear.
    pub rounds_outside: Option<u64>,
    /// The changes of policy.
    pub changes: Vec<ChangeRecord>,
    /// Renewals of the randomisation around the rule.
    #[serde(default)]
    pub renewals: u64,
    /// Rounds in which another arm was played than the rule's.
    #[serde(default)]
    pub rounds_off_rule: u64,
    /// Whether some arm was stuck at the end: plausible, and hardly ever played.
    #[serde(default)]
    pub stuck: bool,
    /// Outcomes that were not learned by the end: not reported yet, or reported and waiting for those of earlier decisions.
    #[serde(default)]
    pub outcomes_waiting: u64,
}

/// One change, with its true gain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// The round.
    pub round: u64,
    /// True gain per decision on the judge's sample.
    pub gain: f64,
    /// Share of the sample whose arm changed.
    pub changed_share: f64,
    /// Its cause.
    pub cause: String,
    /// The parameters in force from then on.
    pub parameters: Vec<f64>,
    /// Its certificate, if certificates are recorded.
    pub certificate: Option<CertificateRecord>,
}

/// The numbers of a certificate; those that are not finite are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertificateRecord {
    /// Estimated gain per decision.
    pub gain: Option<f64>,
    /// Its lower end.
    pub gain_lower: Option<f64>,
    /// Its upper end.
    pub gain_upper: Option<f64>,
    /// True gain per decision on the people that the certificate lists, where mean rewards are linear.
    #[serde(default)]
    pub true_gain: Option<f64>,
    /// Share of the policy's own population whose arm changes.
    pub changed_share: f64,
    /// Share given an excluded arm before.
    pub excluded_before: f64,
    /// The same after.
    pub excluded_after: f64,
    /// The largest angle by which a boundary moved, in degrees.
    pub moved_degrees: Option<f64>,
    /// Theorem 3's conditions, for two context variables.
    pub theorem_three: Option<TheoremThree>,
    /// Fingerprint of the statistics.
    pub digest: String,
}

impl CertificateRecord {
    fn new(certificate: &Certificate, true_gain: Option<f64>) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        let interval = certificate.gain.interval;
        let moved = certificate.boundaries.iter().map(|boundary| boundary.moved_degrees).fold(0.0, f64::max);
        Self {
            gain: finite(interval.estimate),
            gain_lower: finite(interval.lower),
            gain_upper: finite(interval.upper),
            true_gain,
            changed_share: certificate.gain.changed_share,
            excluded_before: certificate.excluded_before,
            excluded_after: certificate.excluded_after,
            moved_degrees: finite(moved),
            theorem_three: certificate.theorem_three,
            digest: certificate.digest.to_string(),
        }
    }
}

impl ChangeRecord {
    /// Whether it alters a decision on the sample.
    pub fn alters(&self) -> bool {
        self.changed_share > 0.0
    }

    /// Whether it truly lowers the expected reward, by more than rounding.
    pub fn harms(&self) -> bool {
        self.gain < -1e-12
    }

    /// Theorem 3's conditions, where its certificate has them.
    pub fn theorem_three(&self) -> Option<TheoremThree> {
        self.certificate.as_ref().and_then(|certificate| certificate.theorem_three)
    }
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The policy does not fit the world.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The policy cannot decide on the judge's sample.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The caller stopped it.
    #[error("stopped before its last round")]
    Stopped,
}

impl Explain for PlayError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Step(error) => error.remedy(),
            Self::Decide(error) => error.remedy(),
            Self::Stopped => None,
        }
    }
}

/// Lets a policy decide and learn in a world until the last checkpoint. Where outcomes come late they are learned in the order of
/// decisions or as they arrive, as declared. `stop` is checked before each checkpoint's rounds.
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
    let mut run = Run::default();
    let mut round = Round::new(judge.shape());
    let mut score = Score::default();
    let mut record_of_learning = LearningRecord {
        coverage: Coverage::new(policy, world),
        in_force: if counts_changes(policy) { judge.decisions(policy)? } else { Vec::new() },
        judge,
    };
    let mut late = world.delay().map(|rounds| LateReports::new(rounds, delay));
    let mut number = 0;
    for &checkpoint in checkpoints {
        if stop.load(Ordering::Relaxed) {
            return Err(PlayError::Stopped);
        }
        while number < checkpoint {
            number += 1;
            let decision = meet(policy, world, &mut round, rng, |policy, round, decision| {
                score.count(&round.means, decision, judge.best_fixed_arm(), &mut run);
                run.rounds_off_rule += u64::from(is_off_rule(policy, round, decision));
            })?;
            let arm = decision.arm.index();
            let outcome = PlayedOutcome { decision, mean: round.means[arm], reward: round.rewards[arm] };
            let Some(late) = &mut late else {
                record_of_learning.learn(policy, world, number, &round.context, outcome, &mut run)?;
                continue;
            };
            // A pilot counts decisions.
            policy.set_decisions(number);
            late.decided(number, &round.context, outcome);
            while let Some((context, outcome)) = late.learnable(number) {
                record_of_learning.learn(policy, world, number, &context, outcome, &mut run)?;
            }
        }
        run.regret.push(score.regret);
    }
    run.rounds_outside = record_of_learning.coverage.rounds_outside();
    run.renewals = policy.renewals();
    run.stuck = !policy.stuck().is_empty();
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

/// What is recorded as a policy learns.
struct LearningRecord<'a> {
    coverage: Coverage,
    /// The policy's decisions on the judge's sample, if it counts changes.
    in_force: Vec<Arm>,
    judge: &'a Judge,
}

impl LearningRecord<'_> {
    /// Learns from one outcome in round `number`.
    #[inline]
    fn learn(
        &mut self,
        policy: &mut dyn Policy,
        world: &dyn SimulatedWorld,
        number: u64,
        context: &[f64],
        outcome: PlayedOutcome,
        run: &mut Run,
    ) -> Result<(), PlayError> {
        let PlayedOutcome { decision, mean, reward } = outcome;
        let context = Context::new(context).map_err(DecideError::from)?;
        if let Change::Switched(evidence) = policy.observe(context, &decision, reward).map_err(StepError::from)? {
            let next = self.judge.decisions(policy)?;
            let (gain, changed_share) = self.judge.gain(&self.in_force, &next, world);
            let listed = listed_gain(policy, world, &evidence);
            run.changes.push(record(number, (gain, changed_share), listed, *evidence));
            self.in_force = next;
        }
        self.coverage.follow(policy, world, reward - mean);
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
    policy.deployed().is_some() || policy.algorithm() == Algorithm::RsLinUcb
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

/// Counts the rounds in which the truth is outside the confidence set.
///
/// The squared distance of fixed parameters θ grows by `(y − sᵀθ)² − e²/(1+q)` in a round, at most by the square of the noise
/// if θ is the truth, and the radius never shrinks. So the set is checked only when the noise since the last check could have
/// carried the truth out of it.
struct Coverage {
    truth: Option<Parameters>,
    outside: u64,
    /// How much the squared distance may grow before the truth can be outside.
    room: f64,
    /// When a sharp set is looked at next.
    due: u64,
}

impl Coverage {
    fn new(policy: &dyn Policy, world: &dyn SimulatedWorld) -> Self {
        let truth = policy.learner().and_then(|_| world.truth());
        let truth = truth.and_then(|values| Parameters::new(policy.shape(), values.to_vec()).ok());
        Self { truth, outside: 0, room: 0.0, due: 0 }
    }

    #[inline]
    fn follow(&mut self, policy: &dyn Policy, world: &dyn SimulatedWorld, noise: f64) {
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

    fn rounds_outside(&self) -> Option<u64> {
        self.truth.as_ref().map(|_| self.outside)
    }
}
