//! Marks of a log in time order, for sharp sets (mathematics §12).
//!
//! A mark is where a set starts afresh: it remembers the sums by then. Of rows that are not divided they are copied when the rows reach the
//! planned round. Of rows in stretches, marks are edges between stretches. Which edge a mark is must not change when a log grows and
//! stretches are put together, or each place would have to share the mark's error probability: so a mark is, of the edges from its planned
//! round up to twice it, the one that stays longest. It counts once the log is past these rounds.

use rarely_core::{Arm, Shape, Statistics, planned_mark};
use rarely_policy::PolicyDocument;
use serde::{Deserialize, Serialize};

use crate::moments::Moments;
use crate::stretch_sums::Stretches;
use crate::tally::{Tally, regression};
use crate::tally_error::TallyError;

/// The sums of rows that are not divided, at planned rounds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct TimeMarks {
    /// Each option's sums at mark 1, 2, …
    taken: Vec<Vec<Moments>>,
    /// Rows before the next one.
    rows: u64,
    /// Rows at which the next mark is taken; 0 if that is not yet known.
    #[serde(skip)]
    due: u64,
}

impl TimeMarks {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many were taken.
    pub(crate) fn count(&self) -> usize {
        self.taken.len()
    }

    /// Another row follows, at a position that is not below those before; `sums` are of the rows before it.
    #[inline]
    pub(crate) fn follow(&mut self, position: Option<u64>, sums: &[Moments]) {
        let position = position.unwrap_or(self.rows);
        if position >= self.due {
            self.take(position, sums);
        }
        self.rows = position + 1;
    }

    #[cold]
    fn take(&mut self, position: u64, sums: &[Moments]) {
        loop {
            self.due = planned(sums, self.taken.len() + 1);
            if position < self.due {
                return;
            }
            let mut sums = sums.to_vec();
            sums.iter_mut().for_each(Moments::settle);
            self.taken.push(sums);
        }
    }

    /// Corrects the outcome of a row that was added when so many marks had been taken.
    pub(crate) fn correct(&mut self, marks: usize, arm: Arm, context: &[f64], rewards: (f64, f64)) {
        for sums in self.taken.iter_mut().skip(marks) {
            sums[arm.index()].correct(context, rewards.0, rewards.1);
        }
    }

    /// A log that came later has been added, whose own marks are not kept.
    pub(crate) fn append(&mut self, later: &Self) {
        if self.rows == 0 {
            self.clone_from(later);
        } else {
            self.rows += later.rows;
        }
    }

    /// Adds the marks of other rows of the same reading; `sums` and `more` are all rows of either.
    pub(crate) fn join(&mut self, other: &Self, sums: &[Moments], more: &[Moments]) {
        let count = self.count().max(other.count());
        self.taken.resize(count, sums.to_vec());
        let theirs = other.taken.iter().map(Vec::as_slice).chain(std::iter::repeat(more));
        for (mine, theirs) in self.taken.iter_mut().zip(theirs) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                // Of one reading: the same features.
                let _ = mine.merge(theirs);
            }
        }
        self.rows = self.rows.max(other.rows);
        self.due = 0;
    }

    /// Whether every part is sound and like these sums. Check this first on a state that was read from a file.
    pub(crate) fn is_sound(&self, like: &[Moments]) -> bool {
        let alike = |(mine, like): (&Moments, &Moments)| {
            mine.is_sound() && (mine.dimension(), mine.squares()) == (like.dimension(), like.squares())
        };
        self.taken.iter().all(|sums| sums.len() == like.len() && sums.iter().zip(like).all(alike))
    }
}

impl PartialEq for TimeMarks {
    fn eq(&self, other: &Self) -> bool {
        (&self.taken, self.rows) == (&other.taken, other.rows)
    }
}

fn planned(sums: &[Moments], number: usize) -> u64 {
    let shape = Shape::new(sums.len(), sums[0].dimension()).expect("a document's shape");
    planned_mark(shape, u32::try_from(number).unwrap_or(u32::MAX))
}

/// The regression of every option from its sums, with the marks of the log; none but the start if the rows are in no order of time.
///
/// # Errors
/// [`TallyError::Sums`] if the sums are too large for the penalty.
pub(crate) fn marked_regression(
    document: &PolicyDocument,
    tally: &Tally,
    totals: &[Moments],
) -> Result<Statistics, TallyError> {
    Ok(regression(document, totals)?.marked_at(&marks(document, tally)?)?)
}

fn marks(document: &PolicyDocument, tally: &Tally) -> Result<Vec<(u32, Statistics)>, TallyError> {
    if !document.rows_are_in_time() {
        return Ok(Vec::new());
    }
    let sums = match (tally.time_marks().is_empty(), tally.stretches().is_empty()) {
        (false, true) => (1..).zip(tally.time_marks().taken.clone()).collect(),
        (true, false) => of_stretches(document.shape(), tally.stretches()),
        // Rows from before rows were divided have no place among the others.
        _ => Vec::new(),
    };
    let scale = tally.weight_scale();
    let mut found: Vec<(u32, Statistics)> = Vec::new();
    for (number, mut sums) in sums {
        for sums in &mut sums {
            sums.scale(scale);
        }
        let statistics = regression(document, &sums)?;
        // Marks that became due together are one.
        if found.last().map_or(0, |(_, last)| last.rounds()) < statistics.rounds() {
            found.push((number, statistics));
        }
    }
    Ok(found)
}

/// Each option's sums at the edges that are marks, with the mark's number.
fn of_stretches(shape: Shape, stretches: &Stretches) -> Vec<(u32, Vec<Moments>)> {
    let edges = edges(shape, stretches);
    let mut found = Vec::new();
    let mut sums: Vec<Moments> = Vec::new();
    for (stretch, at) in stretches.all().iter().zip(1_usize..) {
        if found.len() == edges.len() {
            break;
        }
        if sums.is_empty() {
            sums = stretch.both().collect();
        } else {
            for (sum, more) in sums.iter_mut().zip(stretch.both()) {
                // Of one log: the same features.
                let _ = sum.merge(&more);
            }
        }
        if let Some((number, _)) = edges.iter().find(|(_, edge)| *edge == at) {
            found.push((*number, sums.clone()));
        }
    }
    found
}

/// The marks, each with the number of stretches before it.
fn edges(shape: Shape, stretches: &Stretches) -> Vec<(u32, usize)> {
    let mut rows = 0;
    let mut ends: Vec<(usize, u64)> = Vec::new();
    for (stretch, at) in stretches.all().iter().zip(1..) {
        rows += stretch.rows();
        ends.push((at, rows));
    }
    let mut found = Vec::new();
    for number in 1.. {
        let planned = planned_mark(shape, number);
        if rows < planned.saturating_mul(2) {
            break;
        }
        let within = ends.iter().filter(|(_, rows)| (planned..2 * planned).contains(rows));
        // Neighbours are put together in pairs from the beginning of time on: the edge after most twos stays longest.
        let lasting = within.max_by_key(|(at, _)| stretches.place_of(*at).trailing_zeros());
        found.extend(lasting.map(|(at, _)| (number, *at)));
    }
    found
}
