//! The settings that can be varied, and what each of them sets.

use std::fmt;

use rarely_core::{Algorithm, Exploration, Share};
use serde::{Serialize, Serializer};

use super::SweepError;
use crate::contestant::{Contestant, NormBound};
use crate::environment::REGISTRY;
use crate::experiment::Experiment;
use crate::world_source::WorldSource;

/// A setting that can be varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// `Δ` of the rs algorithms.
    Tolerance,
    /// `λ`.
    Penalty,
    /// `ε`.
    Equipoise,
    /// Outcomes of each arm before the policy decides.
    Pilot,
    /// `k`.
    Arms,
    /// `d`.
    Dimension,
    /// The declared `σ` as a multiple of the true one.
    DeclaredNoise,
    /// Strength of a curved truth: 0 is linear.
    Curvature,
    /// `C` of rs-linucb.
    Growth,
    /// `τ` of the population algorithms.
    ExcludedShare,
    /// `θ₀`.
    PriorMean,
    /// `δ`.
    ErrorProbability,
    /// Standard deviation of the world's noise, which is also declared.
    Noise,
    /// `T`.
    Rounds,
    /// Strength of what is unusual in the environment.
    Strength,
    /// `L`.
    NormBound,
    /// The most that posterior-weighted equipoise randomises.
    Cap,
    /// `z` of rarely-quick and local-threshold.
    Deviations,
    /// The gain that a change must certainly exceed.
    MinimumGain,
    /// `c` of posterior-weighted equipoise.
    Renewal,
    /// `α` of clucb and clucb2.
    Safety,
    /// `v` of thompson and batched-thompson.
    PosteriorScale,
    /// `ε` of epsilon-greedy.
    Epsilon,
    /// `α` of linucb-alpha.
    Alpha,
    /// `c` of squarecb.
    GapScale,
    /// The discount of algorithms that can forget.
    Discount,
    /// The window of algorithms that can forget.
    Window,
    /// The share of outcomes near a boundary from which local-threshold learns.
    Bandwidth,
    /// Rounds by which outcomes are reported late.
    Late,
    /// Share of outcomes that are never reported.
    Missing,
    /// Rounds in which every arm takes the next one's place.
    Drift,
    /// Rounds of a batch of outcomes.
    Batch,
}

/// Every setting with its name.
pub const SETTINGS: [(Setting, &str); 32] = [
    (Setting::Tolerance, "tolerance"),
    (Setting::Penalty, "penalty"),
    (Setting::Equipoise, "equipoise"),
    (Setting::Pilot, "pilot"),
    (Setting::Arms, "arms"),
    (Setting::Dimension, "dim"),
    (Setting::DeclaredNoise, "declared-noise"),
    (Setting::Curvature, "curvature"),
    (Setting::Growth, "growth"),
    (Setting::ExcludedShare, "excluded-share"),
    (Setting::PriorMean, "prior-mean"),
    (Setting::ErrorProbability, "error-probability"),
    (Setting::Noise, "noise"),
    (Setting::Rounds, "rounds"),
    (Setting::Strength, "strength"),
    (Setting::NormBound, "norm-bound"),
    (Setting::Cap, "cap"),
    (Setting::Deviations, "z"),
    (Setting::MinimumGain, "minimum-gain"),
    (Setting::Renewal, "renewal"),
    (Setting::Safety, "safety"),
    (Setting::PosteriorScale, "posterior-scale"),
    (Setting::Epsilon, "epsilon"),
    (Setting::Alpha, "alpha"),
    (Setting::GapScale, "gap-scale"),
    (Setting::Discount, "discount"),
    (Setting::Window, "window"),
    (Setting::Bandwidth, "bandwidth"),
    (Setting::Late, "late"),
    (Setting::Missing, "missing"),
    (Setting::Drift, "drift"),
    (Setting::Batch, "batch"),
];

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(SETTINGS.iter().find(|(setting, _)| setting == self).map_or("", |(_, name)| name))
    }
}

impl Setting {
    /// Whether it is a property of the world, which every algorithm meets.
    pub(super) fn is_of_the_world(self) -> bool {
        use Setting::{Arms, Batch, Curvature, Dimension, Drift, Late, Missing, Noise, Rounds, Strength};
        matches!(self, Arms | Batch | Curvature | Dimension | Drift | Late | Missing | Noise | Rounds | Strength)
    }

    /// Whether it makes a difference to an algorithm of the table.
    fn is_used_by(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Tolerance => matches!(algorithm, Algorithm::RsGreedy | Algorithm::RsConservative),
            Self::Equipoise | Self::Pilot | Self::Cap => algorithm.is_switching(),
            Self::Growth => algorithm == Algorithm::RsLinUcb,
            Self::ExcludedShare => {
                matches!(algorithm, Algorithm::PopulationGreedy | Algorithm::PopulationConservative)
            }
            Self::Deviations => matches!(algorithm, Algorithm::RarelyQuick | Algorithm::LocalThreshold),
            Self::Bandwidth => algorithm == Algorithm::LocalThreshold,
            Self::MinimumGain => {
                matches!(algorithm, Algorithm::Rarely | Algorithm::RarelyQuick | Algorithm::Certified)
            }
            Self::Renewal => matches!(algorithm, Algorithm::Rarely | Algorithm::RarelyQuick),
            Self::Safety => algorithm.sums_contexts(),
            Self::PosteriorScale => {
                matches!(algorithm, Algorithm::Thompson | Algorithm::BatchedThompson | Algorithm::LogisticThompson)
            }
            Self::Epsilon => algorithm == Algorithm::EpsilonGreedy,
            Self::Alpha => algorithm == Algorithm::LinUcbAlpha,
            Self::GapScale => algorithm == Algorithm::SquareCb,
            Self::Discount | Self::Window => algorithm.can_forget(),
            _ => self.is_of_the_world() || !matches!(algorithm, Algorithm::Random | Algorithm::Fixed),
        }
    }

    /// Sets it in an experiment and its contestants.
    pub(super) fn apply(
        self,
        value: f64,
        experiment: &mut Experiment,
        contestants: &mut [Contestant],
    ) -> Result<(), SweepError> {
        if self.is_of_the_world() {
            return self.apply_to_world(value, experiment, contestants);
        }
        let used = |contestant: &Contestant| contestant.algorithm.core().is_some_and(|own| self.is_used_by(own));
        if !contestants.iter().any(used) {
            return Err(SweepError::Unused { setting: self });
        }
        let true_noise = experiment.source.noise().ok().and_then(|(noise, _)| noise);
        for contestant in contestants {
            self.apply_to(value, true_noise, contestant)?;
        }
        Ok(())
    }

    fn apply_to(self, value: f64, true_noise: Option<f64>, contestant: &mut Contestant) -> Result<(), SweepError> {
        let explore = contestant.exploration().unwrap_or(Exploration::NONE);
        let Contestant { declared, tuned, .. } = contestant;
        match self {
            Self::Tolerance => tuned.tolerance = Some(value),
            Self::Growth => tuned.growth = Some(value),
            Self::ExcludedShare => tuned.excluded_share = Some(value),
            Self::Deviations => tuned.deviations = Some(value),
            Self::MinimumGain => tuned.minimum_gain = Some(value),
            Self::Renewal => tuned.renewal = Some(value),
            Self::Safety => tuned.safety = Some(value),
            Self::PosteriorScale => tuned.posterior_scale = Some(value),
            Self::Epsilon => tuned.epsilon = Some(value),
            Self::Alpha => tuned.alpha = Some(value),
            Self::GapScale => tuned.gap_scale = Some(value),
            Self::Bandwidth => tuned.bandwidth = Some(value),
            Self::Discount => tuned.discount = Some(value),
            Self::Window => tuned.window = Some(self.whole(value)?),
            Self::Penalty => declared.penalty = Some(value),
            Self::PriorMean => declared.prior_mean = Some(value),
            Self::ErrorProbability => declared.error_probability = Some(value),
            Self::NormBound => declared.norm_bound = Some(NormBound::Value(value)),
            Self::DeclaredNoise => declared.noise = Some(value * true_noise.or(declared.noise).unwrap_or(1.0)),
            Self::Equipoise => {
                contestant.explore = Some(Exploration { equipoise: Share::named("equipoise", value)?, ..explore });
            }
            Self::Cap => contestant.explore = Some(Exploration { posterior: Share::named("cap", value)?, ..explore }),
            Self::Pilot => {
                let pilot = u32::try_from(self.whole(value)?).unwrap_or(u32::MAX);
                contestant.explore = Some(Exploration { pilot, ..explore });
            }
            _ => {}
        }
        Ok(())
    }

    fn apply_to_world(
        self,
        value: f64,
        experiment: &mut Experiment,
        contestants: &mut [Contestant],
    ) -> Result<(), SweepError> {
        match self {
            Self::Rounds => experiment.rounds = Some(self.whole(value)?.max(1)),
            Self::Late => experiment.properties.late = self.whole(value)?,
            Self::Missing => experiment.properties.missing = value,
            Self::Drift => experiment.properties.drift = self.whole(value)?,
            Self::Batch => experiment.properties.batch = self.whole(value)?,
            _ => {
                let WorldSource::Synthetic { name, arms, dimension, noise, strength } = &mut experiment.source else {
                    return Err(SweepError::FixedByEnvironment { setting: self });
                };
                match self {
                    Self::Arms => *arms = usize::try_from(self.whole(value)?).unwrap_or(usize::MAX),
                    Self::Dimension => *dimension = usize::try_from(self.whole(value)?).unwrap_or(usize::MAX),
                    Self::Curvature if name != "linear" && name != "quadratic" => {
                        return Err(SweepError::NotLinear { environment: name.clone() });
                    }
                    Self::Curvature => {
                        "quadratic".clone_into(name);
                        *strength = value;
                    }
                    Self::Strength if !REGISTRY.iter().any(|entry| entry.name == *name && entry.has_strength) => {
                        return Err(SweepError::NoStrength { environment: name.clone() });
                    }
                    Self::Strength => *strength = value,
                    _ => {
                        // Who was told the true noise is told the new one.
                        let told = contestants.iter_mut().filter(|own| own.declared.noise == Some(*noise));
                        told.for_each(|contestant| contestant.declared.noise = Some(value));
                        *noise = value;
                    }
                }
            }
        }
        Ok(())
    }

    fn whole(self, value: f64) -> Result<u64, SweepError> {
        let most = if self == Self::Rounds { 1e9 } else { 1e6 };
        let is_whole = (0.0..=most).contains(&value) && value.fract() == 0.0;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        is_whole.then_some(value as u64).ok_or_else(|| SweepError::Value {
            setting: self,
            value: value.to_string(),
            expected: if self == Self::Rounds {
                "a whole number from 0 to 1,000,000,000"
            } else {
                "a whole number from 0 to 1,000,000"
            },
        })
    }
}
