//! The paper's synthetic task (docs/mathematics.md §10).

use rarely_core::Shape;

use super::synthetic::{Surface, Synthetic, draw, linear_means};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "linear",
    summary: "the paper's: mean rewards linear in the context, normal noise",
    distribution: "Contexts: x₁ = 1, x₂ … x_d uniform on [0, 1]. Arms: every entry of θ_a from N(0, 1) truncated to [−2, 2], plus 1 in the intercept. \
                   Outcome of arm a: sᵀθ_a + σz with z from N(0, 1), the same z for all arms of a round. Rule at the start: the largest sᵀφ_a, \
                   every entry of φ_a uniform on [0, 1].",
    has_strength: false,
    is_binary: false,
    build: |shape, noise, _| Box::new(Linear { shape, noise }),
};

/// Slopes from N(0,1) truncated to `[−2,2]`, intercepts the same plus 1, initial policy uniform on `[0,1]`, normal noise.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    /// Arms and context variables.
    pub shape: Shape,
    /// Standard deviation of the noise.
    pub noise: f64,
}

impl Environment for Linear {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (truth, initial) = draw(self.shape, seed, run);
        Box::new(Synthetic::new(Flat(truth), initial, self.shape, self.noise, seed, run))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription { noise: Some(self.noise), ..EnvironmentDescription::new("linear", self.shape) }
    }
}

/// One world with given parameters in every run; only contexts and noise differ.
#[derive(Debug, Clone)]
pub struct Given {
    /// Arms and context variables.
    pub shape: Shape,
    /// The true parameters, arm by arm.
    pub truth: Vec<f64>,
    /// The policy in force at the start, arm by arm.
    pub initial: Vec<f64>,
    /// Standard deviation of the noise.
    pub noise: f64,
}

impl Environment for Given {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        Box::new(Synthetic::new(Flat(self.truth.clone()), self.initial.clone(), self.shape, self.noise, seed, run))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            initial: Some(self.initial.clone()),
            noise: Some(self.noise),
            truth: Some(self.truth.clone()),
            ..EnvironmentDescription::new("given", self.shape)
        }
    }
}

/// A linear surface.
pub(super) struct Flat(pub(super) Vec<f64>);

impl Surface for Flat {
    fn means(&self, context: &[f64], means: &mut [f64]) {
        linear_means(&self.0, context, means);
    }

    fn truth(&self) -> Option<&[f64]> {
        Some(&self.0)
    }
}
