//! A held rule that is judged near its boundaries only: the paper's own outlook [lansdell-2019, §4].
//!
//! Where outcomes are not linear in the context, a regression on everybody says little about the people near a boundary, who are those a
//! change would concern. As in a regression discontinuity design [hahn-2001], every arm has a regression on the people near the boundary,
//! with weights that fall linearly with the distance from it and are 0 beyond the *bandwidth*: the distance within which a share of the
//! latest outcomes lies. When the rounds have grown by 2 % the rule is looked at. It moves towards the local estimates, as far as
//! everybody who would get another arm is within the bandwidth, if that is estimated to gain more than `z` standard deviations.
//!
//! With weights of at most 1, `σ²V⁻¹` is at least the variance of the estimates. The bias of a curve within the bandwidth is not
//! counted: nothing is guaranteed. It does not explore, like the designs it is after.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Parameters, Shape, is_sound};
use crate::change::{Cause, Change, Evidence};
use crate::confidence::Confidence;
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MAX_INFORMATION_RATIO, MergeError, ObserveError};
use crate::number::Share;
use crate::policy::{Policy, check_mask, observe_all_or_none};
use crate::ridge::{MAX_ROUNDS, Ridge};
use crate::rng::Rng;
use crate::rule::{best_among, best_of};
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};
use crate::statistics::{Statistics, check_conditioning, check_outcome};
use crate::symmetric::dot;

/// Outcomes that are kept, the latest ones.
const KEPT: usize = 2000;

/// Outcomes for each parameter before the rule is looked at.
const FIRST_OUTCOMES: usize = 3;

/// How often a step is halved until nobody beyond the bandwidth gets another arm.
const HALVINGS: i32 = 8;

/// A rule, and the latest outcomes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LocalThreshold {
    confidence: Confidence,
    /// The regressions without an outcome.
    start: Statistics,
    bandwidth: Share,
    deviations: f64,
    rule: Parameters,
    kept: KeptOutcomes,
    rounds: u64,
    changes: u64,
    /// The round of the next look.
    due: u64,
}

/// The latest outcomes, in a ring.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct KeptOutcomes {
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    /// The place of the oldest, which the next one takes when all places are taken.
    next: usize,
}

impl KeptOutcomes {
    fn push(&mut self, context: &[f64], arm: Arm, reward: f64) {
        if self.arms.len() < KEPT {
            self.contexts.extend_from_slice(context);
            self.arms.push(arm);
            self.rewards.push(reward);
            return;
        }
        let (at, width) = (self.next, context.len());
        self.contexts[at * width..(at + 1) * width].copy_from_slice(context);
        (self.arms[at], self.rewards[at]) = (arm, reward);
        self.next = (at + 1) % KEPT;
    }

    /// Oldest first.
    fn rows(&self, dimension: usize) -> impl Iterator<Item = (&[f64], Arm, f64)> {
        (0..self.arms.len()).map(move |number| {
            let at = (self.next + number) % self.arms.len();
            (&self.contexts[at * dimension..(at + 1) * dimension], self.arms[at], self.rewards[at])
        })
    }

    fn is_sound(&self, shape: Shape) -> bool {
        let count = self.arms.len();
        count <= KEPT
            && self.rewards.len() == count
            && self.contexts.len() == count * shape.dimension()
            && (self.next == 0 || count == KEPT && self.next < KEPT)
            && self.arms.iter().all(|arm| arm.index() < shape.arms())
            && self.contexts.iter().chain(&self.rewards).all(|value| is_sound(*value))
    }
}

/// The regressions near the boundaries of a rule.
struct LocalFit {
    statistics: Statistics,
    /// The distance of each kept context from the nearest boundary, and that within which outcomes count.
    distances: Vec<f64>,
    bandwidth: f64,
}

impl LocalThreshold {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            confidence: settings.confidence(),
            start: settings.nothing_learned(),
            bandwidth: settings.tuning().bandwidth,
            deviations: settings.deviations(),
            rule: settings.in_force().clone(),
            kept: KeptOutcomes::default(),
            rounds: 0,
            changes: 0,
            due: 1,
        }
    }

    /// `None` while there is nothing to fit, or more than the regressions resolve.
    fn fit(&self) -> Option<LocalFit> {
        let dimension = self.shape().dimension();
        let boundaries = Boundaries::of(&self.rule);
        let distances: Vec<f64> = self.kept.rows(dimension).map(|(context, ..)| boundaries.distance(context)).collect();
        let mut sorted = distances.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let near = (self.bandwidth.get() * sorted.len() as f64).ceil() as usize;
        let bandwidth = *sorted.get(near.max(1) - 1)?;
        let mut statistics = self.start.clone();
        for ((context, arm, reward), distance) in self.kept.rows(dimension).zip(&distances) {
            // A bandwidth of 0 has room for those on the boundary only.
            let weight = if bandwidth > 0.0 { 1.0 - distance / bandwidth } else { f64::from(*distance == 0.0) };
            if weight > 0.0 {
                statistics.add_weighted(arm.index(), (context, reward, weight));
            }
        }
        if statistics.arms().iter().any(|ridge| ridge.information_ratio() > MAX_INFORMATION_RATIO) {
            return None;
        }
        statistics.refresh();
        Some(LocalFit { statistics, distances, bandwidth })
    }

    /// Moves the rule if its people near a boundary certainly enough gain.
    fn look(&mut self) -> Change {
        self.due = self.rounds + (self.rounds / 50).max(1);
        if self.kept.arms.len() < FIRST_OUTCOMES * self.shape().parameters() {
            return Change::Kept;
        }
        let Some(fit) = self.fit() else { return Change::Kept };
        let Some((to, functional)) = self.step(&fit) else { return Change::Kept };
        let parts = || fit.statistics.arms().iter().zip(functional.iter());
        let gain: f64 = parts().map(|(ridge, part)| ridge.predict(part)).sum();
        let variance: f64 = parts().map(|(ridge, part): (&Ridge, _)| ridge.width_squared(part)).sum();
        let deviations = gain / (self.confidence.noise.get() * variance.sqrt());
        if !(gain > 0.0 && deviations > self.deviations) {
            return Change::Kept;
        }
        self.changes += 1;
        let cause = Cause::Likely { gain, deviations, required: self.deviations };
        let from = std::mem::replace(&mut self.rule, to.clone());
        let (round, version) = (self.rounds, self.changes);
        Change::Switched(Box::new(Evidence { round, version, cause, from, to, certificate: None }))
    }

    /// The rule that is nearest to the local estimates among those that change nobody beyond the bandwidth, and the linear functional of
    /// the parameters that it gains on the kept people; `None` if it changes nobody.
    fn step(&self, fit: &LocalFit) -> Option<(Parameters, Parameters)> {
        let (shape, estimates) = (self.shape(), fit.statistics.estimates());
        let length = |parameters: &Parameters| dot(parameters.values(), parameters.values()).sqrt();
        let (own, towards) = (self.rule.centred(), estimates.centred());
        let scale = if length(&own) > 0.0 { length(&towards) / length(&own) } else { 0.0 };
        for halvings in 0..HALVINGS {
            let share = 0.5_f64.powi(halvings);
            let blended = own.values().iter().zip(towards.values());
            let values = blended.map(|(own, towards)| (1.0 - share) * scale * own + share * towards).collect();
            let rule = Parameters::from_computed(shape, values);
            let mut functional = vec![0.0; shape.parameters()];
            let (mut changed, mut too_far) = (0_usize, false);
            for ((context, ..), distance) in self.kept.rows(shape.dimension()).zip(&fit.distances) {
                let (before, after) = (best_of(self.rule.values(), context), best_of(rule.values(), context));
                if before == after {
                    continue;
                }
                changed += 1;
                too_far |= *distance > fit.bandwidth;
                for (arm, sign) in [(before, -1.0), (after, 1.0)] {
                    let part = &mut functional[arm * shape.dimension()..(arm + 1) * shape.dimension()];
                    for (out, value) in part.iter_mut().zip(context) {
                        *out += sign * value;
                    }
                }
            }
            if changed == 0 {
                return None;
            }
            if !too_far {
                let people = self.kept.arms.len() as f64;
                for value in &mut functional {
                    *value /= people;
                }
                return Some((rule, Parameters::from_computed(shape, functional)));
            }
        }
        None
    }

    /// Adds another policy's outcomes, as if they came after. The rule stays until the next look.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.confidence != other.confidence
            || self.bandwidth != other.bandwidth
            || self.deviations != other.deviations
            || self.start != other.start
        {
            return Err(MergeError::Settings { what: "assumptions, bandwidths or deviations" });
        }
        for (context, arm, reward) in other.kept.rows(self.shape().dimension()) {
            self.kept.push(context, arm, reward);
        }
        self.rounds += other.rounds;
        self.due = self.rounds + 1;
        Ok(())
    }

    pub(crate) fn is_sound(&self) -> bool {
        let shape = self.shape();
        self.start.is_sound()
            && self.start.rounds() == 0
            && self.rule.shape() == shape
            && self.kept.is_sound(shape)
            && (0.0..=1e6).contains(&self.deviations)
            && self.kept.arms.len() as u64 <= self.rounds
            && self.rounds <= MAX_ROUNDS
            && self.changes <= self.rounds
    }
}

/// The boundaries between every two arms of a rule.
struct Boundaries<'a> {
    rule: &'a Parameters,
    /// `‖θ_a − θ_b‖`, row by row.
    lengths: Vec<f64>,
}

impl<'a> Boundaries<'a> {
    fn of(rule: &'a Parameters) -> Self {
        let length = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
        };
        let lengths = rule.iter().flat_map(|one| rule.iter().map(move |other| length(one, other))).collect();
        Self { rule, lengths }
    }

    /// The distance of a context from the nearest boundary of its own arm; 0 if another arm has the same parameters.
    fn distance(&self, context: &[f64]) -> f64 {
        let (arms, own) = (self.rule.shape().arms(), best_of(self.rule.values(), context));
        let score = dot(self.rule.arm(own), context);
        let to = |other: usize| {
            let length = self.lengths[own * arms + other];
            if length > 0.0 { ((score - dot(self.rule.arm(other), context)) / length).max(0.0) } else { 0.0 }
        };
        (0..arms).filter(|other| *other != own).map(to).fold(f64::INFINITY, f64::min)
    }
}

impl Policy for LocalThreshold {
    fn algorithm(&self) -> Algorithm {
        Algorithm::LocalThreshold
    }

    fn shape(&self) -> Shape {
        self.start.shape()
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn decide(&self, context: Context<'_>, _: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        Ok(Decision::certain(best_of(self.rule.values(), context), Reason::Policy))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], _: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        check_mask(self.shape(), allowed)?;
        Ok(Decision::certain(best_among(self.rule.values(), context, Some(allowed)), Reason::Policy))
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        let values = context.fitting(self.shape().dimension())?;
        check_outcome(self.shape(), decision.arm, reward)?;
        check_conditioning(decision.arm.index(), dot(values, values), self.confidence.penalty.get())?;
        self.kept.push(values, decision.arm, reward);
        self.rounds += 1;
        Ok(if self.rounds >= self.due { self.look() } else { Change::Kept })
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        observe_all_or_none(self, contexts, decisions, rewards)
    }

    fn reconsider(&mut self) -> Change {
        self.look()
    }

    fn deployed(&self) -> Option<&Parameters> {
        Some(&self.rule)
    }

    /// Those near the boundaries.
    fn estimates(&self) -> Option<Parameters> {
        Some(self.fit().map_or_else(|| self.start.estimates(), |fit| fit.statistics.estimates()))
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::LocalThreshold(Box::new(self.clone())))
    }
}
