//! What to change to.

use crate::arm::Parameters;
use crate::cone::Conservative;
use crate::confidence::ConfidenceSet;
use crate::gain::Gain;
use crate::gradient::Solver;
use crate::population::Population;
use crate::rule::Rule;

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
    /// The candidate.
    pub(crate) fn candidate(self, set: &ConfidenceSet<'_>, rule: &Rule, population: &Population) -> Parameters {
        let policy = rule.parameters();
        match self {
            Self::Estimate => set.statistics().estimates(),
            Self::Nearest => set.nearest(policy),
            Self::Conservative(solver) => solver.solve(set, policy).parameters,
            Self::Certified(solver) => {
                let greedy = set.statistics().estimates();
                let cautious = solver.solve(set, policy);
                if cautious.cosine < 1.0
                    && gain(set, rule, &cautious.parameters, population).interval.lower
                        > gain(set, rule, &greedy, population).interval.lower
                {
                    cautious.parameters
                } else {
                    greedy
                }
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

/// The gain of a candidate over the rule in force on a population; nothing if that is empty.
pub(crate) fn gain(set: &ConfidenceSet<'_>, rule: &Rule, candidate: &Parameters, population: &Population) -> Gain {
    let candidate = Rule::new(candidate.clone());
    set.gain_of(rule, &candidate, population.rows())
}
