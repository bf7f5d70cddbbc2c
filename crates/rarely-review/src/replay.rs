//! A log replayed in time order: when the rule would have changed, to what, and what that would have been worth.

use std::collections::VecDeque;

use rarely_core::{
    Arm, Cause, Certificate, ConfidenceSet, Context, Interval, Parameters, RECENT_CONTEXTS, RunningMean, Shape,
    Statistics,
};
use rarely_policy::{PolicyDocument, WrittenRule};

use serde_json::{Value, json};

use crate::error::{OnlyReviewed, ReviewError};
use crate::evidence_base::{EvidenceBase, confidence};
use crate::findings::cause_clause;
use crate::judgement::examine;
use crate::off_policy::{
    NotWeightable, OffPolicyValue, WeighedRow, WeightedSums, WeightedValue, normal_interval, signed,
};
use crate::planned_radius::estimated_noise;
use crate::propensity_reading::reward_range;
use crate::tally::Tally;

/// A log being replayed.
#[derive(Debug)]
pub struct Replay {
    /// With the rule that would be in force.
    document: PolicyDocument,
    every: u64,
    tally: Tally,
    statistics: Statistics,
    recent: VecDeque<f64>,
    held: Follower,
    replayed: Follower,
    rewards: RunningMean,
    changes: Vec<ReplayedChange>,
}

/// A rule, and what it would have been worth.
#[derive(Debug)]
struct Follower {
    rule: rarely_core::Rule,
    /// For each arm the sum of the contexts at which the rule plays it.
    functional: Vec<f64>,
    weighted: WeightedSums,
}

/// A change that would have been made.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedChange {
    /// After this many rows.
    pub row: u64,
    /// When, if the log has times.
    pub time: Option<String>,
    /// The rule until then.
    pub from: WrittenRule,
    /// The rule from then on.
    pub to: WrittenRule,
    /// Why.
    pub cause: Cause,
    /// The certificate, on the last 1,000 people.
    pub certificate: Certificate,
}

/// The result of a replay.
#[derive(Debug, Clone)]
pub struct ReplayResult {
    /// Rows.
    pub rows: u64,
    /// The mean outcome that was logged.
    pub logged: Interval,
    /// The rule in force at the start, held to the end.
    pub held: OffPolicyValue,
    /// The rule as it would have changed.
    pub replayed: OffPolicyValue,
    /// The changes.
    pub changes: Vec<ReplayedChange>,
    /// The rule at the end.
    pub last: WrittenRule,
}

impl ReplayResult {
    /// It as one JSON object. `said` puts into words why values by propensities are refused.
    pub fn object(&self, document: &PolicyDocument, said: impl Fn(&NotWeightable) -> String) -> Value {
        let interval = |Interval { estimate, lower, upper }: Interval| json!({ "estimate": estimate, "lower": lower, "upper": upper });
        let value = |value: &OffPolicyValue| {
            let weighted = |pick: fn(&WeightedValue) -> Interval| match &value.weighted {
                Ok(found) => interval(pick(found)),
                Err(reason) => json!({ "refused": said(reason) }),
            };
            json!({
                "direct": interval(value.direct),
                "inverse_propensity": weighted(|found| found.inverse_propensity),
                "self_normalised": weighted(|found| found.self_normalised),
                "doubly_robust": weighted(|found| found.doubly_robust),
            })
        };
        let changes = self.changes.iter().map(|change| {
            json!({
                "row": change.row,
                "time": change.time,
                "cause": cause_clause(document, &change.cause),
                "from": change.from,
                "to": change.to,
                "gain": interval(change.certificate.gain.interval),
                "changed_share": change.certificate.gain.changed_share,
            })
        });
        json!({
            "policy": document.policy(),
            "rows": self.rows,
            "changes": changes.collect::<Vec<_>>(),
            "rule": self.last,
            "logged": interval(self.logged),
            "held": value(&self.held),
            "replayed": value(&self.replayed),
        })
    }
}

impl Follower {
    fn add(&mut self, context: &[f64], row: &WeighedRow) {
        let start = row.choice.index() * context.len();
        for (sum, value) in self.functional[start..start + context.len()].iter_mut().zip(context) {
            *sum += value;
        }
        self.weighted.add(row);
    }

    fn value(&self, set: &ConfidenceSet<'_>, rows: u64, (shape, sign): (Shape, f64)) -> OffPolicyValue {
        let mean = self.functional.iter().map(|sum| sum / rows as f64).collect();
        let functional = Parameters::new(shape, mean).expect("means of contexts are finite");
        OffPolicyValue {
            direct: signed(set.functional_interval(&functional), sign),
            weighted: self.weighted.value(sign),
        }
    }
}

impl Replay {
    /// Starts with the document's rule, and reviews it after every `every` rows.
    ///
    /// # Errors
    /// [`OnlyReviewed`] if the document has something that a replay would ignore.
    ///
    /// # Panics
    /// If `every` is 0.
    pub fn new(document: &PolicyDocument, every: u64) -> Result<Self, OnlyReviewed> {
        assert!(every > 0, "a rule is reviewed after some rows");
        if let Some(what) = document.only_reviewed() {
            return Err(OnlyReviewed { what });
        }
        let shape = document.shape();
        let follower = || Follower {
            rule: rarely_core::Rule::new(document.rule().parameters(document)),
            functional: vec![0.0; shape.parameters()],
            weighted: WeightedSums::new(reward_range(document)),
        };
        Ok(Self {
            every,
            tally: Tally::undivided(document),
            statistics: Statistics::new(document.evidence().penalty, &Parameters::zeros(shape)),
            recent: VecDeque::with_capacity(RECENT_CONTEXTS * shape.dimension()),
            held: follower(),
            replayed: follower(),
            rewards: RunningMean::default(),
            changes: Vec::new(),
            document: document.clone(),
        })
    }

    /// Adds the next row. Returns the change that it leads to, if any.
    ///
    /// # Errors
    /// [`ReviewError`] if the row does not fit the document.
    pub fn step(
        &mut self,
        context: &[f64],
        arm: Arm,
        reward: f64,
        propensity: Option<f64>,
        time: Option<&str>,
    ) -> Result<Option<&ReplayedChange>, ReviewError> {
        let checked = Context::new(context)?;
        for follower in [&mut self.held, &mut self.replayed] {
            let choice = follower.rule.choose(checked)?;
            let prediction = self.statistics.arm(choice.index()).predict(context);
            let row = WeighedRow { choice, logged: arm, reward, prediction, propensity, possible: true };
            follower.add(context, &row);
        }
        self.rewards.update(reward);
        let row = self.statistics.rounds();
        self.statistics.observe(checked, arm, reward)?;
        self.tally.add(row, context, arm, reward);
        if self.recent.len() == RECENT_CONTEXTS * context.len() {
            self.recent.drain(..context.len());
        }
        self.recent.extend(context);
        if !(row + 1).is_multiple_of(self.every) {
            return Ok(None);
        }
        self.review(time)
    }

    fn review(&mut self, time: Option<&str>) -> Result<Option<&ReplayedChange>, ReviewError> {
        let people = self.recent.iter().copied().collect();
        // From the same sums as in the service, so that both propose the same to the last digit.
        let base = EvidenceBase::of(&self.document, &self.tally, Some(people))?;
        let proposal = examine(&base, &self.tally)?.proposal;
        let Some(proposal) = proposal.filter(|proposal| !proposal.needs_person(&self.document)) else {
            return Ok(None);
        };
        self.replayed.rule = rarely_core::Rule::new(proposal.rule.parameters(&self.document));
        self.changes.push(ReplayedChange {
            row: self.statistics.rounds(),
            time: time.map(ToOwned::to_owned),
            from: self.document.rule().clone(),
            to: proposal.rule.clone(),
            cause: proposal.cause,
            certificate: proposal.certificate,
        });
        self.document = self.document.with_rule(proposal.rule).map_err(ReviewError::Rule)?;
        Ok(self.changes.last())
    }

    /// The result, after a last review; `time` is the last row's.
    ///
    /// # Errors
    /// [`ReviewError::Empty`] if there was no row.
    pub fn finish(mut self, time: Option<&str>) -> Result<ReplayResult, ReviewError> {
        if self.statistics.rounds() == 0 {
            return Err(ReviewError::Empty);
        }
        if !self.statistics.rounds().is_multiple_of(self.every) {
            self.review(time)?;
        }
        let confidence = confidence(&self.document, estimated_noise(&self.tally.totals()))?;
        let (set, sign) = (confidence.set(&self.statistics), self.document.outcome_sign());
        let (rows, outcome) = (self.statistics.rounds(), (self.document.shape(), sign));
        Ok(ReplayResult {
            rows,
            logged: signed(normal_interval(&self.rewards), sign),
            held: self.held.value(&set, rows, outcome),
            replayed: self.replayed.value(&set, rows, outcome),
            changes: self.changes,
            last: self.document.rule().clone(),
        })
    }
}
