//! Outcomes that are 0 or 1.

use rarely_core::Shape;

use super::synthetic::{Law, Saturating, Synthetic, draw};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "binary",
    summary: "outcomes 0 or 1 with the means 1/(1+exp(−strength·sᵀθ)): what logistic-thompson and rs-glincb assume",
    distribution: "Contexts and arms of linear. Outcome of arm a: 1 if u < 1/(1 + exp(−strength·sᵀθ_a)), else 0, u uniform on [0, 1], the same for \
                   all arms of a round.",
    has_strength: true,
    is_binary: true,
    build: |shape, _, strength| Box::new(Binary { shape, strength }),
};

/// Any outcome from 0 to 1 is sub-gaussian with this σ.
pub(crate) const NOISE: f64 = 0.5;

#[derive(Debug)]
struct Binary {
    shape: Shape,
    strength: f64,
}

impl Environment for Binary {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (parameters, initial) = draw(self.shape, seed, run);
        let surface = Saturating::new(parameters, self.strength);
        Box::new(Synthetic::new(surface, initial, self.shape, NOISE, seed, run).law(Law::Coin))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(NOISE),
            strength: Some(self.strength),
            ..EnvironmentDescription::new("binary", self.shape)
        }
    }
}
