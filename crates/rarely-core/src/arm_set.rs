//! Sets of arms that change: arms are added, removed and restored, and keep their numbers and their statistics.
//!
//! A policy with an added arm is, bit for bit, one that had the arm from the start and was never allowed to play it. So what its confidence
//! sets guarantee holds as before, for a norm bound that covers the new arm's parameters too.

use std::borrow::Cow;

use crate::arm::{Arm, Shape};
use crate::error::{ArmsError, DecideError};

/// A change of the set of arms.
///
/// ```
/// use rarely_core::{Algorithm, Arm, ArmChange, Context, Rng, Settings};
/// let mut policy = Settings::new(2, 1)?.algorithm(Algorithm::LinUcb).build()?;
/// policy.change_arms(&ArmChange::added())?;
/// policy.change_arms(&ArmChange::Remove(Arm::new(0)))?;
/// assert_eq!(policy.shape().arms(), 3);
/// let decision = policy.decide(Context::new(&[1.0])?, &mut Rng::new(1, 0))?;
/// assert_ne!(decision.arm, Arm::new(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ArmChange {
    /// A new arm, which gets the next number.
    Add {
        /// Where its estimate starts; `None` is 0. Not for arms with features.
        prior_mean: Option<Vec<f64>>,
        /// Its features, where [arms have features](crate::Settings::arm_features).
        features: Option<Vec<f64>>,
    },
    /// An arm is played no more. What was learned of it stays, and outcomes that are still to come are learned.
    Remove(Arm),
    /// A removed arm may be played again.
    Restore(Arm),
}

impl ArmChange {
    /// A new arm without features, whose estimate starts at 0.
    pub fn added() -> Self {
        Self::Add { prior_mean: None, features: None }
    }
}

/// Which arms may be played: all of them, or those with a flag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(crate) struct Availability(Vec<bool>);

impl Availability {
    /// Whether no arm is removed.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// The flags; `None` if no arm is removed.
    #[inline]
    pub(crate) fn mask(&self) -> Option<&[bool]> {
        (!self.0.is_empty()).then_some(self.0.as_slice())
    }

    /// The arms that a mask allows and that are not removed.
    pub(crate) fn among<'a>(&self, shape: Shape, allowed: &'a [bool]) -> Result<Cow<'a, [bool]>, DecideError> {
        let both = match self.mask() {
            Some(own) if own.len() == allowed.len() => {
                Cow::Owned(own.iter().zip(allowed).map(|(own, allowed)| *own && *allowed).collect())
            }
            _ => Cow::Borrowed(allowed),
        };
        crate::policy::check_mask(shape, &both)?;
        Ok(both)
    }

    /// An arm was added.
    pub(crate) fn add(&mut self) {
        if !self.is_all() {
            self.0.push(true);
        }
    }

    /// Removes one of so many arms.
    pub(crate) fn remove(&mut self, arm: Arm, arms: usize) -> Result<(), ArmsError> {
        self.check(arm, arms, true)?;
        let left = self.mask().map_or(arms, |flags| flags.iter().filter(|flag| **flag).count());
        if left < 2 {
            return Err(ArmsError::Last { arm: arm.index() });
        }
        self.0.resize(arms, true);
        self.0[arm.index()] = false;
        Ok(())
    }

    /// Restores one of so many arms.
    pub(crate) fn restore(&mut self, arm: Arm, arms: usize) -> Result<(), ArmsError> {
        self.check(arm, arms, false)?;
        self.0[arm.index()] = true;
        if self.0.iter().all(|flag| *flag) {
            self.0.clear();
        }
        Ok(())
    }

    fn check(&self, arm: Arm, arms: usize, available: bool) -> Result<(), ArmsError> {
        if arm.index() >= arms {
            return Err(ArmsError::Unknown { arm: arm.index(), arms });
        }
        if self.mask().is_none_or(|flags| flags[arm.index()]) == available {
            Ok(())
        } else if available {
            Err(ArmsError::Removed { arm: arm.index() })
        } else {
            Err(ArmsError::NotRemoved { arm: arm.index() })
        }
    }

    pub(crate) fn is_sound(&self, arms: usize) -> bool {
        self.is_all() || self.0.len() == arms && self.0.contains(&true) && self.0.contains(&false)
    }
}
