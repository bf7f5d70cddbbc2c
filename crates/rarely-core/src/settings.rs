//! What a policy is built from: a few checked numbers, each with a default.

mod arm_features;
mod checks;
mod recipe;
mod tuning;

pub(crate) use arm_features::ArmFeatures;
pub use tuning::Tuning;

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Parameters, Shape};
use crate::confidence::{Confidence, Profile, Sets, UnknownNoise};
use crate::context::Contexts;
use crate::error::SettingsError;
use crate::explore::Exploration;
use crate::gradient::Solver;
use crate::number::{ErrorProbability, Noise, NormBound, Penalty, Share};
use crate::policy::{
    Baseline, Policy, batched::Batched, bootstrap::Bootstrap, conservative::Clucb, constant_width::ConstantWidth,
    epsilon_greedy::EpsilonGreedy, indexed::Indexed, local_threshold::LocalThreshold,
    logistic_thompson::LogisticThompson, optimistic::Optimistic, random::Unlearned, rs_glincb::RsGlinCb,
    shared::Shared, square_cb::SquareCb, switching::Switching, thompson::Thompson,
};
use crate::population::Population;
use crate::statistics::Statistics;

/// `L` where it is needed and not declared.
pub(crate) const DEFAULT_NORM_BOUND: NormBound = NormBound::constant(10.0);

/// Whether changes carry a full certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Certificates {
    /// Gain, excluded shares, every boundary, digest: O(k²d³ + m·k·d²) per change.
    #[default]
    Full,
    /// Only the cause.
    Brief,
}

/// Everything a policy is built from.
///
/// | setting | default | range | meaning |
/// |---|---|---|---|
/// | algorithm | `rarely` | [`Algorithm::TABLE`] | choice, trigger and update |
/// | noise σ | 1 | 1e-12 – 1e12, unknown | the noise is conditionally σ-sub-gaussian; if unknown, Gaussian |
/// | norm bound L | none under sharp sets, else 10 | 0 – 1e12 | bound on `‖θ* − θ₀‖`, all arms stacked |
/// | error probability δ | 0.001 | 1e-300 – below 1 | that the truth ever leaves the set |
/// | penalty λ | 0.01 | 1e-9 – 1e9 | of the ridge regression |
/// | prior mean θ₀ | 0 | ±1e12 | an optimistic one explores |
/// | deployed θ̃ | 0 | ±1e12 | the policy in force at the start |
/// | exploration | `rarely`: posterior 0.5; else none | | of switching algorithms |
/// | sets | ours: sharp; else joint | joint, per arm, sharp | confidence sets |
/// | tolerance Δ | 0.01 | 0 – 1 | of the rs algorithms |
/// | growth C | 0.3 | 1e-12 – 1e6 | of rs-linucb |
/// | allowed excluded share τ | 0.01 | 0 – 1 | of the population algorithms |
/// | minimum gain | 0 | 0 – 1e12 | of `rarely` and `certified` |
/// | deviations z | `√χ²⁻¹_d(0.95)` | 0 – 1e3 | of rarely-quick and local-threshold |
/// | bandwidth | 0.4 | 0 – 1 | of local-threshold |
/// | renewal c | 0.25 | 1e-12 – 1e6 | of posterior-weighted equipoise |
/// | safety α | 0.1 | 0 – 1 | of clucb |
/// | posterior scale v | σ; logistic: 1 | 1e-12 – 1e12 | of thompson, batched-thompson and logistic-thompson |
/// | forgetting | none | discount, window | of algorithms without confidence sets |
/// | solver | exact | exact, projected gradient | of conservative updates |
///
/// ```
/// use rarely_core::{Algorithm, Settings};
/// let policy = Settings::new(2, 3)?.noise(0.1)?.norm_bound(2.0)?.algorithm(Algorithm::RsGreedy).build()?;
/// assert_eq!(policy.shape().arms(), 2);
/// assert!(Settings::new(2, 3)?.penalty(0.0).is_err());
/// # Ok::<(), rarely_core::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    algorithm: Algorithm,
    confidence: Confidence,
    sets: Option<Sets>,
    prior_mean: Parameters,
    deployed: Parameters,
    exploration: Option<Exploration>,
    population: Population,
    tuning: Tuning,
    certificates: Certificates,
    baseline: Baseline,
    learned: Option<Statistics>,
    arm_features: Option<ArmFeatures>,
}

impl Settings {
    /// The defaults for `arms` arms and `dimension` context variables.
    ///
    /// # Errors
    /// [`SettingsError::Arms`], [`SettingsError::Dimension`].
    pub fn new(arms: usize, dimension: usize) -> Result<Self, SettingsError> {
        let shape = Shape::new(arms, dimension)?;
        Ok(Self {
            algorithm: Algorithm::default(),
            confidence: Confidence {
                noise: Noise::constant(1.0),
                norm_bound: None,
                error_probability: ErrorProbability::new(0.001)?,
                penalty: Penalty::constant(0.01),
                sets: Sets::Joint,
                profile: Profile::Rigorous,
            },
            sets: None,
            prior_mean: Parameters::zeros(shape),
            deployed: Parameters::zeros(shape),
            exploration: None,
            population: Population::recent(dimension),
            tuning: Tuning::default(),
            certificates: Certificates::Full,
            baseline: Baseline::unknown(dimension),
            learned: None,
            arm_features: None,
        })
    }

    /// The settings of the authors' program with a horizon of `rounds`: λ = 1e-4·T, σ = 1, L = 1, δ = 1/T, `b` starting at
    /// ones (θ₀ = 1/λ), the projected gradient and [`Profile::Published`]. For comparison only.
    ///
    /// # Errors
    /// As [`Settings::new`], and if `rounds` is too small or large for the ranges of λ and δ.
    pub fn published(arms: usize, dimension: usize, rounds: u64) -> Result<Self, SettingsError> {
        let penalty = 1e-4 * rounds as f64;
        let mut settings = Self::new(arms, dimension)?
            .penalty(penalty)?
            .noise(1.0)?
            .norm_bound(1.0)?
            // Theirs is 1/T. A probability of 1 would make the set meaningless.
            .error_probability(1.0 / rounds.max(2) as f64)?
            .constant_prior_mean(1.0 / penalty)?;
        settings.confidence.profile = Profile::Published;
        settings.tuning.solver = Solver::PAPER;
        Ok(settings)
    }

    /// The algorithm; `rarely` if none is named.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// `σ`.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn noise(mut self, noise: f64) -> Result<Self, SettingsError> {
        self.confidence.noise = Noise::new(noise)?;
        self.tuning.unknown_noise = None;
        Ok(self)
    }

    /// The noise is Gaussian with a standard deviation that is not known: a bound on it is estimated from the errors of predicting each
    /// outcome from those before it. Sets, certificates and the randomisation all take this bound. Nothing is ruled out, and every arm is as
    /// likely to be best as any other, until there is one. Outcomes that are merely bounded need half their range as declared noise.
    ///
    /// ```
    /// use rarely_core::{Settings, UnknownNoise};
    /// let policy = Settings::new(2, 3)?.unknown_noise(UnknownNoise::OfAllArms).build()?;
    /// assert_eq!(policy.learner().unwrap().noise(), [None, None]);
    /// # Ok::<(), rarely_core::SettingsError>(())
    /// ```
    #[must_use]
    pub fn unknown_noise(mut self, unknown: UnknownNoise) -> Self {
        self.tuning.unknown_noise = Some(unknown);
        self
    }

    /// `L`. Sharp sets hold without one, but then nothing is certain for people who would leave an arm, or get one, that was hardly ever
    /// played; a few of them keep a certified change waiting. A bound that is far too large helps (mathematics §15).
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn norm_bound(mut self, norm_bound: f64) -> Result<Self, SettingsError> {
        self.confidence.norm_bound = Some(NormBound::new(norm_bound)?);
        Ok(self)
    }

    /// `δ`.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn error_probability(mut self, probability: f64) -> Result<Self, SettingsError> {
        self.confidence.error_probability = ErrorProbability::new(probability)?;
        Ok(self)
    }

    /// `λ`.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn penalty(mut self, penalty: f64) -> Result<Self, SettingsError> {
        self.confidence.penalty = Penalty::new(penalty)?;
        Ok(self)
    }

    /// Joint, per-arm or sharp confidence sets, instead of the algorithm's default.
    #[must_use]
    pub fn sets(mut self, sets: Sets) -> Self {
        self.sets = Some(sets);
        self
    }

    /// `θ₀`.
    ///
    /// # Errors
    /// [`SettingsError::Length`], [`SettingsError::Parameter`].
    pub fn prior_mean(mut self, values: Vec<f64>) -> Result<Self, SettingsError> {
        self.prior_mean = Parameters::named("prior mean", self.shape(), values)?;
        Ok(self)
    }

    /// `θ₀` with the same number everywhere.
    ///
    /// # Errors
    /// [`SettingsError::Parameter`].
    pub fn constant_prior_mean(self, value: f64) -> Result<Self, SettingsError> {
        let values = vec![value; self.shape().parameters()];
        self.prior_mean(values)
    }

    /// The policy in force at the start, arm by arm.
    ///
    /// # Errors
    /// [`SettingsError::Length`], [`SettingsError::Parameter`].
    pub fn deployed(mut self, values: Vec<f64>) -> Result<Self, SettingsError> {
        self.deployed = Parameters::named("deployed policy", self.shape(), values)?;
        Ok(self)
    }

    /// Exploration of a switching algorithm, instead of its default.
    #[must_use]
    pub fn exploration(mut self, exploration: Exploration) -> Self {
        self.exploration = Some(exploration);
        self
    }

    /// [`Settings::exploration`] by a pilot and equipoise.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn explore(self, pilot: u32, equipoise: f64) -> Result<Self, SettingsError> {
        let equipoise = Share::named("equipoise", equipoise)?;
        Ok(self.exploration(Exploration { pilot, equipoise, ..Exploration::NONE }))
    }

    /// A sample of the population the policy decides about, row by row, instead of the recent contexts. A change that alters no
    /// decision on it is not a change: it is neither counted nor published.
    ///
    /// # Errors
    /// [`SettingsError::Population`].
    pub fn population(mut self, contexts: Contexts<'_>) -> Result<Self, SettingsError> {
        contexts.check_dimension(self.shape().dimension())?;
        self.population = Population::supplied(contexts)?;
        Ok(self)
    }

    /// Sets numbers that only some algorithms use: `settings.tune(|tuning| tuning.solver = Solver::PAPER)`.
    #[must_use]
    pub fn tune(mut self, set: impl FnOnce(&mut Tuning)) -> Self {
        set(&mut self.tuning);
        self
    }

    /// Whether changes carry a full certificate.
    #[must_use]
    pub fn certificates(mut self, certificates: Certificates) -> Self {
        self.certificates = certificates;
        self
    }

    /// The arm that `fixed` plays (0 if none is named), and that is `clucb`'s baseline, with the d parameters of its known mean
    /// reward `sᵀmean`, which `fixed` ignores. Like its source, `clucb` assumes non-negative rewards: if the
    /// baseline's are negative, it may never leave the baseline.
    ///
    /// # Errors
    /// [`SettingsError::UnknownArm`], [`SettingsError::Length`], [`SettingsError::Parameter`].
    pub fn baseline(mut self, arm: Arm, mean: &[f64]) -> Result<Self, SettingsError> {
        self.baseline = Baseline::new(self.shape(), arm, mean)?;
        Ok(self)
    }

    /// The statistics to start from: of a log, or of several logs merged. For algorithms that hold a policy.
    #[must_use]
    pub fn learned(mut self, statistics: Statistics) -> Self {
        self.learned = Some(statistics);
        self
    }

    /// Features of the arms, row by row, which then share their parameters: the mean outcome of arm `a` at context `s` is `sᵀΘf_a`, one
    /// regression on all products of a context variable and a feature. A feature that is 1 for every arm has the effects that all arms
    /// have in common; features that single out each arm give every arm its own parameters. For linucb, linucb-alpha, thompson,
    /// epsilon-greedy and squarecb.
    ///
    /// # Errors
    /// [`SettingsError::ArmFeatures`], [`SettingsError::Parameter`], [`SettingsError::Dimension`].
    pub fn arm_features(mut self, values: Vec<f64>) -> Result<Self, SettingsError> {
        self.arm_features = Some(ArmFeatures::new(self.shape(), values)?);
        Ok(self)
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.deployed.shape()
    }

    /// The assumptions from which confidence sets follow.
    pub fn confidence(&self) -> Confidence {
        // The authors' sets and their solver are defined on one ellipsoid.
        let published = self.confidence.profile == Profile::Published || self.tuning.solver != Solver::Exact;
        let default = if published { Sets::Joint } else { self.algorithm.default_sets() };
        let sets = self.sets.unwrap_or(default);
        // Sharp sets do without a bound, and the algorithms that hold a rule use nothing else.
        let needs_bound = sets != Sets::Sharp || !self.algorithm.is_switching();
        let norm_bound = self.confidence.norm_bound.or(needs_bound.then_some(DEFAULT_NORM_BOUND));
        Confidence { norm_bound, sets, ..self.confidence }
    }

    /// The numbers that only some algorithms use.
    pub fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// [`SettingsError::Incompatible`] if two settings exclude each other.
    pub fn build(self) -> Result<Box<dyn Policy>, SettingsError> {
        let algorithm = self.algorithm;
        if self.exploration.is_some() && !algorithm.is_switching() {
            return Err(SettingsError::Incompatible {
                setting: "exploration",
                algorithm: algorithm.name(),
                remedy: "leave it out, or choose an algorithm that holds a policy",
            });
        }
        self.check_sets()?;
        self.check_noise()?;
        self.check_learned()?;
        self.check_forgetting()?;
        self.tuning.solver.check()?;
        if let Some(features) = &self.arm_features {
            return Ok(Box::new(Shared::new(&self, features.clone())?));
        }
        Ok(match algorithm {
            Algorithm::LinUcb => Box::new(Optimistic::new(&self, None)),
            Algorithm::RsLinUcb => Box::new(Optimistic::new(&self, Some(self.tuning.growth))),
            Algorithm::Clucb => Box::new(Clucb::new(&self, self.known_baseline()?)),
            Algorithm::Clucb2 => Box::new(Clucb::new(&self, self.known_baseline()?).gathering()),
            Algorithm::Thompson => Box::new(Thompson::new(&self)),
            Algorithm::BatchedThompson => Box::new(Batched::thompson(&self)),
            Algorithm::BatchedElimination => Box::new(Batched::elimination(&self)),
            Algorithm::Bootstrap => Box::new(Bootstrap::new(&self)),
            Algorithm::EpsilonGreedy => Box::new(Indexed::new(&self, EpsilonGreedy { epsilon: self.tuning.epsilon })),
            Algorithm::LinUcbAlpha => Box::new(Indexed::new(&self, ConstantWidth { alpha: self.tuning.alpha })),
            Algorithm::SquareCb => Box::new(Indexed::new(&self, SquareCb { gap_scale: self.tuning.gap_scale })),
            Algorithm::LogisticThompson => Box::new(LogisticThompson::new(&self)),
            Algorithm::RsGlinCb => Box::new(RsGlinCb::new(&self)),
            Algorithm::LocalThreshold => Box::new(LocalThreshold::new(&self)),
            Algorithm::Random => Box::new(Unlearned::uniform(self.shape())),
            Algorithm::Fixed => Box::new(Unlearned::fixed(self.shape(), self.baseline.arm())),
            _ => {
                let (trigger, update) = self.recipe();
                Box::new(Switching::new(self, trigger, update))
            }
        })
    }

    pub(crate) fn named_algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The prior mean.
    pub(crate) fn starts_at(&self) -> &Parameters {
        &self.prior_mean
    }

    /// The policy in force at the start.
    pub(crate) fn in_force(&self) -> &Parameters {
        &self.deployed
    }

    /// The statistics before the first outcome.
    pub(crate) fn nothing_learned(&self) -> Statistics {
        Statistics::new(self.confidence.penalty.get(), &self.prior_mean).forgetting(self.tuning.forgetting)
    }
}
