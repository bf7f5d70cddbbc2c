//! The sums of a log in stretches of time, each divided into a part that proposes and a part that confirms (mathematics §14).
//!
//! A third of the rows, chosen by a hash of the row's key or number (never of its content), builds the candidates for a change; the other two
//! thirds judge them. The stretches tell a trend in time from the effect of an option. All have the same length, in seconds where rows have times
//! and in rows where they come in their order. There are at most 64, fewer of large sums, so that the size does not grow with the log: where there
//! would be more, neighbours are put together. Which row is in which stretch follows from the rows alone, whatever their order.

use rarely_core::{Arm, ArmSums, OutcomeEnds};
use serde::{Deserialize, Serialize};

use crate::moments::Moments;
use crate::planned_radius::arm_sums;
use crate::tally_row::TallyRow;

/// The most stretches, …
const MOST: usize = 64;
/// … and the fewest that are allowed, however large their sums.
const FEWEST: usize = 8;
/// Numbers that all stretches may have together, as long as there are more than the fewest.
const MOST_NUMBERS: usize = 1 << 17;
/// The length of stretches at first, in rows or in seconds.
pub(crate) const FIRST_LENGTH: u64 = 64;

/// The stretches of a log.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Stretches {
    /// In the order of time.
    all: Vec<Stretch>,
    /// The length of a stretch.
    full_at: u64,
    /// Lengths between the beginning of time and the first stretch.
    #[serde(default, skip_serializing_if = "is_zero")]
    first: i64,
    /// The stretch of the row before, in lengths from the beginning of time.
    #[serde(skip)]
    current: Option<i64>,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(first: &i64) -> bool {
    *first == 0
}

/// The sums of one stretch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stretch {
    rows: u64,
    /// Each option's sums of the rows that propose.
    pub(crate) proposing: Vec<PartSums>,
    /// Each option's sums of the rows that confirm.
    pub(crate) confirming: Vec<PartSums>,
}

/// One option's sums of one part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartSums {
    pub(crate) moments: Moments,
    pub(crate) outcomes: OutcomeEnds,
}

impl PartSums {
    /// No rows yet, of outcomes like those of other sums.
    pub(crate) fn like(moments: &Moments) -> Self {
        Self { moments: moments.emptied(), outcomes: OutcomeEnds::default() }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        // Of one log: the same features.
        let _ = self.moments.merge(&other.moments);
        self.outcomes.merge(&other.outcomes);
    }

    /// What least squares needs. Outcomes are rare or not among those of the other part as well.
    pub(crate) fn arm_sums(&self, others: &Self) -> ArmSums {
        ArmSums { rarer_outcomes: self.outcomes.rarer_among(&others.outcomes), ..arm_sums(&self.moments) }
    }
}

impl Stretches {
    /// The sums to which a row belongs: those of its part, all options. `moment` is its time in seconds, or the number of rows before it; without
    /// one it is the next row.
    #[inline]
    pub(crate) fn of_row(
        &mut self,
        moment: Option<i64>,
        proposing: bool,
        empty: impl Fn() -> Vec<PartSums>,
    ) -> &mut [PartSums] {
        let at = moment.unwrap_or_else(|| self.next_position());
        if self.current.is_none() || self.current != Some(self.bucket(at)) {
            self.move_to(at, &empty);
        }
        let current = self.current.and_then(|current| usize::try_from(current - self.first).ok());
        let stretch = current.and_then(|current| self.all.get_mut(current)).expect("it was moved to");
        stretch.rows += 1;
        if proposing { &mut stretch.proposing } else { &mut stretch.confirming }
    }

    /// After the last row, where rows come one after the other.
    #[inline]
    fn next_position(&self) -> i64 {
        let full_ones = self.all.len().saturating_sub(1) as u64;
        // A stretch that came from another log may not be full; its rest is left out.
        let rows = full_ones * self.full_at + self.all.last().map_or(0, |last| last.rows.min(self.full_at));
        i64::try_from(rows).unwrap_or(i64::MAX)
    }

    #[inline]
    fn bucket(&self, moment: i64) -> i64 {
        moment.div_euclid(self.full_at.max(1).cast_signed())
    }

    #[cold]
    fn move_to(&mut self, moment: i64, empty: &impl Fn() -> Vec<PartSums>) {
        if self.full_at == 0 {
            self.full_at = FIRST_LENGTH;
        }
        let start = || Stretch { rows: 0, proposing: empty(), confirming: empty() };
        if self.all.is_empty() {
            self.all.push(start());
            self.first = self.bucket(moment);
        }
        while self.span_with(self.bucket(moment), self.bucket(moment)) > self.most() {
            self.halve();
        }
        self.reach(self.bucket(moment), start);
        self.current = Some(self.bucket(moment));
    }

    /// The place of the last stretch.
    fn last(&self) -> i64 {
        self.first + (self.all.len() as u64).cast_signed() - 1
    }

    /// Stretches from the first to the last, if there are some at these places too.
    fn span_with(&self, first: i64, last: i64) -> usize {
        let span = self.last().max(last).saturating_sub(self.first.min(first));
        usize::try_from(span).map_or(usize::MAX, |span| span.saturating_add(1))
    }

    /// Adds empty stretches up to a place.
    fn reach(&mut self, bucket: i64, start: impl Fn() -> Stretch) {
        let before = usize::try_from(self.first - bucket).unwrap_or(0);
        self.all.splice(0..0, std::iter::repeat_with(&start).take(before));
        self.first = self.first.min(bucket);
        let length = usize::try_from(bucket - self.first).map_or(0, |last| last + 1);
        while self.all.len() < length {
            self.all.push(start());
        }
    }

    fn most(&self) -> usize {
        self.all.first().map_or(MOST, |first| Self::most_of(first.proposing.iter().map(|part| &part.moments)))
    }

    /// The most stretches that there may be, for sums like these of every option.
    pub(crate) fn most_of<'a>(options: impl IntoIterator<Item = &'a Moments>) -> usize {
        let width = |moments: &Moments| moments.dimension() + moments.squares().len();
        let numbers: usize = options.into_iter().map(width).map(|width| 2 * width * width).sum();
        (MOST_NUMBERS / numbers.max(1)).clamp(FEWEST, MOST)
    }

    /// Adds one option's sums of one part, of rows between two moments. `empty` are those of no row.
    pub(crate) fn add_part(
        &mut self,
        (first, last): (i64, i64),
        proposing: bool,
        option: usize,
        part: PartSums,
        empty: Vec<PartSums>,
    ) {
        let mut stretch = Stretch { rows: part.moments.rows(), proposing: empty.clone(), confirming: empty };
        let parts = if proposing { &mut stretch.proposing } else { &mut stretch.confirming };
        parts[option] = part;
        let mut one = Self { all: vec![stretch], full_at: FIRST_LENGTH, first: 0, current: None };
        while one.bucket(first) != one.bucket(last) {
            one.full_at *= 2;
        }
        one.first = one.bucket(first);
        self.join(one);
    }

    /// Puts neighbours together.
    fn halve(&mut self) {
        let mut together: Vec<Stretch> = Vec::with_capacity(MOST);
        for (at, stretch) in (self.first..).zip(std::mem::take(&mut self.all)) {
            match together.last_mut() {
                Some(last) if at.rem_euclid(2) == 1 => last.merge(&stretch),
                _ => together.push(stretch),
            }
        }
        self.all = together;
        self.first = self.first.div_euclid(2);
        self.full_at *= 2;
        self.current = None;
    }

    /// Adds other rows of the same log, or of another whose rows have times: each at its own place.
    pub(crate) fn join(&mut self, mut other: Self) {
        if other.all.is_empty() {
            return;
        }
        if self.all.is_empty() {
            *self = other;
            return;
        }
        self.current = None;
        loop {
            if self.full_at < other.full_at {
                self.halve();
            } else if other.full_at < self.full_at {
                other.halve();
            } else if self.span_with(other.first, other.last()) > self.most() {
                self.halve();
                other.halve();
            } else {
                break;
            }
        }
        let empty = Stretch::like(&self.all[0]);
        self.reach(other.first, || empty.clone());
        self.reach(other.last(), || empty.clone());
        for (at, stretch) in (other.first - self.first..).zip(&other.all) {
            if let Some(mine) = usize::try_from(at).ok().and_then(|at| self.all.get_mut(at)) {
                mine.merge(stretch);
            }
        }
    }

    /// Adds the stretches of a log that came later, of rows in their order.
    pub(crate) fn append(&mut self, later: &Self) {
        self.current = None;
        self.all.extend(later.all.iter().cloned());
        self.full_at = self.full_at.max(later.full_at);
        while self.all.len() > self.most() {
            self.halve();
        }
    }

    /// In the order of time.
    pub(crate) fn all(&self) -> &[Stretch] {
        &self.all
    }

    /// The place of the edge after so many stretches, in lengths from the beginning of time.
    pub(crate) fn place_of(&self, edge: usize) -> i64 {
        self.first + (edge as u64).cast_signed()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Rows in all.
    pub(crate) fn rows(&self) -> u64 {
        self.all.iter().map(|stretch| stretch.rows).sum()
    }

    /// Each option's sums of the rows that propose.
    pub(crate) fn proposing(&self) -> Option<Vec<PartSums>> {
        self.sum(|stretch| &stretch.proposing)
    }

    /// Each option's sums of the rows that confirm.
    pub(crate) fn confirming(&self) -> Option<Vec<PartSums>> {
        self.sum(|stretch| &stretch.confirming)
    }

    fn sum(&self, part: impl Fn(&Stretch) -> &Vec<PartSums>) -> Option<Vec<PartSums>> {
        let mut parts = self.all.iter().map(part);
        let mut total = parts.next()?.clone();
        for part in parts {
            total.iter_mut().zip(part).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        Some(total)
    }

    /// Whether every part is sound and has so many options with these features. Check this first on a state that was read from a file.
    pub(crate) fn is_sound(&self, options: usize, like: &Moments) -> bool {
        let squares = |part: &PartSums| part.moments.squares() == like.squares();
        self.all.len() <= MOST
            && self
                .all
                .iter()
                .all(|stretch| stretch.is_sound(options, like.dimension()) && stretch.parts().all(squares))
    }
}

/// What least squares needs of the rows that confirm, with weights times `scale`.
pub(crate) fn confirming_sums(confirming: Vec<PartSums>, proposing: &[PartSums], scale: f64) -> Vec<ArmSums> {
    let scaled = |(mut part, proposing): (PartSums, &PartSums)| {
        part.moments.scale(scale);
        part.arm_sums(proposing)
    };
    confirming.into_iter().zip(proposing).map(scaled).collect()
}

impl PartialEq for Stretches {
    fn eq(&self, other: &Self) -> bool {
        (&self.all, self.full_at, self.first) == (&other.all, other.full_at, other.first)
    }
}

impl Stretch {
    /// An empty one of the same options.
    fn like(other: &Self) -> Self {
        let parts = |parts: &[PartSums]| parts.iter().map(|part| PartSums::like(&part.moments)).collect();
        Self { rows: 0, proposing: parts(&other.proposing), confirming: parts(&other.confirming) }
    }

    /// No rows yet of these options, for sums that need no squares.
    pub(crate) fn without_squares(like: &[Moments]) -> Self {
        let part = |moments: &Moments| PartSums {
            moments: moments.emptied_without_squares(),
            outcomes: OutcomeEnds::default(),
        };
        let parts: Vec<PartSums> = like.iter().map(part).collect();
        Self { rows: 0, proposing: parts.clone(), confirming: parts }
    }

    /// Adds a row with this outcome.
    pub(crate) fn add(&mut self, row: &TallyRow<'_>, outcome: f64) {
        self.add_to_part(row, outcome, row.proposes());
    }

    /// Adds a row with this outcome to one of the parts.
    pub(crate) fn add_to_part(&mut self, row: &TallyRow<'_>, outcome: f64, proposes: bool) {
        self.rows += 1;
        let parts = if proposes { &mut self.proposing } else { &mut self.confirming };
        let part = &mut parts[row.arm.index()];
        part.moments.add_weighted(row.context, outcome, row.weight);
        part.outcomes.add(outcome);
    }

    /// Corrects the outcome of a row that confirms.
    pub(crate) fn correct(&mut self, context: &[f64], arm: Arm, (old, new): (f64, f64)) {
        self.confirming[arm.index()].moments.correct(context, old, new);
    }

    /// What least squares needs of the rows that confirm, with weights times `scale`.
    pub(crate) fn confirming_sums(&self, scale: f64) -> Vec<ArmSums> {
        confirming_sums(self.confirming.clone(), &self.proposing, scale)
    }

    /// Whether every part is sound and there are so many options and context variables.
    pub(crate) fn is_sound(&self, options: usize, dimension: usize) -> bool {
        let sound = |part: &PartSums| {
            part.moments.is_sound()
                && part.moments.dimension() == dimension
                && part.outcomes.count() == part.moments.rows()
        };
        let parts = [&self.proposing, &self.confirming];
        let rows: u64 = self.parts().map(|part| part.moments.rows()).sum();
        rows == self.rows && parts.iter().all(|part| part.len() == options && part.iter().all(sound))
    }

    /// Rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        for (mine, theirs) in [(&mut self.proposing, &other.proposing), (&mut self.confirming, &other.confirming)] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }

    /// The sums of either part of every option.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &PartSums> {
        self.proposing.iter().chain(&self.confirming)
    }

    /// Each option's sums of both parts.
    pub(crate) fn both(&self) -> impl Iterator<Item = Moments> + '_ {
        self.proposing.iter().zip(&self.confirming).map(|(proposing, confirming)| {
            let mut both = proposing.moments.clone();
            let _ = both.merge(&confirming.moments);
            both
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::RewardGrid;

    #[test]
    fn a_corrected_row_is_as_if_it_had_been_right_from_the_start() {
        let empty = Stretch::without_squares(&vec![Moments::new(2, &[], RewardGrid::of_range(0.0, 1.0)); 2]);
        let (mut corrected, mut right) = (empty.clone(), empty);
        for (number, (wrong, meant)) in (1_u32..).zip([(0.5, 0.5), (1.0, 0.25), (0.0, 0.75)]) {
            let context = [1.0, 0.1 * f64::from(number)];
            let row = TallyRow::new(u64::from(number), &context, Arm::new(1), 0.0);
            corrected.add_to_part(&row, wrong, false);
            corrected.correct(&context, Arm::new(1), (wrong, meant));
            right.add_to_part(&row, meant, false);
        }
        assert!(corrected.both().eq(right.both()));
        assert_eq!((corrected.rows(), right.rows()), (3, 3));
    }
}
