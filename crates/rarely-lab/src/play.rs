//! The one interaction loop.

use rarely_core::{
    Algorithm, Arm, Change, Context, Contexts, DecideError, Decision, Evidence, ObserveError, Parameters, Policy, Rng,
    Rule,
};

use crate::environment::World;

/// What one policy did in one world.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Cumulative expected regret at each checkpoint.
    pub regret: Vec<f64>,
    /// Rounds in which the cumulative expected reward was below that of the best fixed arm.
    pub rounds_below_baseline: u64,
    /// Rounds in which the true parameters were outside the confidence set (0 for policies that do not learn).
    pub rounds_outside: u64,
    /// The changes of policy.
    pub changes: Vec<ChangeRecord>,
}

/// One change, with what it truly gained.
#[derive(Debug, Clone)]
pub struct ChangeRecord {
    /// The round.
    pub round: u64,
    /// True gain a decision on the judge's sample.
    pub gain: f64,
    /// Share of the sample whose arm changed.
    pub changed_share: f64,
    /// What the policy said of it.
    pub evidence: Evidence,
}

/// A fixed sample of contexts on which changes are judged, with the true mean rewards.
#[derive(Debug, Clone)]
pub struct Judge {
    contexts: Vec<f64>,
    means: Vec<f64>,
    arms: usize,
    dimension: usize,
    /// The arm with the largest mean reward over the sample.
    pub best_fixed_arm: usize,
}

impl Judge {
    /// Contexts of a world's own distribution.
    pub fn new(world: &World, contexts: Vec<f64>, arms: usize, dimension: usize) -> Self {
        let mut means = vec![0.0; contexts.len() / dimension * arms];
        for (context, means) in contexts.chunks_exact(dimension).zip(means.chunks_exact_mut(arms)) {
            world.means(context, means);
        }
        let total = |arm: usize| means.iter().skip(arm).step_by(arms).sum::<f64>();
        let best_fixed_arm = (0..arms).fold(0, |best, arm| if total(arm) > total(best) { arm } else { best });
        Self { contexts, means, arms, dimension, best_fixed_arm }
    }

    fn contexts(&self) -> Result<Contexts<'_>, DecideError> {
        Ok(Contexts::new(&self.contexts, self.dimension)?)
    }

    /// What a policy plays at each context, exploration apart.
    fn decisions(&self, policy: &dyn Policy, deployed: Option<&Parameters>) -> Result<Vec<Arm>, DecideError> {
        let contexts = self.contexts()?;
        if let Some(parameters) = deployed {
            return Ok(Rule::new(parameters.clone()).choose_many(contexts)?);
        }
        let mut decisions = vec![Decision::recorded(Arm::new(0)); contexts.len()];
        policy.decide_many(contexts, &mut Rng::new(0, 0), &mut decisions)?;
        Ok(decisions.iter().map(|decision| decision.arm).collect())
    }

    fn value(&self, decisions: &[Arm]) -> f64 {
        let rows = self.means.chunks_exact(self.arms).zip(decisions);
        rows.map(|(means, arm)| means[arm.index()]).sum::<f64>() / decisions.len() as f64
    }
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// A context did not fit.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// An outcome did not fit.
    #[error(transparent)]
    Observe(#[from] ObserveError),
}

/// Lets a policy decide and learn in a world for as many rounds as the last checkpoint says.
///
/// # Errors
/// [`PlayError`] if the policy does not fit the world.
pub fn play(
    policy: &mut dyn Policy,
    world: &mut World,
    judge: &Judge,
    checkpoints: &[u64],
    rng: &mut Rng,
) -> Result<Run, PlayError> {
    let shape = policy.shape();
    let truth = Parameters::new(shape, world.truth.clone()).ok();
    let mut context = vec![0.0; shape.dimension()];
    let mut means = vec![0.0; shape.arms()];
    let mut run = Run::default();
    let (mut regret, mut ahead) = (0.0, 0.0);
    let mut in_force = if counts_changes(policy) { judge.decisions(policy, policy.deployed())? } else { Vec::new() };
    for round in 1..=checkpoints.last().copied().unwrap_or(0) {
        world.next_context(&mut context);
        world.means(&context, &mut means);
        let noise = world.next_noise();
        let seen = Context::new(&context).map_err(DecideError::from)?;
        let decision = policy.decide(seen, rng)?;
        let mean = means[decision.arm.index()];
        regret += means.iter().fold(f64::NEG_INFINITY, |best, &mean| best.max(mean)) - mean;
        ahead += mean - means[judge.best_fixed_arm];
        run.rounds_below_baseline += u64::from(ahead < -1e-9);
        let change = policy.observe(seen, &decision, mean + noise)?;
        if let Change::Switched(evidence) = change {
            let next = judge.decisions(policy, policy.deployed())?;
            let changed = in_force.iter().zip(&next).filter(|(old, new)| old != new).count();
            run.changes.push(ChangeRecord {
                round,
                gain: judge.value(&next) - judge.value(&in_force),
                changed_share: changed as f64 / next.len().max(1) as f64,
                evidence: *evidence,
            });
            in_force = next;
        }
        if let (Some(learner), Some(truth)) = (policy.learner(), &truth) {
            run.rounds_outside += u64::from(!learner.set().contains(truth));
        }
        if checkpoints.contains(&round) {
            run.regret.push(regret);
        }
    }
    Ok(run)
}

/// Whether a policy ever reports a change, so that its decisions on the judge's sample must be known beforehand.
fn counts_changes(policy: &dyn Policy) -> bool {
    policy.deployed().is_some() || policy.algorithm() == Algorithm::RsLinUcb
}
