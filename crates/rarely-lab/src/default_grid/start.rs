//! Worlds in which one arm is played for everybody at the start.

use std::sync::Arc;

use rarely_core::{Round, Shape, World};

use crate::description::EnvironmentDescription;
use crate::environment::{Environment, JudgedSample, OutcomeDelay, SimulatedWorld};
use crate::judge::Judge;

/// Contexts on which the best arm is found.
const SAMPLE: usize = 2_000;

/// The worlds of another environment, with a constant rule in force at the start. Their first context variable is always 1.
#[derive(Debug)]
pub(super) struct ConstantStart {
    inner: Arc<dyn Environment>,
    /// The arm; `None` is the best one of each world.
    arm: Option<usize>,
}

impl ConstantStart {
    /// From the best arm.
    pub(super) fn best(inner: Arc<dyn Environment>) -> Self {
        Self { inner, arm: None }
    }

    /// From a given arm.
    pub(super) fn of_arm(inner: Arc<dyn Environment>, arm: usize) -> Self {
        Self { inner, arm: Some(arm) }
    }
}

impl Environment for ConstantStart {
    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (world, shape) = (self.inner.world(seed, run), self.shape());
        let arm = self.arm.unwrap_or_else(|| Judge::new(&*world, shape, SAMPLE).best_fixed_arm());
        let mut initial = vec![0.0; shape.parameters()];
        initial[arm * shape.dimension()] = 1.0;
        Box::new(StartedWorld { world, initial })
    }

    fn describe(&self) -> EnvironmentDescription {
        let start = self.arm.map_or_else(|| "the best arm".to_owned(), |arm| format!("arm {arm}"));
        let inner = self.inner.describe();
        EnvironmentDescription { label: Some(format!("{}, from {start} for everybody", inner.environment)), ..inner }
    }

    fn rounds(&self) -> Option<u64> {
        self.inner.rounds()
    }
}

struct StartedWorld {
    world: Box<dyn SimulatedWorld>,
    initial: Vec<f64>,
}

impl World for StartedWorld {
    fn next(&mut self, round: &mut Round) {
        self.world.next(round);
    }
}

impl SimulatedWorld for StartedWorld {
    fn initial(&self) -> &[f64] {
        &self.initial
    }

    fn truth(&self) -> Option<&[f64]> {
        self.world.truth()
    }

    fn sample(&self, size: usize) -> JudgedSample {
        self.world.sample(size)
    }

    fn drifts(&self) -> bool {
        self.world.drifts()
    }

    fn delay(&self) -> Option<OutcomeDelay> {
        self.world.delay()
    }
}
