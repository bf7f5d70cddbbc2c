//! Checked numbers, one type for each, so that an invalid policy cannot be built and λ cannot be swapped with δ.

use std::ops::{Bound, RangeBounds};

use crate::error::SettingsError;

/// The number if it lies in the range, or an error that names both.
pub(crate) fn in_range(
    name: &'static str,
    value: f64,
    range: impl RangeBounds<f64>,
    remedy: Option<&'static str>,
) -> Result<f64, SettingsError> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (Bound::Included(&low) | Bound::Excluded(&low), Bound::Included(&high) | Bound::Excluded(&high)) =
        (range.start_bound(), range.end_bound())
    else {
        unreachable!("every setting has two limits")
    };
    Err(SettingsError::OutOfRange { name, value, low, high, remedy })
}

macro_rules! convert_to_and_from_f64 {
    ($type:ident) => {
        impl TryFrom<f64> for $type {
            type Error = SettingsError;

            fn try_from(value: f64) -> Result<Self, SettingsError> {
                Self::new(value)
            }
        }

        impl From<$type> for f64 {
            fn from(number: $type) -> Self {
                number.get()
            }
        }
    };
}

macro_rules! checked_number {
    ($(#[$doc:meta])* $type:ident, $name:literal, $range:expr, $remedy:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "f64", into = "f64"))]
        pub struct $type(f64);

        impl $type {
            /// # Errors
            /// [`SettingsError::OutOfRange`] names the range.
            pub fn new(value: f64) -> Result<Self, SettingsError> {
                in_range($name, value, $range, $remedy).map(Self)
            }

            /// A default, known to be in range.
            #[allow(dead_code)]
            pub(crate) const fn constant(value: f64) -> Self {
                Self(value)
            }

            /// The number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        convert_to_and_from_f64!($type);
    };
}

checked_number!(
    /// `λ > 0`.
    Penalty, "penalty", 1e-9..=1e9, Some("scale the context variables to about 1; 0.01 is then usual")
);
checked_number!(
    /// `σ > 0`.
    Noise, "noise", 1e-12..=1e12, Some("declare the standard deviation of outcomes around their mean, or half their range")
);
checked_number!(
    /// `L ≥ 0`.
    NormBound, "norm bound", 0.0..=1e12, Some("declare a bound on the length of all true coefficients together")
);
/// `0 < δ < 1`, with `ln(1/δ)` at hand for every round.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "f64", into = "f64"))]
pub struct ErrorProbability {
    value: f64,
    log_inverse: f64,
}

impl ErrorProbability {
    /// # Errors
    /// [`SettingsError::OutOfRange`] names the range.
    pub fn new(value: f64) -> Result<Self, SettingsError> {
        let remedy = Some("choose a number strictly between 0 and 1; 0.001 is usual");
        let value = in_range("error probability", value, 1e-300..1.0, remedy)?;
        Ok(Self { value, log_inverse: -libm::log(value) })
    }

    /// A share of it, for one of several things that may fail.
    pub(crate) fn scaled(self, share: f64) -> Self {
        let value = share * self.value;
        Self { value, log_inverse: -libm::log(value) }
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.value
    }

    /// `ln(1/δ)`.
    pub const fn log_inverse(self) -> f64 {
        self.log_inverse
    }
}

convert_to_and_from_f64!(ErrorProbability);

checked_number!(
    /// A share between 0 and 1.
    Share, "share", 0.0..=1.0, None
);
checked_number!(
    /// A gain per decision, at least 0.
    MinimumGain, "minimum gain", 0.0..=1e12, None
);
checked_number!(
    /// `C > 0`.
    Growth, "growth", 1e-12..=1e6, Some("rs-linucb adopts its estimates when det V has grown by a factor of 1 + growth; 0.3 is usual")
);
checked_number!(
    /// A number of standard deviations, at least 0.
    Deviations, "deviations", 0.0..=1e3, Some("2.4 to 8 are usual, for 2 to 50 context variables; fewer change sooner and err more often")
);

/// 0.
impl Default for Share {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Share {
    /// 0.
    pub const ZERO: Self = Self(0.0);

    /// A share that errors call `name`.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn named(name: &'static str, value: f64) -> Result<Self, SettingsError> {
        in_range(name, value, 0.0..=1.0, None).map(Self)
    }
}
