//! Outcomes that are reported late, the bad ones later than the good ones.

use rarely_core::Shape;

use super::linear::Flat;
use super::synthetic::{Synthetic, draw};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "late-failures",
    summary: "linear, but an outcome below its mean is reported 100 × strength rounds late",
    distribution: "As linear; an outcome below its mean is reported 100·strength rounds late, the others at once.",
    has_strength: true,
    is_binary: false,
    build: |shape, noise, strength| Box::new(LateFailures { shape, noise, strength }),
};

#[derive(Debug)]
struct LateFailures {
    shape: Shape,
    noise: f64,
    strength: f64,
}

impl Environment for LateFailures {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (truth, initial) = draw(self.shape, seed, run);
        // A strength is from 0 to a million.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rounds = (100.0 * self.strength).round() as u64;
        Box::new(Synthetic::new(Flat(truth), initial, self.shape, self.noise, seed, run).late_failures(rounds))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(self.noise),
            strength: Some(self.strength),
            ..EnvironmentDescription::new("late-failures", self.shape)
        }
    }
}
