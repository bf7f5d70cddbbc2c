//! Mean rewards that saturate.

use rarely_core::Shape;

use super::synthetic::{Surface, Synthetic, draw, linear_means};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "logistic",
    summary: "misspecified: mean rewards 1/(1+exp(−strength·sᵀθ))",
    has_strength: true,
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
        let surface = Saturating { parameters, strength: self.strength };
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

struct Saturating {
    parameters: Vec<f64>,
    strength: f64,
}

impl Surface for Saturating {
    fn means(&self, context: &[f64], means: &mut [f64]) {
        linear_means(&self.parameters, context, means);
        for mean in means {
            *mean = 1.0 / (1.0 + (-self.strength * *mean).exp());
        }
    }

    fn truth(&self) -> Option<&[f64]> {
        None
    }
}
