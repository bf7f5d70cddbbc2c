//! Bounds over the population that make most passes over it unnecessary.
//!
//! A policy is judged on a thousand contexts, and every round changes the estimates at each of them a little. A pass over them in
//! every round would cost more than everything else. Two bounds avoid it, both from one tracked distance ([`Track`]):
//!
//! **Exclusions.** Let `φ` be the estimate at the last pass, and `D = ‖θ̂−φ‖_V` now. For a context `s`, the
//! advantage of arm `j` over arm `i` is at most `sᵀ(φ_j−φ_i) + D·w`, with `w² = ‖s‖²_{V_i⁻¹} + ‖s‖²_{V_j⁻¹}`; `j` excludes `i` if it
//! is more than `r·w`. Since `w` has shrunk by at most a factor of `√(det V/det V then)`, no arm is excluded at a context whose
//! `sᵀ(φ_j−φ_i)/w` at the last pass is at most `(r−D)·√(det V then/det V)`.
//!
//! **Prospects.** The lower end of a change's gain is the least gain over the confidence set. Parameters in the set under which no
//! policy gains more than the minimum on the population are a *witness*: while they stay in the set no change can be certain.

use crate::arm::{FEW_ARMS, is_sound};
use crate::block::{self, Best, Lanes, WIDTH};
use crate::confidence::ConfidenceSet;
use crate::error::MAX_ARMS;
use crate::population::{Population, RECENT_CONTEXTS};
use crate::rule::Rule;
use crate::statistics::Statistics;
use crate::symmetric::dot;
use crate::track::Track;

/// Candidate levels, as shares of the radius. The first with few enough contexts above it is used.
const LEVELS: [f64; 5] = [0.5, 0.75, 0.875, 0.9375, 0.96875];
/// The part of the allowed contexts that may be above a level when it is chosen; the rest is for new contexts.
const FILLED: f64 = 0.7;
/// A relative difference of two scores that is only rounding.
const ROUNDING: f64 = 1e-12;

/// The contexts at which the policy plays an excluded arm, or may soon.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Exclusions {
    /// The arm that the policy in force plays at each context.
    played: Vec<usize>,
    /// `φ`: the estimates at the last pass.
    seen: Track,
    /// `ln det V` of each arm at the last pass.
    growths: Vec<f64>,
    /// For each context the largest `sᵀ(φ_j−φ_i)/w`, `i` the arm played; 0 if no arm is better.
    advantages: Vec<f64>,
    /// At contexts with an advantage above this the arm played may be excluded …
    level: f64,
    /// … and there are this many.
    above: usize,
}

impl Exclusions {
    pub(crate) fn new(population: &Population, statistics: &Statistics, rule: &Rule) -> Self {
        let (room, shape) = (room(population), statistics.shape());
        let mut exclusions = Self {
            played: Vec::with_capacity(room),
            seen: Track::unknown(shape.arms(), shape.dimension()),
            growths: vec![0.0; shape.arms()],
            advantages: Vec::with_capacity(room),
            level: 0.0,
            above: 0,
        };
        exclusions.replaced(rule, population);
        exclusions
    }

    /// The tracked distances.
    pub(crate) fn track(&mut self) -> &mut Track {
        &mut self.seen
    }

    /// Records a new context in this row.
    pub(crate) fn record(&mut self, row: usize, context: &[f64], set: &ConfidenceSet<'_>, rule: &Rule) {
        if row == self.played.len() {
            self.played.push(0);
            self.advantages.push(0.0);
        }
        let arm = rule.best(context);
        self.above -= usize::from(self.advantages[row] > self.level);
        self.played[row] = arm;
        self.advantages[row] = self.advantage(context, arm, set);
        self.above += usize::from(self.advantages[row] > self.level);
    }

    fn advantage(&self, context: &[f64], arm: usize, set: &ConfidenceSet<'_>) -> f64 {
        let score = |arm: usize| dot(context, self.seen.point(arm));
        let width_squared = |arm: usize| (arm, set.statistics().arm(arm).width_squared(context));
        let own = score(arm);
        (0..self.growths.len()).fold(0.0, |largest: f64, other| {
            let gap = score(other) - own;
            if gap > 0.0 {
                largest.max(ratio(gap, set.spread([width_squared(other), width_squared(arm)])))
            } else {
                largest
            }
        })
    }

    /// Adapts to a new rule in force.
    pub(crate) fn replaced(&mut self, rule: &Rule, population: &Population) {
        self.played.clear();
        rule.for_each_best(population.values(), |arm| self.played.push(arm));
        self.advantages.clear();
        self.advantages.resize(self.played.len(), 0.0);
        self.above = 0;
        self.seen.forget();
    }

    /// The share of the population at which the policy in force plays an excluded arm, if it is more than `limit`. `columns` is
    /// scratch for a block.
    pub(crate) fn share_beyond(
        &mut self,
        limit: f64,
        set: &ConfidenceSet<'_>,
        population: &Population,
        columns: &mut [Lanes],
    ) -> Option<f64> {
        if self.share(self.above) <= limit && self.level < self.room(set) {
            return None;
        }
        let excluded = if self.growths.len() <= FEW_ARMS {
            self.look::<FEW_ARMS>(set, population, columns)
        } else {
            self.look::<MAX_ARMS>(set, population, columns)
        };
        self.choose_level(limit, set);
        Some(self.share(excluded)).filter(|&share| share > limit)
    }

    fn share(&self, people: usize) -> f64 {
        people as f64 / self.played.len().max(1) as f64
    }

    /// The advantage up to which no arm played is excluded now, minus a margin for rounding.
    fn room(&self, set: &ConfidenceSet<'_>) -> f64 {
        let arms = set.statistics().arms().iter().zip(&self.growths);
        let growth = arms.fold(0.0, |growth: f64, (ridge, then)| growth.max(ridge.log_growth() - then));
        // 1 − x/2 ≤ exp(−x/2)
        let shrunk = (1.0 - 0.5 * growth).max(0.0);
        set.room_beyond(self.seen.distances_squared()).max(0.0) * shrunk * (1.0 - 1e-9)
    }

    /// Passes over the population. Returns the number of contexts at which an excluded arm is played.
    fn look<const MOST: usize>(
        &mut self,
        set: &ConfidenceSet<'_>,
        population: &Population,
        columns: &mut [Lanes],
    ) -> usize {
        let ridges = set.statistics().arms();
        for (arm, ridge) in ridges.iter().enumerate() {
            self.seen.place(arm, ridge.estimate());
            self.growths[arm] = ridge.log_growth();
        }
        let mut estimates = [[0.0; WIDTH]; MOST];
        let mut widths_squared = [[0.0; WIDTH]; MOST];
        let (mut excluded, mut row) = (0, 0);
        block::for_each(population.values(), columns, |columns, count| {
            let mut best = [f64::NEG_INFINITY; WIDTH];
            for (ridge, estimates) in ridges.iter().zip(&mut estimates) {
                *estimates = ridge.predict_block(columns);
                for lane in 0..WIDTH {
                    best[lane] = best[lane].max(estimates[lane]);
                }
            }
            let played = &self.played[row..row + count];
            let advantages = &mut self.advantages[row..row + count];
            advantages.fill(0.0);
            row += count;
            // Widths matter only where some arm is better than the one played.
            if played.iter().enumerate().all(|(lane, &arm)| best[lane] <= estimates[arm][lane]) {
                return;
            }
            for (ridge, widths_squared) in ridges.iter().zip(&mut widths_squared) {
                *widths_squared = ridge.widths_squared_block(columns);
            }
            for (lane, (&arm, advantage)) in played.iter().zip(advantages).enumerate() {
                let mut certain = false;
                for other in 0..ridges.len() {
                    let gap = estimates[other][lane] - estimates[arm][lane];
                    if gap > 0.0 {
                        let widths = [(other, widths_squared[other][lane]), (arm, widths_squared[arm][lane])];
                        certain |= gap > set.half_width(widths);
                        *advantage = advantage.max(ratio(gap, set.spread(widths)));
                    }
                }
                excluded += usize::from(certain);
            }
        });
        excluded
    }

    /// Chooses the level: as low as possible, so that the next pass comes late, but with few contexts above it.
    fn choose_level(&mut self, limit: f64, set: &ConfidenceSet<'_>) {
        let radius = set.room_beyond(self.seen.distances_squared());
        for level in LEVELS {
            self.level = (level * radius).min(f64::MAX);
            self.above = self.advantages.iter().filter(|&&advantage| advantage > self.level).count();
            if self.share(self.above) <= FILLED * limit {
                break;
            }
        }
    }

    pub(crate) fn is_sound(&self, population: &Population, statistics: &Statistics) -> bool {
        let shape = statistics.shape();
        self.played.len() == population.len()
            && self.played.iter().all(|&arm| arm < shape.arms())
            && self.seen.is_sound(shape.arms(), shape.dimension())
            && self.growths.len() == shape.arms()
            && self.advantages.len() == population.len()
            && self.growths.iter().all(|value| is_sound(*value))
            && self.advantages.iter().chain([&self.level]).all(|value| *value >= 0.0)
            && self.above == self.advantages.iter().filter(|&&advantage| advantage > self.level).count()
    }
}

/// A bound on what any policy can gain under some parameters of the confidence set.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Prospects {
    /// The arm that the policy in force plays at each context.
    played: Vec<usize>,
    /// The parameters.
    witness: Track,
    /// The loss of the policy in force under them, at each context.
    losses: Vec<f64>,
    /// Their sum.
    total: f64,
    /// The root of the last conservative update's equation; 0 if there was none.
    pub(crate) root: f64,
}

impl Prospects {
    pub(crate) fn new(population: &Population, statistics: &Statistics, rule: &Rule) -> Self {
        let (room, shape) = (room(population), statistics.shape());
        let mut prospects = Self {
            played: Vec::with_capacity(room),
            witness: Track::unknown(shape.arms(), shape.dimension()),
            losses: Vec::with_capacity(room),
            total: 0.0,
            root: 0.0,
        };
        prospects.replaced(rule, population);
        prospects
    }

    /// The tracked distances.
    pub(crate) fn track(&mut self) -> &mut Track {
        &mut self.witness
    }

    /// The arm that the policy in force plays at each context.
    pub(crate) fn played(&self) -> &[usize] {
        &self.played
    }

    /// Records a new context in this row.
    pub(crate) fn record(&mut self, row: usize, context: &[f64], arms: usize, rule: &Rule) {
        if row == self.played.len() {
            self.played.push(0);
            self.losses.push(0.0);
        }
        let arm = rule.best(context);
        let score = |arm: usize| dot(context, self.witness.point(arm));
        let best = (0..arms).fold(f64::NEG_INFINITY, |best, arm| best.max(score(arm)));
        let loss = loss(best, score(arm));
        self.total += loss - self.losses[row];
        (self.played[row], self.losses[row]) = (arm, loss);
    }

    /// Adapts to a new rule in force.
    pub(crate) fn replaced(&mut self, rule: &Rule, population: &Population) {
        self.played.clear();
        rule.for_each_best(population.values(), |arm| self.played.push(arm));
        self.losses.clear();
        self.losses.resize(self.played.len(), 0.0);
        (self.total, self.root) = (0.0, 0.0);
        self.witness.forget();
    }

    /// Whether it is known that no change is certain to gain more than `minimum`.
    pub(crate) fn are_poor(&self, minimum: f64, set: &ConfidenceSet<'_>) -> bool {
        self.witness.total() <= set.radius() * set.radius() && self.total <= self.affordable(minimum)
    }

    /// The largest allowed sum of losses, minus a margin for rounding.
    fn affordable(&self, minimum: f64) -> f64 {
        minimum * self.losses.len() as f64 * (1.0 - 1e-9)
    }

    /// Makes some parameters, arm by arm, the witness if they are one. `columns` is scratch for a block, `scratch` has length 2d.
    pub(crate) fn consider(
        &mut self,
        point: &[f64],
        minimum: f64,
        set: &ConfidenceSet<'_>,
        population: &Population,
        columns: &mut [Lanes],
        scratch: &mut [f64],
    ) {
        let d = columns.len();
        self.total = 0.0;
        let mut row = 0;
        block::for_each(population.values(), columns, |columns, count| {
            let mut best = Best::default();
            let mut own = [0.0; WIDTH];
            let played = &self.played[row..row + count];
            for (arm, coefficients) in point.chunks_exact(d).enumerate() {
                let scores = block::score(columns, coefficients);
                best.compare(arm, &scores);
                for (lane, &played) in played.iter().enumerate() {
                    if played == arm {
                        own[lane] = scores[lane];
                    }
                }
            }
            for (lane, person) in self.losses[row..row + count].iter_mut().enumerate() {
                *person = loss(best.scores[lane], own[lane]);
                self.total += *person;
            }
            row += count;
        });
        self.witness.forget();
        if self.total <= self.affordable(minimum) {
            for (arm, point) in point.chunks_exact(d).enumerate() {
                self.witness.set(arm, point, arm, set.statistics(), scratch);
            }
        }
    }

    pub(crate) fn is_sound(&self, population: &Population, statistics: &Statistics) -> bool {
        let shape = statistics.shape();
        self.played.len() == population.len()
            && self.played.iter().all(|&arm| arm < shape.arms())
            && self.witness.is_sound(shape.arms(), shape.dimension())
            && self.losses.len() == population.len()
            && self.losses.iter().chain([&self.total, &self.root]).all(|value| is_sound(*value))
    }
}

/// The largest size the population can reach.
fn room(population: &Population) -> usize {
    population.len().max(if population.is_supplied() { 0 } else { RECENT_CONTEXTS })
}

/// A quotient, limited to finite numbers because a snapshot holds only those.
fn ratio(gap: f64, spread: f64) -> f64 {
    (gap / spread).min(f64::MAX)
}

/// The loss of a score against the best one; 0 if the difference is only rounding.
fn loss(best: f64, own: f64) -> f64 {
    let difference = best - own;
    if difference <= ROUNDING * best.abs().max(own.abs()) { 0.0 } else { difference }
}
