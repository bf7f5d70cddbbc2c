//! Findings as the object that `--format json` prints: numbers, with the document's names and units.

use indexmap::IndexMap;
use rarely_core::{Interval, Method, Standard, Thresholds, Timing};
use rarely_policy::WrittenRule;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    BoundaryFinding, CandidateFinding, CheckFinding, Findings, GuardrailFinding, LevelFinding, MissingFinding,
    ProposalFinding, ReasonFinding, RuleValueFinding,
};
use crate::candidates::CandidateKind;
use crate::checks::Check;
use crate::demotion::Demotion;
use crate::judgement::VerdictReason;
use crate::model_free::ModelFreeGain;
use crate::off_policy::WeightedValue;
use crate::proposed_change::CertifiedBy;
use crate::support::ThinSupport;
use crate::verdict::Verdict;

/// A review for programs. Its fields are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewJson {
    policy: String,
    rows: u64,
    rows_rejected: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<MissingFinding>,
    per_option: IndexMap<String, u64>,
    radius: Option<f64>,
    error_probability: f64,
    estimates: IndexMap<String, IndexMap<String, f64>>,
    boundaries: Vec<BoundaryJson>,
    jointly_plausible: bool,
    max_cosine: f64,
    excluded_share: f64,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<ReasonJson>,
    candidates: Vec<CandidateJson>,
    keeping_costs_at_most: Option<f64>,
    proposal: Option<ProposalJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    off_policy: Vec<RuleValueJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fairness: Vec<LevelFinding>,
    stuck_options: Vec<String>,
    support: Vec<ThinSupport>,
    checks: Vec<CheckJson>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct BoundaryJson {
    options: [String; 2],
    plausible: bool,
    angle_degrees: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold_interval: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ReasonJson {
    sentence: String,
    /// What takes the certainty from a gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    demotion: Option<Demotion>,
    /// The guard-rail that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    guardrail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    further_cases: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    further_days: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CandidateJson {
    kind: CandidateKind,
    rule: WrittenRule,
    changed_share: f64,
    gain: Interval,
    plain_interval: Option<[f64; 2]>,
    standard: Standard,
    method: Method,
    timing: Timing,
    not_confirmed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_free: Option<ModelFreeGain>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guardrails: Vec<GuardrailFinding>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ProposalJson {
    rule: WrittenRule,
    exact_rule: WrittenRule,
    gain: Interval,
    changed_share: f64,
    excluded_share_after: f64,
    certified_by: Vec<CertifiedBy>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct RuleValueJson {
    name: &'static str,
    rule: WrittenRule,
    #[serde(flatten)]
    value: Option<WeightedValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CheckJson {
    #[serde(flatten)]
    check: Check,
    warning: Option<String>,
}

impl ReviewJson {
    /// The numbers of the findings.
    pub fn new(findings: &Findings) -> Self {
        let (cases, standing) = (&findings.cases, &findings.standing);
        let estimates = findings.estimates.iter().map(|estimate| {
            let coefficients = estimate.coefficients.iter();
            (estimate.option.clone(), coefficients.map(|found| (found.key.clone(), found.value)).collect())
        });
        Self {
            policy: findings.policy.clone(),
            rows: cases.rows,
            rows_rejected: cases.rejected,
            missing: findings.missing.clone(),
            per_option: cases.per_option.clone(),
            radius: standing.radius,
            error_probability: findings.error_probability,
            estimates: estimates.collect(),
            boundaries: standing.boundaries.iter().map(BoundaryJson::new).collect(),
            jointly_plausible: standing.jointly_plausible,
            max_cosine: standing.max_cosine,
            excluded_share: standing.excluded.share,
            verdict: findings.verdict.verdict,
            reasons: findings.verdict.reasons.iter().map(ReasonJson::new).collect(),
            candidates: findings.candidates.rules.iter().map(CandidateJson::new).collect(),
            keeping_costs_at_most: findings.verdict.keeping_costs_at_most,
            proposal: findings.proposal.as_ref().map(ProposalJson::new),
            off_policy: findings
                .off_policy
                .as_ref()
                .map_or_else(Vec::new, |found| found.rules.iter().map(RuleValueJson::new).collect()),
            fairness: findings.fairness.as_ref().map_or_else(Vec::new, |found| found.levels.clone()),
            stuck_options: findings.gaps.stuck.iter().map(|stuck| stuck.option.clone()).collect(),
            support: findings.gaps.thin.clone(),
            checks: findings.checks.iter().map(CheckJson::new).collect(),
        }
    }
}

impl BoundaryJson {
    fn new(boundary: &BoundaryFinding) -> Self {
        Self {
            options: boundary.options.clone(),
            plausible: boundary.plausible,
            angle_degrees: boundary.angle_degrees,
            threshold: boundary.threshold,
            threshold_interval: boundary.interval.as_ref().map(ends),
        }
    }
}

impl ReasonJson {
    fn new(found: &ReasonFinding) -> Self {
        let (mut demotion, mut guardrail, mut further) = (None, None, (None, None));
        match &found.reason {
            VerdictReason::NotCertain { demotion: found, .. } => demotion = Some(found.clone()),
            VerdictReason::NotShown { further_cases, further_days, .. } => further = (*further_cases, *further_days),
            VerdictReason::Guardrail { guardrail: found, .. } => guardrail = Some(found.column.clone()),
            VerdictReason::NothingToGain { .. } | VerdictReason::NothingToCompare { .. } => {}
        }
        let (further_cases, further_days) = further;
        Self { sentence: found.sentence.clone(), demotion, guardrail, further_cases, further_days }
    }
}

impl CandidateJson {
    fn new(candidate: &CandidateFinding) -> Self {
        Self {
            kind: candidate.kind,
            rule: candidate.rule.rule.clone(),
            changed_share: candidate.changed_share,
            gain: candidate.gain,
            plain_interval: candidate.plain.map(|plain| [plain.lower, plain.upper]),
            standard: candidate.evidence.standard,
            method: candidate.evidence.method,
            timing: candidate.evidence.timing,
            not_confirmed: candidate.not_confirmed.clone(),
            model_free: candidate.model_free,
            guardrails: candidate.guardrails.clone(),
        }
    }
}

impl ProposalJson {
    fn new(proposal: &ProposalFinding) -> Self {
        let certificate = &proposal.certificate;
        Self {
            rule: proposal.rule.rule.clone(),
            exact_rule: proposal.exact.rule.rule.clone(),
            gain: certificate.gain,
            changed_share: certificate.changed_share,
            excluded_share_after: certificate.excluded_after,
            certified_by: certificate.certified_by.clone(),
        }
    }
}

impl RuleValueJson {
    fn new(found: &RuleValueFinding) -> Self {
        Self { name: found.name, rule: found.rule.rule.clone(), value: found.value, refused: found.refused.clone() }
    }
}

impl CheckJson {
    fn new(found: &CheckFinding) -> Self {
        Self { check: found.check.clone(), warning: found.warning.clone() }
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
