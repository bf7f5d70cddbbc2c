//! The fixed sample of contexts on which policies are judged.

use std::sync::OnceLock;

use rarely_core::{Arm, Contexts, DecideError, Decision, Parameters, Policy, Rng, Rule, Shape};

use crate::environment::{JudgedSample, SimulatedWorld, linear_fit};

/// A sample of contexts with the true mean rewards.
#[derive(Debug)]
pub struct Judge {
    shape: Shape,
    sample: JudgedSample,
    best_fixed_arm: usize,
    truth: Option<Vec<f64>>,
    fit: OnceLock<Vec<f64>>,
    /// The decisions of the first rule that was asked about: every algorithm of a run starts with the same rule.
    start: OnceLock<(Parameters, Vec<Arm>)>,
}

impl Judge {
    /// Of a world, with at least `size` contexts.
    pub fn new(world: &dyn SimulatedWorld, shape: Shape, size: usize) -> Self {
        let sample = world.sample(size);
        let arms = shape.arms();
        let mut totals = vec![0.0; arms];
        for means in sample.means.chunks_exact(arms) {
            totals.iter_mut().zip(means).for_each(|(total, mean)| *total += mean);
        }
        let best_fixed_arm = (1..arms).fold(0, |best, arm| if totals[arm] > totals[best] { arm } else { best });
        let truth = world.truth().map(<[f64]>::to_vec);
        Self { shape, sample, best_fixed_arm, truth, fit: OnceLock::new(), start: OnceLock::new() }
    }

    /// Arms and context variables.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The arm with the largest mean reward over the sample.
    pub fn best_fixed_arm(&self) -> usize {
        self.best_fixed_arm
    }

    /// The true parameters at the start, or the linear fit where the truth is not linear; arm by arm.
    pub fn linear_truth(&self) -> &[f64] {
        match &self.truth {
            Some(truth) => truth,
            None => self.fit.get_or_init(|| linear_fit(self.shape, &self.sample)),
        }
    }

    /// The contexts.
    ///
    /// # Errors
    /// [`DecideError`] if one is not finite.
    pub fn contexts(&self) -> Result<Contexts<'_>, DecideError> {
        Ok(Contexts::new(&self.sample.contexts, self.shape.dimension())?)
    }

    /// The arm that a policy plays at each context, without exploration.
    pub(crate) fn decisions(&self, policy: &dyn Policy) -> Result<Vec<Arm>, DecideError> {
        if let Some(parameters) = policy.deployed() {
            return self.decisions_of(parameters);
        }
        let contexts = self.contexts()?;
        let mut decisions = vec![Decision::recorded(Arm::new(0)); contexts.len()];
        policy.decide_many(contexts, &mut Rng::new(0, 0), &mut decisions)?;
        Ok(decisions.iter().map(|decision| decision.arm).collect())
    }

    /// The arm that a linear rule plays at each context.
    ///
    /// # Errors
    /// [`DecideError`] if the shapes differ.
    pub fn decisions_of(&self, parameters: &Parameters) -> Result<Vec<Arm>, DecideError> {
        if let Some((_, arms)) = self.start.get().filter(|(known, _)| known == parameters) {
            return Ok(arms.clone());
        }
        let arms = Rule::new(parameters.clone()).choose_many(self.contexts()?)?;
        if self.start.get().is_none() {
            let _ = self.start.set((parameters.clone(), arms.clone()));
        }
        Ok(arms)
    }

    /// The gain per decision of a change from `before` to `after`, and the share of the sample whose arm changes. Uses the current
    /// mean rewards of `world` if they drift.
    pub(crate) fn gain(&self, before: &[Arm], after: &[Arm], world: &dyn SimulatedWorld) -> (f64, f64) {
        let moved = world.drifts().then(|| world.sample(before.len()).means);
        let means = moved.as_ref().unwrap_or(&self.sample.means);
        let (mut gain, mut changed) = (0.0, 0_usize);
        for ((before, after), means) in before.iter().zip(after).zip(means.chunks_exact(self.shape.arms())) {
            if before != after {
                gain += means[after.index()] - means[before.index()];
                changed += 1;
            }
        }
        let size = before.len().max(1) as f64;
        (gain / size, changed as f64 / size)
    }

    /// The expected regret per decision of these decisions.
    ///
    /// # Panics
    /// If an arm does not exist.
    pub fn regret(&self, decisions: &[Arm]) -> f64 {
        let rows = decisions.iter().zip(self.sample.means.chunks_exact(self.shape.arms()));
        let total: f64 = rows.map(|(arm, means)| largest(means) - means[arm.index()]).sum();
        total / decisions.len().max(1) as f64
    }
}

/// The largest of the arms' mean rewards.
pub(crate) fn largest(means: &[f64]) -> f64 {
    means.iter().fold(f64::NEG_INFINITY, |best, &mean| if mean > best { mean } else { best })
}
