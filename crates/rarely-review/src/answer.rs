//! A review as the object that `--format json` prints.

use indexmap::IndexMap;
use rarely_core::{Interval, Thresholds};
use rarely_policy::{PolicyDocument, WrittenRule};
use serde::Serialize;
use serde_json::{Value, json};

use crate::checks::Check;
use crate::review::{PairBoundary, Proposal, Review, Verdict};
use crate::support::Thin;

/// A review as plain data, with the document's names and units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    policy: String,
    rows: u64,
    rows_rejected: u64,
    per_option: IndexMap<String, u64>,
    radius: f64,
    error_probability: f64,
    estimates: IndexMap<String, IndexMap<String, f64>>,
    boundaries: Vec<Pair>,
    jointly_plausible: bool,
    max_cosine: f64,
    excluded_share: f64,
    verdict: Verdict,
    proposal: Option<Proposed>,
    stuck_options: Vec<String>,
    support: Vec<Thin>,
    checks: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Pair {
    options: [String; 2],
    plausible: bool,
    angle_degrees: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold_interval: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Proposed {
    rule: WrittenRule,
    exact_rule: WrittenRule,
    gain: Ends,
    changed_share: f64,
    excluded_share_after: f64,
    certified_by: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Ends {
    estimate: f64,
    lower: f64,
    upper: f64,
}

impl Answer {
    /// The answer to "keep it or change it?".
    pub fn new(document: &PolicyDocument, review: &Review) -> Self {
        let names = document.options();
        let standing = &review.standing;
        let estimates = document.raw_coefficients(&standing.estimates);
        let sign = document.outcome_sign();
        Self {
            policy: document.policy().to_owned(),
            rows: review.rows(),
            rows_rejected: review.rejected,
            per_option: names.iter().cloned().zip(review.per_option.iter().copied()).collect(),
            radius: standing.radius,
            error_probability: document.evidence().error_probability,
            estimates: names
                .iter()
                .cloned()
                .zip(
                    estimates
                        .into_iter()
                        .map(|option| option.into_iter().map(|(name, value)| (name, sign * value)).collect()),
                )
                .collect(),
            boundaries: standing.boundaries.iter().map(|pair| Pair::new(names, pair)).collect(),
            jointly_plausible: standing.jointly_plausible,
            max_cosine: standing.max_cosine,
            excluded_share: standing.excluded_share,
            verdict: review.verdict,
            proposal: review.proposal.as_ref().map(Proposed::new),
            stuck_options: review.gaps.stuck.iter().map(|stuck| names[stuck.arm.index()].clone()).collect(),
            support: review.gaps.thin.clone(),
            checks: review.checks.clone(),
        }
    }
}

impl Pair {
    fn new(names: &[String], pair: &PairBoundary) -> Self {
        let (i, j) = pair.options;
        Self {
            options: [names[i].clone(), names[j].clone()],
            plausible: pair.plausible,
            angle_degrees: pair.angle_degrees,
            threshold: pair.threshold,
            threshold_interval: pair.interval.as_ref().map(ends),
        }
    }
}

impl Proposed {
    fn new(proposal: &Proposal) -> Self {
        let Interval { estimate, lower, upper } = proposal.certificate.gain.interval;
        Self {
            rule: proposal.rule.clone(),
            exact_rule: proposal.exact.clone(),
            gain: Ends { estimate, lower, upper },
            changed_share: proposal.certificate.gain.changed_share,
            excluded_share_after: proposal.certificate.excluded_after,
            certified_by: proposal.certified_by(),
        }
    }
}

/// `[low, high]`, with null where it is not bounded; two half-lines as two such pairs; nothing as an empty list.
fn ends(thresholds: &Thresholds) -> Value {
    match *thresholds {
        Thresholds::Between { low, high } => json!([low, high]),
        Thresholds::AtMost { high } => json!([null, high]),
        Thresholds::AtLeast { low } => json!([low, null]),
        Thresholds::Outside { low, high } => json!([[null, low], [high, null]]),
        Thresholds::Everything => json!([null, null]),
        Thresholds::Nothing => json!([]),
    }
}
