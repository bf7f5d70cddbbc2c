//! The sums of a log in stretches of time, each divided into a part that proposes and a part that confirms (mathematics §14).
//!
//! A third of the rows, chosen by a hash of the row's number in its file (never of its content), builds the candidates for a change; the
//! other two thirds judge them. The stretches tell a trend in time from the effect of an option. There are at most 64, fewer of large sums, so
//! that the size does not grow with the log: when they are full, neighbours are put together.

use rarely_core::{ArmSums, OutcomeEnds};
use serde::{Deserialize, Serialize};

use crate::moments::Moments;
use crate::planned_radius::arm_sums;

/// The most stretches, …
const MOST: usize = 64;
/// … and the fewest that are allowed, however large their sums.
const FEWEST: usize = 8;
/// Numbers that all stretches may have together, as long as there are more than the fewest.
const MOST_NUMBERS: usize = 1 << 17;
/// Rows of the first stretches.
const FIRST_ROWS: u64 = 64;

/// The stretches of a log.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Stretches {
    /// In the order of the rows.
    all: Vec<Stretch>,
    /// Rows after which a stretch is full.
    full_at: u64,
    /// The stretch of the row before.
    #[serde(skip)]
    current: Option<usize>,
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
    pub(crate) fn merge(&mut self, other: &Self) {
        // Of one log: the same features.
        let _ = self.moments.merge(&other.moments);
        self.outcomes.merge(&other.outcomes);
    }

    /// What least squares needs.
    pub(crate) fn arm_sums(&self) -> ArmSums {
        ArmSums { rarer_outcomes: self.outcomes.rarer(), ..arm_sums(&self.moments) }
    }
}

/// Whether a row belongs to the part that proposes: one row in three, by a hash of `unit`, the number of the row in its file or of its
/// cluster.
#[inline]
pub(crate) fn proposes(unit: u64) -> bool {
    crate::people_sample::mix(unit ^ 0x5bd1_e995_9d1c_3f6b).is_multiple_of(3)
}

impl Stretches {
    /// The sums to which a row belongs: those of its part, all options. `position` is the number of rows before it, if it is not the next one.
    #[inline]
    pub(crate) fn of_row(
        &mut self,
        position: Option<u64>,
        proposing: bool,
        empty: impl Fn() -> Vec<PartSums>,
    ) -> &mut [PartSums] {
        let at = position.unwrap_or_else(|| self.next_position());
        let full = self.full_at.max(1);
        if self.full_at == 0 || self.current != usize::try_from(at / full).ok() {
            self.move_to(at, &empty);
        }
        let stretch = self.current.and_then(|current| self.all.get_mut(current)).expect("it was moved to");
        stretch.rows += 1;
        if proposing { &mut stretch.proposing } else { &mut stretch.confirming }
    }

    /// After the last row, where rows come one after the other.
    #[inline]
    fn next_position(&self) -> u64 {
        let full_ones = self.all.len().saturating_sub(1) as u64;
        // A stretch that came from another log may not be full; its rest is left out.
        full_ones * self.full_at + self.all.last().map_or(0, |last| last.rows.min(self.full_at))
    }

    #[cold]
    fn move_to(&mut self, position: u64, empty: &impl Fn() -> Vec<PartSums>) {
        if self.full_at == 0 {
            self.full_at = FIRST_ROWS;
        }
        if let Some(last) = self.current.and_then(|current| self.all.get_mut(current)) {
            last.proposing.iter_mut().chain(&mut last.confirming).for_each(|part| part.moments.settle());
        }
        let index = |full_at: u64| usize::try_from(position / full_at).unwrap_or(usize::MAX);
        let start = || Stretch { rows: 0, proposing: empty(), confirming: empty() };
        if self.all.is_empty() {
            self.all.push(start());
        }
        while index(self.full_at) >= self.most() {
            self.halve();
        }
        let at = index(self.full_at);
        while self.all.len() <= at {
            self.all.push(start());
        }
        self.current = Some(at);
    }

    fn most(&self) -> usize {
        let numbers = self.all.first().map_or(1, |first| {
            let width = |part: &PartSums| part.moments.dimension() + part.moments.squares().len();
            first.proposing.iter().map(width).map(|width| 2 * width * width).sum()
        });
        (MOST_NUMBERS / numbers.max(1)).clamp(FEWEST, MOST)
    }

    /// Puts neighbours together.
    fn halve(&mut self) {
        let mut together: Vec<Stretch> = Vec::with_capacity(MOST);
        for (at, stretch) in std::mem::take(&mut self.all).into_iter().enumerate() {
            match together.last_mut() {
                Some(last) if at % 2 == 1 => last.merge(&stretch),
                _ => together.push(stretch),
            }
        }
        self.all = together;
        self.full_at *= 2;
        self.current = None;
    }

    /// Adds other rows of the same log, each at its own position.
    pub(crate) fn join(&mut self, mut other: Self) {
        if self.full_at == 0 {
            *self = other;
            return;
        }
        while other.full_at > 0 && self.full_at < other.full_at {
            self.halve();
        }
        while other.full_at > 0 && other.full_at < self.full_at {
            other.halve();
        }
        for (at, stretch) in other.all.into_iter().enumerate() {
            match self.all.get_mut(at) {
                Some(mine) => mine.merge(&stretch),
                None => self.all.push(stretch),
            }
        }
    }

    /// Adds the stretches of a log that came later.
    pub(crate) fn append(&mut self, later: &Self) {
        self.current = None;
        self.all.extend(later.all.iter().cloned());
        self.full_at = self.full_at.max(later.full_at);
        while self.all.len() > self.most() {
            self.halve();
        }
    }

    /// In the order of the rows.
    pub(crate) fn all(&self) -> &[Stretch] {
        &self.all
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
        let sound = |part: &PartSums| {
            part.moments.is_sound()
                && (part.moments.dimension(), part.moments.squares()) == (like.dimension(), like.squares())
                && part.outcomes.count() == part.moments.rows()
        };
        self.all.len() <= MOST
            && self.all.iter().all(|stretch| {
                let parts = [&stretch.proposing, &stretch.confirming];
                let rows: u64 = parts.iter().flat_map(|part| part.iter()).map(|part| part.moments.rows()).sum();
                rows == stretch.rows && parts.iter().all(|part| part.len() == options && part.iter().all(sound))
            })
    }
}

impl PartialEq for Stretches {
    fn eq(&self, other: &Self) -> bool {
        (&self.all, self.full_at) == (&other.all, other.full_at)
    }
}

impl Stretch {
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    fn merge(&mut self, other: &Self) {
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
