//! All arms' regressions: a log as sums, which merge by addition.

mod forgetting;
mod scratch;
mod varying;

pub use forgetting::{Forgetting, MAX_WEIGHT};

use std::fmt;

use self::forgetting::Memory;
pub(crate) use self::scratch::Scratch;

use sha2::{Digest as _, Sha256};

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Parameters, Shape, is_sound};
use crate::arm_set::Availability;
use crate::backlog::Backlog;
use crate::context::{Context, Contexts};
use crate::decision::Decision;
use crate::error::{MAX_INFORMATION_RATIO, MAX_REWARD, MergeError, ObserveError};
use crate::marks::Marks;
use crate::number::Penalty;
use crate::ridge::{MAX_ROUNDS, Ridge, Step};
use crate::symmetric;

/// The statistics of every arm.
///
/// They are sums: two logs' statistics [merge](Statistics::merge) by addition, and up to rounding the order of observations does
/// not matter.
///
/// ```
/// use rarely_core::{Arm, Context, Parameters, Shape, Statistics};
/// let shape = Shape::new(2, 1).unwrap();
/// let mut statistics = Statistics::new(0.5, &Parameters::zeros(shape));
/// statistics.observe(Context::new(&[1.0]).unwrap(), Arm::new(1), 3.0).unwrap();
/// assert_eq!(statistics.arm(1).estimate(), [2.0]); // 3 / (0.5 + 1)
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statistics {
    shape: Shape,
    ridges: Vec<Ridge>,
    rounds: u64,
    direction: Scratch,
    /// Kept only for [sharp sets](crate::SharpSet).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    marks: Option<Box<Marks>>,
    /// Kept only where outcomes have weights or are forgotten.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    memory: Option<Box<Memory>>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Availability::is_all"))]
    available: Availability,
}

impl Statistics {
    /// No observations: penalty `λ` and prior mean `θ₀`.
    ///
    /// # Panics
    /// If the penalty is not in the range of [`Penalty`].
    pub fn new(penalty: f64, prior_mean: &Parameters) -> Self {
        assert!(Penalty::new(penalty).is_ok(), "the penalty {penalty} is out of range: without it V has no inverse");
        let shape = prior_mean.shape();
        Self {
            shape,
            ridges: prior_mean.iter().map(|mean| Ridge::new(penalty, mean)).collect(),
            rounds: 0,
            direction: Scratch(vec![0.0; shape.dimension()]),
            marks: None,
            memory: None,
            available: Availability::default(),
        }
    }

    /// Remembers the sums at a few rounds from now on, for [sharp sets](crate::SharpSet). What was learned before has no time order
    /// and gets no mark.
    #[must_use]
    pub fn marked(mut self) -> Self {
        let mut marks = Marks::new(self.shape, &self.nothing_observed());
        marks.skip_to(self.shape, self.rounds);
        self.marks = Some(Box::new(marks));
        self
    }

    /// Remembers what a log that is kept as sums was at some of its rounds: the statistics at each mark, in time order, with the mark's
    /// number. Mark `j` belongs at a round from its [planned](crate::planned_mark) one on that does not depend on outcomes.
    ///
    /// # Errors
    /// [`MergeError`] if a mark was not built alike.
    ///
    /// # Panics
    /// If rounds or numbers do not rise, or a mark is not of an earlier round.
    pub fn marked_at(mut self, earlier: &[(u32, Self)]) -> Result<Self, MergeError> {
        let mut last = (0, 0);
        for (number, mark) in earlier {
            self.check_alike(mark)?;
            assert!(last.0 < *number && last.1 < mark.rounds && mark.rounds <= self.rounds, "marks rise with time");
            last = (*number, mark.rounds);
        }
        let taken = earlier.iter().map(|(number, mark)| (*number, mark.rounds, mark.ridges.as_slice()));
        self.marks = Some(Box::new(Marks::at(self.shape, &self.nothing_observed(), taken, self.rounds)));
        Ok(self)
    }

    /// [`Statistics::marked`], with the errors of predicting each outcome from those before it: from them follows a bound on noise that
    /// is not declared. Blocks are then learned row by row. What is kept already stays.
    #[must_use]
    pub fn marked_and_predicting(self) -> Self {
        let mut statistics = if self.marks.is_some() { self } else { self.marked() };
        let shape = statistics.shape;
        if let Some(marks) = statistics.marks.as_mut().filter(|marks| marks.errors().is_none()) {
            marks.predict(shape);
        }
        statistics
    }

    /// The marks, if they are kept.
    pub(crate) fn marks(&self) -> Option<&Marks> {
        self.marks.as_deref()
    }

    /// The regressions before the first outcome.
    pub(crate) fn nothing_observed(&self) -> Vec<Ridge> {
        self.ridges.iter().map(Ridge::before_the_first).collect()
    }

    /// Learns one outcome in O(d²), without allocating.
    ///
    /// # Errors
    /// [`ObserveError`] names the problem; the statistics are unchanged.
    #[inline]
    pub fn observe(&mut self, context: Context<'_>, arm: Arm, reward: f64) -> Result<Step, ObserveError> {
        if self.forgets() {
            return self.observe_weighted(context, arm, reward, 1.0);
        }
        let context = context.fitting(self.shape.dimension())?;
        check_outcome(self.shape, arm, reward)?;
        let arm = arm.index();
        let ridge = &mut self.ridges[arm];
        check_conditioning(arm, ridge.squares() + symmetric::dot(context, context), ridge.penalty())?;
        let step = ridge.update(arm, context, reward, &mut self.direction.0);
        self.count_round(Some((arm, step.residual)));
        Ok(step)
    }

    /// Whether an arm could learn a context whose squared length, times its weight, is `squares`.
    pub(crate) fn check_room_for(&self, arm: Arm, squares: f64) -> Result<(), ObserveError> {
        let ridge = &self.ridges[arm.index()];
        check_conditioning(arm.index(), ridge.squares() + squares, ridge.penalty())
    }

    /// Whether a whole block could be learned, row by row; the first row that could not.
    pub(crate) fn check_block(&self, rows: impl Iterator<Item = (usize, f64)>) -> Result<(), (usize, ObserveError)> {
        let mut squares: Vec<f64> = self.ridges.iter().map(Ridge::squares).collect();
        for (row, (arm, more)) in rows.enumerate() {
            squares[arm] += more;
            check_conditioning(arm, squares[arm], self.ridges[arm].penalty()).map_err(|error| (row, error))?;
        }
        Ok(())
    }

    /// Learns a block that was [checked](Self::check_block): the bits of [`Statistics::observe`] for each row in turn.
    pub(crate) fn observe_block(&mut self, contexts: Contexts<'_>, decisions: &[Decision], rewards: &[f64]) {
        if self.forgets() {
            for ((context, decision), &reward) in contexts.iter().zip(decisions).zip(rewards) {
                self.observe(context, decision.arm, reward).expect("the block was checked");
            }
            return;
        }
        let mut backlog = Backlog::new(self.shape.arms(), contexts, decisions, rewards);
        self.add_rows(&mut backlog, rewards.len());
        self.follow_rows(&mut backlog);
    }

    /// Adds the rows of a block before `until` to the sums. What is derived from them has to be [followed](Self::follow_rows) or
    /// [refreshed](Self::refresh) before it is used.
    pub(crate) fn add_rows(&mut self, backlog: &mut Backlog<'_>, until: usize) {
        while backlog.added() < until {
            let from = backlog.added();
            // A mark falls between two stretches, and remembers what is derived.
            let until_mark = self.marks().map_or(u64::MAX, |marks| marks.due() - self.rounds);
            let most = usize::try_from(until_mark).unwrap_or(usize::MAX);
            let to = until.min(from.saturating_add(most));
            if self.predicts() {
                let (arm, context, reward) = backlog.next();
                let step = self.ridges[arm].update(arm, context, reward, &mut self.direction.0);
                self.count_round(Some((arm, step.residual)));
                continue;
            }
            backlog.add(&mut self.ridges, to, &mut self.direction.0);
            if to - from == most {
                self.follow_rows(backlog);
            }
            self.rounds += (to - from - 1) as u64;
            self.count_round(None);
        }
    }

    /// Brings what is derived up to the rows that were added.
    pub(crate) fn follow_rows(&mut self, backlog: &mut Backlog<'_>) {
        backlog.follow(&mut self.ridges, &mut self.direction.0);
    }

    /// Counts a round, remembers its error of prediction where errors are kept, and the sums where a mark is due.
    #[inline]
    fn count_round(&mut self, predicted: Option<(usize, f64)>) {
        self.rounds += 1;
        if let Some(marks) = &mut self.marks {
            if let Some((arm, residual)) = predicted {
                marks.predicted(self.shape, arm, residual);
            }
            if self.rounds >= marks.due() {
                marks.remember(self.shape, self.rounds, &self.ridges);
            }
        }
    }

    fn predicts(&self) -> bool {
        self.marks().is_some_and(|marks| marks.errors().is_some())
    }

    /// Adds another log's statistics. Nothing is known about the order of the two in time: marks are forgotten, so that a sharp set is
    /// that of mark 0 and holds at one look only. [`Statistics::append`] keeps them.
    ///
    /// # Errors
    /// [`MergeError`] if the two were not built alike; nothing is changed in that case.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_alike(other)?;
        if self.forgets() || other.forgets() {
            return self.merge_forgetting(other);
        }
        self.check_merge(other)?;
        self.add(other);
        if let Some(marks) = &mut self.marks {
            marks.forget();
        }
        Ok(())
    }

    /// Adds the statistics of a log that came wholly after this one. A mark falls on the first end of a block at or after its planned
    /// round: the end of this log, a mark of the later one, or its end.
    ///
    /// # Errors
    /// [`MergeError`] if the two were not built alike; nothing is changed in that case.
    pub fn append(&mut self, later: &Self) -> Result<(), MergeError> {
        self.check_merge(later)?;
        if let Some(mut marks) = self.marks.take() {
            for mark in later.marks().into_iter().flat_map(Marks::iter) {
                if self.rounds + mark.round >= marks.due() {
                    let mut edge = self.clone();
                    for (ridge, sums) in edge.ridges.iter_mut().zip(&mark.arms) {
                        let squares = symmetric::trace(&sums.information, self.shape.dimension());
                        let scratch = &mut edge.direction.0;
                        ridge.add_sums(sums.count, squares, &sums.information, &sums.moment, scratch);
                    }
                    marks.remember(self.shape, self.rounds + mark.round, &edge.ridges);
                }
            }
            self.add(later);
            marks.follow(self.shape, later.marks(), self.rounds, &self.ridges);
            self.marks = Some(marks);
        } else {
            self.add(later);
        }
        Ok(())
    }

    fn check_alike(&self, other: &Self) -> Result<(), MergeError> {
        if self.shape != other.shape {
            return Err(MergeError::Shape {
                arms: self.shape.arms(),
                dimension: self.shape.dimension(),
                other_arms: other.shape.arms(),
                other_dimension: other.shape.dimension(),
            });
        }
        if self.is_built_like(other) { Ok(()) } else { Err(MergeError::Prior) }
    }

    fn check_merge(&self, other: &Self) -> Result<(), MergeError> {
        self.check_alike(other)?;
        if self.forgets() || other.forgets() {
            return Err(MergeError::Forgetting);
        }
        for (arm, (mine, theirs)) in self.ridges.iter().zip(&other.ridges).enumerate() {
            let ratio = mine.information_ratio() + theirs.information_ratio();
            if ratio > MAX_INFORMATION_RATIO {
                return Err(MergeError::IllConditioned { arm, ratio });
            }
        }
        Ok(())
    }

    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.ridges.iter_mut().zip(&other.ridges) {
            mine.merge(theirs, &mut self.direction.0);
        }
        self.rounds += other.rounds;
        if other.memory.is_some() {
            self.memory.get_or_insert_default();
        }
    }

    /// Whether penalties and prior means are the same.
    pub(crate) fn is_built_like(&self, other: &Self) -> bool {
        self.ridges.iter().zip(&other.ridges).all(|(mine, theirs)| mine.same_prior(theirs))
    }

    /// Adds sums of one arm that were computed elsewhere: the number of observations, `Σssᵀ` (lower triangle by rows) and `Σys`.
    /// One call costs O(d³), where observing one by one costs O(d²) each.
    ///
    /// # Errors
    /// [`MergeError`] if they do not fit, are not finite, or are too large for the penalty; nothing is changed in that case.
    pub fn add_sums(&mut self, arm: Arm, count: u64, information: &[f64], moment: &[f64]) -> Result<(), MergeError> {
        let dimension = self.shape.dimension();
        let fits = information.len() == symmetric::packed_length(dimension) && moment.len() == dimension;
        let finite = information.iter().chain(moment).all(|value| is_sound(*value));
        let squares = if fits { symmetric::trace(information, dimension) } else { f64::NAN };
        if arm.index() >= self.shape.arms() || !finite || !(squares >= 0.0) || self.rounds + count > MAX_ROUNDS {
            return Err(MergeError::Sums { arm: arm.index() });
        }
        let ridge = &mut self.ridges[arm.index()];
        let ratio = ridge.information_ratio() + squares / ridge.penalty();
        if ratio > MAX_INFORMATION_RATIO {
            return Err(MergeError::IllConditioned { arm: arm.index(), ratio });
        }
        ridge.add_sums(count, squares, information, moment, &mut self.direction.0);
        self.rounds += count;
        Ok(())
    }

    /// Recomputes everything derived from the sums. This also happens automatically, on a schedule.
    pub fn refresh(&mut self) {
        for ridge in &mut self.ridges {
            ridge.refresh(&mut self.direction.0);
        }
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Observations of all arms.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// One arm's regression.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn arm(&self, arm: usize) -> &Ridge {
        &self.ridges[arm]
    }

    /// The regressions in turn.
    pub fn arms(&self) -> &[Ridge] {
        &self.ridges
    }

    /// `θ̂`, all arms.
    pub fn estimates(&self) -> Parameters {
        let values = self.ridges.iter().flat_map(|ridge| ridge.estimate().iter().copied()).collect();
        Parameters::from_computed(self.shape, values)
    }

    /// `Σ_a ln det V_a`.
    pub fn log_det(&self) -> f64 {
        self.ridges.iter().map(Ridge::log_det).sum()
    }

    /// `Σ_a ln det V_a − k·d·ln λ`.
    #[inline]
    pub fn log_growth(&self) -> f64 {
        self.ridges.iter().map(Ridge::log_growth).sum()
    }

    /// SHA-256 over the sums (not over what is derived from them): the same observations in the same order give the same digest.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        let mut write = |number: u64| hash.update(number.to_le_bytes());
        write(self.shape.arms() as u64);
        write(self.shape.dimension() as u64);
        for ridge in &self.ridges {
            write(ridge.count());
            for value in ridge.information().chain(ridge.moment()) {
                write(value.to_bits());
            }
        }
        Digest(hash.finalize().into())
    }

    pub(crate) fn is_sound(&self) -> bool {
        let dimension = self.shape.dimension();
        self.ridges.len() == self.shape.arms()
            && self.direction.0.len() == dimension
            && self.ridges.iter().all(|ridge| ridge.is_sound(dimension))
            && self.rounds <= MAX_ROUNDS
            && self.ridges.iter().map(Ridge::count).sum::<u64>() == self.rounds
            && self.ridges.iter().all(|ridge| ridge.penalty() == self.ridges[0].penalty())
            && self.marks().is_none_or(|marks| marks.is_sound(self.shape, self.rounds))
            && self.memory.as_ref().is_none_or(|memory| memory.is_sound(self.shape.arms(), dimension))
            && self.available.is_sound(self.shape.arms())
    }
}

/// The checks of an outcome that need no statistics.
#[inline]
pub(crate) fn check_outcome(shape: Shape, arm: Arm, reward: f64) -> Result<(), ObserveError> {
    if arm.index() >= shape.arms() {
        return Err(ObserveError::UnknownArm { arm: arm.index(), arms: shape.arms() });
    }
    if !(reward.abs() <= MAX_REWARD) {
        return Err(ObserveError::Reward { reward });
    }
    Ok(())
}

/// [`check_outcome`], for an algorithm that learns outcomes from 0 to 1.
pub(crate) fn check_share(shape: Shape, arm: Arm, reward: f64, algorithm: Algorithm) -> Result<(), ObserveError> {
    check_outcome(shape, arm, reward)?;
    if (0.0..=1.0).contains(&reward) {
        Ok(())
    } else {
        Err(ObserveError::NoShare { reward, algorithm: algorithm.name() })
    }
}

/// Whether an arm with `tr Σssᵀ = squares` still resolves its penalty.
pub(crate) fn check_conditioning(arm: usize, squares: f64, penalty: f64) -> Result<(), ObserveError> {
    let ratio = squares / penalty;
    if ratio > MAX_INFORMATION_RATIO { Err(ObserveError::IllConditioned { arm, ratio }) } else { Ok(()) }
}

/// A SHA-256 digest, of [`Statistics`] or of anything else. It prints as 64 hexadecimal digits, or as fewer: `{:.16}`.
///
/// ```
/// let digest = rarely_core::Digest([171; 32]);
/// assert_eq!(format!("{digest:.4}"), "abab");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.take(f.precision().unwrap_or(64)).try_for_each(|digit| write!(f, "{digit:x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
