//! The theorems of the paper, checked by experiment.

use rarely_core::{
    Algorithm, Arm, Certificates, Change, Confidence, Context, Contexts, Decision, ErrorProbability, Exploration,
    Noise, NormBound, Parameters, Penalty, Policy, Profile, Round, Rule, Sets, SettingsError, Shape, Share, Solver,
    Statistics, TheoremThree, cosine, step,
};

use crate::contestant::Contestant;
use crate::environment::{Environment as _, Linear, SimulatedWorld, policy_stream};
use crate::experiment::ExperimentError;
use crate::judge::Judge;
use crate::play::Run;
use crate::theorem_one::{Beta, CounterExample, PrintedBound};

/// One length of the counter-example to Theorem 1.
#[derive(Debug, Clone, Copy)]
pub struct CounterRow {
    /// Rounds.
    pub rounds: u64,
    /// Regret of rs-greedy.
    pub regret: f64,
    /// What Theorem 1 allows if its β is a radius.
    pub bound: f64,
    /// What Theorem 1 allows if its β is a squared radius.
    pub bound_squared: f64,
    /// The constant `K` that Corollary 1, `R ≤ K·d·√T·ln(TL)` at δ = 1/T, would need.
    pub constant: f64,
    /// Regret with equipoise.
    pub repaired: f64,
    /// Changes with equipoise.
    pub changes: u64,
}

/// The counter-example to Theorem 1 and to its corollary, and its repair with this equipoise.
///
/// # Errors
/// [`ExperimentError`] if a number is out of range.
pub fn counter_example(seed: u64, equipoise: f64) -> Result<Vec<CounterRow>, ExperimentError> {
    let row = |rounds: u64| {
        let t = rounds as f64;
        let play = |equipoise, error_probability| {
            CounterExample { equipoise, algorithm: Algorithm::RsGreedy, error_probability, rounds, seed }.run()
        };
        let stuck = play(0.0, CounterExample::ERROR_PROBABILITY)?;
        let repaired = play(equipoise, CounterExample::ERROR_PROBABILITY)?;
        let confident = play(0.0, 1.0 / t)?;
        let total = |run: &Run| run.regret.last().copied().unwrap_or(0.0);
        Ok(CounterRow {
            rounds,
            regret: total(&stuck),
            bound: PrintedBound::new(Beta::Radius).at(rounds),
            bound_squared: PrintedBound::new(Beta::SquaredRadius).at(rounds),
            constant: total(&confident) / (t.sqrt() * (t * CounterExample::norm()).ln()),
            repaired: total(&repaired),
            changes: repaired.changes.len() as u64,
        })
    };
    [1_000, 10_000, 100_000].into_iter().map(row).collect()
}

/// A change of policy in the plane, with the policy that made it as it was just after.
pub struct PlanarMoment {
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// The rule before.
    pub from: Parameters,
    /// The rule after.
    pub to: Parameters,
    /// The truth.
    pub truth: Parameters,
    /// The round.
    pub round: u64,
}

/// Plays boundary-conservative with two context variables until it makes a visible change: after at least
/// `after` rounds, the first that changes the arm of at least 2 % of people; with two arms, one that Theorem 3 certifies.
///
/// # Errors
/// [`SettingsError`] if the shape is out of range.
///
/// # Panics
/// If a world's numbers are not finite.
pub fn planar_moment(arms: usize, seed: u64, after: u64) -> Result<Option<PlanarMoment>, SettingsError> {
    const LONGEST: u64 = 5_000;
    let shape = Shape::new(arms, 2)?;
    let environment = Linear { shape, noise: 0.1 };
    for run in 0..100 {
        let mut world = environment.world(seed, run);
        let judge = Judge::new(&*world, shape, 2_000);
        let mut contestant = Contestant::new(Algorithm::BoundaryConservative, Profile::Rigorous);
        contestant.declared.sets = Some(Sets::Joint);
        contestant.explore = Some(Exploration { pilot: 3, equipoise: Share::new(0.02)?, ..Exploration::NONE });
        let mut policy = contestant.build(&*world, &judge, LONGEST, Certificates::Full)?;
        if let Some((round, from, to)) = first_change(policy.as_mut(), &mut *world, shape, (after, LONGEST), run) {
            let truth = Parameters::new(shape, world.truth().unwrap_or(&[]).to_vec())?;
            return Ok(Some(PlanarMoment { policy, from, to, truth, round }));
        }
    }
    Ok(None)
}

fn first_change(
    policy: &mut dyn Policy,
    world: &mut dyn SimulatedWorld,
    shape: Shape,
    (after, longest): (u64, u64),
    run: u64,
) -> Option<(u64, Parameters, Parameters)> {
    let mut rng = policy_stream(0, run);
    let mut round = Round::new(shape);
    for number in 1..=longest {
        let (_, change) = step(policy, world, &mut round, &mut rng, |_, _, _| {}).expect("it fits");
        let Change::Switched(evidence) = change else { continue };
        let certificate = evidence.certificate.as_ref()?;
        let theorem = certificate.theorem_three.is_some_and(|theorem| theorem.certifies());
        if number >= after && (theorem || shape.arms() > 2) && certificate.gain.changed_share > 0.02 {
            return Some((number, evidence.from, evidence.to));
        }
    }
    None
}

/// By how much the projected gradient falls short of the exact update, in cosine, over states that arise: every state in which
/// a run of rs-conservative looks for an update. Sorted.
///
/// # Errors
/// [`SettingsError`] if a policy cannot be built.
///
/// # Panics
/// If a world's numbers are not finite.
pub fn solver_gap(seed: u64, runs: u64, rounds: u64) -> Result<Vec<f64>, SettingsError> {
    let Solver::ProjectedGradient { iterations, step: size } = Solver::PAPER else { return Ok(Vec::new()) };
    let shape = Shape::new(4, 5)?;
    let environment = Linear { shape, noise: 0.1 };
    let mut gaps = Vec::new();
    for run in 0..runs {
        let mut world = environment.world(seed, run);
        let judge = Judge::new(&*world, shape, 100);
        let contestant = Contestant::new(Algorithm::Random, Profile::Rigorous);
        let mut chooser = contestant.build(&*world, &judge, rounds, Certificates::Brief)?;
        let mut learner = Contestant::new(Algorithm::Greedy, Profile::Rigorous).build(
            &*world,
            &judge,
            rounds,
            Certificates::Brief,
        )?;
        let policy = Parameters::new(shape, world.initial().to_vec())?;
        let mut rng = policy_stream(seed, run);
        let mut round = Round::new(shape);
        for number in 1..=rounds {
            let learn = |_: &dyn Policy, round: &Round, decision: &Decision| {
                let context = Context::new(&round.context).expect("finite");
                let reward = round.rewards[decision.arm.index()];
                let _ = learner.observe(context, decision, reward).expect("it fits");
            };
            let _ = step(chooser.as_mut(), &mut *world, &mut round, &mut rng, learn).expect("it fits");
            let set = learner.learner().expect("it learns").set();
            if number.is_multiple_of(10) && !set.is_jointly_plausible(&policy) {
                let exact = cosine(&policy, &set.conservative(&policy).parameters);
                let found = cosine(&policy, &set.projected_gradient(&policy, iterations, size).parameters);
                gaps.push((exact - found).max(0.0));
            }
        }
    }
    gaps.sort_by(f64::total_cmp);
    Ok(gaps)
}

/// The squared distance at which the authors' "projection" leaves a point, over the squared radius that it should have.
///
/// # Errors
/// [`SettingsError`] if a policy cannot be built.
///
/// # Panics
/// If a world's numbers are not finite.
pub fn projection_gap(seed: u64, rounds: u64) -> Result<f64, SettingsError> {
    let shape = Shape::new(4, 5)?;
    let mut world = Linear { shape, noise: 0.1 }.world(seed, 0);
    let judge = Judge::new(&*world, shape, 100);
    let mut policy =
        Contestant::new(Algorithm::Greedy, Profile::Published).build(&*world, &judge, rounds, Certificates::Brief)?;
    let initial = Parameters::new(shape, world.initial().to_vec())?;
    let (mut rng, mut round) = (policy_stream(seed, 0), Round::new(shape));
    for _ in 0..rounds {
        let _ = step(policy.as_mut(), &mut *world, &mut round, &mut rng, |_, _, _| {}).expect("it fits");
    }
    let set = policy.learner().expect("it learns").set();
    Ok(set.distance_squared(&set.nearest(&initial)) / set.radius().powi(2))
}

/// A change in the plane that meets Theorem 3's four conditions and yet lowers the expected reward. Angles are those of the
/// boundary's normal, in degrees from the estimate's.
#[derive(Debug, Clone, Copy)]
pub struct TheoremThreeGap {
    /// The plausible boundaries reach this far to both sides.
    pub plausible_degrees: f64,
    /// The rule before.
    pub old_degrees: f64,
    /// The rule after.
    pub new_degrees: f64,
    /// The angle by which it moved.
    pub moved_degrees: f64,
    /// The truth.
    pub truth_degrees: f64,
    /// Whether the truth is in the set.
    pub truth_in_set: bool,
    /// The distance of the truth from the estimate, over the set's radius.
    pub truth_distance: f64,
    /// The context at which everybody is.
    pub context_degrees: f64,
    /// Mean reward per decision before.
    pub before: f64,
    /// Mean reward per decision after.
    pub after: f64,
    /// Its conditions.
    pub conditions: TheoremThree,
}

impl TheoremThreeGap {
    /// Its gain per decision, which is negative.
    pub fn gain(&self) -> f64 {
        self.after - self.before
    }
}

/// The case built by hand. The plausible boundaries span 170°, the old boundary is outside but its reverse is inside; the update
/// turns it just to the nearest edge (35°), as Theorem 3 asks, and sweeps over the true boundary.
///
/// # Errors
/// Never: all numbers are in range.
///
/// # Panics
/// Never: all numbers are finite.
pub fn theorem_three_gap() -> Result<TheoremThreeGap, SettingsError> {
    let (plausible_degrees, old_degrees, truth_degrees): (f64, f64, f64) = (85.0, 120.0, -80.0);
    // People whose context points 100° away from the old boundary's normal: both its sides are in doubt.
    let context_degrees = old_degrees - 100.0;
    let shape = Shape::new(2, 2)?;
    let confidence = Confidence {
        noise: Noise::new(0.1)?,
        norm_bound: Some(NormBound::new(1.0)?),
        error_probability: ErrorProbability::new(0.05)?,
        penalty: Penalty::new(1.0)?,
        sets: Sets::Joint,
        profile: Profile::Rigorous,
    };
    // r/‖c‖_M = sin 85°.
    let spread = confidence.set(&two_arms_apart(shape, 0.0)).radius() * (2.0_f64 / 400.0).sqrt();
    let statistics = two_arms_apart(shape, spread / plausible_degrees.to_radians().sin());
    let set = confidence.set(&statistics);
    let policy = |degrees: f64, length: f64| {
        let (s, c) = degrees.to_radians().sin_cos();
        Parameters::new(shape, [0.5 * c, 0.5 * s, -0.5 * c, -0.5 * s].map(|value| value * length).to_vec())
    };
    let old = policy(old_degrees, 1.0)?;
    let update = set.conservative(&old).parameters;
    let truth = policy(truth_degrees, spread * 0.09)?;
    let (s, c) = context_degrees.to_radians().sin_cos();
    let people = [c, s];
    let contexts = Contexts::new(&people, 2).expect("finite");
    let moved_degrees = cosine(&old, &update).clamp(-1.0, 1.0).acos().to_degrees();
    let difference = [0, 1].map(|at| update.arm(0)[at] - update.arm(1)[at]);
    let new_degrees = difference[1].atan2(difference[0]).to_degrees();
    let (from, to) = (Rule::new(old), Rule::new(update));
    let certificate = set.certify(&from, &to, contexts).expect("it fits");
    let reward = |rule: &Rule| {
        let arm = rule.choose_many(contexts).expect("it fits")[0].index();
        truth.arm(arm).iter().zip(people).map(|(t, s)| t * s).sum::<f64>()
    };
    Ok(TheoremThreeGap {
        plausible_degrees,
        old_degrees,
        new_degrees,
        moved_degrees,
        truth_degrees,
        truth_in_set: set.contains(&truth),
        truth_distance: set.distance_squared(&truth).sqrt() / set.radius(),
        context_degrees,
        before: reward(&from),
        after: reward(&to),
        conditions: certificate.theorem_three.expect("two context variables"),
    })
}

/// `V = 400·I` for both arms and `θ̂₀ − θ̂₁ = (difference, 0)`.
fn two_arms_apart(shape: Shape, difference: f64) -> Statistics {
    let mut statistics = Statistics::new(1.0, &Parameters::zeros(shape));
    for _ in 0..399 {
        for (arm, sign) in [(0, 0.5), (1, -0.5)] {
            for (context, mean) in [([1.0, 0.0], sign * difference), ([0.0, 1.0], 0.0)] {
                let context = Context::new(&context).expect("finite");
                let _ = statistics.observe(context, Arm::new(arm), mean * 400.0 / 399.0).expect("finite");
            }
        }
    }
    statistics
}
