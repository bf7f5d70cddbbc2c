//! Parameters that change over time.

use rarely_core::Shape;

use super::synthetic::{Stream, Surface, Synthetic, draw, draw_arms, linear_means, stream};
use super::{Environment, EnvironmentDescription, RegisteredEnvironment, SimulatedWorld};

pub(super) const ENTRY: RegisteredEnvironment = RegisteredEnvironment {
    name: "drifting",
    summary: "misspecified: the parameters change over time, by a quarter turn in 10,000/strength rounds",
    distribution: "As linear, but in round t the parameters are cos(ωt)·θ_a + sin(ωt)·θ'_a, θ' a second draw of the arms, ω = strength·(π/2)/10,000.",
    has_strength: true,
    is_binary: false,
    build: |shape, noise, strength| Box::new(Drifting { shape, noise, strength }),
};

const QUARTER_TURN: f64 = 10_000.0;

#[derive(Debug)]
struct Drifting {
    shape: Shape,
    noise: f64,
    strength: f64,
}

impl Environment for Drifting {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let (truth, initial) = draw(self.shape, seed, run);
        let other = draw_arms(self.shape, &mut stream(seed, run, Stream::Unusual));
        let speed = std::f64::consts::FRAC_PI_2 * self.strength / QUARTER_TURN;
        let surface = Turning { from: truth.clone(), towards: other, now: truth, speed, round: 0 };
        Box::new(Synthetic::new(surface, initial, self.shape, self.noise, seed, run))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            noise: Some(self.noise),
            strength: Some(self.strength),
            ..EnvironmentDescription::new("drifting", self.shape)
        }
    }
}

struct Turning {
    from: Vec<f64>,
    towards: Vec<f64>,
    now: Vec<f64>,
    speed: f64,
    round: u64,
}

impl Surface for Turning {
    fn means(&self, context: &[f64], means: &mut [f64]) {
        linear_means(&self.now, context, means);
    }

    fn truth(&self) -> Option<&[f64]> {
        Some(&self.now)
    }

    fn advance(&mut self) {
        self.round += 1;
        let (sine, cosine) = (self.speed * self.round as f64).sin_cos();
        for ((now, from), towards) in self.now.iter_mut().zip(&self.from).zip(&self.towards) {
            *now = cosine * from + sine * towards;
        }
    }

    fn drifts(&self) -> bool {
        true
    }
}
