//! A decision: the arm, the reason, and the probability with which the arm was chosen.

use std::fmt;

use crate::arm::Arm;

/// Why an arm was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Reason {
    /// The policy in force plays it.
    Policy,
    /// The pilot tries every arm in turn.
    Pilot,
    /// Drawn among the arms that the data do not rule out.
    Equipoise,
    /// The largest upper confidence bound.
    Optimistic,
    /// The baseline arm, because the alternative is not yet safe.
    Baseline,
    /// The best arm under a random draw of the parameters.
    Draw,
    /// Drawn uniformly, as in a randomised trial.
    Uniform,
    /// The only arm this policy ever plays.
    Fixed,
    /// Decided by something else, and recorded.
    Recorded,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Policy => "the policy in force",
            Self::Pilot => "the pilot's turn",
            Self::Equipoise => "drawn among the plausible arms",
            Self::Optimistic => "the largest upper bound",
            Self::Baseline => "the baseline, until the alternative is safe",
            Self::Draw => "best under a random draw",
            Self::Uniform => "drawn uniformly",
            Self::Fixed => "always this arm",
            Self::Recorded => "decided elsewhere",
        })
    }
}

/// A policy's choice at one context.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// The arm to play.
    pub arm: Arm,
    /// Why.
    pub reason: Reason,
    /// The probability with which this arm was chosen at this context.
    pub propensity: f64,
}

impl Decision {
    pub(crate) fn certain(arm: usize, reason: Reason) -> Self {
        Self { arm: Arm::new(arm), reason, propensity: 1.0 }
    }

    /// A decision made by something else, to learn from. Its propensity is recorded as 1; set the field if you know it.
    pub fn recorded(arm: Arm) -> Self {
        Self { arm, reason: Reason::Recorded, propensity: 1.0 }
    }
}
