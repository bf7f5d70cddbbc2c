//! Posterior-weighted equipoise: people are randomised where the data leave open which arm is best, and nowhere else (mathematics §15).
//!
//! The *rule* is what a policy is; the *randomisation* around it says who may get another arm, which, and with what probability. It
//! rests on a posterior that is copied from the estimates at each *renewal*: `sᵀθ_a ~ N(sᵀm_a, σ²‖s‖²_{V̄_a⁻¹})`.

use std::fmt;

use crate::arm::{Arm, FEW_ARMS, Shape, count_allowed, is_sound, nth_allowed};
use crate::best_arm::{Normal, best_probabilities, clear_leader};
use crate::decision::{Decision, Reason};
use crate::error::MAX_ARMS;
use crate::explore::Question;
use crate::policy::Learner;
use crate::rng::Rng;
use crate::symmetric::{self, ANY, NOTHING, by_dimension, dot, known};

/// A renewal of the randomisation: from now on it rests on what was known at this round.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Renewal {
    /// Its number: the first renewal is 1.
    pub number: u64,
    /// Outcomes observed when it happened.
    pub round: u64,
    /// By how much `Σ_a ln det V_a` had grown since the last one, per parameter.
    pub growth: f64,
    /// What it had to reach.
    pub limit: f64,
}

impl fmt::Display for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, round, growth, limit } = self;
        write!(
            f,
            "renewal {number} of the randomisation after {round} outcomes: the information grew by {growth:.2} per parameter \
             (required: {limit:.2})"
        )
    }
}

/// Arms whose deviations are computed at once.
const LANES: usize = 4;

/// The posterior that decides who is randomised.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Randomisation {
    renewals: u64,
    /// `Σ_a ln det V̄_a − kd·ln λ` at the last renewal.
    log_growth: f64,
    /// `m_a`, arm by arm.
    means: Vec<f64>,
    /// `V̄_a⁻¹`, packed, arm by arm. Where the noise is not declared they are multiplied with the bound on `σ_a²`, and there are none
    /// while an arm has no bound: every arm is then as likely to be best as any other.
    inverses: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    layout: Layout,
}

/// The inverses, laid out so that the deviations of four arms are computed at once: for each group of four arms and each entry of the
/// matrix, the four numbers; zeros of arms that do not exist. It follows from the inverses, so that two of them need no comparison.
#[derive(Debug, Clone, Default)]
struct Layout(Vec<[f64; LANES]>);

impl PartialEq for Layout {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Randomisation {
    pub(crate) fn new(learner: &Learner) -> Self {
        let (means, inverses, layout) = (Vec::new(), Vec::new(), Layout::default());
        let mut randomisation = Self { renewals: 0, log_growth: 0.0, means, inverses, layout };
        randomisation.copy(learner);
        randomisation
    }

    /// Lays the inverses out again after they have changed.
    pub(crate) fn lay_out(&mut self, shape: Shape) {
        let length = symmetric::packed_length(shape.dimension());
        let groups = &mut self.layout.0;
        groups.resize(shape.arms().div_ceil(LANES) * length, [0.0; LANES]);
        for (arm, inverse) in self.inverses.chunks_exact(length).enumerate() {
            for (group, &value) in groups[arm / LANES * length..].iter_mut().zip(inverse) {
                group[arm % LANES] = value;
            }
        }
    }

    fn copy(&mut self, learner: &Learner) {
        let (statistics, variance) = (learner.statistics(), learner.variance());
        let is_known = (0..statistics.shape().arms()).all(|arm| variance.weight(arm).is_some());
        self.log_growth = statistics.log_growth();
        self.means.clear();
        self.inverses.clear();
        for (arm, ridge) in statistics.arms().iter().enumerate() {
            self.means.extend_from_slice(ridge.estimate());
            if let Some(weight) = variance.weight(arm).filter(|_| is_known) {
                self.inverses.extend(ridge.inverse().iter().map(|entry| weight * entry));
            }
        }
        self.lay_out(statistics.shape());
    }

    /// Renewals so far.
    pub(crate) fn renewals(&self) -> u64 {
        self.renewals
    }

    /// Copies the estimates if the information has grown by `limit` per parameter. Does not allocate.
    pub(crate) fn renew(&mut self, learner: &Learner, limit: f64) -> Option<Renewal> {
        let statistics = learner.statistics();
        let growth = (statistics.log_growth() - self.log_growth) / statistics.shape().parameters() as f64;
        if !(growth >= limit) {
            return None;
        }
        self.copy(learner);
        self.renewals += 1;
        Some(Renewal { number: self.renewals, round: statistics.rounds(), growth, limit })
    }

    /// The decision at a context where the rule plays `rule_arm`: it, with probability `max(p_rule, 1 − cap)`; the others share
    /// the rest in proportion to their probability of being best. Draws one random number unless an arm is clearly best.
    #[inline]
    pub(crate) fn decide(&self, cap: f64, noise: f64, question: &Question<'_>, rng: &mut Rng) -> Decision {
        if self.means.len() <= FEW_ARMS * question.context.len() {
            self.decide_among::<FEW_ARMS>(cap, noise, question, rng)
        } else {
            self.decide_among::<MAX_ARMS>(cap, noise, question, rng)
        }
    }

    #[inline]
    fn decide_among<const MOST: usize>(
        &self,
        cap: f64,
        noise: f64,
        question: &Question<'_>,
        rng: &mut Rng,
    ) -> Decision {
        let Question { context, policy_arm: rule_arm, mask, .. } = *question;
        let d = context.len();
        let arms = self.means.len() / d;
        if self.inverses.is_empty() {
            let chances = [1.0 / count_allowed(mask, arms) as f64; MOST];
            return draw(&scattered::<MOST>(&chances, mask, arms)[..arms], cap, rule_arm, rng);
        }
        let mut normals = [Normal::POINT; MOST];
        for (normal, mean) in normals.iter_mut().zip(self.means.chunks_exact(d)) {
            normal.mean = dot(mean, context);
        }
        let groups = self.layout.0.chunks_exact(symmetric::packed_length(d));
        for (normals, group) in normals[..arms].chunks_mut(LANES).zip(groups) {
            for (normal, square) in normals.iter_mut().zip(four_quadratics(group, context)) {
                normal.deviation = noise * square.max(0.0).sqrt();
            }
        }
        // Only allowed arms compete.
        let count = count_allowed(mask, arms);
        if mask.is_some() {
            for place in 0..count {
                normals[place] = normals[nth_allowed(mask, place)];
            }
        }
        let normals = &normals[..count];
        if clear_leader(normals).map(|place| nth_allowed(mask, place)) == Some(rule_arm) {
            return Decision::certain(rule_arm, Reason::Policy);
        }
        let mut chances = [0.0; MOST];
        best_probabilities::<MOST>(normals, &mut chances[..count]);
        draw(&scattered::<MOST>(&chances, mask, arms)[..arms], cap, rule_arm, rng)
    }

    pub(crate) fn is_sound(&self, shape: Shape, rounds: u64) -> bool {
        self.renewals <= rounds
            && self.means.len() == shape.parameters()
            && [0, shape.arms() * symmetric::packed_length(shape.dimension())].contains(&self.inverses.len())
            && self.means.iter().chain(&self.inverses).all(|value| is_sound(*value))
            && (0.0..=1e9).contains(&self.log_growth)
    }
}

/// Probabilities of the allowed arms, each in the place of its arm; 0 for the others.
#[inline]
fn scattered<const MOST: usize>(chances: &[f64; MOST], mask: Option<&[bool]>, arms: usize) -> [f64; MOST] {
    let Some(mask) = mask else { return *chances };
    let mut all = [0.0; MOST];
    let allowed = (0..arms).filter(|&arm| mask[arm]);
    for (arm, &chance) in allowed.zip(chances) {
        all[arm] = chance;
    }
    all
}

/// `xᵀAx` of four symmetric matrices.
#[inline]
fn four_quadratics(matrices: &[[f64; LANES]], x: &[f64]) -> [f64; LANES] {
    by_dimension!(x.len(), four_quadratics_sized(matrices, x), four_quadratics_sized::<ANY>(matrices, x))
}

fn four_quadratics_sized<const D: usize>(matrices: &[[f64; LANES]], x: &[f64]) -> [f64; LANES] {
    let x = &x[..known::<D>(x.len())];
    let mut totals = [NOTHING; LANES];
    let mut rest = &matrices[..symmetric::packed_length(x.len())];
    for (i, &xi) in x.iter().enumerate() {
        let (row, below) = rest.split_at(i + 1);
        let mut sums = [NOTHING; LANES];
        for (entries, xj) in row.iter().zip(&x[..i]) {
            for lane in 0..LANES {
                sums[lane] += entries[lane] * xj;
            }
        }
        for lane in 0..LANES {
            totals[lane] += xi * (2.0 * sums[lane] + row[i][lane] * xi);
        }
        rest = below;
    }
    totals
}

/// Draws an arm from the probabilities of being best, of which at most `cap` may lead away from the rule.
fn draw(chances: &[f64], cap: f64, rule_arm: usize, rng: &mut Rng) -> Decision {
    let others: f64 = chances.iter().enumerate().filter(|&(arm, _)| arm != rule_arm).map(|(_, chance)| chance).sum();
    let away = others.min(cap);
    if !(away > 0.0) {
        return Decision::certain(rule_arm, Reason::Policy);
    }
    let mut left = rng.uniform();
    if left >= away {
        return Decision { arm: Arm::new(rule_arm), reason: Reason::Policy, propensity: 1.0 - away };
    }
    let mut chosen = (rule_arm, 1.0 - away);
    for (arm, chance) in chances.iter().enumerate().filter(|&(arm, &chance)| arm != rule_arm && chance > 0.0) {
        let propensity = away * chance / others;
        chosen = (arm, propensity);
        if left < propensity {
            break;
        }
        left -= propensity;
    }
    Decision { arm: Arm::new(chosen.0), reason: Reason::Equipoise, propensity: chosen.1 }
}
