//! The proposed change.

use rarely_core::Cause;
use rarely_policy::{PolicyDocument, WrittenRule, difference};
use serde::Serialize;

use super::against::AgainstFinding;
use super::certificate::CertificateFinding;
use super::impact::ImpactFinding;
use super::numbers::{interval_with_unit, number, percent};
use super::units::gain_unit;
use super::verdict::cause_clause;
use crate::candidates::CandidateKind;
use crate::proposed_change::ProposedChange;

/// A rule in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleFinding {
    /// The rule.
    pub rule: WrittenRule,
    /// One line for each part of it.
    pub lines: Vec<String>,
}

/// The proposed change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposalFinding {
    /// Why the rule in force has to change.
    pub cause: Cause,
    /// The same as the end of a sentence that says "because".
    pub cause_clause: String,
    /// The proposed rule.
    pub rule: RuleFinding,
    /// What changes, one line for each number or part.
    pub changes: Vec<String>,
    /// What kind of rule it is.
    pub kind: CandidateKind,
    /// The same in a sentence, where its form is another than that of the rule in force.
    pub form_sentence: Option<String>,
    /// How many people change, and what that is expected to gain.
    pub sentence: String,
    /// The rule that the algorithm asks for, with all digits.
    pub exact: ExactFinding,
    /// How sure the gain is.
    pub certificate: CertificateFinding,
    /// Who gets another option.
    pub impact: ImpactFinding,
    /// What speaks against the change.
    pub against: AgainstFinding,
}

/// The rule that the algorithm asks for, with all digits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExactFinding {
    /// The rule, and its lines.
    pub rule: RuleFinding,
    /// Whether it is another than the proposed one.
    pub differs: bool,
    /// The rule as JSON, in one line.
    pub text: String,
    /// How it relates to the proposed rule.
    pub sentence: &'static str,
}

impl RuleFinding {
    /// A rule of a document.
    pub fn new(document: &PolicyDocument, rule: &WrittenRule) -> Self {
        Self { rule: rule.clone(), lines: rule.words(document) }
    }
}

impl ProposalFinding {
    /// Of a proposed change alone, without the rest of a review.
    pub fn new(document: &PolicyDocument, proposal: &ProposedChange) -> Self {
        let gain = &proposal.certificate.gain;
        Self {
            cause: proposal.cause,
            cause_clause: cause_clause(document, &proposal.cause),
            rule: RuleFinding::new(document, &proposal.rule),
            changes: difference((document, document.rule()), (document, &proposal.rule)),
            kind: proposal.kind,
            form_sentence: form_sentence(document, proposal),
            sentence: format!(
                "{} of people get another option. The gain is {} per case{}.",
                percent(gain.changed_share),
                interval_with_unit(gain.interval, &gain_unit(document)),
                proposal.plain.map_or_else(String::new, |plain| format!(
                    "; a plain 95 % interval is {} to {}",
                    number(plain.lower, 3),
                    number(plain.upper, 3)
                ))
            ),
            exact: ExactFinding::new(document, proposal),
            certificate: CertificateFinding::new(
                document,
                &proposal.certificate,
                proposal.certified_by(),
                &proposal.demotions,
            ),
            impact: ImpactFinding::new(document, &proposal.impact),
            against: AgainstFinding::new(document, proposal),
        }
    }
}

impl ExactFinding {
    /// What a reader needs to know where only the rule itself was kept.
    pub const ROUNDING: &'static str = "The proposed rule is rounded: it moves hardly more people than the exact one, and keeps nine tenths of its gain.";

    fn new(document: &PolicyDocument, proposal: &ProposedChange) -> Self {
        Self {
            rule: RuleFinding::new(document, &proposal.exact),
            differs: proposal.exact != proposal.rule,
            text: serde_json::to_string(&proposal.exact).unwrap_or_default(),
            sentence: Self::ROUNDING,
        }
    }
}

fn form_sentence(document: &PolicyDocument, proposal: &ProposedChange) -> Option<String> {
    let same = std::mem::discriminant(&proposal.rule) == std::mem::discriminant(document.rule());
    let form = match (&proposal.rule, proposal.kind) {
        (_, CandidateKind::Constant) => "the same option for everyone",
        _ if same => return None,
        (WrittenRule::Threshold(_), _) => "a threshold",
        (WrittenRule::Score(_), _) => "a score of all features",
        (WrittenRule::Linear(_), _) => "a score for every option",
    };
    Some(format!("The proposal has another form than the rule in force: {form}. No simpler rule gains nearly as much."))
}
