//! The effect of an outcome on the policy, and the evidence for a change.

use std::fmt;

use crate::arm::Parameters;
use crate::gain::Certificate;
use crate::randomisation::Renewal;

/// The effect of one observation on the policy in force.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Change {
    /// It stays.
    Kept,
    /// It follows its estimates in every round, so there are no versions to count or certify.
    Continuous,
    /// The rule stays; the randomisation around it was renewed. If both happen in one round the rule's change is reported, and
    /// [`Policy::renewals`](crate::Policy::renewals) counts the renewal.
    Renewed(Renewal),
    /// It changed, for this reason.
    Switched(Box<Evidence>),
}

impl Change {
    /// The evidence, if the policy changed.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Switched(evidence) => Some(evidence),
            Self::Kept | Self::Continuous | Self::Renewed(_) => None,
        }
    }
}

/// Why the trigger fired.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Cause {
    /// The schedule calls for a change.
    Scheduled,
    /// The parameters in force left the confidence set.
    OutsideSet {
        /// `‖θ̃ − θ̂‖_V`.
        distance: f64,
        /// `r`.
        radius: f64,
    },
    /// No plausible parameters decide nearly as the policy does.
    Angle {
        /// The largest cosine of any plausible policy with the one in force, or, if none is positive, the estimate's.
        cosine: f64,
        /// `Δ`: it had to be at least `1−Δ`.
        tolerance: f64,
    },
    /// The boundary between two arms became implausible.
    Boundary {
        /// The arms.
        arms: (usize, usize),
        /// Distance of the nearest parameters with this boundary.
        distance: f64,
        /// `r`.
        radius: f64,
    },
    /// The policy plays an arm that the data rule out too often.
    Population {
        /// Share of the population.
        share: f64,
        /// The share that was allowed.
        limit: f64,
    },
    /// A change is certain to gain.
    Gain {
        /// Lower end of the gain.
        lower: f64,
        /// What it had to exceed.
        minimum: f64,
    },
    /// A change is likely to gain, without a certificate.
    Likely {
        /// The estimated gain per decision.
        gain: f64,
        /// It, in posterior standard deviations …
        deviations: f64,
        /// … and what that had to exceed.
        required: f64,
    },
    /// The data grew enough for an optimistic policy to adopt its new estimates.
    Information {
        /// `det V / det V at the last adoption`.
        growth: f64,
        /// What it had to exceed.
        limit: f64,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduled => write!(f, "the schedule calls for it"),
            Self::OutsideSet { distance, radius } => {
                write!(
                    f,
                    "the parameters in force left the confidence set (distance {distance:.3}, radius {radius:.3})"
                )
            }
            Self::Angle { cosine, tolerance } => write!(
                f,
                "no plausible policy is as near as {:.1}° (the nearest is at {:.1}°)",
                (1.0 - tolerance).acos().to_degrees(),
                cosine.clamp(-1.0, 1.0).acos().to_degrees()
            ),
            Self::Boundary { arms: (i, j), distance, radius } => write!(
                f,
                "the boundary between arm {i} and arm {j} became implausible (distance {distance:.3}, radius {radius:.3})"
            ),
            Self::Population { share, limit } => write!(
                f,
                "{:.1} % of the population got an arm that the data rule out (allowed: {:.1} %)",
                100.0 * share,
                100.0 * limit
            ),
            Self::Gain { lower, minimum } => {
                write!(f, "the change gains at least {lower:.4} per decision (required: more than {minimum:.4})")
            }
            Self::Likely { gain, deviations, required } => write!(
                f,
                "the change is estimated to gain {gain:.4} per decision, {deviations:.1} posterior standard deviations (required: \
                 more than {required:.1}); this is not a certificate"
            ),
            Self::Information { growth, limit } => {
                write!(f, "the information grew by a factor of {growth:.2} (required: more than {limit:.2})")
            }
        }
    }
}

/// A change of policy with everything needed to judge it. `{}` prints one line, `{:#}` the whole certificate.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// Outcomes observed when it happened.
    pub round: u64,
    /// Its number: the first change is 1.
    pub version: u64,
    /// Why the trigger fired.
    pub cause: Cause,
    /// The parameters in force before.
    pub from: Parameters,
    /// The parameters in force from now on.
    pub to: Parameters,
    /// What the change is worth, unless certificates were turned off. `rs-linucb`, whose policy is not a linear rule, has none.
    pub certificate: Option<Certificate>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "change {} after {} outcomes: {}", self.version, self.round, self.cause)?;
        if let Some(certificate) = &self.certificate {
            f.write_str("; ")?;
            fmt::Display::fmt(certificate, f)?;
        }
        Ok(())
    }
}
