//! Noise that is not sub-gaussian.

use rarely_core::Shape;

use super::linear::Flat;
use super::synthetic::{Law, Synthetic, draw};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "heavy-tailed",
    summary: "misspecified: noise of Student's t with 3 degrees of freedom, strength × the standard deviation of the normal",
    distribution: "As linear, but z from Student's t with 3 degrees of freedom divided by √3, and σ times strength.",
    has_strength: true,
    is_binary: false,
    build: |shape, noise, strength| Box::new(HeavyTailed { shape, noise: noise * strength }),
};

#[derive(Debug)]
struct HeavyTailed {
    shape: Shape,
    noise: f64,
}

impl Environment for HeavyTailed {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (truth, initial) = draw(self.shape, seed, run);
        Box::new(Synthetic::new(Flat(truth), initial, self.shape, self.noise, seed, run).law(Law::HeavyTailed))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription { noise: Some(self.noise), ..EnvironmentDescription::new("heavy-tailed", self.shape) }
    }
}
