//! Outcomes that are reported late, the bad ones later than the good ones.

use rarely_core::{Round, Shape, World};

use super::{
    Environment, EnvironmentDescription, JudgedSample, Linear, OutcomeDelay, RegisteredEnvironment, SimulatedWorld,
};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "late-failures",
    summary: "linear, but an outcome below its mean is reported 100 × strength rounds late",
    build: |shape, noise, strength| Box::new(LateFailures { linear: Linear { shape, noise }, strength }),
};

#[derive(Debug)]
struct LateFailures {
    linear: Linear,
    strength: f64,
}

impl Environment for LateFailures {
    fn shape(&self) -> Shape {
        self.linear.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        // A strength is from 0 to a million.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rounds = (100.0 * self.strength).round() as u64;
        Box::new(LateWorld { world: self.linear.world(seed, run), rounds })
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(self.linear.noise),
            strength: Some(self.strength),
            ..EnvironmentDescription::new("late-failures", self.linear.shape)
        }
    }
}

struct LateWorld {
    world: Box<dyn SimulatedWorld>,
    rounds: u64,
}

impl World for LateWorld {
    fn next(&mut self, round: &mut Round) {
        self.world.next(round);
    }
}

impl SimulatedWorld for LateWorld {
    fn initial(&self) -> &[f64] {
        self.world.initial()
    }

    fn truth(&self) -> Option<&[f64]> {
        self.world.truth()
    }

    fn sample(&self, size: usize) -> JudgedSample {
        self.world.sample(size)
    }

    fn delay(&self) -> Option<OutcomeDelay> {
        let rounds = self.rounds;
        Some(Box::new(move |mean, outcome| if outcome < mean { rounds } else { 0 }))
    }
}
