//! The outcomes of a trial, as the claims ask about them.

use super::{Is, Measurement, measurement};
use crate::metrics::{Between, Estimate};
use crate::outcome::Outcome;
use crate::reproduction::Findings;

/// The outcomes of one trial under one profile.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) profile: &'static str,
    pub(super) outcomes: &'a [Outcome],
}

impl<'a> Look<'a> {
    pub(super) fn find(&self, name: &str) -> Option<&'a Outcome> {
        self.outcomes.iter().find(|outcome| outcome.name() == name)
    }

    /// Mean over the runs of a paired difference.
    pub(super) fn difference(&self, one: &str, other: &str, values: fn(&Outcome) -> Vec<f64>) -> Option<Between> {
        let (one, other) = (values(self.find(one)?), values(self.find(other)?));
        Some(Estimate::of_differences(&one, &other).between(one.len()))
    }

    pub(super) fn is(&self, what: impl Into<String>, between: Option<Between>, is: Is) -> Option<Measurement> {
        between.map(|between| measurement(self.profile, what, between, is))
    }

    pub(super) fn regret_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let between = self.difference(one, other, Outcome::regrets);
        self.is(format!("regret a step of {one} minus that of {other}"), between, Is::Above(0.0))
    }

    pub(super) fn changes_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let between = self.difference(one, other, Outcome::change_counts);
        self.is(format!("changes of {one} minus those of {other}"), between, Is::Above(0.0))
    }

    pub(super) fn regret_ratio(&self, one: &str, other: &str) -> Option<Between> {
        Some(ratio(&self.find(one)?.regrets(), &self.find(other)?.regrets()))
    }

    pub(super) fn changes(&self, name: &str) -> Option<Between> {
        let counts = self.find(name)?.change_counts();
        Some(Estimate::of(&counts).between(counts.len()))
    }

    pub(super) fn improving(&self, name: &str) -> Option<Between> {
        self.find(name)?.summary().improving_percent
    }

    /// The difference of two shares of improving changes; its interval from the two intervals, as if they were independent.
    pub(super) fn improving_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let (a, b) = (self.improving(one)?, self.improving(other)?);
        let mean = a.mean - b.mean;
        let low = mean - (a.mean - a.low).hypot(b.high - b.mean);
        let high = mean + (a.high - a.mean).hypot(b.mean - b.low);
        let what = format!("% improving of {one} minus that of {other}");
        self.is(what, Some(Between { mean, low, high }), Is::Above(0.0))
    }

    /// The others of a list against one.
    pub(super) fn lowest(&self, name: &str, others: &[&str]) -> Vec<Measurement> {
        others.iter().filter_map(|other| self.regret_above(other, name)).collect()
    }
}

/// A trial as published and the same with valid sets.
pub(super) fn both<'a>(findings: &'a Findings, published: &str, rigorous: &str) -> [Look<'a>; 2] {
    [
        Look { profile: "published", outcomes: findings.outcomes(published) },
        Look { profile: "rigorous", outcomes: findings.outcomes(rigorous) },
    ]
}

/// What every look gives.
pub(super) fn gather(looks: &[Look<'_>], measure: &dyn Fn(Look<'_>) -> Vec<Option<Measurement>>) -> Vec<Measurement> {
    looks.iter().flat_map(|&look| measure(look)).flatten().collect()
}

/// The ratio of two means over the same worlds; its error to first order.
pub(super) fn ratio(one: &[f64], other: &[f64]) -> Between {
    let (a, b) = (Estimate::of(one).mean, Estimate::of(other).mean.max(1e-12));
    let parts: Vec<f64> = one.iter().zip(other).map(|(one, other)| (one - a / b * other) / b).collect();
    let Between { mean, low, high } = Estimate::of(&parts).between(parts.len());
    Between { mean: a / b, low: a / b + low - mean, high: a / b + high - mean }
}
