//! Mean rewards that are curved.

use rarely_core::Shape;

use super::synthetic::{Stream, Surface, Synthetic, draw, linear_means, stream, truncated_normal};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "quadratic",
    summary: "misspecified: strength × a random curvature (2x−1)² in every variable of every arm",
    distribution: "As linear, with strength·Σ_j c_aj(2x_j − 1)² added to the mean of arm a, j = 2 … d, every c_aj from N(0, 1) truncated to [−2, 2].",
    has_strength: true,
    is_binary: false,
    build: |shape, noise, strength| Box::new(Quadratic { shape, noise, strength }),
};

#[derive(Debug)]
struct Quadratic {
    shape: Shape,
    noise: f64,
    strength: f64,
}

impl Environment for Quadratic {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (parameters, initial) = draw(self.shape, seed, run);
        let mut rng = stream(seed, run, Stream::Unusual);
        let curvature = parameters.iter().map(|_| self.strength * truncated_normal(&mut rng, 2.0)).collect();
        let surface = Curved { parameters, curvature };
        Box::new(Synthetic::new(surface, initial, self.shape, self.noise, seed, run))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(self.noise),
            strength: Some(self.strength),
            ..EnvironmentDescription::new("quadratic", self.shape)
        }
    }
}

struct Curved {
    parameters: Vec<f64>,
    curvature: Vec<f64>,
}

impl Surface for Curved {
    fn means(&self, context: &[f64], means: &mut [f64]) {
        linear_means(&self.parameters, context, means);
        for (mean, curvature) in means.iter_mut().zip(self.curvature.chunks_exact(context.len())) {
            let variables = context.iter().zip(curvature).skip(1);
            *mean += variables.map(|(x, curvature)| curvature * (2.0 * x - 1.0).powi(2)).sum::<f64>();
        }
    }

    fn truth(&self) -> Option<&[f64]> {
        None
    }
}
