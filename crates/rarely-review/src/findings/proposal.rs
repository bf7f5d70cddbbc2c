//! The proposed change.

use rarely_core::{Cause, Interval};
use rarely_policy::{PolicyDocument, WrittenRule, difference};
use serde::Serialize;

use super::against::AgainstFinding;
use super::certificate::CertificateFinding;
use super::impact::ImpactFinding;
use super::numbers::{interval_with_unit, percent};
use super::units::gain_unit;
use super::verdict::cause_clause;
use crate::fit_form::RicherForm;
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
    /// The richer form that the rule needs, where no rule of the present form is plausible.
    pub richer_form: Option<RicherForm>,
    /// The same in a sentence.
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
    /// Its gain per case.
    pub gain: Interval,
    /// How it relates to the proposed rule.
    pub sentence: String,
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
            richer_form: proposal.richer_form,
            form_sentence: proposal.richer_form.map(form_sentence),
            sentence: format!(
                "{} of people get another option. The expected gain is {} per case.",
                percent(gain.changed_share),
                interval_with_unit(gain.interval, &gain_unit(document))
            ),
            exact: ExactFinding::new(document, proposal),
            certificate: CertificateFinding::new(document, &proposal.certificate, proposal.certified_by()),
            impact: ImpactFinding::new(document, &proposal.impact),
            against: AgainstFinding::new(document, proposal),
        }
    }
}

impl ExactFinding {
    /// What a reader needs to know where only the rule itself was kept.
    pub const ROUNDING: &'static str =
        "The proposed rule is rounded to the fewest digits for which it passes the same tests.";

    fn new(document: &PolicyDocument, proposal: &ProposedChange) -> Self {
        let gain = proposal.exact_certificate.gain.interval;
        Self {
            rule: RuleFinding::new(document, &proposal.exact),
            differs: proposal.exact != proposal.rule,
            text: serde_json::to_string(&proposal.exact).unwrap_or_default(),
            gain,
            sentence: format!(
                "{} Without rounding, the expected gain is {} per case.",
                Self::ROUNDING,
                interval_with_unit(gain, &gain_unit(document))
            ),
        }
    }
}

fn form_sentence(form: RicherForm) -> String {
    let form = match form {
        RicherForm::ScoreOfAllFeatures => "a score of all features",
        RicherForm::ScorePerOption => "a score for every option",
    };
    format!("No rule of the present form is plausible, so the proposal is {form}.")
}
