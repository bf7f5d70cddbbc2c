//! What is recorded of a run.

use rarely_core::{Certificate, Confidence, NormBound, TheoremThree};
use serde::{Deserialize, Serialize};

/// What one policy did in one world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Cumulative expected regret at each checkpoint.
    pub regret: Vec<f64>,
    /// Rounds after which the cumulative expected reward was below that of the best fixed arm.
    pub rounds_below_baseline: u64,
    /// Rounds after which it was below 0.9 times that of the best fixed arm, which is what the paper's Figure 3c counts.
    pub rounds_below_nine_tenths: u64,
    /// Rounds in which the true parameters were outside the confidence set; `None` if nothing is learned or the truth is not linear.
    pub rounds_outside: Option<u64>,
    /// The changes of policy.
    pub changes: Vec<ChangeRecord>,
    /// Renewals of the randomisation around the rule.
    #[serde(default)]
    pub renewals: u64,
    /// Rounds in which another arm was played than the rule's.
    #[serde(default)]
    pub rounds_off_rule: u64,
    /// Whether some arm was stuck at the end: plausible, and hardly ever played.
    #[serde(default)]
    pub stuck: bool,
    /// Outcomes that were not learned by the end: not reported yet, or reported and waiting for those of earlier decisions.
    #[serde(default)]
    pub outcomes_waiting: u64,
    /// What the policy assumed, if it learns by confidence sets.
    #[serde(default)]
    pub assumed: Option<Assumed>,
}

/// The numbers from which a policy's confidence sets follow, as they were in force in one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Assumed {
    /// `σ`.
    pub noise: f64,
    /// `L`; `None` if the sets do without.
    pub norm_bound: Option<f64>,
    /// `λ`.
    pub penalty: f64,
    /// `δ`.
    pub error_probability: f64,
}

impl Assumed {
    pub(super) fn of(confidence: Confidence) -> Self {
        let Confidence { noise, norm_bound, penalty, error_probability, .. } = confidence;
        Self {
            noise: noise.get(),
            norm_bound: norm_bound.map(NormBound::get),
            penalty: penalty.get(),
            error_probability: error_probability.get(),
        }
    }
}

/// One change, with its true gain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// The round.
    pub round: u64,
    /// True gain per decision on the judge's sample.
    pub gain: f64,
    /// Share of the sample whose arm changed.
    pub changed_share: f64,
    /// Its cause.
    pub cause: String,
    /// The parameters in force from then on.
    pub parameters: Vec<f64>,
    /// Its certificate, if certificates are recorded.
    pub certificate: Option<CertificateRecord>,
}

/// The numbers of a certificate; those that are not finite are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertificateRecord {
    /// Estimated gain per decision.
    pub gain: Option<f64>,
    /// Its lower end.
    pub gain_lower: Option<f64>,
    /// Its upper end.
    pub gain_upper: Option<f64>,
    /// True gain per decision on the people that the certificate lists, where mean rewards are linear.
    #[serde(default)]
    pub true_gain: Option<f64>,
    /// Share of the policy's own population whose arm changes.
    pub changed_share: f64,
    /// Share given an excluded arm before.
    pub excluded_before: f64,
    /// The same after.
    pub excluded_after: f64,
    /// The largest angle by which a boundary moved, in degrees.
    pub moved_degrees: Option<f64>,
    /// Theorem 3's conditions, for two context variables.
    pub theorem_three: Option<TheoremThree>,
    /// Fingerprint of the statistics.
    pub digest: String,
}

impl CertificateRecord {
    pub(super) fn new(certificate: &Certificate, true_gain: Option<f64>) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        let interval = certificate.gain.interval;
        let moved = certificate.boundaries.iter().map(|boundary| boundary.moved_degrees).fold(0.0, f64::max);
        Self {
            gain: finite(interval.estimate),
            gain_lower: finite(interval.lower),
            gain_upper: finite(interval.upper),
            true_gain,
            changed_share: certificate.gain.changed_share,
            excluded_before: certificate.excluded_before,
            excluded_after: certificate.excluded_after,
            moved_degrees: finite(moved),
            theorem_three: certificate.theorem_three,
            digest: certificate.digest.to_string(),
        }
    }
}

impl ChangeRecord {
    /// Whether it alters a decision on the sample.
    pub fn alters(&self) -> bool {
        self.changed_share > 0.0
    }

    /// Whether it truly lowers the expected reward, by more than rounding.
    pub fn harms(&self) -> bool {
        self.gain < -1e-12
    }

    /// Theorem 3's conditions, where its certificate has them.
    pub fn theorem_three(&self) -> Option<TheoremThree> {
        self.certificate.as_ref().and_then(|certificate| certificate.theorem_three)
    }
}
