//! What to change to.

use crate::arm::Parameters;
use crate::cone::Conservative;
use crate::confidence::ConfidenceSet;
use crate::gradient::Solver;

/// The parameters that replace the ones in force.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Update {
    /// `θ̂`: the best estimate.
    Estimate,
    /// The point of the confidence set nearest to the parameters in force.
    Nearest,
    /// The plausible policy nearest in angle to the one in force.
    Conservative(Solver),
    /// Of the estimate and the conservative update, the one with the larger certified gain.
    Certified(Solver),
}

impl Update {
    /// The parameters to change to; where there is a choice, all of them.
    pub(crate) fn candidates(self, set: &ConfidenceSet<'_>, policy: &Parameters) -> Vec<Parameters> {
        match self {
            Self::Estimate => vec![set.statistics().estimates()],
            Self::Nearest => vec![set.nearest(policy)],
            Self::Conservative(solver) => vec![solver.solve(set, policy).parameters],
            Self::Certified(solver) => {
                let cautious = Some(solver.solve(set, policy)).filter(|found| found.cosine < 1.0);
                std::iter::once(set.statistics().estimates()).chain(cautious.map(|found| found.parameters)).collect()
            }
        }
    }
}

impl Solver {
    /// The maximiser of the cosine, as this solver finds it.
    pub fn solve(self, set: &ConfidenceSet<'_>, policy: &Parameters) -> Conservative {
        match self {
            Self::Exact => set.conservative(policy),
            Self::ProjectedGradient { iterations, step } => set.projected_gradient(policy, iterations, step),
        }
    }
}
