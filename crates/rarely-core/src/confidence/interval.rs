//! An estimate with the ends of its interval.

use std::fmt;

/// An estimate with the ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interval {
    /// The middle.
    pub estimate: f64,
    /// The lower end; minus infinity if there is none.
    #[cfg_attr(feature = "serde", serde(with = "unbounded::below"))]
    pub lower: f64,
    /// The upper end; infinity if there is none.
    #[cfg_attr(feature = "serde", serde(with = "unbounded::above"))]
    pub upper: f64,
}

/// An end that is not there is written as nothing: JSON has no infinity.
#[cfg(feature = "serde")]
mod unbounded {
    macro_rules! end {
        ($name:ident, $absent:expr) => {
            pub(super) mod $name {
                use serde::{Deserialize, Deserializer, Serialize, Serializer};

                #[allow(clippy::trivially_copy_pass_by_ref)]
                pub(in super::super) fn serialize<S: Serializer>(end: &f64, serializer: S) -> Result<S::Ok, S::Error> {
                    Some(*end).filter(|&end| end != $absent).serialize(serializer)
                }

                pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
                    Ok(Option::<f64>::deserialize(from)?.unwrap_or($absent))
                }
            }
        };
    }
    end!(below, f64::NEG_INFINITY);
    end!(above, f64::INFINITY);
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.estimate;
        match (self.lower.is_finite(), self.upper.is_finite()) {
            (true, true) => write!(f, "{estimate:.4} (between {:.4} and {:.4})", self.lower, self.upper),
            (true, false) => write!(f, "{estimate:.4} (at least {:.4})", self.lower),
            (false, true) => write!(f, "{estimate:.4} (at most {:.4})", self.upper),
            (false, false) => write!(f, "{estimate:.4} (not bounded by the data)"),
        }
    }
}

impl Interval {
    /// Everything: nothing is known.
    pub(crate) fn unbounded(estimate: f64) -> Self {
        Self { estimate, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }

    /// The part that is in both intervals, with this one's estimate.
    pub(crate) fn intersected(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper), ..self }
    }

    /// Whether it contains no number. An intersection of intervals that hold together is empty only if an assumption failed, or the
    /// event of probability δ occurred.
    pub fn is_empty(&self) -> bool {
        self.lower > self.upper
    }

    /// `estimate ± half_width`.
    pub fn around(estimate: f64, half_width: f64) -> Self {
        Self { estimate, lower: estimate - half_width, upper: estimate + half_width }
    }

    /// Whether the interval contains a number.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}
