//! The results of a trial, as the claims ask about them.

use super::{Condition, MeasuredValue, Reading, Unjudged};
use crate::contestant_result::ContestantResult;
use crate::metrics::{Estimate, Interval95};
use crate::reproduction::TrialResults;

/// The results of one trial under one reading.
#[derive(Clone, Copy)]
pub(super) struct TrialView<'a> {
    pub(super) profile: Reading,
    pub(super) results: &'a [ContestantResult],
}

/// A number of each run.
pub(super) type Values = fn(&ContestantResult) -> Vec<f64>;

impl<'a> TrialView<'a> {
    pub(super) fn of(trials: &'a TrialResults, profile: Reading, id: &str) -> Self {
        Self { profile, results: trials.results(id) }
    }

    pub(super) fn find(&self, name: &str) -> Option<&'a ContestantResult> {
        self.results.iter().find(|result| result.name() == name)
    }

    pub(super) fn is(&self, what: impl Into<String>, found: Option<MeasuredValue>, is: Condition) -> Option<Unjudged> {
        found.map(|found| Unjudged::new(self.profile, what, found, is))
    }

    /// The mean over the runs of a paired difference.
    pub(super) fn difference(&self, one: &str, other: &str, values: Values) -> Option<MeasuredValue> {
        let (one, other) = (values(self.find(one)?), values(self.find(other)?));
        Some(mean(Estimate::of_differences(&one, &other), one.len()))
    }

    pub(super) fn regret_above(&self, one: &str, other: &str) -> Option<Unjudged> {
        let between = self.difference(one, other, ContestantResult::regrets);
        self.is(format!("regret per step of {one} minus that of {other}"), between, Condition::Above(0.0))
    }

    pub(super) fn changes_above(&self, one: &str, other: &str) -> Option<Unjudged> {
        let between = self.difference(one, other, ContestantResult::change_counts);
        self.is(format!("changes of {one} minus those of {other}"), between, Condition::Above(0.0))
    }

    /// The feasible algorithms change more often than the rarely-switching ones with the same update.
    pub(super) fn feasible_change_more(&self) -> Vec<Option<Unjudged>> {
        ["greedy", "conservative"]
            .map(|update| self.changes_above(&format!("feasible-{update}"), &format!("rs-{update}")))
            .to_vec()
    }

    /// The mean of one over that of another.
    pub(super) fn ratio(&self, one: &str, other: &str, values: Values) -> Option<MeasuredValue> {
        Some(ratio(&values(self.find(one)?), &values(self.find(other)?)))
    }

    pub(super) fn changes(&self, name: &str) -> Option<MeasuredValue> {
        let counts = self.find(name)?.change_counts();
        Some(mean(Estimate::of(&counts), counts.len()))
    }

    pub(super) fn improving(&self, name: &str) -> Option<MeasuredValue> {
        let result = self.find(name)?;
        Some(MeasuredValue::Mean { interval: result.summary().improving_percent?, runs: result.runs.len() as u64 })
    }

    /// The difference of two shares of improving changes; its interval from the two intervals, as if they were independent.
    pub(super) fn improving_above(&self, one: &str, other: &str) -> Option<Unjudged> {
        let (a, b) = (self.improving(one)?, self.improving(other)?);
        let (MeasuredValue::Mean { interval: a, runs }, MeasuredValue::Mean { interval: b, .. }) = (a, b) else {
            return None;
        };
        let mean = a.mean - b.mean;
        let low = mean - (a.mean - a.low).hypot(b.high - b.mean);
        let high = mean + (a.high - a.mean).hypot(b.mean - b.low);
        let found = MeasuredValue::Mean { interval: Interval95 { mean, low, high }, runs };
        self.is(format!("% improving of {one} minus that of {other}"), Some(found), Condition::Above(0.0))
    }

    /// The regret of every other of a list above one.
    pub(super) fn lowest(&self, name: &str, others: &[&str]) -> Vec<Option<Unjudged>> {
        others.iter().map(|other| self.regret_above(other, name)).collect()
    }
}

/// The main experiment, as published and with valid sets.
pub(super) fn main_views(trials: &TrialResults) -> [TrialView<'_>; 2] {
    [("main/published", Reading::Published), ("main/rigorous", Reading::Rigorous)]
        .map(|(id, profile)| TrialView::of(trials, profile, id))
}

/// What every view gives.
pub(super) fn gather(
    views: &[TrialView<'_>],
    measure: impl Fn(TrialView<'_>) -> Vec<Option<Unjudged>>,
) -> Vec<Unjudged> {
    views.iter().flat_map(|&view| measure(view)).flatten().collect()
}

/// A mean over runs.
pub(super) fn mean(estimate: Estimate, runs: usize) -> MeasuredValue {
    MeasuredValue::Mean { interval: estimate.interval(runs), runs: runs as u64 }
}

/// The ratio of two means over the same worlds.
pub(super) fn ratio(one: &[f64], other: &[f64]) -> MeasuredValue {
    MeasuredValue::Mean { interval: Interval95::of_ratio(one, other), runs: one.len().min(other.len()) as u64 }
}
