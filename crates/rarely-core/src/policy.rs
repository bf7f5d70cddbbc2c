//! The `Policy` trait: deciding does not learn, and learning does not decide.

pub(crate) mod batched;
pub(crate) mod bootstrap;
pub(crate) mod conservative;
pub(crate) mod constant_width;
pub(crate) mod epsilon_greedy;
pub(crate) mod indexed;
pub(crate) mod local_threshold;
pub(crate) mod logistic_thompson;
pub(crate) mod optimistic;
pub(crate) mod random;
pub(crate) mod rs_glincb;
pub(crate) mod shared;
pub(crate) mod square_cb;
pub(crate) mod switching;
pub(crate) mod thompson;

pub use conservative::Baseline;

use std::borrow::Cow;
use std::fmt;

use crate::algorithm::Algorithm;
use crate::arm::{Parameters, Shape};
use crate::arm_set::ArmChange;
use crate::change::{Change, Evidence};
use crate::confidence::{Confidence, ConfidenceSet, Sets, UnknownNoise};
use crate::context::{Context, Contexts};
use crate::decision::Decision;
use crate::error::{ArmsError, DecideError, MergeError, ObserveError};
use crate::explore::Stuck;
use crate::noise_bound::{NoiseBound, Variance};
use crate::population::Population;
use crate::region::Region;
use crate::rng::Rng;
use crate::settings::Settings;
use crate::sharp::SharpSet;
use crate::snapshot::Snapshot;
use crate::statistics::{Statistics, check_outcome};
use crate::symmetric::dot;

/// A policy that decides and learns.
///
/// The laws every implementation obeys are in `conformance` (a feature): deciding is pure; the same seed gives the same run;
/// replaying a log rebuilds the state bit for bit.
pub trait Policy: Send + Sync + fmt::Debug {
    /// Which algorithm it is.
    fn algorithm(&self) -> Algorithm;

    /// How many arms and context variables it has.
    fn shape(&self) -> Shape;

    /// Outcomes observed.
    fn rounds(&self) -> u64;

    /// Chooses an arm. It takes `&self` because deciding does not learn: a server can decide from a shared state.
    ///
    /// # Errors
    /// [`DecideError`] if the context does not fit.
    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError>;

    /// [`Policy::decide`] among the arms that are allowed at this context, with a flag for each arm. The propensity is that of this choice.
    ///
    /// # Errors
    /// [`DecideError::Mask`] if no arm is allowed or the flags do not fit, [`DecideError::Masked`] if the algorithm always decides among all.
    fn decide_among(&self, _context: Context<'_>, _allowed: &[bool], _rng: &mut Rng) -> Result<Decision, DecideError> {
        Err(DecideError::Masked { algorithm: self.algorithm().name() })
    }

    /// Learns from one outcome, without randomness: replaying the log rebuilds the state bit for bit. Does not allocate unless
    /// the policy switches.
    ///
    /// # Errors
    /// [`ObserveError`] names the problem; the policy is unchanged.
    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError>;

    /// [`Policy::decide`] for a block of contexts, with the same answers in the same order.
    ///
    /// # Errors
    /// [`DecideError`] if the contexts do not fit or `decisions` is not as long as the block.
    fn decide_many(
        &self,
        contexts: Contexts<'_>,
        rng: &mut Rng,
        decisions: &mut [Decision],
    ) -> Result<(), DecideError> {
        check_room(contexts, self.shape(), decisions)?;
        for (context, decision) in contexts.iter().zip(decisions) {
            *decision = self.decide(context, rng)?;
        }
        Ok(())
    }

    /// [`Policy::observe`] for a block of outcomes. Returns the changes, each with its row.
    ///
    /// # Errors
    /// [`ObserveError::BatchLength`], or the first bad row as [`ObserveError::Row`]; nothing is learned in that case.
    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        observe_in_turn(self, contexts, decisions, rewards)
    }

    /// [`Policy::observe_many`] for outcomes that count as often as their weights say: above 0, one for each row. Only algorithms whose
    /// decisions rest on no confidence set learn them: the sets are for outcomes that count once.
    ///
    /// # Errors
    /// [`ObserveError::Weights`] if the algorithm learns none; otherwise as [`Policy::observe_many`].
    fn observe_weighted(
        &mut self,
        _contexts: Contexts<'_>,
        _decisions: &[Decision],
        _rewards: &[f64],
        _weights: &[f64],
    ) -> Result<(), ObserveError> {
        Err(ObserveError::Weights { algorithm: self.algorithm().name() })
    }

    /// Learns a block of outcomes without testing the rule in force; call [`Policy::reconsider`] afterwards. A review of a log does
    /// this: it is several times as fast as a test after every row. For policies that hold no rule it is [`Policy::observe_many`].
    ///
    /// # Errors
    /// As [`Policy::observe_many`].
    fn learn_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<(), ObserveError> {
        self.observe_many(contexts, decisions, rewards).map(drop)
    }

    /// Tests the rule in force with everything learned so far, and replaces it if that is justified. Policies that hold no rule do
    /// nothing.
    fn reconsider(&mut self) -> Change {
        Change::Kept
    }

    /// Adds, removes or restores an arm; what was learned stays. Only algorithms that choose afresh at every context can do it: a rule, its
    /// boundaries and its sharp sets are about a fixed set of arms.
    ///
    /// # Errors
    /// [`ArmsError::Fixed`] if the algorithm's arms cannot change; the policy is unchanged after any error.
    fn change_arms(&mut self, _change: &ArmChange) -> Result<(), ArmsError> {
        Err(ArmsError::Fixed { algorithm: self.algorithm().name() })
    }

    /// Which arms may be played: a flag for each, or `None` if none is [removed](ArmChange::Remove).
    fn available(&self) -> Option<&[bool]> {
        None
    }

    /// The linear policy in force, if it holds one.
    fn deployed(&self) -> Option<&Parameters> {
        None
    }

    /// What it has learned, if it learns by linear regressions in which every outcome counts once: only then there are confidence sets.
    fn learner(&self) -> Option<&Learner> {
        None
    }

    /// `θ̂` of every arm, if it learns. Of a logistic regression these are log-odds.
    fn estimates(&self) -> Option<Parameters> {
        Some(self.learner()?.statistics().estimates())
    }

    /// Changes of policy so far.
    fn changes(&self) -> u64 {
        0
    }

    /// Renewals of the randomisation so far: counted apart from changes of the rule.
    fn renewals(&self) -> u64 {
        0
    }

    /// Decisions made so far, as far as the policy knows: those it was [told of](Policy::set_decisions), and at least one for each
    /// outcome.
    fn decisions(&self) -> u64 {
        self.rounds()
    }

    /// Sets the number of decisions made. A pilot counts decisions, and a policy that only decides does not know that it did. Where
    /// outcomes come at once nothing need be set.
    fn set_decisions(&mut self, _made: u64) {}

    /// The sample on which changes are judged, if it holds a policy.
    fn population(&self) -> Option<&Population> {
        None
    }

    /// Arms that the data have not ruled out but that are hardly ever played. Only policies that hold a rule report them.
    fn stuck(&self) -> Vec<Stuck> {
        Vec::new()
    }

    /// The whole state as plain data.
    fn snapshot(&self) -> Snapshot;
}

/// Statistics, and the assumptions under which they give a confidence set.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Learner {
    confidence: Confidence,
    statistics: Statistics,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    unknown_noise: Option<NoiseBound>,
}

impl Learner {
    pub(crate) fn new(confidence: Confidence, statistics: Statistics) -> Self {
        Self { confidence, statistics, unknown_noise: None }
    }

    /// What a policy of these settings knows before the first outcome.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self::new(settings.confidence(), settings.nothing_learned())
    }

    /// The same without the declared noise.
    pub(crate) fn with_unknown_noise(self, unknown: Option<UnknownNoise>) -> Self {
        Self { unknown_noise: unknown.map(NoiseBound::from), ..self }
    }

    /// The assumptions. Where the [noise is unknown](Learner::unknown_noise) the declared one is not used.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// What is not known of the noise; `None` if it is declared.
    pub fn unknown_noise(&self) -> Option<UnknownNoise> {
        self.unknown_noise.clone().map(UnknownNoise::from)
    }

    /// `σ` of each arm, or a bound on it where it is not declared; `None` while nothing is known.
    pub fn noise(&self) -> Vec<Option<f64>> {
        let variance = self.variance();
        (0..self.statistics.shape().arms()).map(|arm| variance.of_arm(arm).map(f64::sqrt)).collect()
    }

    /// `σ²`, as sets and the randomisation take it.
    pub(crate) fn variance(&self) -> Variance<'_> {
        match &self.unknown_noise {
            None => Variance::Declared(self.confidence.variance()),
            Some(bound) => Variance::Bounded(bound.variances(&self.confidence, &self.statistics)),
        }
    }

    /// The declared `σ`; 1 where it is unknown and each arm has a [weight](Variance::weight) instead.
    #[inline]
    pub(crate) fn noise_scale(&self) -> f64 {
        if self.unknown_noise.is_some() { 1.0 } else { self.confidence.noise.get() }
    }

    /// Computes a bound on unknown noise anew if that is needed, so that it is at hand.
    pub(crate) fn follow_noise(&mut self) {
        if let Some(bound) = &mut self.unknown_noise {
            bound.follow(&self.confidence, &self.statistics);
        }
    }

    /// The sums.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The parameters that the data have not ruled out.
    #[inline]
    pub fn set(&self) -> ConfidenceSet<'_> {
        match &self.unknown_noise {
            None => self.confidence.set(&self.statistics),
            Some(bound) => bound.stated(&self.confidence, &self.statistics).set(&self.statistics),
        }
    }

    /// The parameters that the data have not ruled out, by the sets that are in use.
    pub fn region(&self) -> Region<'_> {
        match self.confidence.sets {
            Sets::Sharp => Region::Pairs(Cow::Owned(self.sharp())),
            Sets::Joint | Sets::PerArm => Region::Ellipsoid(self.set()),
        }
    }

    /// The parameters that the data have not ruled out, pair by pair and mark by mark. O(marks·k·d³).
    pub fn sharp(&self) -> SharpSet {
        SharpSet::new(&self.confidence, &self.statistics, self.variance())
    }

    /// Whether parameters are in the [sharp](Learner::sharp) set, which is not built for it. O(marks·k·d²).
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn sharp_contains(&self, parameters: &Parameters) -> bool {
        SharpSet::would_contain(&self.confidence, &self.statistics, self.variance(), parameters)
    }

    /// Adds another log's statistics.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.unknown_noise.is_some() || other.unknown_noise.is_some() {
            return Err(MergeError::UnknownNoise);
        }
        if self.confidence != other.confidence {
            return Err(MergeError::Settings {
                what: "noise, norm bounds, error probabilities, penalties or confidence sets",
            });
        }
        self.statistics.merge(&other.statistics)
    }

    /// [`Learner::learn_block`] with weights.
    pub(crate) fn learn_weighted(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
        weights: &[f64],
    ) -> Result<(), ObserveError> {
        check_weights(contexts, self.statistics.shape(), decisions, rewards, weights)?;
        let mut learned = self.statistics.clone();
        let rows = contexts.iter().zip(decisions).zip(rewards.iter().zip(weights)).enumerate();
        for (row, ((context, decision), (&reward, &weight))) in rows {
            let step = learned.observe_weighted(context, decision.arm, reward, weight);
            let _ = step.map_err(|source| source.in_row(row))?;
        }
        self.statistics = learned;
        Ok(())
    }

    /// It, if every outcome counts once.
    pub(crate) fn counting_all_once(&self) -> Option<&Self> {
        self.statistics.counts_all_once().then_some(self)
    }

    /// Learns a whole block, or nothing if a row is wrong.
    pub(crate) fn learn_block(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<(), ObserveError> {
        check_batch(contexts, self.statistics.shape(), decisions, rewards, Some(self))?;
        self.statistics.observe_block(contexts, decisions, rewards);
        Ok(())
    }

    #[inline]
    pub(crate) fn statistics_mut(&mut self) -> &mut Statistics {
        &mut self.statistics
    }
}

/// Checks a block, then learns it row by row.
pub(crate) fn observe_in_turn(
    policy: &mut (impl Policy + ?Sized),
    contexts: Contexts<'_>,
    decisions: &[Decision],
    rewards: &[f64],
) -> Result<Vec<(usize, Evidence)>, ObserveError> {
    check_batch(contexts, policy.shape(), decisions, rewards, policy.learner())?;
    let mut changes = Vec::new();
    for (row, ((context, decision), &reward)) in contexts.iter().zip(decisions).zip(rewards).enumerate() {
        let change = policy.observe(context, decision, reward);
        let change = change.map_err(|source| source.in_row(row))?;
        if let Change::Switched(evidence) = change {
            changes.push((row, *evidence));
        }
    }
    Ok(changes)
}

/// [`observe_in_turn`] for policies that know only row by row whether they can learn: all of a block, or nothing.
pub(crate) fn observe_all_or_none<P: Policy + Clone>(
    policy: &mut P,
    contexts: Contexts<'_>,
    decisions: &[Decision],
    rewards: &[f64],
) -> Result<Vec<(usize, Evidence)>, ObserveError> {
    let mut learned = policy.clone();
    let changes = observe_in_turn(&mut learned, contexts, decisions, rewards)?;
    *policy = learned;
    Ok(changes)
}

/// The checks of a block with weights that need no statistics.
pub(crate) fn check_weights(
    contexts: Contexts<'_>,
    shape: Shape,
    decisions: &[Decision],
    rewards: &[f64],
    weights: &[f64],
) -> Result<(), ObserveError> {
    check_batch(contexts, shape, decisions, rewards, None)?;
    if weights.len() == rewards.len() {
        Ok(())
    } else {
        Err(ObserveError::WeightCount { rewards: rewards.len(), weights: weights.len() })
    }
}

/// How many arms a mask allows.
pub(crate) fn check_mask(shape: Shape, allowed: &[bool]) -> Result<usize, DecideError> {
    let count = allowed.iter().filter(|&&allowed| allowed).count();
    if allowed.len() == shape.arms() && count > 0 {
        Ok(count)
    } else {
        Err(DecideError::Mask { found: allowed.len(), allowed: count, arms: shape.arms() })
    }
}

fn check_room(contexts: Contexts<'_>, shape: Shape, decisions: &[Decision]) -> Result<(), DecideError> {
    contexts.check_dimension(shape.dimension())?;
    if contexts.len() == decisions.len() {
        Ok(())
    } else {
        Err(DecideError::Room { contexts: contexts.len(), room: decisions.len() })
    }
}

fn check_batch(
    contexts: Contexts<'_>,
    shape: Shape,
    decisions: &[Decision],
    rewards: &[f64],
    learner: Option<&Learner>,
) -> Result<(), ObserveError> {
    contexts.check_dimension(shape.dimension())?;
    if contexts.len() != decisions.len() || contexts.len() != rewards.len() {
        return Err(ObserveError::BatchLength {
            contexts: contexts.len(),
            decisions: decisions.len(),
            rewards: rewards.len(),
        });
    }
    for (row, (decision, &reward)) in decisions.iter().zip(rewards).enumerate() {
        check_outcome(shape, decision.arm, reward).map_err(|source| source.in_row(row))?;
    }
    if let Some(learner) = learner {
        let squares = contexts.iter().map(|context| dot(context.values(), context.values()));
        let rows = decisions.iter().map(|decision| decision.arm.index()).zip(squares);
        learner.statistics().check_block(rows).map_err(|(row, source)| source.in_row(row))?;
    }
    Ok(())
}
