//! Where contexts and rewards come from.

use rarely_core::{Rng, Shape};

/// A family of worlds, one for each run.
pub trait Environment: Sync {
    /// Arms and context variables.
    fn shape(&self) -> Shape;

    /// The world of one run: the same for every algorithm and every number of threads.
    fn world(&self, seed: u64, run: u64) -> World;
}

/// One draw of the arms, with its own streams of contexts and noise.
#[derive(Debug, Clone)]
pub struct World {
    /// The true parameters, arm by arm.
    pub truth: Vec<f64>,
    /// The policy in force at the start, arm by arm.
    pub initial: Vec<f64>,
    dimension: usize,
    noise: f64,
    contexts: Rng,
    noises: Rng,
}

/// Streams of random numbers of one run.
#[derive(Clone, Copy)]
enum Stream {
    Arms,
    Contexts,
    Noise,
    Policy,
    Judge,
}

fn stream(seed: u64, run: u64, which: Stream) -> Rng {
    Rng::new(seed, 8 * run + which as u64)
}

/// The stream from which a policy draws its own random numbers.
pub(crate) fn policy_stream(seed: u64, run: u64) -> Rng {
    stream(seed, run, Stream::Policy)
}

impl World {
    /// Draws the context of the next round.
    pub fn next_context(&mut self, context: &mut [f64]) {
        fill(context, &mut self.contexts);
    }

    /// Draws the noise of the next round, the same whichever arm is played.
    pub fn next_noise(&mut self) -> f64 {
        self.noise * self.noises.normal()
    }

    /// The arms' mean rewards at a context.
    pub fn means(&self, context: &[f64], means: &mut [f64]) {
        for (mean, truth) in means.iter_mut().zip(self.truth.chunks_exact(self.dimension)) {
            *mean = context.iter().zip(truth).map(|(s, t)| s * t).sum();
        }
    }

    /// Contexts from the same distribution but their own stream, row by row, to judge policies on.
    pub fn sample(&self, seed: u64, run: u64, count: usize) -> Vec<f64> {
        let mut rng = stream(seed, run, Stream::Judge);
        let mut values = vec![0.0; count * self.dimension];
        values.chunks_exact_mut(self.dimension).for_each(|context| fill(context, &mut rng));
        values
    }
}

/// `(1, x₂ … x_d)` with x uniform on `[0,1]`.
fn fill(context: &mut [f64], rng: &mut Rng) {
    for (at, value) in context.iter_mut().enumerate() {
        *value = if at == 0 { 1.0 } else { rng.uniform() };
    }
}

/// The paper's synthetic task (MATH.md §10): slopes from N(0,1) truncated to `[−2,2]`, intercepts the same plus 1, initial policy
/// uniform on `[0,1]`.
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

    fn world(&self, seed: u64, run: u64) -> World {
        let mut rng = stream(seed, run, Stream::Arms);
        let dimension = self.shape.dimension();
        let truth = (0..self.shape.parameters())
            .map(|at| truncated_normal(&mut rng) + if at % dimension == 0 { 1.0 } else { 0.0 })
            .collect();
        let initial = (0..self.shape.parameters()).map(|_| rng.uniform()).collect();
        World {
            truth,
            initial,
            dimension,
            noise: self.noise,
            contexts: stream(seed, run, Stream::Contexts),
            noises: stream(seed, run, Stream::Noise),
        }
    }
}

impl World {
    /// A world with given parameters.
    pub fn given(truth: Vec<f64>, initial: Vec<f64>, dimension: usize, noise: f64, seed: u64, run: u64) -> Self {
        let (contexts, noises) = (stream(seed, run, Stream::Contexts), stream(seed, run, Stream::Noise));
        Self { truth, initial, dimension, noise, contexts, noises }
    }
}

/// N(0,1) truncated to `[−2,2]`, by rejection.
fn truncated_normal(rng: &mut Rng) -> f64 {
    loop {
        let draw = rng.normal();
        if draw.abs() <= 2.0 {
            return draw;
        }
    }
}
