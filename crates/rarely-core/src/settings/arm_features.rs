//! Features of arms.

use crate::arm::{Shape, check_numbers};
use crate::error::{MAX_DIMENSION, MAX_PARAMETER, SettingsError};

/// Numbers that describe each arm, row by row.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ArmFeatures {
    count: usize,
    values: Vec<f64>,
}

impl ArmFeatures {
    pub(crate) fn new(shape: Shape, values: Vec<f64>) -> Result<Self, SettingsError> {
        let arms = shape.arms();
        if values.is_empty() || !values.len().is_multiple_of(arms) {
            return Err(SettingsError::ArmFeatures { found: values.len(), arms });
        }
        let features = Self { count: values.len() / arms, values };
        let dimension = features.count * shape.dimension();
        if dimension > MAX_DIMENSION {
            return Err(SettingsError::Dimension { dimension });
        }
        check(&features.values)?;
        Ok(features)
    }

    /// Features of an arm.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// One arm's features.
    pub(crate) fn of(&self, arm: usize) -> &[f64] {
        &self.values[arm * self.count..(arm + 1) * self.count]
    }

    /// Adds an arm's features, which are as many as every arm's.
    pub(crate) fn push(&mut self, features: &[f64]) -> Result<(), SettingsError> {
        check(features)?;
        self.values.extend_from_slice(features);
        Ok(())
    }

    pub(crate) fn is_sound(&self, shape: Shape) -> bool {
        self.count > 0
            && self.count * shape.dimension() <= MAX_DIMENSION
            && self.values.len() == self.count * shape.arms()
            && check(&self.values).is_ok()
    }
}

fn check(values: &[f64]) -> Result<(), SettingsError> {
    check_numbers("arm features", values, values.len(), |value| value.abs() <= MAX_PARAMETER.sqrt())
}
