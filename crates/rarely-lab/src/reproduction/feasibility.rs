//! Does an algorithm ever play an arm that its own data rule out? Every decision is checked.

use rarely_core::{
    Algorithm, Certificates, ConfidenceSet, Context, Decision, Exploration, Policy, Profile, Round, SettingsError,
    Shape, step,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::contestant::Contestant;
use crate::environment::{Environment as _, Linear, policy_stream};
use crate::experiment::{ExperimentError, RunContext};
use crate::judge::Judge;
use crate::study::Study;

/// Outcomes of each arm before an algorithm with a pilot decides.
const PILOT: u32 = 5;

/// How often an algorithm played an arm that its own data ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feasibility {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Runs.
    pub runs: u64,
    /// Rounds looked at.
    pub rounds: u64,
    /// Rounds in which it played an arm whose interval lay wholly below another arm's [lansdell-2019, Def. 1].
    pub excluded: u64,
    /// Rounds in which it played an arm whose exact difference interval to another arm lay wholly below 0: the set rules out a
    /// little more than the arms' own intervals do.
    pub excluded_exactly: u64,
    /// Of these, rounds in which all boundaries of its rule were plausible: Theorem 2 says never.
    pub despite_plausible: u64,
}

/// Plays an algorithm with valid sets at k = 4, d = 3 and checks every decision.
///
/// # Errors
/// [`ExperimentError`] if a policy cannot be built, or a run could not be saved or was stopped.
///
/// # Panics
/// If a world's numbers are not finite.
pub fn feasibility(
    algorithm: Algorithm,
    seed: u64,
    runs: u64,
    rounds: u64,
    context: &RunContext<'_>,
) -> Result<Feasibility, ExperimentError> {
    let found = study(algorithm, seed, runs, rounds).results(context)?;
    let nothing = Feasibility { algorithm, runs: 0, rounds: 0, excluded: 0, excluded_exactly: 0, despite_plausible: 0 };
    Ok(found.into_iter().fold(nothing, |sum, run| Feasibility {
        algorithm,
        runs: sum.runs + run.runs,
        rounds: sum.rounds + run.rounds,
        excluded: sum.excluded + run.excluded,
        excluded_exactly: sum.excluded_exactly + run.excluded_exactly,
        despite_plausible: sum.despite_plausible + run.despite_plausible,
    }))
}

/// The runs of an algorithm.
pub(super) fn study(
    algorithm: Algorithm,
    seed: u64,
    runs: u64,
    rounds: u64,
) -> Study<impl Fn(u64) -> Result<Feasibility, ExperimentError> + Sync> {
    let description = json!({ "study": "feasibility", "algorithm": algorithm, "rounds": rounds, "seed": seed });
    Study::new(&description, runs, move |run| Ok(feasibility_of_run(algorithm, seed, run, rounds)?))
}

fn feasibility_of_run(algorithm: Algorithm, seed: u64, run: u64, rounds: u64) -> Result<Feasibility, SettingsError> {
    let shape = Shape::new(4, 3)?;
    let mut world = Linear { shape, noise: 0.1 }.world(seed, run);
    let judge = Judge::new(&*world, shape, 100);
    let mut contestant = Contestant::new(algorithm, Profile::Rigorous);
    contestant.explore = Some(Exploration { pilot: PILOT, ..Exploration::NONE });
    let mut policy = contestant.build(&*world, &judge, rounds, Certificates::Brief)?;
    let mut found =
        Feasibility { algorithm, runs: 1, rounds: 0, excluded: 0, excluded_exactly: 0, despite_plausible: 0 };
    let mut rng = policy_stream(seed, run);
    let mut round = Round::new(shape);
    for number in 0..rounds {
        // The pilot cycles through all arms, also excluded ones.
        let look = |policy: &dyn Policy, round: &Round, decision: &Decision| {
            if number >= u64::from(PILOT) * shape.arms() as u64 {
                found.look(policy, round, decision);
            }
        };
        let _ = step(policy.as_mut(), &mut *world, &mut round, &mut rng, look).expect("it fits");
    }
    Ok(found)
}

impl Feasibility {
    fn look(&mut self, policy: &dyn Policy, round: &Round, decision: &Decision) {
        let context = Context::new(&round.context).expect("finite");
        let set = policy.learner().expect("it learns").set();
        self.rounds += 1;
        self.excluded += u64::from(is_below_another(&set, &round.context, decision.arm.index()));
        let excluded = !set.plausible_arms(context).expect("it fits").contains(&decision.arm);
        self.excluded_exactly += u64::from(excluded);
        let plausible = |rule| set.boundaries(rule).iter().all(|boundary: &rarely_core::Boundary| boundary.plausible);
        self.despite_plausible += u64::from(excluded && policy.deployed().is_some_and(plausible));
    }
}

/// Whether the interval of an arm lies wholly below another arm's.
fn is_below_another(set: &ConfidenceSet<'_>, context: &[f64], arm: usize) -> bool {
    let upper = set.arm_interval(context, arm).upper;
    let arms = set.statistics().shape().arms();
    (0..arms).filter(|&other| other != arm).any(|other| set.arm_interval(context, other).lower > upper)
}
