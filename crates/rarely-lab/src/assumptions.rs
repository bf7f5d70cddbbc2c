//! What all contestants of an experiment are told, as plain data.

use rarely_core::{Algorithm, Exploration, Profile};
use serde_json::{Value, json};

use crate::contestant::{Contestant, Declared, NormBound, Tuned};

/// What the algorithms are told; `None` is the profile's own.
///
/// ```
/// use rarely_core::Algorithm;
/// use rarely_lab::Assumptions;
/// let told = Assumptions { penalty: Some(0.1), ..Assumptions::default() };
/// let contestants = told.contestants(&[Algorithm::Rarely, Algorithm::LinUcb], 0.5);
/// assert_eq!(contestants[1].declared.noise, Some(0.5));
/// assert_eq!(told.describe()["penalty"], 0.1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Assumptions {
    /// Valid confidence sets, or what the authors ran.
    pub profile: Profile,
    /// Exploration of algorithms that hold a policy, instead of each algorithm's own.
    pub explore: Option<Exploration>,
    /// `λ`. Rigorous: 0.01; published: 1e-4·T.
    pub penalty: Option<f64>,
    /// `σ`. Rigorous: the true one; published: 1.
    pub declared_noise: Option<f64>,
    /// `L`. Rigorous: auto; published: 1.
    pub norm_bound: Option<NormBound>,
    /// `θ₀`, the same number everywhere. Rigorous: 0; published: 1/λ.
    pub prior_mean: Option<f64>,
    /// `δ`. 1/T.
    pub error_probability: Option<f64>,
    /// `Δ` of the rs algorithms. 0.01.
    pub tolerance: Option<f64>,
}

impl Assumptions {
    /// The contestants, with the true noise declared unless told otherwise.
    pub fn contestants(&self, algorithms: &[Algorithm], true_noise: f64) -> Vec<Contestant> {
        let own = (self.profile == Profile::Rigorous).then_some(true_noise);
        let declared = Declared {
            noise: self.declared_noise.or(own),
            norm_bound: self.norm_bound,
            penalty: self.penalty,
            error_probability: self.error_probability,
            prior_mean: self.prior_mean,
            ..Declared::default()
        };
        let contestant = |&algorithm: &Algorithm| Contestant {
            explore: self.explore,
            declared,
            tuned: Tuned { tolerance: self.tolerance, ..Tuned::default() },
            ..Contestant::new(algorithm, self.profile)
        };
        algorithms.iter().map(contestant).collect()
    }

    /// As it is written beside results.
    pub fn describe(&self) -> Value {
        let explore = self.explore.map(|explore| explore.to_string());
        let norm_bound = match (self.norm_bound, self.profile) {
            (Some(NormBound::Value(value)), _) => json!(value),
            (Some(NormBound::Auto), _) | (None, Profile::Rigorous) => json!("auto"),
            (None, Profile::Published) => json!(1.0),
        };
        json!({
            "profile": match self.profile {
                Profile::Rigorous => "rigorous",
                Profile::Published => "published",
            },
            "explore": explore,
            "penalty": self.penalty,
            "declared_noise": self.declared_noise,
            "norm_bound": norm_bound,
            "prior_mean": self.prior_mean,
            "error_probability": self.error_probability,
            "tolerance": self.tolerance,
        })
    }
}
