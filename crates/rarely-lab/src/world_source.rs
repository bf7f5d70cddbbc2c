//! Where the contexts and rewards of an experiment come from.

use std::sync::Arc;

use rarely_core::{Algorithm, Shape};

use crate::environment::{self, CounterfactualTable, Environment, NoiseSource, REGISTRY, TableError, binary};
use crate::experiment::ExperimentError;

/// Where contexts and rewards come from.
#[derive(Debug, Clone)]
pub enum WorldSource {
    /// An environment of the registry.
    Synthetic {
        /// Its name.
        name: String,
        /// `k`.
        arms: usize,
        /// `d`.
        dimension: usize,
        /// Standard deviation of the noise.
        noise: f64,
        /// Strength of the deviation from the linear environment.
        strength: f64,
    },
    /// People for whom the outcome under every arm is known.
    Tables(Arc<CounterfactualTable>),
    /// Any other environment.
    Environment(Arc<dyn Environment>),
}

impl WorldSource {
    /// The paper's synthetic task.
    pub fn linear(arms: usize, dimension: usize) -> Self {
        Self::linear_with_noise(arms, dimension, 0.1)
    }

    /// The same with another standard deviation of the noise.
    pub fn linear_with_noise(arms: usize, dimension: usize, noise: f64) -> Self {
        Self::Synthetic { name: "linear".to_owned(), arms, dimension, noise, strength: 1.0 }
    }

    /// An environment that is not in the registry.
    pub fn of(environment: impl Environment + 'static) -> Self {
        Self::Environment(Arc::new(environment))
    }

    /// The standard deviation of its noise, which is declared to the algorithms unless another is; estimated, if it is that of tables. `None`
    /// of another environment that does not describe it.
    ///
    /// # Errors
    /// [`TableError::UnknownNoise`] if it cannot be estimated.
    pub fn noise(&self) -> Result<(Option<f64>, Option<NoiseSource>), TableError> {
        Ok(match self {
            Self::Synthetic { noise, .. } => (Some(if self.is_binary() { binary::NOISE } else { *noise }), None),
            Self::Tables(tables) => {
                let estimated = tables.estimated_noise().ok_or(TableError::UnknownNoise)?;
                (Some(estimated.deviation), Some(estimated.source))
            }
            Self::Environment(environment) => (environment.describe().noise, None),
        })
    }

    /// Whether its outcomes are known to be 0 or 1.
    fn is_binary(&self) -> bool {
        match self {
            Self::Synthetic { name, .. } => REGISTRY.iter().any(|entry| entry.name == *name && entry.is_binary),
            Self::Tables(_) | Self::Environment(_) => false,
        }
    }

    /// Every algorithm that can learn its outcomes. Logistic ones learn outcomes from 0 to 1 only.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        Algorithm::all().filter(|algorithm| self.is_binary() || !algorithm.is_logistic()).collect()
    }

    /// The environment.
    ///
    /// # Errors
    /// [`ExperimentError`] if no environment has this name, or a number is out of range.
    pub fn environment(&self) -> Result<Arc<dyn Environment>, ExperimentError> {
        match self {
            Self::Synthetic { name, arms, dimension, noise, strength } => {
                let shape = Shape::new(*arms, *dimension)?;
                Ok(Arc::from(environment::named(name, shape, *noise, *strength)?))
            }
            Self::Tables(tables) => Ok(Arc::clone(tables) as Arc<dyn Environment>),
            Self::Environment(environment) => Ok(Arc::clone(environment)),
        }
    }
}
