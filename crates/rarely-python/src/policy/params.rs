//! The settings of a policy as Python gives them.

use std::fmt;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rarely_core::{
    Algorithm, Arm, ArmChange, Certificates, Contexts, Deviations, Forgetting, Growth, MinimumGain, Noise, Policy,
    Settings, SettingsError, Share, UnknownNoise,
};
use serde::{Deserialize, Serialize};

use crate::array::flat;
use crate::error;

/// Every argument of `rarely.Policy`, by its Python name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Params {
    pub(super) arms: usize,
    pub(super) dimension: usize,
    pub(super) algorithm: String,
    pub(super) noise: NoiseParam,
    pub(super) norm_bound: Option<f64>,
    pub(super) error_probability: f64,
    pub(super) penalty: f64,
    pub(super) prior_mean: Option<Vec<f64>>,
    pub(super) deployed: Option<Vec<f64>>,
    pub(super) explore: Option<String>,
    pub(super) population: Option<Vec<f64>>,
    pub(super) sets: Option<String>,
    pub(super) tuning: TuningParams,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) arm_features: Option<Vec<f64>>,
    pub(super) baseline: Option<usize>,
    pub(super) baseline_mean: Option<Vec<f64>>,
    pub(super) certificates: bool,
    pub(super) seed: u64,
}

/// A standard deviation, or the name of unknown noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum NoiseParam {
    Declared(f64),
    Unknown(String),
}

impl fmt::Display for NoiseParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declared(noise) => write!(f, "{noise}"),
            Self::Unknown(name) => f.write_str(name),
        }
    }
}

/// Noise as it is given: a number, a name, or nothing if it is unknown.
pub(super) fn noise(given: &Bound<'_, PyAny>) -> PyResult<NoiseParam> {
    if given.is_none() {
        return Ok(NoiseParam::Unknown(UnknownNoise::OfAllArms.to_string()));
    }
    given.extract().map(NoiseParam::Unknown).or_else(|_| given.extract().map(NoiseParam::Declared))
}

/// Numbers that only some algorithms use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TuningParams {
    pub(super) tolerance: f64,
    pub(super) growth: f64,
    pub(super) excluded_share: f64,
    pub(super) minimum_gain: f64,
    #[serde(default = "three")]
    pub(super) deviations: Option<f64>,
    pub(super) safety: f64,
    pub(super) posterior_scale: Option<f64>,
    #[serde(default = "default_epsilon")]
    pub(super) epsilon: f64,
    #[serde(default = "default_alpha")]
    pub(super) alpha: f64,
    #[serde(default = "default_gap_scale")]
    pub(super) gap_scale: f64,
    #[serde(default = "default_bandwidth")]
    pub(super) bandwidth: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) discount: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<u64>,
}

fn default_epsilon() -> f64 {
    rarely_core::Tuning::default().epsilon.get()
}

fn default_alpha() -> f64 {
    rarely_core::Tuning::default().alpha.get()
}

fn default_bandwidth() -> f64 {
    rarely_core::Tuning::default().bandwidth.get()
}

fn default_gap_scale() -> f64 {
    rarely_core::Tuning::default().gap_scale.get()
}

/// What was always meant before it could be set.
#[allow(clippy::unnecessary_wraps, reason = "the type of the field")]
fn three() -> Option<f64> {
    Some(3.0)
}

/// Numbers given for a parameter array.
pub(super) fn numbers(given: Option<&Bound<'_, PyAny>>, name: &str, dimension: usize) -> PyResult<Option<Vec<f64>>> {
    given.map(|given| flat(given, name, dimension)).transpose()
}

/// Numbers in rows of any one length, or in a line.
pub(super) fn rows_of_any_length(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<f64>>> {
    let Some(given) = given else { return Ok(None) };
    let array = given.py().import("numpy")?.call_method1("asarray", (given, "float64"))?;
    Ok(Some(array.call_method0("ravel")?.extract()?))
}

/// A whole number from 0; a negative or too large one is a `SettingsError`.
pub(super) fn whole(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let py = given.py();
    given.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(py) {
            return error::SETTINGS.says(py, format!("{given}: counts and seeds are whole numbers from 0 to 2⁶⁴−1"));
        }
        error
    })
}

/// The same, as a `usize`.
pub(super) fn count(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    whole(given).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

/// A whole number from 0, if there is one.
pub(super) fn optional_whole(given: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if given.is_none() { Ok(None) } else { whole(given).map(Some) }
}

/// The same, if there is one.
pub(super) fn optional_count(given: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if given.is_none() { Ok(None) } else { count(given).map(Some) }
}

impl Params {
    /// The prior mean of an arm, where every arm has the same number.
    pub(super) fn common_prior_mean(&self) -> Option<Vec<f64>> {
        match self.prior_mean.as_deref() {
            Some(&[value]) => Some(vec![value; self.dimension]),
            _ => None,
        }
    }

    /// The settings of a policy to which an arm was added.
    pub(super) fn grown(&mut self, change: &ArmChange) {
        let ArmChange::Add { prior_mean, features } = change else { return };
        let zeros = vec![0.0; self.dimension];
        if prior_mean.is_some() || self.prior_mean.is_some() {
            let common = self.common_prior_mean().unwrap_or_else(|| zeros.clone());
            let own = self.prior_mean.take().filter(|values| values.len() > 1 || self.dimension * self.arms == 1);
            let mut all = own.unwrap_or_else(|| common.repeat(self.arms));
            all.extend(prior_mean.as_ref().unwrap_or(&zeros));
            self.prior_mean = Some(all);
        }
        if let Some(deployed) = &mut self.deployed {
            deployed.extend(&zeros);
        }
        if let (Some(all), Some(own)) = (&mut self.arm_features, features) {
            all.extend(own);
        }
        self.arms += 1;
    }

    /// Builds the policy.
    pub(super) fn build(&self, py: Python<'_>) -> PyResult<Box<dyn Policy>> {
        self.settings().and_then(Settings::build).map_err(|error| error::SETTINGS.explain(py, &error))
    }

    fn settings(&self) -> Result<Settings, SettingsError> {
        let algorithm: Algorithm = self.algorithm.parse()?;
        let tuning = self.tuning.checked()?;
        let mut settings = Settings::new(self.arms, self.dimension)?
            .algorithm(algorithm)
            .error_probability(self.error_probability)?
            .penalty(self.penalty)?
            .tune(|all| {
                let solver = all.solver;
                *all = rarely_core::Tuning { solver, ..tuning };
            })
            .certificates(if self.certificates { Certificates::Full } else { Certificates::Brief });
        settings = match &self.noise {
            NoiseParam::Declared(noise) => settings.noise(*noise)?,
            NoiseParam::Unknown(name) => settings.unknown_noise(name.parse()?),
        };
        if let Some(bound) = self.norm_bound {
            settings = settings.norm_bound(bound)?;
        }
        if let Some(sets) = &self.sets {
            settings = settings.sets(sets.parse()?);
        }
        match self.prior_mean.as_deref() {
            Some(&[value]) => settings = settings.constant_prior_mean(value)?,
            Some(values) => settings = settings.prior_mean(values.to_vec())?,
            None => {}
        }
        if let Some(values) = &self.deployed {
            settings = settings.deployed(values.clone())?;
        }
        if let Some(explore) = &self.explore {
            settings = settings.exploration(explore.parse()?);
        }
        if let Some(values) = &self.population {
            settings = settings.population(Contexts::new(values, self.dimension)?)?;
        }
        if let Some(features) = &self.arm_features {
            settings = settings.arm_features(features.clone())?;
        }
        // Only `clucb` uses the mean, and it needs one.
        let unknown = vec![0.0; self.dimension];
        let mean = self.baseline_mean.as_ref().or((!algorithm.sums_contexts()).then_some(&unknown));
        if let (Some(arm), Some(mean)) = (self.baseline, mean) {
            settings = settings.baseline(Arm::new(arm), mean)?;
        }
        Ok(settings)
    }

    /// By name, as `get_params` gives them.
    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = |values: &Option<Vec<f64>>| -> PyResult<Option<Bound<'py, PyAny>>> {
            let Some(values) = values else { return Ok(None) };
            let whole = values.len().is_multiple_of(self.dimension);
            Ok(Some(match values.as_slice() {
                [value] if self.dimension > 1 => value.into_pyobject(py)?.into_any(),
                _ if whole => crate::array::matrix(py, self.dimension, values.clone())?.into_any(),
                _ => numpy::PyArray1::from_slice(py, values).into_any(),
            }))
        };
        let all = PyDict::new(py);
        all.set_item("arms", self.arms)?;
        all.set_item("dimension", self.dimension)?;
        all.set_item("algorithm", &self.algorithm)?;
        match &self.noise {
            NoiseParam::Declared(noise) => all.set_item("noise", noise)?,
            NoiseParam::Unknown(name) => all.set_item("noise", name)?,
        }
        all.set_item("norm_bound", self.norm_bound)?;
        all.set_item("error_probability", self.error_probability)?;
        all.set_item("penalty", self.penalty)?;
        all.set_item("prior_mean", rows(&self.prior_mean)?)?;
        all.set_item("deployed", rows(&self.deployed)?)?;
        all.set_item("explore", &self.explore)?;
        all.set_item("population", rows(&self.population)?)?;
        all.set_item("sets", &self.sets)?;
        all.set_item("tolerance", self.tuning.tolerance)?;
        all.set_item("growth", self.tuning.growth)?;
        all.set_item("excluded_share", self.tuning.excluded_share)?;
        all.set_item("minimum_gain", self.tuning.minimum_gain)?;
        all.set_item("deviations", self.tuning.deviations)?;
        all.set_item("safety", self.tuning.safety)?;
        all.set_item("posterior_scale", self.tuning.posterior_scale)?;
        all.set_item("epsilon", self.tuning.epsilon)?;
        all.set_item("alpha", self.tuning.alpha)?;
        all.set_item("gap_scale", self.tuning.gap_scale)?;
        all.set_item("bandwidth", self.tuning.bandwidth)?;
        all.set_item("discount", self.tuning.discount)?;
        all.set_item("window", self.tuning.window)?;
        let features = self
            .arm_features
            .as_ref()
            .map(|values| crate::array::matrix(py, (values.len() / self.arms.max(1)).max(1), values.clone()));
        all.set_item("arm_features", features.transpose()?)?;
        all.set_item("baseline", self.baseline)?;
        all.set_item("baseline_mean", rows(&self.baseline_mean)?)?;
        all.set_item("certificates", self.certificates)?;
        all.set_item("seed", self.seed)?;
        Ok(all)
    }
}

impl TuningParams {
    fn forgetting(&self) -> Result<Option<Forgetting>, SettingsError> {
        match (self.discount, self.window) {
            (Some(_), Some(_)) => Err(SettingsError::Incompatible {
                setting: "a discount",
                algorithm: "a window",
                remedy: "give one of them",
            }),
            (Some(factor), None) => Forgetting::discount(factor).map(Some),
            (None, Some(outcomes)) => Forgetting::window(outcomes).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn checked(&self) -> Result<rarely_core::Tuning, SettingsError> {
        Ok(rarely_core::Tuning {
            tolerance: Share::named("tolerance", self.tolerance)?,
            growth: Growth::new(self.growth)?,
            excluded_share: Share::named("excluded share", self.excluded_share)?,
            minimum_gain: MinimumGain::new(self.minimum_gain)?,
            deviations: self.deviations.map(Deviations::new).transpose()?,
            safety: Share::named("safety", self.safety)?,
            posterior_scale: self.posterior_scale.map(Noise::new).transpose()?,
            epsilon: Share::named("epsilon", self.epsilon)?,
            alpha: Deviations::new(self.alpha)?,
            gap_scale: Growth::new(self.gap_scale)?,
            bandwidth: Share::named("bandwidth", self.bandwidth)?,
            forgetting: self.forgetting()?,
            ..rarely_core::Tuning::default()
        })
    }
}
