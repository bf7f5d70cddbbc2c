//! Marks: the sums of every arm, remembered at a few rounds (mathematics §12).
//!
//! A set that starts at a mark need not pay for what was learned before it. Marks are round 0 and the rounds `4kd·4^i`: log₄ of the
//! rounds in all, each a copy of the sums.

use crate::arm::{Shape, is_sound};
use crate::confidence::UnknownNoise;
use crate::quantile::chi_squared_quantile;
use crate::ridge::Ridge;
use crate::symmetric;

/// The marks of a log in time order, and when the next one is due.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Marks {
    #[cfg_attr(feature = "serde", serde(rename = "marks"))]
    taken: Vec<MarkedSums>,
    /// The number of the next mark …
    number: u32,
    /// … and its planned round. It falls on the first round at or after it that is seen.
    due: u64,
    /// The squared errors of predicting each outcome from those before it, if they are kept …
    prequential: Option<Prequential>,
    /// … and those of each arm; empty if they are not kept.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    arm_errors: Vec<ArmErrors>,
}

/// The errors of predicting one arm's outcomes: now, and when it had `4d·4^i` of them.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ArmErrors {
    now: Prequential,
    marked: Vec<Prequential>,
}

impl ArmErrors {
    /// Adds errors, and remembers them where a mark is due.
    #[inline]
    fn add(&mut self, more: Prequential, dimension: usize) {
        self.now = self.now.plus(more);
        let number = u32::try_from(self.marked.len() + 1).unwrap_or(u32::MAX);
        if self.now.count >= planned_count(dimension, number) {
            self.marked.push(self.now);
        }
    }
}

/// `Σ(y_t − s_tᵀθ̂_{t−1})²`, and of how many outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Prequential {
    pub(crate) squares: f64,
    pub(crate) count: u64,
}

/// What was known at one mark.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MarkedSums {
    /// `j`: 0 for the start.
    pub(crate) number: u32,
    /// Outcomes of all arms by then.
    pub(crate) round: u64,
    pub(crate) arms: Vec<ArmMark>,
    pub(crate) prequential: Option<Prequential>,
}

/// One arm at a mark: its sums, and the estimate and log-determinant that follow from them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ArmMark {
    pub(crate) count: u64,
    /// `Σssᵀ`, packed, without the penalty.
    pub(crate) information: Vec<f64>,
    /// `Σys`.
    pub(crate) moment: Vec<f64>,
    /// `m = Q⁻¹(λθ₀ + Σys)`.
    pub(crate) mean: Vec<f64>,
    /// `ln det Q − d·ln λ`.
    pub(crate) log_growth: f64,
}

impl MarkedSums {
    /// `w_j`: the share of the error probability that this mark may spend. They add up to 1.
    pub(crate) fn weight(&self) -> f64 {
        let j = f64::from(self.number);
        if self.number == 0 { 0.5 } else { 0.5 / (j * (j + 1.0)) }
    }

    fn of(number: u32, round: u64, ridges: &[Ridge], prequential: Option<Prequential>) -> Self {
        let arm = |ridge: &Ridge| ArmMark {
            count: ridge.count(),
            information: ridge.information().collect(),
            moment: ridge.moment().collect(),
            mean: ridge.estimate().to_vec(),
            log_growth: ridge.log_growth(),
        };
        Self { number, round, arms: ridges.iter().map(arm).collect(), prequential }
    }
}

impl Prequential {
    fn plus(self, other: Self) -> Self {
        Self { squares: self.squares + other.squares, count: self.count + other.count }
    }

    /// What was added since, at least by as much as sums of squares round.
    fn since(self, first: Self) -> Self {
        let squares = (self.squares - (1.0 - 1e-12) * first.squares).max(0.0);
        Self { squares, count: self.count - first.count }
    }

    /// `E/χ²⁻¹_n(β_j)`, `β_j = β/(j(j+1))`.
    fn variance_bound(self, number: u32, probability: f64) -> f64 {
        let j = f64::from(number);
        self.squares / chi_squared_quantile(self.count as f64, probability / (j * (j + 1.0)))
    }

    /// The smallest of the bounds from errors at marks, each with its number. From the second mark on, the errors up to the first are left
    /// out: they are those of having learned nothing yet. Which errors a mark counts is fixed beforehand, so that all bounds hold.
    fn least_bound(marks: impl Iterator<Item = (u32, Self)>, probability: f64) -> Option<f64> {
        let mut first = None;
        let bound = |(number, errors): (u32, Self)| {
            let counted = first.map_or(errors, |first| errors.since(first));
            first.get_or_insert(errors);
            (counted.count > 0).then(|| counted.variance_bound(number, probability))
        };
        marks.filter_map(bound).reduce(f64::min)
    }
}

impl Marks {
    /// The mark at the start, from regressions that have observed nothing.
    pub(crate) fn new(shape: Shape, ridges: &[Ridge]) -> Self {
        debug_assert!(ridges.iter().all(|ridge| ridge.count() == 0), "mark 0 is the start");
        let taken = vec![MarkedSums::of(0, 0, ridges, None)];
        Self { taken, number: 1, due: planned(shape, 1), prequential: None, arm_errors: Vec::new() }
    }

    /// Keeps errors of prediction from now on.
    pub(crate) fn predict(&mut self, shape: Shape) {
        self.prequential = Some(Prequential::default());
        self.arm_errors = vec![ArmErrors::default(); shape.arms()];
    }

    pub(crate) fn predicts(&self) -> bool {
        self.prequential.is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &MarkedSums> {
        self.taken.iter()
    }

    /// The planned round of the next mark.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.due
    }

    /// Adds the error of one prediction, if errors are kept.
    #[inline]
    pub(crate) fn predicted(&mut self, dimension: usize, arm: usize, residual: f64) {
        if let (Some(prequential), Some(own)) = (&mut self.prequential, self.arm_errors.get_mut(arm)) {
            let error = Prequential { squares: residual * residual, count: 1 };
            *prequential = prequential.plus(error);
            own.add(error, dimension);
        }
    }

    /// Leaves out the marks that were due by some round.
    pub(crate) fn skip_to(&mut self, shape: Shape, rounds: u64) {
        while self.due <= rounds {
            self.number += 1;
            self.due = planned(shape, self.number);
        }
    }

    /// Remembers the sums at a round at which a mark is due. Marks that became due together are one.
    #[cold]
    pub(crate) fn remember(&mut self, shape: Shape, rounds: u64, ridges: &[Ridge]) {
        self.taken.push(MarkedSums::of(self.number, rounds, ridges, self.prequential));
        self.skip_to(shape, rounds);
    }

    /// The same for the sums at a mark of a later log; `more` are that log's errors of prediction by then.
    pub(crate) fn remember_at(&mut self, shape: Shape, rounds: u64, ridges: &[Ridge], more: Option<Prequential>) {
        let prequential = self.prequential.zip(more).map(|(mine, more)| mine.plus(more));
        self.taken.push(MarkedSums::of(self.number, rounds, ridges, prequential));
        self.skip_to(shape, rounds);
    }

    /// Ends the appending of a later log, whose end is an end of a block too.
    pub(crate) fn follow(&mut self, shape: Shape, later: Option<&Self>, rounds: u64, ridges: &[Ridge]) {
        let more = later.and_then(|later| later.prequential);
        self.prequential = self.prequential.zip(more).map(|(mine, more)| mine.plus(more));
        match later.filter(|later| later.arm_errors.len() == self.arm_errors.len()) {
            Some(later) => {
                for (mine, more) in self.arm_errors.iter_mut().zip(&later.arm_errors) {
                    mine.add(more.now, shape.dimension());
                }
            }
            None => self.arm_errors.clear(),
        }
        if later.is_some_and(|later| !later.is_ordered()) {
            self.due = u64::MAX;
        } else if self.due <= rounds {
            self.remember(shape, rounds, ridges);
        }
    }

    /// Forgets all marks but the start: sums without time order came in. No later mark is made either.
    pub(crate) fn forget(&mut self) {
        self.taken.truncate(1);
        self.due = u64::MAX;
        self.prequential = None;
        self.arm_errors.clear();
    }

    /// `σ²_up = min_{j≥1} E_j/χ²⁻¹_{n_j}(β_j)`, `β_j = β/(j(j+1))`, `E_j` of the outcomes since the first mark for `j ≥ 2`: exceeded by `σ²` with probability at most `β`, if the noise is
    /// Gaussian with one variance. Errors of prediction stochastically dominate the noise, whatever chose the arms. `None` before
    /// the first mark, or where errors are not kept.
    pub(crate) fn variance_bound(&self, probability: f64) -> Option<f64> {
        let errors = |mark: &MarkedSums| mark.prequential.map(|errors| (mark.number, errors));
        Prequential::least_bound(self.taken.iter().skip(1).filter_map(errors), probability)
    }

    /// The same for each arm at its own counts, with `β/k` each, so that variances may differ; `None` for an arm with fewer than `4d`
    /// outcomes, or where errors are not kept.
    pub(crate) fn arm_variance_bounds(&self, arms: usize, probability: f64) -> Vec<Option<f64>> {
        let share = probability / arms as f64;
        let bound = |errors: &ArmErrors| Prequential::least_bound((1..).zip(errors.marked.iter().copied()), share);
        (0..arms).map(|arm| self.arm_errors.get(arm).and_then(bound)).collect()
    }

    /// How many marks have errors of prediction: while there is no further one, bounds on the noise stay.
    pub(crate) fn error_marks(&self, unknown: UnknownNoise) -> usize {
        match unknown {
            UnknownNoise::OfAllArms => self.taken.iter().filter(|mark| mark.prequential.is_some()).count(),
            UnknownNoise::OfEachArm => self.arm_errors.iter().map(|errors| errors.marked.len()).sum(),
        }
    }

    /// Whether outcomes came in time order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.due < u64::MAX
    }

    pub(crate) fn is_sound(&self, shape: Shape, rounds: u64) -> bool {
        let d = shape.dimension();
        let sound_arm = |arm: &ArmMark| {
            let numbers = arm.information.iter().chain(&arm.moment).chain(&arm.mean);
            arm.information.len() == symmetric::packed_length(d)
                && arm.moment.len() == d
                && arm.mean.len() == d
                && numbers.into_iter().all(|value| is_sound(*value))
                && (0.0..=1e9).contains(&arm.log_growth)
        };
        let sound = |mark: &MarkedSums| {
            mark.round <= rounds
                && mark.arms.iter().all(|arm| arm.count <= rounds)
                && mark.arms.len() == shape.arms()
                && mark.arms.iter().map(|arm| arm.count).sum::<u64>() == mark.round
                && sound_errors(mark.prequential, mark.round)
                && mark.arms.iter().all(sound_arm)
        };
        let rising = self.taken.windows(2).all(|pair| pair[0].round < pair[1].round && pair[0].number < pair[1].number);
        self.taken.first().is_some_and(|start| start.number == 0 && start.round == 0)
            && rising
            && self.taken.iter().all(sound)
            && sound_errors(self.prequential, rounds)
            && (self.arm_errors.is_empty() || self.arm_errors.len() == shape.arms())
            && self.arm_errors.iter().all(|errors| {
                errors.marked.iter().chain([&errors.now]).all(|errors| sound_errors(Some(*errors), rounds))
            })
    }
}

fn sound_errors(prequential: Option<Prequential>, round: u64) -> bool {
    prequential.is_none_or(|errors| (0.0..=1e60).contains(&errors.squares) && errors.count <= round)
}

/// The planned round of mark `j ≥ 1`: `4kd·4^(j−1)`.
fn planned(shape: Shape, number: u32) -> u64 {
    planned_count(shape.parameters(), number)
}

/// `4n·4^(j−1)`.
fn planned_count(parameters: usize, number: u32) -> u64 {
    (parameters as u64).saturating_mul(4_u64.saturating_pow(number))
}
