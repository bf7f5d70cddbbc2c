//! A block of outcomes that is learned in stretches, with the bits of learning them one by one in a fraction of the time.
//!
//! Everything derived (`V⁻¹`, `θ̂`, `ln det V`) is computed afresh from the sums on a schedule. Up to the last time that this happens
//! only the sums matter, so only they are added to; the outcomes after it are *followed* where somebody looks.

use crate::context::Contexts;
use crate::decision::Decision;
use crate::ridge::Ridge;

/// The outcomes of a block, arm by arm, and how far each arm's regression has come.
#[derive(Debug)]
pub(crate) struct Backlog<'a> {
    contexts: &'a [f64],
    dimension: usize,
    decisions: &'a [Decision],
    rewards: &'a [f64],
    /// Rows of the block that the sums contain.
    added: usize,
    arms: Vec<ArmBacklog>,
}

#[derive(Debug, Default)]
struct ArmBacklog {
    /// The arm's rows, in turn.
    rows: Vec<usize>,
    /// How many of them the sums contain …
    added: usize,
    /// … and how many are in what is derived, once that is computed afresh if it is `stale`.
    followed: usize,
    /// Whether what is derived is older than the settled sums.
    stale: bool,
}

impl<'a> Backlog<'a> {
    pub(crate) fn new(arms: usize, contexts: Contexts<'a>, decisions: &'a [Decision], rewards: &'a [f64]) -> Self {
        let mut backlogs: Vec<ArmBacklog> = (0..arms).map(|_| ArmBacklog::default()).collect();
        for (row, decision) in decisions.iter().enumerate() {
            backlogs[decision.arm.index()].rows.push(row);
        }
        let (contexts, dimension) = (contexts.values(), contexts.dimension());
        Self { contexts, dimension, decisions, rewards, added: 0, arms: backlogs }
    }

    /// Rows that the sums contain.
    pub(crate) fn added(&self) -> usize {
        self.added
    }

    /// The next row that no sums contain: its arm, context and reward, for a caller that learns it at once.
    pub(crate) fn next(&mut self) -> (usize, &'a [f64], f64) {
        let row = self.added;
        self.added += 1;
        let arm = self.decisions[row].arm.index();
        let backlog = &mut self.arms[arm];
        backlog.added += 1;
        backlog.followed = backlog.added;
        (arm, &self.contexts[row * self.dimension..(row + 1) * self.dimension], self.rewards[row])
    }

    /// Adds the rows before `until` to the sums.
    pub(crate) fn add(&mut self, ridges: &mut [Ridge], until: usize, scratch: &mut [f64]) {
        let (contexts, dimension, rewards) = (self.contexts, self.dimension, self.rewards);
        let outcome = |row: usize| (&contexts[row * dimension..(row + 1) * dimension], rewards[row]);
        for (arm, (backlog, ridge)) in self.arms.iter_mut().zip(ridges).enumerate() {
            backlog.add(arm, ridge, until, outcome, scratch);
        }
        self.added = until;
    }

    /// Brings what is derived up to the rows that were added.
    pub(crate) fn follow(&mut self, ridges: &mut [Ridge], scratch: &mut [f64]) {
        let (contexts, dimension, rewards) = (self.contexts, self.dimension, self.rewards);
        let outcome = |row: usize| (&contexts[row * dimension..(row + 1) * dimension], rewards[row]);
        for (backlog, ridge) in self.arms.iter_mut().zip(ridges) {
            backlog.follow(ridge, outcome, scratch);
        }
    }
}

impl ArmBacklog {
    fn add<'a>(
        &mut self,
        arm: usize,
        ridge: &mut Ridge,
        until: usize,
        outcome: impl Fn(usize) -> (&'a [f64], f64) + Copy,
        scratch: &mut [f64],
    ) {
        let end = self.added + self.rows[self.added..].partition_point(|&row| row < until);
        while self.added < end {
            let period = usize::try_from(ridge.until_refresh()).unwrap_or(usize::MAX);
            let next = end.min(self.added.saturating_add(period));
            let stretch = self.rows[self.added..next].iter().map(|&row| outcome(row));
            // What is derived may be old: `V` was smaller then, and the bound on a leverage larger.
            if ridge.is_uneventful(stretch.clone()) {
                ridge.add_many(stretch);
                let due = next - self.added == period;
                self.added = next;
                if due {
                    ridge.settle();
                    (self.followed, self.stale) = (next, true);
                }
            } else {
                self.follow(ridge, outcome, scratch);
                for &row in &self.rows[self.added..next] {
                    let (context, reward) = outcome(row);
                    ridge.update(arm, context, reward, scratch);
                }
                (self.added, self.followed) = (next, next);
            }
        }
    }

    fn follow<'a>(&mut self, ridge: &mut Ridge, outcome: impl Fn(usize) -> (&'a [f64], f64), scratch: &mut [f64]) {
        if std::mem::take(&mut self.stale) {
            ridge.derive(scratch);
        }
        for &row in &self.rows[self.followed..self.added] {
            let (context, reward) = outcome(row);
            ridge.follow(context, reward, scratch);
        }
        self.followed = self.added;
    }
}
