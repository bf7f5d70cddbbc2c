//! An algorithm with its settings, as plain data. A policy is built from it for each world.

use std::sync::Arc;

use rarely_core::{
    Algorithm, Arm, Certificates, Delay, Deviations, Exploration, Forgetting, Growth, MinimumGain, Noise, Policy,
    Profile, Sets, Settings, SettingsError, Share, Solver, UnknownNoise,
};
use serde::{Deserialize, Serialize};

use crate::custom::{CustomAlgorithm, PlayedAlgorithm};
use crate::environment::SimulatedWorld;
use crate::judge::Judge;

/// `L`, the declared bound on `‖θ* − θ₀‖`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum NormBound {
    /// The true value, which a simulation knows. Where the truth is not linear, that of its linear fit.
    Auto,
    /// A number.
    Value(f64),
}

/// What is declared to the algorithm; `None` is the default of the profile.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Declared {
    /// `σ`. Rigorous: 0.1; published: 1.
    pub noise: Option<f64>,
    /// `L`. Rigorous: auto; published: 1.
    pub norm_bound: Option<NormBound>,
    /// `λ`. Rigorous: 0.01; published: 1e-4·T.
    pub penalty: Option<f64>,
    /// `δ`. 1/T.
    pub error_probability: Option<f64>,
    /// `θ₀`, the same number everywhere. Rigorous: 0; published: 1/λ.
    pub prior_mean: Option<f64>,
    /// Joint, per-arm or sharp sets, instead of each algorithm's own. clucb has joint sets only.
    #[serde(default)]
    pub sets: Option<Sets>,
    /// Whether outcomes that come late are learned in the order of their decisions or as they arrive.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: Delay,
    /// The noise is estimated, instead of declared, where the algorithm can: if it holds a rule and has sharp sets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unknown_noise: Option<UnknownNoise>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Numbers that only some algorithms use; `None` is the default.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Tuned {
    /// `Δ`.
    pub tolerance: Option<f64>,
    /// `C` of rs-linucb.
    pub growth: Option<f64>,
    /// `τ`.
    pub excluded_share: Option<f64>,
    /// `z` of rarely-quick and local-threshold.
    pub deviations: Option<f64>,
    /// Of `rarely` and `certified`.
    pub minimum_gain: Option<f64>,
    /// `c` of posterior-weighted equipoise.
    pub renewal: Option<f64>,
    /// `α` of clucb and clucb2.
    pub safety: Option<f64>,
    /// `v` of thompson, batched-thompson and logistic-thompson.
    pub posterior_scale: Option<f64>,
    /// `ε` of epsilon-greedy.
    pub epsilon: Option<f64>,
    /// `α` of linucb-alpha.
    pub alpha: Option<f64>,
    /// `c` of squarecb.
    pub gap_scale: Option<f64>,
    /// The discount of algorithms that can forget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discount: Option<f64>,
    /// The window of algorithms that can forget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Of local-threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
    /// Of conservative updates.
    pub solver: Option<Solver>,
    /// The policy in force at the start, the same number everywhere, instead of the world's.
    pub initial: Option<f64>,
}

/// An algorithm with its settings: one row of a table of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contestant {
    /// Its name in tables.
    pub name: String,
    /// The algorithm: one of the core's, or one from outside, which uses none of the following settings.
    pub algorithm: PlayedAlgorithm,
    /// Valid sets, or what the authors ran.
    pub profile: Profile,
    /// Exploration of switching algorithms, instead of their own.
    pub explore: Option<Exploration>,
    /// What it assumes.
    pub declared: Declared,
    /// How it is tuned.
    pub tuned: Tuned,
}

impl Contestant {
    /// An algorithm with its profile's own settings.
    pub fn new(algorithm: Algorithm, profile: Profile) -> Self {
        Self {
            name: algorithm.name().to_owned(),
            algorithm: algorithm.into(),
            profile,
            explore: None,
            declared: Declared::default(),
            tuned: Tuned::default(),
        }
    }

    /// An algorithm from outside, under a name.
    pub fn custom(name: impl Into<String>, algorithm: impl CustomAlgorithm + 'static) -> Self {
        let algorithm = PlayedAlgorithm::Custom(Arc::new(algorithm));
        Self { algorithm, ..Self::new(Algorithm::Fixed, Profile::Rigorous) }.named(name)
    }

    /// How it explores, if it holds a rule.
    pub fn exploration(&self) -> Option<Exploration> {
        let algorithm = self.algorithm.core().filter(|algorithm| algorithm.is_switching())?;
        Some(self.explore.unwrap_or(Exploration::of(algorithm)))
    }

    /// Renames it.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Declares the noise.
    #[must_use]
    pub fn declaring_noise(mut self, noise: f64) -> Self {
        self.declared.noise = Some(noise);
        self
    }

    /// Builds the policy for a world.
    ///
    /// # Errors
    /// [`SettingsError`] if a number is out of range, two settings exclude each other, or the algorithm is one from outside.
    pub fn build(
        &self,
        world: &dyn SimulatedWorld,
        judge: &Judge,
        rounds: u64,
        certificates: Certificates,
    ) -> Result<Box<dyn Policy>, SettingsError> {
        let shape = judge.shape();
        let algorithm = self.algorithm.core().ok_or(SettingsError::Missing {
            algorithm: self.algorithm.name(),
            what: "a row in the table of algorithms",
            remedy: "build its policy by its own trait",
        })?;
        let Declared { noise, norm_bound, penalty, error_probability, prior_mean, sets, .. } = self.declared;
        let (arms, dimension) = (shape.arms(), shape.dimension());
        let rigorous = self.profile == Profile::Rigorous;
        let mut settings = match self.profile {
            Profile::Rigorous => {
                Settings::new(arms, dimension)?.noise(0.1)?.error_probability(1.0 / rounds.max(2) as f64)?
            }
            Profile::Published => Settings::published(arms, dimension, rounds)?,
        };
        settings = settings.algorithm(algorithm).certificates(certificates);
        if let (Some(sets), true) = (sets, !algorithm.sums_contexts()) {
            settings = settings.sets(sets);
        }
        if let Some(noise) = noise {
            settings = settings.noise(noise)?;
        }
        if let Some(unknown) = self.declared.unknown_noise.filter(|_| settings.can_estimate_noise()) {
            settings = settings.unknown_noise(unknown);
        }
        if let Some(penalty) = penalty {
            settings = settings.penalty(penalty)?;
        }
        if let Some(probability) = error_probability {
            settings = settings.error_probability(probability)?;
        }
        if let Some(mean) = prior_mean.or_else(|| (!rigorous).then(|| penalty.map(|penalty| 1.0 / penalty)).flatten()) {
            settings = settings.constant_prior_mean(mean)?;
        }
        let bound = norm_bound.unwrap_or(if rigorous { NormBound::Auto } else { NormBound::Value(1.0) });
        settings = match bound {
            NormBound::Auto => {
                let centre = prior_mean.unwrap_or(0.0);
                let log_odds = world.log_odds().filter(|_| algorithm.is_logistic());
                let truth = log_odds.unwrap_or_else(|| judge.linear_truth());
                let squares: f64 = truth.iter().map(|value| (value - centre).powi(2)).sum();
                settings.norm_bound(squares.sqrt())?
            }
            NormBound::Value(value) => settings.norm_bound(value)?,
        };
        let initial = self.tuned.initial.map_or_else(|| world.initial().to_vec(), |x| vec![x; shape.parameters()]);
        settings = settings.deployed(initial)?;
        let best = judge.best_fixed_arm();
        let mean = &judge.linear_truth()[best * dimension..(best + 1) * dimension];
        settings = settings.baseline(Arm::new(best), mean)?;
        if let (Some(explore), true) = (self.explore, algorithm.is_switching()) {
            settings = settings.exploration(explore);
        }
        self.tune(settings)?.build()
    }

    fn tune(&self, settings: Settings) -> Result<Settings, SettingsError> {
        let tuned = &self.tuned;
        let mut tuning = settings.tuning();
        if let Some(tolerance) = tuned.tolerance {
            tuning.tolerance = Share::named("tolerance", tolerance)?;
        }
        if let Some(growth) = tuned.growth {
            tuning.growth = Growth::new(growth)?;
        }
        if let Some(share) = tuned.excluded_share {
            tuning.excluded_share = Share::named("excluded share", share)?;
        }
        if let Some(deviations) = tuned.deviations {
            tuning.deviations = Some(Deviations::new(deviations)?);
        }
        if let Some(gain) = tuned.minimum_gain {
            tuning.minimum_gain = MinimumGain::new(gain)?;
        }
        if let Some(renewal) = tuned.renewal {
            tuning.renewal = Growth::new(renewal)?;
        }
        if let Some(safety) = tuned.safety {
            tuning.safety = Share::named("safety", safety)?;
        }
        if let Some(epsilon) = tuned.epsilon {
            tuning.epsilon = Share::named("epsilon", epsilon)?;
        }
        if let Some(alpha) = tuned.alpha {
            tuning.alpha = Deviations::new(alpha)?;
        }
        if let Some(scale) = tuned.gap_scale {
            tuning.gap_scale = Growth::new(scale)?;
        }
        if let Some(share) = tuned.bandwidth {
            tuning.bandwidth = Share::named("bandwidth", share)?;
        }
        if let Some(scale) = tuned.posterior_scale {
            tuning.posterior_scale = Some(Noise::new(scale)?);
        }
        let can_forget = self.algorithm.core().is_some_and(Algorithm::can_forget);
        if let Some(factor) = tuned.discount.filter(|_| can_forget) {
            tuning.forgetting = Some(Forgetting::discount(factor)?);
        }
        if let Some(outcomes) = tuned.window.filter(|_| can_forget) {
            tuning.forgetting = Some(Forgetting::window(outcomes)?);
        }
        if let Some(solver) = tuned.solver {
            tuning.solver = solver;
        }
        Ok(settings.tune(|all| *all = tuning))
    }
}
