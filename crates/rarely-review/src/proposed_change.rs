//! A change that is proposed: the rule, its certificate, and its impact.

use rarely_core::{Cause, Certificate, Interval, Standard};
use rarely_policy::{Approval, PolicyDocument, WrittenRule};
use serde::{Deserialize, Serialize};

use crate::candidate_gain::JudgedCandidate;
use crate::candidates::CandidateKind;
use crate::demotion::{Demotion, extrapolation};
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::impact::{Impact, impact};
use crate::tally::Tally;

/// A change that is proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedChange {
    /// The rule, with as few digits as the people allow; the exact one, where the document asks for all digits.
    pub rule: WrittenRule,
    /// The same rule with all digits.
    pub exact: WrittenRule,
    /// What kind of rule it is.
    pub kind: CandidateKind,
    /// Why the rule in force has to change.
    pub cause: Cause,
    /// The proposed rule's certificate.
    pub certificate: Certificate,
    /// How far the gain's interval can be trusted.
    pub standard: Standard,
    /// A plain 95 % interval of the same gain.
    pub plain: Option<Interval>,
    /// Why the certificate is not certain, if an assumption is refuted.
    pub demotions: Vec<Demotion>,
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
    /// The lower end of the gain is above 0, by an interval that holds approximately.
    #[serde(rename = "gain-approximately")]
    GainApproximately,
    /// With two context variables: the change does not raise expected regret, whatever the population.
    #[serde(rename = "theorem-3")]
    TheoremThree,
}

impl ProposedChange {
    /// Whether the change must not take effect by itself, as the document would have it: its gain rests on a refuted assumption, or on
    /// people to whom the option was hardly ever given.
    pub fn needs_person(&self, document: &PolicyDocument) -> bool {
        document.control().approval == Approval::Automatic && !self.demotions.is_empty()
    }

    /// What certifies the change; nothing where an assumption is refuted.
    pub fn certified_by(&self) -> Vec<CertifiedBy> {
        if !self.demotions.is_empty() {
            return Vec::new();
        }
        let certificate = &self.certificate;
        let plausible = certificate.boundaries.iter().all(|boundary| boundary.after.plausible);
        let theorem = certificate.theorem_three.is_some_and(|conditions| conditions.certifies());
        let gains = certificate.gain.interval.lower > 0.0;
        let certain = self.standard == Standard::Certain;
        [
            (CertifiedBy::Plausible, plausible),
            (CertifiedBy::Gain, gains && certain),
            (CertifiedBy::GainApproximately, gains && !certain),
            (CertifiedBy::TheoremThree, theorem),
        ]
        .into_iter()
        .filter_map(|(by, holds)| holds.then_some(by))
        .collect()
    }
}

impl CertifiedBy {
    /// `plausible`, `gain`, `gain-approximately`, `theorem-3`: as it is printed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plausible => "plausible",
            Self::Gain => "gain",
            Self::GainApproximately => "gain-approximately",
            Self::TheoremThree => "theorem-3",
        }
    }
}

/// The change to a candidate.
///
/// # Errors
/// [`ReviewError::Context`] if the people do not fit.
pub(crate) fn propose(
    base: &EvidenceBase<'_>,
    tally: &Tally,
    candidate: usize,
    judged: &JudgedCandidate,
) -> Result<ProposedChange, ReviewError> {
    let (rule, gain) = (base.document.rule(), judged.decisive().interval);
    let impact = impact(base, tally, candidate)?;
    let minimum = base.document.change().minimum_gain;
    // Where propensities cover the whole change, no option is given to people who could not have got it.
    let demotions = extrapolation(&impact, gain).filter(|_| !judged.is_model_free()).into_iter().collect();
    let mut certificate = base.certify(rule, &judged.rule, gain)?;
    if !base.document.log_columns().rows_are_alike() {
        // Its sets assume independent rows that count alike.
        certificate.theorem_three = None;
    }
    Ok(ProposedChange {
        rule: judged.rule.clone(),
        exact: base.candidates()[candidate].exact.clone(),
        kind: judged.kind,
        cause: Cause::Gain { lower: gain.lower, minimum },
        certificate,
        standard: judged.decisive().standard,
        plain: judged.decisive_plain(),
        demotions,
        impact,
    })
}
