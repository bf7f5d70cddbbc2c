//! A change that is proposed: the rule, its certificate, and its impact.

use rarely_core::{Cause, Certificate, Change};
use rarely_policy::{Digits, WrittenRule};
use serde::{Deserialize, Serialize};

use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::fit_form::{RicherForm, in_form};
use crate::impact::{Impact, impact};
use crate::judgement::VerdictReason;
use crate::simplest::simplest;
use crate::tally::Tally;

/// A change that is proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedChange {
    /// The simplest rule that is justified; the exact one, where the document asks for all digits.
    pub rule: WrittenRule,
    /// The rule that the algorithm asks for, with all digits.
    pub exact: WrittenRule,
    /// The richer form that it needs, if no rule of the present form is plausible.
    pub richer_form: Option<RicherForm>,
    /// Why the rule in force has to change.
    pub cause: Cause,
    /// The proposed rule's certificate.
    pub certificate: Certificate,
    /// The exact rule's certificate.
    pub exact_certificate: Certificate,
    /// Who gets another option, and what it is worth.
    pub impact: Impact,
}

/// What certifies a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CertifiedBy {
    /// Every boundary of the proposed rule is plausible.
    #[serde(rename = "plausible")]
    Plausible,
    /// The lower end of the gain is above 0.
    #[serde(rename = "gain")]
    Gain,
    /// With two context variables: the change does not raise expected regret, whatever the population.
    #[serde(rename = "theorem-3")]
    TheoremThree,
}

/// Why no change is proposed.
pub(crate) enum Unproposed {
    /// The algorithm asks for none.
    NotAsked,
    /// It asks for one that falls short.
    For(VerdictReason),
}

impl ProposedChange {
    /// What certifies the change.
    pub fn certified_by(&self) -> Vec<CertifiedBy> {
        let certificate = &self.certificate;
        let plausible = certificate.boundaries.iter().all(|boundary| boundary.after.plausible);
        let theorem = certificate.theorem_three.is_some_and(|conditions| conditions.certifies());
        let gain = certificate.gain.interval.lower > 0.0;
        [(CertifiedBy::Plausible, plausible), (CertifiedBy::Gain, gain), (CertifiedBy::TheoremThree, theorem)]
            .into_iter()
            .filter_map(|(by, holds)| holds.then_some(by))
            .collect()
    }
}

impl CertifiedBy {
    /// `plausible`, `gain`, `theorem-3`: as it is printed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plausible => "plausible",
            Self::Gain => "gain",
            Self::TheoremThree => "theorem-3",
        }
    }
}

/// The change that the document's algorithm asks for, in the owner's form, if one alters a decision and gains enough.
///
/// # Errors
/// As [`EvidenceBase::reconsider`].
pub(crate) fn propose(
    base: &EvidenceBase<'_>,
    tally: &Tally,
    rule: &WrittenRule,
) -> Result<Result<ProposedChange, Unproposed>, ReviewError> {
    let Change::Switched(evidence) = base.reconsider(rule)? else {
        return Ok(Err(Unproposed::NotAsked));
    };
    let cause = evidence.cause;
    let form = in_form(base, rule, &evidence.to)?;
    let exact_certificate = base.certify(rule, &form.rule)?;
    let gain = exact_certificate.gain.interval;
    if !base.gains_enough(gain) {
        let minimum = base.document.change().minimum_gain;
        return Ok(Err(Unproposed::For(VerdictReason::GainTooSmall { cause, gain, minimum })));
    }
    let rounded = base.document.change().digits == Digits::Fewest;
    let simple = if rounded { simplest(base, rule, &form.rule)? } else { form.rule.clone() };
    if simple == *rule {
        return Ok(Err(Unproposed::For(VerdictReason::SameRule { rounded })));
    }
    Ok(Ok(ProposedChange {
        certificate: if simple == form.rule { exact_certificate.clone() } else { base.certify(rule, &simple)? },
        impact: impact(base, tally, rule, &simple)?,
        rule: simple,
        exact: form.rule,
        richer_form: form.richer,
        cause,
        exact_certificate,
    }))
}
