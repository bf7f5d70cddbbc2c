//! What the synthetic environments share: contexts `(1, x₂ … x_d)` with x uniform on `[0,1]`, and noise that is the same
//! whichever arm is played.

use rarely_core::{Rng, Round, Shape, World};

use rarely_error::{Explain, Remedy};

use super::{JudgedSample, OutcomeDelay, REGISTRY, SimulatedWorld};

/// Why an environment cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EnvironmentError {
    /// The name is not in the registry.
    #[error("there is no environment `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A strength where nothing has one.
    #[error("the environment `{name}` has no strength to set")]
    NoStrength {
        /// Its name.
        name: &'static str,
    },
    /// Noise where the outcomes have none to set.
    #[error("the environment `{name}` has no noise to set: its outcomes are 0 or 1")]
    OwnNoise {
        /// Its name.
        name: &'static str,
    },
    /// The share of missing outcomes is out of range.
    #[error("the share of missing outcomes is {value:?}, but it must be from 0 to below 1")]
    Missing {
        /// The number.
        value: f64,
    },
    /// A number is out of range.
    #[error("{what} is {value:?}, but it must be a number from 0 to 1,000,000")]
    OutOfRange {
        /// Which.
        what: &'static str,
        /// The number.
        value: f64,
    },
}

impl Explain for EnvironmentError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Unknown { .. } => {
                let names = REGISTRY.map(|entry| entry.name).join(", ");
                Some(Remedy::new(format!("the environments are {names}")))
            }
            Self::NoStrength { .. } => {
                let with = REGISTRY.iter().filter(|entry| entry.has_strength).map(|entry| entry.name);
                let names = with.collect::<Vec<_>>().join(", ");
                Some(Remedy::new(format!("leave it out, or use one of {names}")))
            }
            Self::OwnNoise { .. } => Some(Remedy::new("leave the noise out")),
            Self::Missing { .. } | Self::OutOfRange { .. } => None,
        }
    }
}

/// Streams of random numbers of one run.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Arms,
    Contexts,
    Noise,
    Policy,
    Judge,
    /// What a misspecified environment draws besides the arms, so that the arms are those of the linear one.
    Unusual,
    /// Which outcomes are never reported.
    Missing,
}

pub(crate) fn stream(seed: u64, run: u64, which: Stream) -> Rng {
    Rng::new(seed, 8 * run + which as u64)
}

/// The arms' mean rewards as a function of the context.
pub(super) trait Surface: Send + Sync + 'static {
    fn means(&self, context: &[f64], means: &mut [f64]);

    /// The parameters as of now, if it is linear.
    fn truth(&self) -> Option<&[f64]>;

    /// The parameters of the log-odds of an outcome of 1, if the means are logistic in them.
    fn log_odds(&self) -> Option<&[f64]> {
        None
    }

    /// Moves to the next round.
    fn advance(&mut self) {}

    fn drifts(&self) -> bool {
        false
    }
}

/// The law of the noise, with standard deviation 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Law {
    Normal,
    /// Student's t with three degrees of freedom: finite variance, no more.
    HeavyTailed,
    /// No noise beside the mean: the outcome is 1 with the mean as its probability, else 0.
    Coin,
}

impl Law {
    fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Self::Normal => rng.normal(),
            Self::Coin => 0.0,
            Self::HeavyTailed => {
                let normal = rng.normal();
                let squares: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
                // t₃ has variance 3: normal / √(χ²₃/3) / √3.
                normal / squares.sqrt().max(1e-9)
            }
        }
    }
}

/// A world with a surface.
pub(super) struct Synthetic<S> {
    pub(super) surface: S,
    initial: Vec<f64>,
    shape: Shape,
    noise: f64,
    law: Law,
    /// Rounds by which an outcome below its mean is reported late, if outcomes come late.
    late_failures: Option<u64>,
    contexts: Rng,
    noises: Rng,
    judge: Rng,
}

impl<S: Surface> Synthetic<S> {
    pub(super) fn new(surface: S, initial: Vec<f64>, shape: Shape, noise: f64, seed: u64, run: u64) -> Self {
        Self {
            surface,
            initial,
            shape,
            noise,
            law: Law::Normal,
            late_failures: None,
            contexts: stream(seed, run, Stream::Contexts),
            noises: stream(seed, run, Stream::Noise),
            judge: stream(seed, run, Stream::Judge),
        }
    }

    pub(super) fn law(mut self, law: Law) -> Self {
        self.law = law;
        self
    }

    pub(super) fn late_failures(mut self, rounds: u64) -> Self {
        self.late_failures = Some(rounds);
        self
    }
}

impl<S: Surface> World for Synthetic<S> {
    fn next(&mut self, round: &mut Round) {
        fill(&mut round.context, &mut self.contexts);
        self.surface.means(&round.context, &mut round.means);
        self.surface.advance();
        if let Law::Coin = self.law {
            let coin = self.noises.uniform();
            for (reward, mean) in round.rewards.iter_mut().zip(&round.means) {
                *reward = f64::from(u8::from(coin < *mean));
            }
            return;
        }
        let noise = self.noise * self.law.draw(&mut self.noises);
        for (reward, mean) in round.rewards.iter_mut().zip(&round.means) {
            *reward = mean + noise;
        }
    }
}

impl<S: Surface> SimulatedWorld for Synthetic<S> {
    fn initial(&self) -> &[f64] {
        &self.initial
    }

    fn truth(&self) -> Option<&[f64]> {
        self.surface.truth()
    }

    fn log_odds(&self) -> Option<&[f64]> {
        matches!(self.law, Law::Coin).then(|| self.surface.log_odds())?
    }

    fn sample(&self, size: usize) -> JudgedSample {
        let mut rng = self.judge.clone();
        let mut contexts = vec![0.0; size * self.shape.dimension()];
        let mut means = vec![0.0; size * self.shape.arms()];
        let rows = contexts.chunks_exact_mut(self.shape.dimension()).zip(means.chunks_exact_mut(self.shape.arms()));
        for (context, means) in rows {
            fill(context, &mut rng);
            self.surface.means(context, means);
        }
        JudgedSample { contexts, means }
    }

    fn drifts(&self) -> bool {
        self.surface.drifts()
    }

    fn delay(&self) -> Option<OutcomeDelay> {
        let rounds = self.late_failures?;
        Some(Box::new(move |_, mean, outcome| Some(if outcome < mean { rounds } else { 0 })))
    }
}

fn fill(context: &mut [f64], rng: &mut Rng) {
    if let Some((first, rest)) = context.split_first_mut() {
        *first = 1.0;
        for value in rest {
            *value = rng.uniform();
        }
    }
}

/// The arms of docs/mathematics.md §10: slopes from N(0,1) truncated to `[−2,2]`, intercepts the same plus 1.
pub(super) fn draw_arms(shape: Shape, rng: &mut Rng) -> Vec<f64> {
    let intercept = |at: usize| if at.is_multiple_of(shape.dimension()) { 1.0 } else { 0.0 };
    (0..shape.parameters()).map(|at| truncated_normal(rng, 2.0) + intercept(at)).collect()
}

/// Arms and initial policy of a run, the same in every synthetic environment.
pub(super) fn draw(shape: Shape, seed: u64, run: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = stream(seed, run, Stream::Arms);
    let truth = draw_arms(shape, &mut rng);
    let initial = (0..shape.parameters()).map(|_| rng.uniform()).collect();
    (truth, initial)
}

/// `1/(1+exp(−strength·sᵀθ))`.
pub(super) struct Saturating {
    /// `strength·θ`.
    log_odds: Vec<f64>,
}

impl Saturating {
    pub(super) fn new(mut parameters: Vec<f64>, strength: f64) -> Self {
        for value in &mut parameters {
            *value *= strength;
        }
        Self { log_odds: parameters }
    }
}

impl Surface for Saturating {
    fn means(&self, context: &[f64], means: &mut [f64]) {
        linear_means(&self.log_odds, context, means);
        for mean in means {
            *mean = 1.0 / (1.0 + (-*mean).exp());
        }
    }

    fn truth(&self) -> Option<&[f64]> {
        None
    }

    fn log_odds(&self) -> Option<&[f64]> {
        Some(&self.log_odds)
    }
}

/// `sᵀθ_a` of every arm.
#[inline]
pub(super) fn linear_means(parameters: &[f64], context: &[f64], means: &mut [f64]) {
    let mut rest = parameters;
    for mean in means {
        let (arm, others) = rest.split_at(context.len());
        rest = others;
        *mean = context.iter().zip(arm).map(|(s, t)| s * t).sum();
    }
}

/// N(0,1) truncated to `[−limit, limit]`, by rejection.
pub(crate) fn truncated_normal(rng: &mut Rng, limit: f64) -> f64 {
    loop {
        let draw = rng.normal();
        if draw.abs() <= limit {
            return draw;
        }
    }
}
