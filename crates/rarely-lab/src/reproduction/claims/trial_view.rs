//! The results of a trial, as the claims ask about them.

use super::{Condition, Measurement, measurement};
use crate::contestant_result::ContestantResult;
use crate::metrics::{Estimate, Interval95};
use crate::reproduction::TrialResults;

/// The results of one trial under one profile.
#[derive(Clone, Copy)]
pub(super) struct TrialView<'a> {
    pub(super) profile: &'static str,
    pub(super) results: &'a [ContestantResult],
}

impl<'a> TrialView<'a> {
    pub(super) fn find(&self, name: &str) -> Option<&'a ContestantResult> {
        self.results.iter().find(|result| result.name() == name)
    }

    /// Mean over the runs of a paired difference.
    pub(super) fn difference(
        &self,
        one: &str,
        other: &str,
        values: fn(&ContestantResult) -> Vec<f64>,
    ) -> Option<Interval95> {
        let (one, other) = (values(self.find(one)?), values(self.find(other)?));
        Some(Estimate::of_differences(&one, &other).interval(one.len()))
    }

    pub(super) fn is(
        &self,
        what: impl Into<String>,
        between: Option<Interval95>,
        is: Condition,
    ) -> Option<Measurement> {
        between.map(|between| measurement(self.profile, what, between, is))
    }

    pub(super) fn regret_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let between = self.difference(one, other, ContestantResult::regrets);
        self.is(format!("regret per step of {one} minus that of {other}"), between, Condition::Above(0.0))
    }

    pub(super) fn changes_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let between = self.difference(one, other, ContestantResult::change_counts);
        self.is(format!("changes of {one} minus those of {other}"), between, Condition::Above(0.0))
    }

    pub(super) fn regret_ratio(&self, one: &str, other: &str) -> Option<Interval95> {
        Some(ratio(&self.find(one)?.regrets(), &self.find(other)?.regrets()))
    }

    pub(super) fn changes(&self, name: &str) -> Option<Interval95> {
        let counts = self.find(name)?.change_counts();
        Some(Estimate::of(&counts).interval(counts.len()))
    }

    pub(super) fn improving(&self, name: &str) -> Option<Interval95> {
        self.find(name)?.summary().improving_percent
    }

    /// The difference of two shares of improving changes; its interval from the two intervals, as if they were independent.
    pub(super) fn improving_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let (a, b) = (self.improving(one)?, self.improving(other)?);
        let mean = a.mean - b.mean;
        let low = mean - (a.mean - a.low).hypot(b.high - b.mean);
        let high = mean + (a.high - a.mean).hypot(b.mean - b.low);
        let what = format!("% improving of {one} minus that of {other}");
        self.is(what, Some(Interval95 { mean, low, high }), Condition::Above(0.0))
    }

    /// The others of a list against one.
    pub(super) fn lowest(&self, name: &str, others: &[&str]) -> Vec<Measurement> {
        others.iter().filter_map(|other| self.regret_above(other, name)).collect()
    }
}

/// A trial as published and the same with valid sets.
pub(super) fn both<'a>(trials: &'a TrialResults, published: &str, rigorous: &str) -> [TrialView<'a>; 2] {
    [
        TrialView { profile: "published", results: trials.results(published) },
        TrialView { profile: "rigorous", results: trials.results(rigorous) },
    ]
}

/// What every view gives.
pub(super) fn gather(
    views: &[TrialView<'_>],
    measure: &dyn Fn(TrialView<'_>) -> Vec<Option<Measurement>>,
) -> Vec<Measurement> {
    views.iter().flat_map(|&view| measure(view)).flatten().collect()
}

/// The ratio of two means over the same worlds; its error to first order.
pub(super) fn ratio(one: &[f64], other: &[f64]) -> Interval95 {
    let (a, b) = (Estimate::of(one).mean, Estimate::of(other).mean.max(1e-12));
    let parts: Vec<f64> = one.iter().zip(other).map(|(one, other)| (one - a / b * other) / b).collect();
    let Interval95 { mean, low, high } = Estimate::of(&parts).interval(parts.len());
    Interval95 { mean: a / b, low: a / b + low - mean, high: a / b + high - mean }
}
