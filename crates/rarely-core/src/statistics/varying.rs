//! Arms that come and go.

use super::Statistics;
use crate::arm::{Shape, check_numbers};
use crate::arm_set::{ArmChange, Availability};
use crate::error::{ArmsError, MAX_PARAMETER};
use crate::ridge::Ridge;

impl Statistics {
    /// Which arms may be played: a flag for each, or `None` if none is removed.
    #[inline]
    pub fn available(&self) -> Option<&[bool]> {
        self.available.mask()
    }

    pub(crate) fn availability(&self) -> &Availability {
        &self.available
    }

    /// Adds, removes or restores an arm. What was learned of the others, and of a removed one, stays.
    pub(crate) fn change_arms(&mut self, change: &ArmChange) -> Result<(), ArmsError> {
        let arms = self.shape.arms();
        match change {
            ArmChange::Remove(arm) => self.available.remove(*arm, arms),
            ArmChange::Restore(arm) => self.available.restore(*arm, arms),
            ArmChange::Add { features: Some(given), .. } => {
                Err(ArmsError::Features { expected: 0, found: given.len() })
            }
            ArmChange::Add { prior_mean, features: None } => {
                assert!(self.marks.is_none(), "marks are of a fixed number of arms");
                let dimension = self.shape.dimension();
                let zero = vec![0.0; dimension];
                let mean = prior_mean.as_ref().unwrap_or(&zero);
                check_numbers("prior mean", mean, dimension, |value| value.abs() <= MAX_PARAMETER)?;
                self.shape = Shape::new(arms + 1, dimension)?;
                self.ridges.push(Ridge::new(self.ridges[0].penalty(), mean));
                self.available.add();
                Ok(())
            }
        }
    }
}
