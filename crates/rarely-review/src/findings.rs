//! What a review says: a tree of statements, each with its numbers and its sentence.
//!
//! Terminal, page, dashboard, notebook, JSON and the logged proposal lay this tree out and add no statement of their own, so that
//! two of them cannot disagree. Whoever changes what a review says changes the file of that statement here:
//!
//! | file | statements |
//! |---|---|
//! | `lead` | what a reader of one screen needs |
//! | `cases`, `missing` | how many rows and people; what rows lack |
//! | `verdict` | keep, change or cannot tell; the cause and the reasons |
//! | `boundaries` | where the rule in force stands |
//! | `candidates`, `demotion`, `guardrails` | the rules that were tried; what takes the certainty from a gain; outcomes that must not get worse |
//! | `proposal`, `certificate`, `impact`, `against` | the change: to what, how sure, for whom, and what speaks against it |
//! | `groups` | the table of many groups |
//! | `fairness` | what a change does for whom, by columns that are no features |
//! | `off_policy` | what rules are worth by the propensities of the log |
//! | `gaps` | what the data cannot say, and what would settle it |
//! | `checks`, `propensities` | whether logged propensities can be true; whether straight lines are good enough |
//! | `estimates`, `assumptions` | what each option is estimated to do; what the review assumes |
//! | `numbers`, `units` | how numbers are written |
//! | `json` | the object for programs |
//!
//! Fields called `sentence` hold whole sentences. Names of options and features stand in them as the owner writes them.

mod against;
mod assumptions;
mod boundaries;
mod candidates;
mod cases;
mod certificate;
mod checks;
mod demotion;
mod estimates;
mod fairness;
mod gaps;
mod groups;
mod guardrails;
mod impact;
mod json;
mod lead;
mod missing;
pub mod numbers;
mod off_policy;
mod propensities;
mod proposal;
mod units;
mod verdict;

use rarely_policy::PolicyDocument;
use serde::Serialize;

use crate::review::Review;

pub use against::{AgainstFinding, CounterEvidence, CounterPoint};
pub use assumptions::{ASSUMPTIONS_MEANING, AssumptionFinding};
pub use boundaries::{BoundaryFinding, ExcludedFinding, StandingFinding};
pub use candidates::{CandidateFinding, CandidatesFinding};
pub use cases::CasesFinding;
pub use certificate::{CertificateFinding, CertificateLine, DIGEST_TITLE};
pub use checks::CheckFinding;
pub use demotion::demotion_sentence;
pub use estimates::{CoefficientFinding, EstimateFinding};
pub use fairness::{FairnessFinding, LevelFinding};
pub use gaps::{ForecastFinding, GapsFinding, StuckFinding, THIN_MEANING, thin_title};
pub use groups::{GroupFinding, GroupsFinding, GroupsJson};
pub use guardrails::GuardrailFinding;
pub use impact::{BandFinding, ImpactFinding, gain_meaning, recent_people};
pub use json::ReviewJson;
pub use lead::{LeadFact, LeadFinding};
pub use missing::{MissingColumnFinding, MissingFinding};
pub use off_policy::{OffPolicyFinding, RuleValueFinding};
pub use proposal::{ExactFinding, ProposalFinding, RuleFinding};
pub use units::{gain_unit, running_unit};
pub use verdict::{ReasonFinding, VerdictFinding, cause_clause};

/// Everything that a review says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The policy's name.
    pub policy: String,
    /// What the outcome is called.
    pub outcome: String,
    /// What a gain is measured in.
    pub gain_unit: String,
    /// The probability that any interval misses the truth.
    pub error_probability: f64,
    /// What a reader of one screen needs.
    pub lead: LeadFinding,
    /// The cases that it rests on.
    pub cases: CasesFinding,
    /// What rows lack, and how those that were dropped differ from the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingFinding>,
    /// Keep, change, or cannot tell.
    pub verdict: VerdictFinding,
    /// The rule in force.
    pub rule: RuleFinding,
    /// Where the rule in force stands.
    pub standing: StandingFinding,
    /// The rules that were tried.
    pub candidates: CandidatesFinding,
    /// The proposed change.
    pub proposal: Option<ProposalFinding>,
    /// What the change, or the best rule that was tried, does for whom, by the document's fairness columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<FairnessFinding>,
    /// What the rule in force and the best other rule are worth by the propensities of the log, where the document declares some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_policy: Option<OffPolicyFinding>,
    /// What the data cannot say.
    pub gaps: GapsFinding,
    /// Whether straight lines are good enough.
    pub checks: Vec<CheckFinding>,
    /// What each option is estimated to do.
    pub estimates: Vec<EstimateFinding>,
    /// What the review assumes.
    pub assumptions: Vec<AssumptionFinding>,
}

impl Findings {
    /// What a review of a document's rule says.
    pub fn new(document: &PolicyDocument, review: &Review) -> Self {
        let judgement = &review.judgement;
        let unit = gain_unit(document);
        let verdict = VerdictFinding::new(document, judgement);
        let rule = RuleFinding::new(document, document.rule());
        let candidates = CandidatesFinding::new(document, judgement);
        let proposal = judgement.proposal.as_ref().map(|proposal| ProposalFinding::new(document, proposal));
        Self {
            policy: document.policy().to_owned(),
            outcome: document.outcome().column.clone(),
            lead: LeadFinding::new(&unit, (&verdict, &rule), proposal.as_ref(), &candidates),
            gain_unit: unit,
            error_probability: document.evidence().error_probability,
            cases: CasesFinding::new(document, review),
            missing: review.missing.as_ref().map(|missing| MissingFinding::new(document, review, missing)),
            verdict,
            rule,
            standing: StandingFinding::new(document, &judgement.standing),
            candidates,
            proposal,
            fairness: FairnessFinding::new(document, review),
            off_policy: OffPolicyFinding::new(document, review),
            gaps: GapsFinding::new(document, &review.gaps),
            checks: review.checks.iter().map(|check| CheckFinding::new(document, check)).collect(),
            estimates: estimates::estimates(document, &judgement.standing.estimates),
            assumptions: assumptions::assumptions(document, review.design_effect),
        }
    }
}
