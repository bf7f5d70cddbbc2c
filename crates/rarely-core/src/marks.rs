//! Marks: the sums of every arm, remembered at a few rounds (mathematics §12).
//!
//! A set that starts at a mark need not pay for what was learned before it. Marks are round 0 and the rounds `4kd·4^i`: log₄ of the
//! rounds in all, each a copy of the sums.

use crate::arm::{Shape, is_sound};
use crate::prediction_errors::PredictionErrors;
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
    /// The squared errors of predicting each outcome from those before it, if they are kept.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    errors: Option<PredictionErrors>,
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

    fn of(number: u32, round: u64, ridges: &[Ridge]) -> Self {
        let arm = |ridge: &Ridge| ArmMark {
            count: ridge.count(),
            information: ridge.information().collect(),
            moment: ridge.moment().collect(),
            mean: ridge.estimate().to_vec(),
            log_growth: ridge.log_growth(),
        };
        Self { number, round, arms: ridges.iter().map(arm).collect() }
    }
}

impl Marks {
    /// The mark at the start, from regressions that have observed nothing.
    pub(crate) fn new(shape: Shape, ridges: &[Ridge]) -> Self {
        debug_assert!(ridges.iter().all(|ridge| ridge.count() == 0), "mark 0 is the start");
        Self { taken: vec![MarkedSums::of(0, 0, ridges)], number: 1, due: planned_mark(shape, 1), errors: None }
    }

    /// The start, and the marks of a log that is kept as sums: the statistics at each, in time order, with its number.
    pub(crate) fn at<'a>(
        shape: Shape,
        nothing: &[Ridge],
        earlier: impl Iterator<Item = (u32, u64, &'a [Ridge])>,
        rounds: u64,
    ) -> Self {
        let mut marks = Self::new(shape, nothing);
        for (number, round, ridges) in earlier {
            marks.taken.push(MarkedSums::of(number, round, ridges));
            marks.number = number + 1;
        }
        marks.due = planned_mark(shape, marks.number);
        marks.skip_to(shape, rounds);
        marks
    }

    /// Keeps errors of prediction from now on.
    pub(crate) fn predict(&mut self, shape: Shape) {
        self.errors = Some(PredictionErrors::new(shape));
    }

    /// The errors of prediction, if they are kept.
    pub(crate) fn errors(&self) -> Option<&PredictionErrors> {
        self.errors.as_ref()
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
    pub(crate) fn predicted(&mut self, shape: Shape, arm: usize, residual: f64) {
        if let Some(errors) = &mut self.errors {
            errors.add(shape, arm, residual);
        }
    }

    /// Leaves out the marks that were due by some round.
    pub(crate) fn skip_to(&mut self, shape: Shape, rounds: u64) {
        while self.due <= rounds {
            self.number += 1;
            self.due = planned_mark(shape, self.number);
        }
    }

    /// Remembers the sums at a round at which a mark is due. Marks that became due together are one.
    #[cold]
    pub(crate) fn remember(&mut self, shape: Shape, rounds: u64, ridges: &[Ridge]) {
        self.taken.push(MarkedSums::of(self.number, rounds, ridges));
        self.skip_to(shape, rounds);
    }

    /// Ends the appending of a later log, whose end is an end of a block too.
    pub(crate) fn follow(&mut self, shape: Shape, later: Option<&Self>, rounds: u64, ridges: &[Ridge]) {
        self.errors = match (self.errors.take(), later.and_then(Self::errors)) {
            (Some(mine), Some(more)) => Some(mine.followed_by(shape, more)),
            _ => None,
        };
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
        self.errors = None;
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
                && mark.arms.iter().all(sound_arm)
        };
        let rising = self.taken.windows(2).all(|pair| pair[0].round < pair[1].round && pair[0].number < pair[1].number);
        self.taken.first().is_some_and(|start| start.number == 0 && start.round == 0)
            && rising
            && self.taken.iter().all(sound)
            && self.errors.as_ref().is_none_or(|errors| errors.is_sound(shape, rounds))
    }
}

/// The planned round of mark `j ≥ 1` of [sharp sets](crate::SharpSet): `4kd·4^(j−1)`.
pub fn planned_mark(shape: Shape, number: u32) -> u64 {
    (shape.parameters() as u64).saturating_mul(4_u64.saturating_pow(number))
}
