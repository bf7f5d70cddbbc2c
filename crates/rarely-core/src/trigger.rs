//! Triggers: when a policy is reconsidered.

use std::ops::Range;

use crate::arm::Parameters;
use crate::change::Cause;
use crate::cone::{Subset, Workspace};
use crate::confidence::{ConfidenceSet, Profile, Sets};
use crate::gradient::Solver;
use crate::population::Population;
use crate::population_bounds::{Exclusions, Prospects};
use crate::ridge::Step;
use crate::rule::Rule;
use crate::statistics::Statistics;
use crate::track::Track;

/// The condition under which a policy in force is reconsidered.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Trigger {
    /// Every round.
    EveryRound,
    /// When the number of the round is a perfect square: √t times by round t.
    Scheduled,
    /// Once, when there are this many outcomes.
    Commit {
        /// How many.
        after: u64,
    },
    /// `θ̃ ∉ C`.
    OutsideSet,
    /// `θ̃ ∉ C` and no plausible policy has a cosine of at least `1−Δ` with it.
    Angle {
        /// `Δ`.
        tolerance: f64,
        /// How the largest cosine is found.
        solver: Solver,
    },
    /// Some pair's boundary is implausible.
    Boundary,
    /// The policy plays an excluded arm on more than this share of the population.
    Population {
        /// `τ`.
        share: f64,
    },
    /// The estimate's policy gains enough. Asked only while the rule is in question: since the randomisation was last renewed, and
    /// until the estimate decides like the rule.
    Question {
        /// Posterior standard deviations by which it must gain; `None` if the gain must be certain.
        deviations: Option<f64>,
        /// The declared minimum gain.
        minimum: f64,
    },
    /// Some policy is estimated to gain more than this. The update checks whether the gain is certain.
    Gain {
        /// The declared minimum gain.
        minimum: f64,
    },
}

/// One round, as a trigger needs it.
pub(crate) struct TriggerInput<'a> {
    pub(crate) set: ConfidenceSet<'a>,
    pub(crate) rule: &'a Rule,
    pub(crate) context: &'a [f64],
    pub(crate) reward: f64,
    pub(crate) step: Step,
    /// The row of the population that this round's context went to.
    pub(crate) recorded: Option<usize>,
}

/// A trigger with what it remembers between rounds: distances carried along, and *witnesses*, points in the confidence set
/// that prove "no need to act" without solving anything.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Watch {
    trigger: Trigger,
    memory: Memory,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Memory {
    Nothing,
    /// The parameters in force.
    Deployed(Track),
    /// The parameters in force, and plausible ones at a cosine of at least `1−Δ` with them.
    Nearby {
        deployed: Track,
        witness: Track,
    },
    /// For each ordered pair of arms, the first one's part of plausible parameters with the pair's boundary.
    Pairs {
        witness: Track,
        doubtful: bool,
    },
    /// What earlier versions remembered of the population. Its fields are skipped: [`Watch::revive`] computes them anew.
    #[cfg(feature = "serde")]
    #[serde(rename = "Outlook")]
    Outdated {},
    /// The contexts at which the policy plays an excluded arm, or may soon.
    Exclusions(Exclusions),
    /// What a change could gain.
    Prospects(Prospects),
    /// When the rule is looked at next.
    Schedule(Schedule),
}

/// Looks on a schedule: when the rounds have grown by 2 % since the last one. Sets that hold in all rounds do not care when they are
/// looked at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Schedule {
    /// The round of the next look.
    pub(crate) due: u64,
    /// Whether the rule is in question.
    pub(crate) in_question: bool,
}

impl Schedule {
    /// A look took place.
    pub(crate) fn looked(&mut self, rounds: u64) {
        self.due = rounds + (rounds / 50).max(1);
    }
}

/// Whether a trigger is asked on a schedule, not in every round.
fn is_scheduled(trigger: Trigger, sets: Sets) -> bool {
    match trigger {
        Trigger::EveryRound | Trigger::Scheduled | Trigger::Commit { .. } => false,
        Trigger::Question { .. } => true,
        _ => sets == Sets::Sharp,
    }
}

impl Watch {
    pub(crate) fn new(
        trigger: Trigger,
        sets: Sets,
        rule: &Rule,
        statistics: &Statistics,
        population: &Population,
    ) -> Self {
        let shape = statistics.shape();
        let deployed = || Track::of_arms(rule.parameters(), statistics);
        let memory = match trigger {
            _ if is_scheduled(trigger, sets) => {
                Memory::Schedule(Schedule { due: statistics.rounds() + 1, in_question: false })
            }
            Trigger::EveryRound | Trigger::Scheduled | Trigger::Commit { .. } | Trigger::Question { .. } => {
                Memory::Nothing
            }
            Trigger::OutsideSet => Memory::Deployed(deployed()),
            Trigger::Angle { .. } => {
                Memory::Nearby { deployed: deployed(), witness: Track::unknown(shape.arms(), shape.dimension()) }
            }
            Trigger::Boundary => Memory::Pairs {
                witness: Track::unknown(shape.arms() * shape.arms(), shape.dimension()),
                doubtful: true,
            },
            Trigger::Population { .. } => Memory::Exclusions(Exclusions::new(population, statistics, rule)),
            Trigger::Gain { .. } => Memory::Prospects(Prospects::new(population, statistics, rule)),
        };
        Self { trigger, memory }
    }

    /// Rebuilds what a snapshot of an earlier version lacks.
    #[cfg(feature = "serde")]
    pub(crate) fn revive(&mut self, sets: Sets, rule: &Rule, statistics: &Statistics, population: &Population) {
        if let Memory::Outdated {} = self.memory {
            *self = Self::new(self.trigger, sets, rule, statistics, population);
        }
    }

    /// The schedule of looks, if the trigger is asked on one.
    #[inline]
    pub(crate) fn schedule(&self) -> Option<Schedule> {
        if let Memory::Schedule(schedule) = self.memory { Some(schedule) } else { None }
    }

    /// Replaces the schedule.
    pub(crate) fn reschedule(&mut self, schedule: Schedule) {
        self.memory = Memory::Schedule(schedule);
    }

    /// Updates the memory with one round.
    #[inline]
    pub(crate) fn follow(&mut self, round: &TriggerInput<'_>, workspace: &mut Workspace) {
        let (arm, statistics) = (round.step.arm, round.set.statistics());
        match &mut self.memory {
            Memory::Nothing | Memory::Schedule(_) => {}
            Memory::Deployed(deployed) => follow(deployed, arm..arm + 1, round, workspace),
            Memory::Nearby { deployed, witness } => {
                follow(deployed, arm..arm + 1, round, workspace);
                follow(witness, arm..arm + 1, round, workspace);
            }
            Memory::Pairs { witness, .. } => {
                let arms = statistics.shape().arms();
                follow(witness, arm * arms..(arm + 1) * arms, round, workspace);
            }
            #[cfg(feature = "serde")]
            Memory::Outdated {} => {}
            Memory::Exclusions(exclusions) => {
                follow(exclusions.track(), arm..arm + 1, round, workspace);
                if let Some(row) = round.recorded {
                    exclusions.record(row, round.context, &round.set, round.rule);
                }
            }
            Memory::Prospects(prospects) => {
                follow(prospects.track(), arm..arm + 1, round, workspace);
                if let Some(row) = round.recorded {
                    prospects.record(row, round.context, statistics.shape().arms(), round.rule);
                }
            }
        }
    }

    /// The cause to reconsider the policy, if there is one. Call [`Watch::follow`] for the arm that was played, if any, before.
    #[inline]
    pub(crate) fn check(
        &mut self,
        set: &ConfidenceSet<'_>,
        population: &Population,
        played: Option<usize>,
        watched: &Parameters,
        workspace: &mut Workspace,
    ) -> Option<Cause> {
        match (&mut self.memory, self.trigger) {
            (Memory::Nothing, Trigger::Scheduled) => {
                let rounds = set.statistics().rounds();
                (rounds.isqrt().pow(2) == rounds).then_some(Cause::Scheduled)
            }
            (Memory::Nothing, Trigger::Commit { after }) => {
                (set.statistics().rounds() == after).then_some(Cause::Scheduled)
            }
            (Memory::Deployed(deployed), _) => {
                (!set.contains_at(deployed.distances_squared())).then(|| outside(set, deployed))
            }
            (Memory::Nearby { deployed, witness }, Trigger::Angle { tolerance, solver }) => {
                if deployed.total() <= set.edge() || witness.total() <= set.edge() {
                    return None;
                }
                let cosine = largest_cosine(set, watched, tolerance, solver, witness, workspace);
                (cosine < 1.0 - tolerance).then_some(Cause::Angle { cosine, tolerance })
            }
            (Memory::Pairs { witness, doubtful }, _) => {
                // The radius only grows and the other arms' sums stay: pairs without the played arm cannot have become
                // implausible. (The authors' radius may decrease once, after it was NaN.)
                let known = !*doubtful && set.profile() != Profile::Published;
                let cause = if let Some(arm) = played.filter(|_| known) {
                    let others = (0..set.statistics().shape().arms()).filter(|&other| other != arm);
                    let mut pairs = others.map(|other| [arm.min(other), arm.max(other)]);
                    pairs.find_map(|pair| implausible(set, watched, pair, witness, workspace))
                } else {
                    let mut pairs = set.statistics().shape().pairs();
                    pairs.find_map(|(i, j)| implausible(set, watched, [i.index(), j.index()], witness, workspace))
                };
                *doubtful = cause.is_some();
                cause
            }
            (Memory::Exclusions(exclusions), Trigger::Population { share: limit }) => {
                let share = exclusions.share_beyond(limit, set, population, &mut workspace.columns)?;
                Some(Cause::Population { share, limit })
            }
            (Memory::Prospects(prospects), Trigger::Gain { minimum }) => {
                (!prospects.are_poor(minimum, set)).then_some(Cause::Gain { lower: f64::NEG_INFINITY, minimum })
            }
            _ => None,
        }
    }

    /// Watches other parameters from now on. Does not allocate.
    pub(crate) fn turn_to(&mut self, points: &Parameters, statistics: &Statistics, workspace: &mut Workspace) {
        let arms = statistics.shape().arms();
        let scratch = workspace.scratch(statistics.shape().dimension());
        match &mut self.memory {
            Memory::Nothing | Memory::Exclusions(_) | Memory::Prospects(_) | Memory::Schedule(_) => {}
            #[cfg(feature = "serde")]
            Memory::Outdated {} => {}
            Memory::Deployed(deployed) => deployed.set_arms(points, statistics, scratch),
            Memory::Nearby { deployed, witness } => {
                deployed.set_arms(points, statistics, scratch);
                witness.set_arms(points, statistics, scratch);
            }
            Memory::Pairs { witness, doubtful } => {
                for (arm, point) in points.iter().enumerate() {
                    for other in 0..arms {
                        witness.set(arm * arms + other, point, arm, statistics, scratch);
                    }
                }
                *doubtful = true;
            }
        }
    }

    /// Adapts to a new rule in force.
    pub(crate) fn replaced(&mut self, rule: &Rule, population: &Population) {
        match &mut self.memory {
            Memory::Exclusions(exclusions) => exclusions.replaced(rule, population),
            Memory::Prospects(prospects) => prospects.replaced(rule, population),
            _ => {}
        }
    }

    /// The arm that the policy in force plays at each context of the population, if the memory holds it.
    pub(crate) fn played(&self) -> Option<&[usize]> {
        match &self.memory {
            Memory::Prospects(prospects) => Some(prospects.played()),
            _ => None,
        }
    }

    /// The root of the last conservative update's equation, if the memory holds it.
    pub(crate) fn root(&self) -> Option<f64> {
        match &self.memory {
            Memory::Prospects(prospects) => Some(prospects.root).filter(|&root| root > 0.0),
            _ => None,
        }
    }

    /// Stores the root for the next update.
    pub(crate) fn remember_root(&mut self, root: f64) {
        if let Memory::Prospects(prospects) = &mut self.memory {
            prospects.root = root;
        }
    }

    /// The workspace holds parameters that may prove that no change gains enough.
    pub(crate) fn consider(&mut self, set: &ConfidenceSet<'_>, population: &Population, workspace: &mut Workspace) {
        if let (Memory::Prospects(prospects), Trigger::Gain { minimum }) = (&mut self.memory, self.trigger) {
            let Workspace { point, columns, scratch, .. } = workspace;
            prospects.consider(point, minimum, set, population, columns, scratch);
        }
    }

    pub(crate) fn is_sound(&self, sets: Sets, statistics: &Statistics, population: &Population) -> bool {
        let (arms, d) = (statistics.shape().arms(), statistics.shape().dimension());
        match (&self.memory, self.trigger) {
            (Memory::Schedule(_), trigger) => is_scheduled(trigger, sets),
            (Memory::Nothing, Trigger::EveryRound | Trigger::Scheduled | Trigger::Commit { .. }) => true,
            (Memory::Deployed(deployed), Trigger::OutsideSet) => deployed.is_sound(arms, d),
            (Memory::Nearby { deployed, witness }, Trigger::Angle { .. }) => {
                deployed.is_sound(arms, d) && witness.is_sound(arms, d)
            }
            (Memory::Pairs { witness, .. }, Trigger::Boundary) => witness.is_sound(arms * arms, d),
            #[cfg(feature = "serde")]
            (Memory::Outdated {}, Trigger::Population { .. } | Trigger::Gain { .. }) => true,
            (Memory::Exclusions(exclusions), Trigger::Population { .. }) => exclusions.is_sound(population, statistics),
            (Memory::Prospects(prospects), Trigger::Gain { .. }) => prospects.is_sound(population, statistics),
            _ => false,
        }
    }
}

#[inline]
fn follow(track: &mut Track, slots: Range<usize>, round: &TriggerInput<'_>, workspace: &mut Workspace) {
    if round.step.refreshed {
        let scratch = workspace.scratch(round.context.len());
        track.renew(slots, round.step.arm, round.set.statistics(), scratch);
    } else {
        track.follow(slots, &round.step, round.context, round.reward);
    }
}

fn outside(set: &ConfidenceSet<'_>, deployed: &Track) -> Cause {
    let (distance, radius) = set.farthest_outside(deployed.distances_squared());
    Cause::OutsideSet { distance, radius }
}

/// The largest cosine of a plausible policy with the one watched; where that suffices, leaves a witness.
fn largest_cosine(
    set: &ConfidenceSet<'_>,
    watched: &Parameters,
    tolerance: f64,
    solver: Solver,
    witness: &mut Track,
    workspace: &mut Workspace,
) -> f64 {
    let statistics = set.statistics();
    let cosine = workspace.solve(solver, set, watched);
    if cosine >= 1.0 - tolerance && solver == Solver::Exact {
        // The projected gradient proves nothing about later rounds: the paper repeats it in each.
        workspace.deepen(statistics, 1.0 - tolerance);
        keep_witness(witness, (0..statistics.shape().arms()).map(|arm| (arm, arm)), statistics, workspace);
    }
    cosine
}

/// Tests one pair, by its witness if that is still in the set.
#[inline]
fn implausible(
    set: &ConfidenceSet<'_>,
    watched: &Parameters,
    pair: [usize; 2],
    witness: &mut Track,
    workspace: &mut Workspace,
) -> Option<Cause> {
    let arms = set.statistics().shape().arms();
    let [i, j] = pair;
    let slots = [i * arms + j, j * arms + i];
    if witness.distance_squared(slots[0]) + witness.distance_squared(slots[1]) <= set.edge() {
        return None;
    }
    test_pair(set, watched, pair, slots, witness, workspace)
}

/// Tests one pair; if it is plausible, leaves a new witness.
#[cold]
fn test_pair(
    set: &ConfidenceSet<'_>,
    watched: &Parameters,
    pair: [usize; 2],
    slots: [usize; 2],
    witness: &mut Track,
    workspace: &mut Workspace,
) -> Option<Cause> {
    let [i, j] = pair;
    let distance_squared = workspace.test(set, &Subset::of(&pair), watched);
    if distance_squared <= set.edge() {
        keep_witness(witness, [(slots[0], i), (slots[1], j)].into_iter(), set.statistics(), workspace);
        return None;
    }
    Some(Cause::Boundary { arms: (i, j), distance: distance_squared.sqrt(), radius: set.radius() })
}

/// Stores the workspace's point, part by part, in slots of arms.
fn keep_witness(
    witness: &mut Track,
    slots: impl Iterator<Item = (usize, usize)>,
    statistics: &Statistics,
    workspace: &mut Workspace,
) {
    let d = statistics.shape().dimension();
    for (part, (slot, arm)) in slots.enumerate() {
        let (point, scratch) = workspace.point_and_scratch();
        witness.set(slot, &point[part * d..(part + 1) * d], arm, statistics, scratch);
    }
}
