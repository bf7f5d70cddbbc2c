//! The certificate of a change: what it gains, and how sure that is.

use rarely_core::{Certificate, Digest, Interval};
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::demotion::demotion_sentence;
use super::numbers::{interval_with_unit, percent};
use super::units::gain_unit;
use crate::demotion::Demotion;
use crate::proposed_change::CertifiedBy;

/// What the digest of a certificate is called.
pub const DIGEST_TITLE: &str = "Digest of the statistics";

/// The certificate of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateFinding {
    /// The gain per case.
    pub gain: Interval,
    /// Share of the people who get another option.
    pub changed_share: f64,
    /// Share of the people who get a ruled-out option now.
    pub excluded_before: f64,
    /// Share of the people who would get a ruled-out option.
    pub excluded_after: f64,
    /// What certifies the change.
    pub certified_by: Vec<CertifiedBy>,
    /// The digest of the statistics.
    pub digest: Digest,
    /// The same as lines of a table.
    pub lines: [CertificateLine; 4],
}

/// A line of a certificate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateLine {
    /// What is certified.
    pub name: &'static str,
    /// The numbers with their units.
    pub value: String,
    /// What they mean.
    pub meaning: String,
}

impl CertificateFinding {
    /// Of a certificate that was made for a document, now or earlier.
    pub fn new(
        document: &PolicyDocument,
        certificate: &Certificate,
        certified_by: Vec<CertifiedBy>,
        demotions: &[Demotion],
    ) -> Self {
        let confidence = percent(1.0 - document.evidence().error_probability);
        let line = |name, value, meaning| CertificateLine { name, value, meaning };
        let (before, after) = (certificate.excluded_before, certificate.excluded_after);
        let lines = [
            line(
                "gain per case",
                interval_with_unit(certificate.gain.interval, &gain_unit(document)),
                format!(
                    "The average over all people, changed or not. With {}probability {confidence} the true gain is in the \
                     interval.",
                    if certified_by.contains(&CertifiedBy::GainApproximately) { "approximate " } else { "" }
                ),
            ),
            line(
                "people who change",
                percent(certificate.gain.changed_share),
                "They get another option than now.".to_owned(),
            ),
            line(
                "people with a ruled-out option",
                format!("{} now, {} after the change", percent(before), percent(after)),
                "For them another option is shown to be better.".to_owned(),
            ),
            line(
                "certified",
                certified(&certified_by),
                if certified_by.is_empty() && demotions.is_empty() {
                    "The change is the best estimate.".to_owned()
                } else if demotions.is_empty() {
                    format!("Each statement holds with probability {confidence}, given the assumptions.")
                } else {
                    let reasons = demotions.iter().map(|demotion| demotion_sentence(document, demotion));
                    reasons.collect::<Vec<_>>().join(" ")
                },
            ),
        ];
        Self {
            gain: certificate.gain.interval,
            changed_share: certificate.gain.changed_share,
            excluded_before: before,
            excluded_after: after,
            certified_by,
            digest: certificate.digest,
            lines,
        }
    }
}

fn certified(by: &[CertifiedBy]) -> String {
    if by.is_empty() {
        return "not for certain".to_owned();
    }
    let statements: Vec<&str> = by
        .iter()
        .map(|by| match by {
            CertifiedBy::Plausible => "every boundary of the proposed rule is plausible",
            CertifiedBy::Gain => "the gain is above 0",
            CertifiedBy::GainApproximately => "the gain is above 0, by an interval that is approximate",
            CertifiedBy::TheoremThree => "the change does no harm, whatever the population (Theorem 3)",
        })
        .collect();
    statements.join("; ")
}
