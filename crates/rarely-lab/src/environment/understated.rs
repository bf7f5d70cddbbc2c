//! More noise than was declared.

use rarely_core::Shape;

use super::{Environment, EnvironmentDescription, Linear, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "understated-noise",
    summary: "misspecified: linear, but the noise is 2 × strength as large as declared",
    distribution: "As linear, with noise of 2·strength·σ where σ is declared.",
    has_strength: true,
    is_binary: false,
    build: |shape, noise, strength| Box::new(Understated(Linear { shape, noise: 2.0 * strength * noise })),
};

#[derive(Debug)]
struct Understated(Linear);

impl Environment for Understated {
    fn shape(&self) -> Shape {
        self.0.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        self.0.world(seed, run)
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(self.0.noise),
            ..EnvironmentDescription::new("understated-noise", self.0.shape)
        }
    }
}
