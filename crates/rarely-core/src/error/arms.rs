//! What can be wrong with a change of the set of arms.

use rarely_error::{Explain, Remedy};
use thiserror::Error;

use super::SettingsError;

/// A change of the set of arms that cannot be made. The policy is as it was before the call.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ArmsError {
    /// The algorithm's arms are fixed.
    #[error("the arms of {algorithm} cannot change")]
    Fixed {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// An arm the policy does not have.
    #[error("arm {arm} does not exist; the policy has arms 0 to {}", arms - 1)]
    Unknown {
        /// The arm named.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// An arm that was removed before.
    #[error("arm {arm} is removed already")]
    Removed {
        /// The arm.
        arm: usize,
    },
    /// An arm that was never removed.
    #[error("arm {arm} is not removed")]
    NotRemoved {
        /// The arm.
        arm: usize,
    },
    /// The only arm that is left.
    #[error("arm {arm} is the only one left")]
    Last {
        /// The arm.
        arm: usize,
    },
    /// Features for an arm of a policy without, or none where arms have them.
    #[error("{found} features were given for the new arm, but the arms of this policy have {expected}")]
    Features {
        /// Features of every arm.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A prior mean for an arm whose parameters are shared.
    #[error("the new arm shares its parameters with the others, so that it has no prior mean of its own")]
    SharedPrior,
    /// Too many arms, or numbers that do not fit.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

impl Explain for ArmsError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Fixed { .. } => Some(Remedy::new(
                "use linucb, rs-linucb, linucb-alpha, thompson, logistic-thompson, epsilon-greedy or squarecb, or build a new policy",
            )),
            Self::Last { .. } => Some(Remedy::new("add or restore another arm first")),
            Self::Features { expected: 0, .. } => Some(Remedy::new("leave them out")),
            Self::Features { .. } => Some(Remedy::new("give as many as the other arms have")),
            Self::SharedPrior => Some(Remedy::new("leave it out")),
            Self::Settings(error) => error.remedy(),
            Self::Unknown { .. } | Self::Removed { .. } | Self::NotRemoved { .. } => None,
        }
    }
}
