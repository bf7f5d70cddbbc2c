//! Mean rewards that saturate.

use rarely_core::Shape;

use super::synthetic::{Saturating, Synthetic, draw};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "logistic",
    summary: "misspecified: mean rewards 1/(1+exp(−strength·sᵀθ))",
    distribution: "As linear, but the mean of arm a is 1/(1 + exp(−strength·sᵀθ_a)).",
    has_strength: true,
    is_binary: false,
    build: |shape, noise, strength| Box::new(Logistic { shape, noise, strength }),
};

#[derive(Debug)]
struct Logistic {
    shape: Shape,
    noise: f64,
    strength: f64,
}

impl Environment for Logistic {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (parameters, initial) = draw(self.shape, seed, run);
        let surface = Saturating::new(parameters, self.strength);
        Box::new(Synthetic::new(surface, initial, self.shape, self.noise, seed, run))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(self.noise),
            strength: Some(self.strength),
            ..EnvironmentDescription::new("logistic", self.shape)
        }
    }
}
