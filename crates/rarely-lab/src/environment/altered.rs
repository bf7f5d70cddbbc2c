//! What may happen in any world: outcomes that come late, in batches or not at all, and arms that change over time.

use std::sync::Arc;

use rarely_core::{Rng, Round, Shape, World};
use serde::Serialize;

use super::synthetic::{Stream, stream};
use super::{Environment, EnvironmentDescription, EnvironmentError, JudgedSample, OutcomeDelay, SimulatedWorld};

/// Properties of a world that do not depend on how its rewards come about. All are off by default.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct WorldProperties {
    /// Rounds by which every outcome is reported late.
    pub late: u64,
    /// Share of the outcomes that are never reported, drawn at random whatever they are.
    pub missing: f64,
    /// Rounds in which every arm gradually takes the place of the next one, and so on; 0: never.
    pub drift: u64,
    /// Rounds of a batch: outcomes are reported at its end; 0 or 1: at once.
    pub batch: u64,
}

impl WorldProperties {
    /// An environment with these properties; itself, if all are off.
    ///
    /// # Errors
    /// [`EnvironmentError::Missing`] if the share of missing outcomes is none.
    pub fn of(self, inner: Arc<dyn Environment>) -> Result<Arc<dyn Environment>, EnvironmentError> {
        if !(0.0..1.0).contains(&self.missing) {
            return Err(EnvironmentError::Missing { value: self.missing });
        }
        Ok(if self == Self::default() { inner } else { Arc::new(Altered { inner, properties: self }) })
    }
}

#[derive(Debug)]
struct Altered {
    inner: Arc<dyn Environment>,
    properties: WorldProperties,
}

impl Environment for Altered {
    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let world = self.inner.world(seed, run);
        let truth = world.truth().map(<[f64]>::to_vec);
        let coins = world.log_odds().map(|_| stream(seed, run, Stream::Unusual));
        Box::new(AlteredWorld {
            world,
            properties: self.properties,
            dimension: self.shape().dimension(),
            seed,
            run,
            round: 0,
            truth,
            coins,
        })
    }

    fn describe(&self) -> EnvironmentDescription {
        let WorldProperties { late, missing, drift, batch } = self.properties;
        EnvironmentDescription {
            batch_rounds: (batch > 1).then_some(batch),
            drift_rounds: (drift > 0).then_some(drift),
            late_rounds: (late > 0).then_some(late),
            missing_share: (missing > 0.0).then_some(missing),
            ..self.inner.describe()
        }
    }

    fn rounds(&self) -> Option<u64> {
        self.inner.rounds()
    }
}

struct AlteredWorld {
    world: Box<dyn SimulatedWorld>,
    properties: WorldProperties,
    dimension: usize,
    seed: u64,
    run: u64,
    /// Rounds so far.
    round: u64,
    /// The true parameters as of now.
    truth: Option<Vec<f64>>,
    /// Which of two arms gives the outcome while one takes the other's place, where outcomes are 0 or 1.
    coins: Option<Rng>,
}

impl AlteredWorld {
    /// By how many arms the arms have moved on, and how far the next move has come.
    fn phase(&self) -> Option<(usize, f64)> {
        let WorldProperties { drift, .. } = self.properties;
        let moved = self.round.checked_div(drift)?;
        Some((usize::try_from(moved).unwrap_or(usize::MAX), (self.round % drift) as f64 / drift as f64))
    }

    /// Blends the values of neighbouring arms, each `width` long.
    fn blend(&self, values: &mut [f64], width: usize) {
        let Some((moved, weight)) = self.phase() else { return };
        let (from, arms) = (values.to_vec(), values.len() / width);
        for (arm, own) in values.chunks_exact_mut(width).enumerate() {
            let [first, second] = [moved % arms + arm, moved % arms + arm + 1].map(|place| place % arms * width);
            for (at, value) in own.iter_mut().enumerate() {
                *value = (1.0 - weight) * from[first + at] + weight * from[second + at];
            }
        }
    }
}

impl World for AlteredWorld {
    fn next(&mut self, round: &mut Round) {
        self.world.next(round);
        if let Some((moved, share)) = self.phase() {
            let arms = round.means.len();
            if let Some(coins) = &mut self.coins {
                // An outcome that is 0 or 1 stays so: it is that of the one arm or of the next.
                let (outcomes, own) = (round.rewards.clone(), coins.uniform() >= share);
                for (arm, reward) in round.rewards.iter_mut().enumerate() {
                    *reward = outcomes[(moved % arms + arm + usize::from(!own)) % arms];
                }
                self.blend(&mut round.means, 1);
                return self.end_round();
            }
            let noises: Vec<f64> = round.rewards.iter().zip(&round.means).map(|(reward, mean)| reward - mean).collect();
            self.blend(&mut round.means, 1);
            let rewards = round.rewards.iter_mut().zip(&round.means).enumerate();
            for (arm, (reward, mean)) in rewards {
                *reward = mean + noises[(moved % arms + arm) % arms];
            }
        }
        self.end_round();
    }
}

impl AlteredWorld {
    fn end_round(&mut self) {
        self.round += 1;
        if self.drifts() {
            let mut truth = self.world.truth().map(<[f64]>::to_vec);
            if let Some(truth) = &mut truth {
                self.blend(truth, self.dimension);
            }
            self.truth = truth;
        }
    }
}

impl SimulatedWorld for AlteredWorld {
    fn initial(&self) -> &[f64] {
        self.world.initial()
    }

    fn truth(&self) -> Option<&[f64]> {
        self.truth.as_deref()
    }

    fn log_odds(&self) -> Option<&[f64]> {
        // While arms change places their means are between two logistic ones.
        self.world.log_odds().filter(|_| self.properties.drift == 0)
    }

    fn sample(&self, size: usize) -> JudgedSample {
        let mut sample = self.world.sample(size);
        let rows = sample.contexts.len() / self.dimension;
        let arms = sample.means.len() / rows.max(1);
        for means in sample.means.chunks_exact_mut(arms.max(1)) {
            self.blend(means, 1);
        }
        sample
    }

    fn drifts(&self) -> bool {
        self.properties.drift > 0 || self.world.drifts()
    }

    fn delay(&self) -> Option<OutcomeDelay> {
        let WorldProperties { late, missing, batch, .. } = self.properties;
        let mut own = self.world.delay();
        if own.is_none() && late == 0 && missing == 0.0 && batch <= 1 {
            return None;
        }
        let mut rng = stream(self.seed, self.run, Stream::Missing);
        Some(Box::new(move |round, mean, outcome| {
            // One draw for every outcome, so that the same ones are missing for every algorithm.
            let is_missing = rng.uniform() < missing;
            let rounds = late + own.as_mut().map_or(Some(0), |own| own(round, mean, outcome))?;
            let due = round.saturating_add(rounds).div_ceil(batch.max(1)).saturating_mul(batch.max(1));
            (!is_missing).then_some(due - round)
        }))
    }
}
