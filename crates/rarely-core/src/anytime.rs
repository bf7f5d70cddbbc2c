//! The t-type mixture: a multiplier of the standard error that holds after every case, whenever one looks (mathematics §14).
//!
//! A planned t interval that is looked at again and again misses sooner or later. The multiplier below comes from a test martingale,
//! the ratio of a normal mixture over effects to no effect with the variance integrated out [lindon-2022]. It is exact for normal outcomes of
//! equal variance. With robust errors and other outcomes it is approximate.

use crate::error::SettingsError;
use crate::number::in_range;
use crate::quantile::student_t_upper;

/// `c`: how concentrated the mixture over effects is, in cases. Chosen beforehand.
///
/// ```
/// use rarely_core::{Mixture, anytime_multiplier};
/// let mixture = Mixture::sharpest_at(1000.0, 480.0, 0.05)?;
/// let sharpest = anytime_multiplier(480.0, 1000.0, mixture, 0.05);
/// assert!(sharpest < anytime_multiplier(480.0, 1000.0, Mixture::new(1.0)?, 0.05));
/// assert!(3.0 < sharpest && sharpest < 3.1);
/// # Ok::<(), rarely_core::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "f64", into = "f64"))]
pub struct Mixture(f64);

impl Mixture {
    /// # Errors
    /// [`SettingsError::OutOfRange`] names the range.
    pub fn new(cases: f64) -> Result<Self, SettingsError> {
        let remedy = Some("choose the mixture that is sharpest at the number of cases that you expect");
        in_range("mixture", cases, 1e-9..=1e15, remedy).map(Self)
    }

    /// The mixture with the smallest multiplier at the expected number of cases and degrees of freedom, for an error probability `δ/m`.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`] unless there are at least two cases, one degree of freedom, and a probability between 0 and 1.
    pub fn sharpest_at(cases: f64, degrees: f64, share: f64) -> Result<Self, SettingsError> {
        in_range("number of cases", cases, 2.0..=1e15, None)?;
        in_range("degrees of freedom", degrees, 1.0..=1e15, None)?;
        in_range("error probability", share, 1e-300..1.0, None)?;
        // q is unimodal in ln r: a golden-section search.
        let multiplier = |ln_r: f64| multiplier_at(degrees, ln_r, share);
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = (-40.0, -1e-6);
        let inner = |low: f64, high: f64| (high - golden * (high - low), low + golden * (high - low));
        while high - low > 1e-9 {
            let (left, right) = inner(low, high);
            // Both infinite: r is too large for this δ and ν.
            if multiplier(left) <= multiplier(right) { high = right } else { low = left }
        }
        let r = libm::exp(0.5 * (low + high));
        Self::new(cases * r / (1.0 - r))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Mixture {
    type Error = SettingsError;

    fn try_from(cases: f64) -> Result<Self, SettingsError> {
        Self::new(cases)
    }
}

impl From<Mixture> for f64 {
    fn from(mixture: Mixture) -> Self {
        mixture.0
    }
}

/// `q = t_ν(1−δ/2)`: the multiplier at one planned look, for an error probability that is already shared by looks and candidates.
///
/// ```
/// let usual = rarely_core::planned_multiplier(1e6, 0.05);
/// assert!((usual - 1.96).abs() < 1e-3);
/// ```
pub fn planned_multiplier(degrees: f64, share: f64) -> f64 {
    student_t_upper(degrees, 0.5 * share)
}

/// `q = √(ν(1−ρ)/(ρ−r))` with `r = c/(c+n)` and `ρ = (r(δ/m)²)^{1/(ν+1)}`: the multiplier that holds at every `n` at once
/// [lindon-2022, Thm 3.1]. Infinite where `ρ ≤ r`: there are too few cases to say anything.
pub fn anytime_multiplier(degrees: f64, cases: f64, mixture: Mixture, share: f64) -> f64 {
    multiplier_at(degrees, -libm::log1p(cases / mixture.get()), share)
}

fn multiplier_at(degrees: f64, ln_r: f64, share: f64) -> f64 {
    let ln_rho = (ln_r + 2.0 * libm::log(share)) / (degrees + 1.0);
    // 1 − ρ and ρ − r, without cancellation where ν is large.
    let (miss, room) = (-libm::expm1(ln_rho), libm::expm1(ln_rho) - libm::expm1(ln_r));
    if room > 0.0 { (degrees * miss / room).sqrt() } else { f64::INFINITY }
}
