//! What all contestants of an experiment assume, as plain data.

use rarely_core::{Algorithm, Delay, Exploration, Profile, Sets, Tuning, UnknownNoise};
use serde::{Serialize, Serializer};

use crate::contestant::{Contestant, Declared, NormBound, Tuned};
use crate::description::{ContestantDescription, ValueRange};
use crate::experiment::ExperimentError;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_noise: Option<f64>,
    /// Whether outcomes that come late are learned in the order of their decisions or as they arrive. Left out of files where it is
    /// not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// `δ`. 1/T.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_probability: Option<f64>,
    /// Exploration of algorithms that hold a policy, instead of each algorithm's own.
    #[serde(serialize_with = "exploration_text", skip_serializing_if = "Option::is_none")]
    pub explore: Option<Exploration>,
    /// `L`. Rigorous: auto; published: 1.
    #[serde(serialize_with = "norm_bound_or_auto", skip_serializing_if = "Option::is_none")]
    pub norm_bound: Option<NormBound>,
    /// What `L` was in the runs, where it is auto. Only in what is written beside results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub norm_bound_values: Option<ValueRange>,
    /// `λ`. Rigorous: 0.01; published: 1e-4·T.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<f64>,
    /// `θ₀`, the same number everywhere. Rigorous: 0; published: 1/λ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_mean: Option<f64>,
    /// Valid confidence sets, or what the authors ran.
    #[serde(serialize_with = "profile_text")]
    pub profile: Profile,
    /// Joint, per-arm or sharp sets, instead of each algorithm's own. Left out of files where it is not set.
    #[serde(serialize_with = "sets_text", skip_serializing_if = "Option::is_none")]
    pub sets: Option<Sets>,
    /// `Δ` of the rs algorithms. 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
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

    /// Checks that every setting is used by one of the algorithms.
    ///
    /// # Errors
    /// [`ExperimentError::Unused`] with the first that is not.
    pub fn check(&self, algorithms: &[Algorithm]) -> Result<(), ExperimentError> {
        let learns = |algorithm: Algorithm| !matches!(algorithm, Algorithm::Random | Algorithm::Fixed);
        let angles = |algorithm: Algorithm| matches!(algorithm, Algorithm::RsGreedy | Algorithm::RsConservative);
        let any = |uses: fn(Algorithm) -> bool| algorithms.iter().any(|&algorithm| uses(algorithm));
        let settings = [
            ("the exploration", self.explore.is_some() && !any(Algorithm::is_switching)),
            ("the tolerance", self.tolerance.is_some() && !any(angles)),
            ("the penalty", self.penalty.is_some() && !any(learns)),
            ("the declared noise", (self.declared_noise.is_some() || self.unknown_noise.is_some()) && !any(learns)),
            ("the norm bound", self.norm_bound.is_some() && !any(learns)),
            ("the prior mean", self.prior_mean.is_some() && !any(learns)),
            ("the error probability", self.error_probability.is_some() && !any(learns)),
            ("the kind of confidence sets", self.sets.is_some() && !any(learns)),
        ];
        let unused = settings.iter().find(|(_, is_unused)| *is_unused);
        unused.map_or(Ok(()), |&(setting, _)| Err(ExperimentError::Unused { setting }))
    }

    /// The same with every default as the number that it was in the runs. What differs from one algorithm to another is left out here: it
    /// is written beside each of them.
    #[must_use]
    pub fn resolved(mut self, contestants: &[ContestantDescription]) -> Self {
        let common = |of: fn(&ContestantDescription) -> Option<ValueRange>| {
            let mut values = contestants.iter().filter_map(of);
            let first = values.next()?;
            values.all(|value| value == first).then_some(first)
        };
        let number = |of| common(of).filter(|range| range.least == range.most).map(|range| range.least);
        self.declared_noise = self.declared_noise.or(number(|contestant| contestant.declared_noise));
        self.error_probability = self.error_probability.or(number(|contestant| contestant.error_probability));
        self.penalty = self.penalty.or(number(|contestant| contestant.penalty));
        let learns = contestants.iter().any(|contestant| contestant.penalty.is_some());
        let published = self.profile == Profile::Published;
        self.norm_bound =
            self.norm_bound.or(learns.then_some(if published { NormBound::Value(1.0) } else { NormBound::Auto }));
        if self.norm_bound == Some(NormBound::Auto) {
            let all = contestants.iter().filter_map(|contestant| contestant.norm_bound);
            self.norm_bound_values = all.reduce(ValueRange::with);
        }
        let own = if published { self.penalty.map(|penalty| 1.0 / penalty) } else { learns.then_some(0.0) };
        self.prior_mean = self.prior_mean.or(own);
        let uses_tolerance = contestants.iter().any(|contestant| contestant.tolerance.is_some());
        self.tolerance = self.tolerance.or(uses_tolerance.then(|| Tuning::default().tolerance.get()));
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
