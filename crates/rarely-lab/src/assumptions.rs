//! What all contestants of an experiment assume, as plain data.

use rarely_core::{Algorithm, Delay, Exploration, Profile, Sets, UnknownNoise};
use serde::{Serialize, Serializer};

use crate::contestant::{Contestant, Declared, NormBound, Tuned};

/// The assumptions of the algorithms; `None` is the default of the profile. Fields are in alphabetical order, as in the JSON files.
///
/// ```
/// use rarely_core::Algorithm;
/// use rarely_lab::Assumptions;
/// let assumptions = Assumptions { penalty: Some(0.1), ..Assumptions::default() };
/// let contestants = assumptions.contestants(&[Algorithm::Rarely, Algorithm::LinUcb], 0.5);
/// assert_eq!(contestants[1].declared.noise, Some(0.5));
/// assert_eq!(serde_json::to_value(assumptions)?["penalty"], 0.1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Assumptions {
    /// `σ`. Rigorous: the true one; published: 1.
    pub declared_noise: Option<f64>,
    /// Whether outcomes that come late are learned in the order of their decisions or as they arrive. Left out of files where it is
    /// not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// `δ`. 1/T.
    pub error_probability: Option<f64>,
    /// Exploration of algorithms that hold a policy, instead of each algorithm's own.
    #[serde(serialize_with = "exploration_text")]
    pub explore: Option<Exploration>,
    /// `L`. Rigorous: auto; published: 1.
    #[serde(serialize_with = "norm_bound_or_auto")]
    pub norm_bound: Option<NormBound>,
    /// `λ`. Rigorous: 0.01; published: 1e-4·T.
    pub penalty: Option<f64>,
    /// `θ₀`, the same number everywhere. Rigorous: 0; published: 1/λ.
    pub prior_mean: Option<f64>,
    /// Valid confidence sets, or what the authors ran.
    #[serde(serialize_with = "profile_text")]
    pub profile: Profile,
    /// Joint, per-arm or sharp sets, instead of each algorithm's own. Left out of files where it is not set.
    #[serde(serialize_with = "sets_text", skip_serializing_if = "Option::is_none")]
    pub sets: Option<Sets>,
    /// `Δ` of the rs algorithms. 0.01.
    pub tolerance: Option<f64>,
    /// The noise is estimated by the algorithms that can: those that hold a rule and have sharp sets. Left out of files where it is not
    /// set.
    #[serde(serialize_with = "unknown_noise_text", skip_serializing_if = "Option::is_none")]
    pub unknown_noise: Option<UnknownNoise>,
}

impl Assumptions {
    /// The contestants, with the true noise declared unless `declared_noise` is set.
    pub fn contestants(&self, algorithms: &[Algorithm], true_noise: f64) -> Vec<Contestant> {
        let own = (self.profile == Profile::Rigorous).then_some(true_noise);
        let declared = Declared {
            noise: self.declared_noise.or(own),
            norm_bound: self.norm_bound,
            penalty: self.penalty,
            error_probability: self.error_probability,
            prior_mean: self.prior_mean,
            sets: self.sets,
            delay: self.delay.unwrap_or_default(),
            unknown_noise: self.unknown_noise,
        };
        let contestant = |&algorithm: &Algorithm| Contestant {
            explore: self.explore,
            declared,
            tuned: Tuned { tolerance: self.tolerance, ..Tuned::default() },
            ..Contestant::new(algorithm, self.profile)
        };
        algorithms.iter().map(contestant).collect()
    }

    /// The same with the norm bound that the profile implies, as it is written beside results.
    #[must_use]
    pub fn resolved(mut self) -> Self {
        self.norm_bound = self.norm_bound.or(match self.profile {
            Profile::Rigorous => Some(NormBound::Auto),
            Profile::Published => Some(NormBound::Value(1.0)),
        });
        self
    }
}

#[expect(clippy::ref_option, reason = "the form that serde asks for")]
fn exploration_text<S: Serializer>(explore: &Option<Exploration>, serializer: S) -> Result<S::Ok, S::Error> {
    explore.map(|explore| explore.to_string()).serialize(serializer)
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn sets_text<S: Serializer>(sets: &Option<Sets>, serializer: S) -> Result<S::Ok, S::Error> {
    sets.map(Sets::name).serialize(serializer)
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn unknown_noise_text<S: Serializer>(unknown: &Option<UnknownNoise>, serializer: S) -> Result<S::Ok, S::Error> {
    unknown.map(UnknownNoise::name).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "the form that serde asks for")]
fn norm_bound_or_auto<S: Serializer>(norm_bound: &Option<NormBound>, serializer: S) -> Result<S::Ok, S::Error> {
    match norm_bound {
        Some(NormBound::Value(value)) => serializer.serialize_f64(*value),
        Some(NormBound::Auto) => serializer.serialize_str("auto"),
        None => serializer.serialize_none(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn profile_text<S: Serializer>(profile: &Profile, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(profile_name(*profile))
}

/// The name of a profile.
pub(crate) fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Rigorous => "rigorous",
        Profile::Published => "published",
    }
}
