//! Updates: what a policy changes to.

use crate::arm::Parameters;
use crate::cone::Workspace;
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
}

impl Update {
    /// Puts the candidate into the workspace's `point`. Returns whether it can differ from the policy.
    pub(crate) fn propose(self, set: &ConfidenceSet<'_>, policy: &Parameters, workspace: &mut Workspace) -> bool {
        let shape = policy.shape();
        workspace.resize(shape.arms(), shape.dimension());
        match self {
            Self::Estimate => {
                let estimates = set.statistics().arms().iter().flat_map(super::ridge::Ridge::estimate);
                workspace.point.iter_mut().zip(estimates).for_each(|(point, estimate)| *point = *estimate);
            }
            Self::Nearest => {
                let (point, scratch) = workspace.point_and_scratch();
                set.nearest_into(policy, point, scratch);
            }
            Self::Conservative(solver) => return workspace.solve(solver, set, policy) < 1.0,
        }
        workspace.point != policy.values()
    }
}
